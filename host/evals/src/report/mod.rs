//! What an experiment comes to: files for machines, pages for people.
//!
//! Every writer takes a [`Head`], the [`Summary`], and the runs one after the other in the order of the dataset, so that experiments of any
//! size pass through: [`json`] and [`csv`] hold everything, [`junit`] tells a CI system, [`html`] is a page. [`compare`] puts two
//! experiments side by side, [`compare_html`] shows that.
//!
//! What is in the runs came from models, callbacks and documents. Nothing of it is trusted: it is escaped for the format at hand, and
//! pages cut it to a length and show what would be invisible.

mod compare;
pub mod compare_html;
pub mod csv;
#[cfg(test)]
mod demo;
mod details;
mod discrepancies;
mod error;
mod head;
pub mod html;
pub mod json;
pub mod junit;
#[cfg(test)]
mod samples;
mod summary;
mod text;

use crate::model::RunResult;

pub use compare::{
    Change, Comparison, DEFAULT_THRESHOLD, MAX_SCORES, Pair, RollUp, Scores, Sorting, TooManyScores, compare,
};
pub use details::responsible;
pub use discrepancies::{Discrepancies, Discrepancy, MAX_DISCREPANCIES};
pub use error::ReportError;
pub use head::{EvaluatorHead, Head, MethodHead, PassHead, Weight};
pub use summary::{BUCKETS, Category, EvaluatorSummary, Summary};

/// The id of a run (7.3): experiment, example and repetition, the latter from 0. An example's name is its id, since it is unique in its
/// dataset.
pub fn run_id(head: &Head, run: &RunResult) -> String {
    format!("{}/{}/{}", head.experiment, run.example, run.repetition)
}
