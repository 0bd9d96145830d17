//! `exactDiff`: compares what a selector took from the actual output with what it took from the expected answer.
//!
//! ```
//! use callcell_evals::exact_diff::{Options, Projection, compare};
//! use serde_json::json;
//!
//! let options = Options::parse(&json!({ "rules": { "total": { "numericTolerance": 0.01 } } }))?;
//! let (expected, actual) = (json!({ "total": 12.5, "tags": ["a"] }), json!({ "total": 12.51, "tags": ["b"] }));
//! let comparison = compare(Projection::new(&expected, &[]), Projection::new(&actual, &[]), &options)?;
//! assert_eq!((comparison.matched, comparison.total, comparison.score), (1, 2, 0.5));
//! assert_eq!(comparison.mismatches[0].path, "tags[0]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The phases, one file each: `options` reads what the manifest carries, over the paths of `path`; `view` prunes a projection and
//! checks it, in one pass; `compare` walks both views, with `identity` for `matchBy` and `unordered` over `matching` for
//! arrays without order; `report` is what comes out.

mod compare;
mod error;
mod identity;
mod matching;
mod options;
mod path;
mod report;
#[cfg(test)]
mod tests;
mod unordered;
mod view;

use callcell_runtime::Outcome;
use serde_json::Value;

pub use compare::{MAX_STEPS, compare};
pub use error::{ComparisonError, ComparisonLimit};
pub use options::{Options, OptionsError};
pub use report::{Comparison, Field, MAX_MISMATCHES, MAX_SHOWN_CHARACTERS, Mismatch, MismatchKind};
pub(crate) use report::{cut, shown};
pub use unordered::{MAX_PAIRS, MAX_UNORDERED_ITEMS};
pub use view::MAX_DEPTH;

/// What a selector returned, with the places that were `undefined`.
#[derive(Clone, Copy, Debug)]
pub struct Projection<'a> {
    value: &'a Value,
    undefined: &'a [String],
}

impl<'a> Projection<'a> {
    /// A projection of `value`. `undefined` lists, as [`Outcome::undefined`] does, the paths that stand as null in `value` but
    /// were `undefined`: `$.total`, `$.lines[0]`, or `$` for the whole.
    ///
    /// The guest lists at most 1,000 of them and cuts long ones. Nulls that such a list leaves in doubt are taken for
    /// `undefined`, because the other reading could let a missing value match.
    pub fn new(value: &'a Value, undefined: &'a [String]) -> Self {
        Self { value, undefined }
    }
}

impl<'a> From<&'a Outcome> for Projection<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        Self::new(&outcome.value, &outcome.undefined)
    }
}
