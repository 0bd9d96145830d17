//! A compiled engine as one file: native code of the guest and of the base images, named by digests.
//!
//! Layout: 16 bytes of magic, `u32` length of the header, the header as JSON, the sections. The header carries the
//! SHA-256 of every section, so the SHA-256 of the header names the whole engine.

use crate::error::EngineError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
#[cfg(feature = "compiler")]
use std::path::PathBuf;
use std::sync::Mutex;

const MAGIC: &[u8; 16] = b"callcell engine\n";
const MAX_HEADER_BYTES: u32 = 64 * 1024;

/// The header's file in a cache folder.
#[cfg(feature = "compiler")]
const HEADER_FILE: &str = "header.json";

/// Section names.
pub(crate) const CODE: &str = "code";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Names the guest, the built-in modules and the configuration the code was compiled for.
    pub key: String,
    /// Where the exchange area lies in the guest's memory.
    pub exchange_offset: u32,
    /// The base images' digests, by name.
    pub bases: Vec<(String, String)>,
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Section {
    name: String,
    /// From the end of the header.
    offset: u64,
    bytes: u64,
    sha256: String,
}

/// An open artifact. Sections are read, and checked, when they are asked for.
pub(crate) struct Artifact {
    pub header: Header,
    pub digest: String,
    source: Source,
}

enum Source {
    #[cfg(feature = "compiler")]
    Memory(Vec<(String, Vec<u8>)>),
    File {
        file: Mutex<File>,
        sections_at: u64,
    },
    /// The cache: a private folder with one file per section, which can be mapped instead of read.
    #[cfg(feature = "compiler")]
    Folder(PathBuf),
}

/// Native code, as [`Artifact::code`] finds it.
pub(crate) enum Code {
    /// Bytes that match the header's digest.
    Checked(Vec<u8>),
    /// A file in the cache folder, to be mapped. As trusted as this program's own file: its owner wrote both.
    #[cfg(feature = "compiler")]
    Cached(PathBuf),
}

pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn damaged(what: &str) -> EngineError {
    EngineError::Artifact { what: what.to_owned() }
}

impl Artifact {
    /// An artifact of what was compiled just now.
    #[cfg(feature = "compiler")]
    pub fn from_sections(
        key: String,
        exchange_offset: u32,
        bases: Vec<(String, String)>,
        sections: Vec<(String, Vec<u8>)>,
    ) -> Result<Self, EngineError> {
        let mut offset = 0;
        let table = sections
            .iter()
            .map(|(name, bytes)| {
                let section =
                    Section { name: name.clone(), offset, bytes: bytes.len() as u64, sha256: hex_sha256(bytes) };
                offset += section.bytes;
                section
            })
            .collect();
        let header = Header { key, exchange_offset, bases, sections: table };
        let digest = hex_sha256(&encode_header(&header)?);
        Ok(Self { header, digest, source: Source::Memory(sections) })
    }

    /// The artifact as a file's contents.
    #[cfg(feature = "compiler")]
    pub fn to_bytes(&self) -> Result<Vec<u8>, EngineError> {
        let header = encode_header(&self.header)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&header);
        for section in &self.header.sections {
            bytes.extend_from_slice(&self.section(&section.name)?);
        }
        Ok(bytes)
    }

    /// Opens a file. Nothing is trusted yet but the header's form.
    pub fn open(path: &Path) -> Result<Self, EngineError> {
        let failed = |source| EngineError::File { action: "read", path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        let mut start = [0; 20];
        file.read_exact(&mut start).map_err(|_| damaged("it is too short"))?;
        if &start[..16] != MAGIC {
            return Err(damaged("it is no callcell engine"));
        }
        let header_bytes = u32::from_le_bytes([start[16], start[17], start[18], start[19]]);
        if header_bytes > MAX_HEADER_BYTES {
            return Err(damaged("its header is too long"));
        }
        let mut header = vec![0; header_bytes as usize];
        file.read_exact(&mut header).map_err(|_| damaged("it is cut short"))?;
        let digest = hex_sha256(&header);
        let header = serde_json::from_slice(&header).map_err(|_| damaged("its header cannot be read"))?;
        let sections_at = 20 + u64::from(header_bytes);
        Ok(Self { header, digest, source: Source::File { file: Mutex::new(file), sections_at } })
    }

    /// Opens a cache folder that [`Artifact::store`] wrote.
    #[cfg(feature = "compiler")]
    pub fn open_cache(folder: &Path) -> Result<Self, EngineError> {
        let path = folder.join(HEADER_FILE);
        let bytes = std::fs::read(&path).map_err(|source| EngineError::File { action: "read", path, source })?;
        let header: Header = serde_json::from_slice(&bytes).map_err(|_| damaged("its header cannot be read"))?;
        for section in &header.sections {
            let length = std::fs::metadata(folder.join(&section.name)).map(|metadata| metadata.len());
            if length.ok() != Some(section.bytes) {
                return Err(damaged("a section is missing or cut short"));
            }
        }
        Ok(Self { digest: hex_sha256(&bytes), header, source: Source::Folder(folder.to_owned()) })
    }

    /// Writes a cache folder. A reader sees all of it or nothing, whenever this process dies.
    #[cfg(feature = "compiler")]
    pub fn store(&self, folder: &Path) -> Result<(), EngineError> {
        let failed = |source| EngineError::File { action: "write", path: folder.to_owned(), source };
        let parent = folder.parent().unwrap_or(Path::new("."));
        create_private_folder(parent).map_err(failed)?;
        let fresh = tempfile::Builder::new().prefix(".engine-").tempdir_in(parent).map_err(failed)?;
        for section in &self.header.sections {
            std::fs::write(fresh.path().join(&section.name), self.section(&section.name)?).map_err(failed)?;
        }
        std::fs::write(fresh.path().join(HEADER_FILE), encode_header(&self.header)?).map_err(failed)?;
        // What stands there was found unusable, or another process was quicker with the same.
        let _ = std::fs::remove_dir_all(folder);
        match std::fs::rename(fresh.path(), folder) {
            Ok(()) => {
                let _ = fresh.keep();
                Ok(())
            }
            Err(_) if Self::open_cache(folder).is_ok() => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// A section of native code.
    pub fn code(&self, name: &str) -> Result<Code, EngineError> {
        #[cfg(feature = "compiler")]
        if let Source::Folder(folder) = &self.source
            && self.header.sections.iter().any(|section| section.name == name)
        {
            return Ok(Code::Cached(folder.join(name)));
        }
        self.section(name).map(Code::Checked)
    }

    /// A section's bytes, checked against the header's digest.
    pub fn section(&self, name: &str) -> Result<Vec<u8>, EngineError> {
        let section = self.header.sections.iter().find(|section| section.name == name);
        let section = section.ok_or_else(|| damaged("it lacks a section"))?;
        let bytes = match &self.source {
            #[cfg(feature = "compiler")]
            Source::Memory(sections) => {
                let found = sections.iter().find(|(found, _)| found == name);
                found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| damaged("it lacks a section"))?
            }
            #[cfg(feature = "compiler")]
            Source::Folder(folder) => std::fs::read(folder.join(name)).map_err(|_| damaged("a section is missing"))?,
            Source::File { file, sections_at } => {
                let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let whole = file.metadata().map(|metadata| metadata.len()).unwrap_or(0);
                let start = sections_at.checked_add(section.offset).ok_or_else(|| damaged("a section is misplaced"))?;
                if start.checked_add(section.bytes).is_none_or(|end| end > whole) {
                    return Err(damaged("it is cut short"));
                }
                let mut bytes = vec![0; section.bytes as usize];
                file.seek(SeekFrom::Start(start))
                    .and_then(|_| file.read_exact(&mut bytes))
                    .map_err(|_| damaged("it is cut short"))?;
                bytes
            }
        };
        if hex_sha256(&bytes) != section.sha256 {
            return Err(damaged("a section does not match its digest"));
        }
        Ok(bytes)
    }
}

/// Only its owner may write where native code lies.
#[cfg(feature = "compiler")]
fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(feature = "compiler")]
fn encode_header(header: &Header) -> Result<Vec<u8>, EngineError> {
    serde_json::to_vec(header).map_err(|error| EngineError::Artifact { what: error.to_string() })
}
