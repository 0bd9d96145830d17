//! What can be wrong with a store, in one place.

use rusqlite::ErrorCode;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A store that cannot be opened, read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file of the store, or one that is imported or exported, cannot be read or written.
    #[error("`{}` cannot be used: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else, perhaps another program's database. It is left as it is.
    #[error("`{}` is no store of callcell; name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The store was written by a newer callcell.
    #[error("`{}` has version {found}, and this program knows up to {known}; use a newer callcell", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: i64,
        /// The newest one known here.
        known: i64,
    },
    /// Something in the store is not what was written there: the file was cut, or somebody edited it.
    #[error("the store is damaged at {place}: {what}; restore it from a copy")]
    Damaged {
        /// Where: `dataset \`a\`, version 2, example 17`.
        place: String,
        /// A sentence.
        what: String,
    },
    /// Another process has been writing for longer than this one waits.
    #[error("another process is writing to the store; try again when it has ended")]
    Busy,
    /// The disk is full.
    #[error("there is no space left for the store")]
    Full,
    /// SQLite failed in another way.
    #[error("the store failed: {0}")]
    Sqlite(#[source] rusqlite::Error),
    /// A dataset's name is no name.
    #[error(
        "the dataset's name must have at most 128 lower-case letters, digits, `-` and `_`, a letter or digit first"
    )]
    Name,
    /// There is no such dataset, or no such version of it.
    #[error("there is no dataset `{name}`{}", version.map(|version| format!(" of version {version}")).unwrap_or_default())]
    UnknownDataset {
        /// What was asked for.
        name: String,
        /// The version, if one was asked for.
        version: Option<u64>,
    },
    /// The dataset has no such example.
    #[error("the dataset has no example `{name}`")]
    UnknownExample {
        /// What was asked for.
        name: String,
    },
    /// There is no such experiment.
    #[error("there is no experiment `{id}`")]
    UnknownExperiment {
        /// What was asked for.
        id: String,
    },
    /// Another process, or another task of this one, runs the experiment.
    #[error("the experiment `{id}` is running already; wait for it or cancel it")]
    Running {
        /// Which.
        id: String,
    },
    /// Examples are wrong, so none was imported. Each was reported when it was read.
    #[error("{count} of the examples cannot be used, so nothing was imported")]
    BadExamples {
        /// How many.
        count: u64,
    },
    /// The documents of an import are more than a dataset may have.
    #[error("the documents have more than {limit} bytes together")]
    DocumentsTooLarge {
        /// The most bytes.
        limit: u64,
    },
    /// An example has what the format cannot hold.
    #[error("the example `{example}` cannot be exported in this format: {what}")]
    NotExportable {
        /// Which.
        example: String,
        /// A sentence.
        what: &'static str,
    },
}

impl StoreError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "FILE_UNREADABLE",
            Self::Foreign { .. } => "X_STORE_FOREIGN",
            Self::Newer { .. } => "X_STORE_NEWER",
            Self::Damaged { .. } => "X_STORE_DAMAGED",
            Self::Busy => "X_STORE_BUSY",
            Self::Full => "X_STORE_FULL",
            Self::Sqlite(_) => "X_STORE_FAILED",
            Self::Name | Self::DocumentsTooLarge { .. } => "X_DATASET_INVALID",
            Self::UnknownDataset { .. } => "X_UNKNOWN_DATASET",
            Self::UnknownExample { .. } => "X_UNKNOWN_EXAMPLE",
            Self::UnknownExperiment { .. } => "X_UNKNOWN_EXPERIMENT",
            Self::Running { .. } => "X_EXPERIMENT_RUNNING",
            Self::BadExamples { .. } => "X_EXAMPLE_INVALID",
            Self::NotExportable { .. } => "X_NOT_EXPORTABLE",
        }
    }

    pub(super) fn damaged(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), what: what.into() }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as Sql;
        match (&error, error.sqlite_error_code()) {
            (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) => {
                Self::damaged("the database file", "its pages are not in order")
            }
            (_, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => Self::Busy,
            (_, Some(ErrorCode::DiskFull)) => Self::Full,
            (Sql::InvalidColumnType(..) | Sql::FromSqlConversionFailure(..) | Sql::IntegralValueOutOfRange(..), _) => {
                Self::damaged("a row", "a value is of another type")
            }
            (Sql::Utf8Error(..), _) => Self::damaged("a row", "a text is not UTF-8"),
            _ => Self::Sqlite(error),
        }
    }
}
