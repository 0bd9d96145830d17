//! Documents and bundles beside the database, each under the SHA-256 of its contents, and the locks.
//!
//! A file is written under a temporary name, brought to the disk and then renamed: under its own name it is whole or not there.

use super::StoreError;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are copied at a time.
const BLOCK: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Files {
    root: Dir,
    path: PathBuf,
}

/// A lock that ends with the process that holds it.
#[derive(Debug)]
pub(super) struct Lock {
    _file: std::fs::File,
}

impl Files {
    /// Opens the folder beside a database, making it first if need be.
    pub fn open(database: &Path) -> Result<Self, StoreError> {
        let mut name = database.as_os_str().to_owned();
        name.push(".files");
        let path = PathBuf::from(name);
        // Not the folders above it: a name with a slip in it should not make any.
        let made = match std::fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        let opened = made.and_then(|()| {
            let root = Dir::open_ambient_dir(&path, ambient_authority())?;
            for folder in ["objects", "locks", "tmp"] {
                root.create_dir_all(folder)?;
            }
            Ok(root)
        });
        match opened {
            Ok(root) => Ok(Self { root, path }),
            Err(source) => Err(StoreError::File { path, source }),
        }
    }

    fn failed(&self, name: &str) -> impl Fn(io::Error) -> StoreError + use<> {
        let path = self.path.join(name);
        move |source| StoreError::File { path: path.clone(), source }
    }

    /// Waits for a lock.
    pub fn lock(&self, name: &str) -> Result<Lock, StoreError> {
        let file = self.lock_file(name)?;
        file.lock().map_err(self.failed(name))?;
        Ok(Lock { _file: file })
    }

    /// A lock, or none if somebody holds it.
    pub fn try_lock(&self, name: &str) -> Result<Option<Lock>, StoreError> {
        let file = self.lock_file(name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(self.failed(name)(error)),
        }
    }

    fn lock_file(&self, name: &str) -> Result<std::fs::File, StoreError> {
        let path = format!("locks/{name}");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        Ok(self.root.open_with(&path, &options).map_err(self.failed(&path))?.into_std())
    }

    /// Keeps what a reader gives, at most `limit` bytes of it; none if there are more.
    pub fn put(&self, reader: &mut dyn Read, limit: u64) -> Result<Option<(String, u64)>, StoreError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let temporary = format!("tmp/{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let kept = self.copy_in(reader, limit, &temporary);
        if !matches!(kept, Ok(Some(_))) {
            // What is left over under a temporary name harms nobody.
            let _ = self.root.remove_file(&temporary);
        }
        kept.map_err(self.failed(&temporary))
    }

    fn copy_in(&self, reader: &mut dyn Read, limit: u64, temporary: &str) -> io::Result<Option<(String, u64)>> {
        let mut file = self.root.create(temporary)?;
        let (digest, bytes) = copy(&mut reader.take(limit.saturating_add(1)), &mut file)?;
        if bytes > limit {
            return Ok(None);
        }
        file.sync_all()?;
        let folder = format!("objects/{}", &digest[..2]);
        self.root.create_dir_all(&folder)?;
        self.root.rename(temporary, &self.root, format!("{folder}/{digest}"))?;
        // The new name too. Opened as a file, because what `open_dir` gives cannot be brought to the disk.
        #[cfg(unix)]
        self.root.open(&folder)?.sync_all()?;
        Ok(Some((digest, bytes)))
    }

    /// Copies a kept file to a writer.
    ///
    /// # Errors
    /// When it is missing or its contents are not those that were kept. The writer may then have got a part.
    pub fn copy_out(&self, digest: &str, bytes: u64, writer: &mut dyn Write) -> Result<(), StoreError> {
        let damaged = |what| StoreError::damaged(format!("the file `{digest}`"), what);
        if digest.len() != 64 || !digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(damaged("its name is no digest"));
        }
        let path = format!("objects/{}/{digest}", &digest[..2]);
        let file = match self.root.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(damaged("it is missing")),
            opened => opened.map_err(self.failed(&path))?,
        };
        let copied = copy(&mut file.take(bytes.saturating_add(1)), writer).map_err(self.failed(&path))?;
        if copied != (digest.to_owned(), bytes) { Err(damaged("its contents have changed")) } else { Ok(()) }
    }

    /// How many bytes a kept file has; none if it is not there.
    pub fn size(&self, digest: &str) -> Option<u64> {
        let folder = digest.get(..2)?;
        self.root.metadata(format!("objects/{folder}/{digest}")).ok().map(|file| file.len())
    }
}

fn copy(reader: &mut dyn Read, writer: &mut dyn Write) -> io::Result<(String, u64)> {
    let mut digest = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        let read = match reader.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            break;
        }
        digest.update(&block[..read]);
        writer.write_all(&block[..read])?;
        bytes += read as u64;
    }
    let hex = digest.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok((hex, bytes))
}
