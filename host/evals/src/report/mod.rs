//! What an experiment comes to: a summary of its runs, and the comparison of two.

mod compare;
mod summary;

pub use compare::{Change, Comparison, DEFAULT_THRESHOLD, Pair, RollUp, Sorting, compare};
pub use summary::{EvaluatorSummary, Summary};
