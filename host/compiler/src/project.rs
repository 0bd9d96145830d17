//! The files of a project, read through a directory handle and never from the air.
//!
//! Everything the compiler reads goes through one [`cap_std::fs::Dir`] opened on the project's root. Neither `..` nor an
//! absolute path nor a symbolic link leads out of it; symbolic links inside are followed, and a module is known by the
//! path they lead to.

use crate::diagnostics::{self, Diagnostic};
use crate::source::{Location, MAX_SOURCE_BYTES, Source};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// A project cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The root folder cannot be opened.
    #[error("the project folder `{path}` cannot be opened")]
    Root {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// There is no entry file.
    #[error("there is no file `{entry}` in the project")]
    EntryMissing {
        /// The entry as asked for.
        entry: String,
    },
    /// The entry is not under the root.
    #[error("the entry `{entry}` leads outside the project")]
    EntryOutside {
        /// The entry as asked for.
        entry: String,
    },
    /// A folder without an entry module.
    #[error("the folder `{folder}` has no entry module")]
    NoEntry {
        /// The folder.
        folder: PathBuf,
    },
    /// The entry is no `.ts` file.
    #[error("the entry `{entry}` is no TypeScript source module; it must end with `.ts`")]
    EntryNotSource {
        /// The entry as asked for.
        entry: String,
    },
}

impl ProjectError {
    /// The stable code: `C_PATH_ESCAPE`, or `C_IMPORT_UNSUPPORTED` for an entry that cannot be a module.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EntryOutside { .. } => "C_PATH_ESCAPE",
            Self::Root { .. } | Self::EntryMissing { .. } | Self::NoEntry { .. } | Self::EntryNotSource { .. } => {
                "C_IMPORT_UNSUPPORTED"
            }
        }
    }

    /// What to do about it, if that is known.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoEntry { .. } => Some(format!(
                "give a file, or name it as `main` in the folder's package.json, or call it `{}`",
                ENTRIES.join("` or `")
            )),
            _ => None,
        }
    }
}

/// A project folder and the module to start from.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    dir: Dir,
    entry: String,
}

/// The entry modules a folder may have without a package.json that names one, the first that exists.
const ENTRIES: [&str; 3] = ["agent.ts", "index.ts", "tools.ts"];
/// Bytes of a package.json.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Where a project-relative path leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// To a file with this canonical project-relative path.
    File(String),
    Missing,
    Outside,
}

impl Project {
    /// Opens the project an entry file belongs to: its root is the nearest folder above the entry that has a
    /// `package.json` or a `tsconfig.json`, else the entry's own folder.
    ///
    /// A folder stands for its entry: the `.ts` file that its `package.json` names as `main`, else the first of `agent.ts`,
    /// `index.ts` and `tools.ts` that exists.
    ///
    /// # Errors
    /// As [`Project::with_root`], and when a folder has no entry.
    pub fn open(entry: &Path) -> Result<Self, ProjectError> {
        let entry = if entry.is_dir() { entry_of(entry)? } else { entry.to_path_buf() };
        let absolute =
            std::path::absolute(&entry).map_err(|source| ProjectError::Root { path: entry.clone(), source })?;
        let own = absolute.parent().unwrap_or(&absolute);
        let root = own
            .ancestors()
            .find(|folder| folder.join("package.json").is_file() || folder.join("tsconfig.json").is_file())
            .unwrap_or(own);
        Self::with_root(root, &absolute)
    }

    /// Opens a project with a given root. `entry` is relative to `root`, or an absolute path under it.
    ///
    /// # Errors
    /// When the root cannot be opened, or the entry is no `.ts` file under it.
    pub fn with_root(root: &Path, entry: &Path) -> Result<Self, ProjectError> {
        let shown = || entry.to_string_lossy().into_owned();
        let dir = Dir::open_ambient_dir(root, ambient_authority())
            .map_err(|source| ProjectError::Root { path: root.to_path_buf(), source })?;
        let relative = if entry.is_absolute() {
            let root =
                std::path::absolute(root).map_err(|source| ProjectError::Root { path: root.to_path_buf(), source })?;
            entry.strip_prefix(&root).map_err(|_| ProjectError::EntryOutside { entry: shown() })?.to_path_buf()
        } else {
            entry.to_path_buf()
        };
        let relative = normalize(&relative).ok_or_else(|| ProjectError::EntryOutside { entry: shown() })?;
        let mut project = Self { root: root.to_path_buf(), dir, entry: relative };
        project.entry = match project.lookup(&project.entry) {
            Lookup::File(path) if is_source(&path) => path,
            Lookup::File(_) => return Err(ProjectError::EntryNotSource { entry: shown() }),
            Lookup::Missing => return Err(ProjectError::EntryMissing { entry: shown() }),
            Lookup::Outside => return Err(ProjectError::EntryOutside { entry: shown() }),
        };
        Ok(project)
    }

    /// The project's root folder, as it was given or found.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The entry module's canonical project-relative path, with `/` separators.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Where a project-relative path leads, symbolic links resolved.
    pub(crate) fn lookup(&self, path: &str) -> Lookup {
        match self.dir.canonicalize(if path.is_empty() { "." } else { path }) {
            Ok(canonical) => match (normalize(&canonical), self.dir.metadata(&canonical)) {
                (Some(name), Ok(metadata)) if metadata.is_file() => Lookup::File(name),
                _ => Lookup::Missing,
            },
            Err(error) if leads_outside(&error) => Lookup::Outside,
            Err(_) => Lookup::Missing,
        }
    }

    /// Whether a project-relative path leads to a folder; none if it leads outside.
    pub(crate) fn is_folder(&self, path: &str) -> Option<bool> {
        match self.dir.metadata(if path.is_empty() { "." } else { path }) {
            Ok(metadata) => Some(metadata.is_dir()),
            Err(error) if leads_outside(&error) => None,
            Err(_) => Some(false),
        }
    }

    /// Reads a module by its canonical path.
    pub(crate) fn read(&self, name: &str) -> Result<Source, Diagnostic> {
        let start = Location::start_of(name);
        let unreadable = |error: io::Error| diagnostics::unreadable(&start, &error.to_string());
        // A named pipe would block in `open`; between this look and the next line nothing but the author acts.
        if !self.dir.metadata(name).map_err(unreadable)?.is_file() {
            return Err(diagnostics::unreadable(&start, "not a regular file"));
        }
        let mut bytes = Vec::new();
        self.dir
            .open(name)
            .and_then(|file| file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_SOURCE_BYTES {
            return Err(diagnostics::too_large(&start, bytes.len() as u64, MAX_SOURCE_BYTES));
        }
        Source::decode(name, bytes).map_err(|at| diagnostics::invalid_utf8(&at))
    }
}

/// Whether cap-std itself refused, because a path leads out of its folder: then there is no number of the system.
fn leads_outside(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// The entry module of a folder.
fn entry_of(folder: &Path) -> Result<PathBuf, ProjectError> {
    // What a package.json says that cannot be read is nobody's entry; the names below still count.
    let named = || {
        let mut text = String::new();
        let file = std::fs::File::open(folder.join("package.json")).ok()?;
        file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text).ok()?;
        let main = serde_json::from_str::<serde_json::Value>(&text).ok()?.get("main")?.as_str()?.to_owned();
        is_source(&main).then(|| folder.join(main))
    };
    let usual = || ENTRIES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    named().or_else(usual).ok_or_else(|| ProjectError::NoEntry { folder: folder.to_path_buf() })
}

/// Whether a path names a source module.
pub(crate) fn is_source(path: &str) -> bool {
    path.ends_with(".ts") && !path.ends_with(".d.ts")
}

/// A relative path with `/` separators and without `.` and `..`; none if it leaves its start or is not UTF-8.
fn normalize(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("agents/deep")).unwrap();
        fs::write(folder.path().join("agents/deep/tools.ts"), "export {};").unwrap();
        folder
    }

    #[test]
    fn a_folder_stands_for_its_entry() {
        let folder = folder();
        let refused = Project::open(folder.path()).unwrap_err();
        assert!(matches!(refused, ProjectError::NoEntry { .. }), "{refused}");
        assert!(refused.help().is_some_and(|help| help.contains("`agent.ts`")));
        fs::write(folder.path().join("tools.ts"), "").unwrap();
        assert_eq!(Project::open(folder.path()).unwrap().entry(), "tools.ts");
        fs::write(folder.path().join("index.ts"), "").unwrap();
        assert_eq!(Project::open(folder.path()).unwrap().entry(), "index.ts");
        fs::write(folder.path().join("package.json"), r#"{"main":"agents/deep/tools.ts"}"#).unwrap();
        assert_eq!(Project::open(folder.path()).unwrap().entry(), "agents/deep/tools.ts");
        fs::write(folder.path().join("package.json"), r#"{"main":"../outside.ts"}"#).unwrap();
        assert!(Project::open(folder.path()).is_err());
        for ignored in ["", "[]", r#"{"main":1}"#, r#"{"main":"dist/index.js"}"#] {
            fs::write(folder.path().join("package.json"), ignored).unwrap();
            assert_eq!(Project::open(folder.path()).unwrap().entry(), "index.ts", "{ignored}");
        }
    }

    #[test]
    fn the_root_is_the_nearest_folder_with_a_manifest() {
        let folder = folder();
        let entry = folder.path().join("agents/deep/tools.ts");
        assert_eq!(Project::open(&entry).unwrap().entry(), "tools.ts");
        fs::write(folder.path().join("package.json"), "{}").unwrap();
        assert_eq!(Project::open(&entry).unwrap().entry(), "agents/deep/tools.ts");
        fs::write(folder.path().join("agents/tsconfig.json"), "{}").unwrap();
        assert_eq!(Project::open(&entry).unwrap().entry(), "deep/tools.ts");
    }

    #[test]
    fn the_entry_must_be_a_source_under_the_root() {
        let folder = folder();
        let code = |entry: &str| Project::with_root(folder.path(), Path::new(entry)).unwrap_err().code();
        assert_eq!(code("../tools.ts"), "C_PATH_ESCAPE");
        assert_eq!(code("/etc/passwd"), "C_PATH_ESCAPE");
        assert_eq!(code("none.ts"), "C_IMPORT_UNSUPPORTED");
        fs::write(folder.path().join("data.json"), "{}").unwrap();
        assert_eq!(code("data.json"), "C_IMPORT_UNSUPPORTED");
        assert!(Project::with_root(folder.path(), Path::new("./agents/../agents/deep/tools.ts")).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leaves_the_root_is_outside() {
        let outside = folder();
        let folder = folder();
        std::os::unix::fs::symlink(outside.path().join("agents/deep/tools.ts"), folder.path().join("abs.ts")).unwrap();
        std::os::unix::fs::symlink("../../../../etc/hostname", folder.path().join("rel.ts")).unwrap();
        std::os::unix::fs::symlink("agents/deep/tools.ts", folder.path().join("inside.ts")).unwrap();
        let project = Project::with_root(folder.path(), Path::new("agents/deep/tools.ts")).unwrap();
        assert_eq!(project.lookup("abs.ts"), Lookup::Outside);
        assert_eq!(project.lookup("rel.ts"), Lookup::Outside);
        assert_eq!(project.lookup("inside.ts"), Lookup::File("agents/deep/tools.ts".into()));
    }
}
