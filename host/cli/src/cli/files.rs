//! Reading no more of a file than it may have, and writing a file whole or not at all.

use super::failure::Problem;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// At most `limit` bytes and one more, so that the caller can tell a file that is too long.
pub fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Problem> {
    let failed = |source| Problem::File { action: "read", path: path.to_owned(), source };
    bounded(File::open(path).map_err(failed)?, limit).map_err(failed)
}

/// [`read`] for any reader.
pub fn bounded(reader: impl Read, limit: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file so that a reader sees all of it or what was there before, whenever this process dies.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let failed = |source| Problem::File { action: "write", path: path.to_owned(), source };
    let existing = fs::metadata(path);
    if existing.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // A device or a pipe: it takes bytes, and must not be replaced.
        return fs::write(path, bytes).map_err(failed);
    }
    // A link stays a link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".callcell-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error itself names the temporary file, which means nothing to anybody.
    let mut file = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cell");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"two");
        assert_eq!(read(&path, 1).unwrap(), b"tw");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(write(folder.path(), b"x"), Err(Problem::File { action: "write", .. })));
        assert!(matches!(write(&folder.path().join("none/a"), b"x"), Err(Problem::File { action: "write", .. })));
    }
}
