//! Datasets and experiments in one SQLite file, with documents and bundles in a folder beside it.
//!
//! Several processes may use a store at once: readers are never kept waiting, writers wait for each other, and an experiment is run by
//! one of them at a time, which a lock of the operating system says, so that a killed process leaves none behind.
//!
//! The file is data from outside: anybody may have edited it. Whatever is read back is checked as if it were imported.
//!
//! ```text
//! callcell.db                        the tables
//! callcell.db.files/objects/ab/ab…   documents and bundles, by SHA-256
//! callcell.db.files/locks/…          one for each experiment that was ever run
//! ```

mod dataset;
mod error;
mod experiment;
mod export;
mod files;
mod reply;
mod schema;
#[cfg(test)]
mod tests;

pub use dataset::{Dataset, Document, Examples, ImportEvent, ImportMode, MAX_DOCUMENT_BYTES, StoredExample};
pub use error::StoreError;
pub use experiment::{Counts, Experiment, ExperimentStatus, Runs, StoredRun};

pub(crate) use experiment::{Lease, NewExperiment, RunRow};

use callcell_runtime::parse_json;
use files::Files;
use rusqlite::Connection;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// An open store. Share it in an `Arc`; its methods block for as long as the disk does, so call them from threads that may.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    files: Files,
    connection: Mutex<Connection>,
}

impl Store {
    /// Opens a store, making one where there is none. A store of an older callcell is brought up to date.
    ///
    /// # Errors
    /// When the file is no store, is damaged, or is of a newer callcell. It is then left as it is.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        schema::refuse_foreign(path)?;
        let files = Files::open(path)?;
        let _alone = files.lock("open")?;
        let connection = schema::open(path)?;
        Ok(Self { path: path.to_owned(), files, connection: Mutex::new(connection) })
    }

    /// Looks at every page of the database file, which takes as long as reading it. Opening looks only at its head.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn check(&self) -> Result<(), StoreError> {
        let found: String = self.connection().query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        match found.as_str() {
            "ok" => Ok(()),
            what => Err(StoreError::damaged("the database file", what.chars().take(200).collect::<String>())),
        }
    }

    /// Keeps a bundle; the same bytes are kept once.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn put_bundle(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let kept = self.files.put(&mut &bytes[..], bytes.len() as u64)?;
        kept.map(|(digest, _)| digest).ok_or_else(|| StoreError::damaged("a bundle", "it grew while it was written"))
    }

    /// The bundle an experiment was started with.
    ///
    /// # Errors
    /// When it is missing or has changed.
    pub fn bundle(&self, experiment: &Experiment) -> Result<Vec<u8>, StoreError> {
        const MAX_BUNDLE_BYTES: u64 = 257 * 1024 * 1024;
        let digest = &experiment.bundle;
        let bytes = self.files.size(digest).unwrap_or_default();
        if bytes > MAX_BUNDLE_BYTES {
            return Err(StoreError::damaged(format!("the file `{digest}`"), "it is too large for a bundle"));
        }
        let mut contents = Vec::new();
        self.files.copy_out(digest, bytes, &mut contents)?;
        Ok(contents)
    }

    /// A panic elsewhere has rolled its transaction back, so the connection is as good as before.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// SQLite has signed integers only. Nothing that is counted here comes near the end of them.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count read back.
fn unsigned(number: i64, place: impl Fn() -> String) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| StoreError::damaged(place(), "a count is negative"))
}

/// JSON read back.
fn json(text: &str, limit: usize, place: impl Fn() -> String) -> Result<Value, StoreError> {
    if text.len() > limit {
        return Err(StoreError::damaged(place(), "a text is longer than it may be"));
    }
    parse_json(text.as_bytes()).map_err(|error| StoreError::damaged(place(), format!("a text is not JSON: {error}")))
}
