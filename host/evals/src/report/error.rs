//! Why a report was not written.

use std::io;
use thiserror::Error;

/// A report that is not complete. `E` is what the runs come with: of a store, or [`std::convert::Infallible`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError<E: std::error::Error + 'static> {
    /// The runs ended early. What was written so far is not a whole document.
    #[error("the runs of the report cannot be read")]
    Runs(#[source] E),
    /// The output takes nothing more.
    #[error("the report cannot be written")]
    Output(#[source] io::Error),
}

impl<E: std::error::Error + 'static> ReportError<E> {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Runs(_) => "X_REPORT_RUNS",
            Self::Output(_) => "X_REPORT_OUTPUT",
        }
    }
}

impl<E: std::error::Error + 'static> From<io::Error> for ReportError<E> {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
