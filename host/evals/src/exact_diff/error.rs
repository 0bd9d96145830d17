//! Why a comparison gave no score. The dataset or the declaration is at fault, never the agent's answer.

use thiserror::Error;

/// A comparison without a result: the evaluator ends in error, which blocks a pass (spec 6.3).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComparisonError {
    /// The expected projection is `undefined` here, or a path listed in `paths` leads nowhere (EV-50 to EV-52, D-54).
    #[error("the expected selection has no value at `{path}`")]
    SelectionMissing {
        /// Where; `$` for the whole projection.
        path: String,
    },
    /// The expected projection is `{}` or `[]`, after pruning: it would match anything (EV-53, spec 4.3).
    #[error("the expected selection is empty")]
    SelectionEmpty,
    /// A rule cannot apply to the expected data (spec 4.11, D-60, D-62).
    #[error("`{field}` cannot apply to the expected data at `{path}`: {reason}")]
    RuleNotApplicable {
        /// The rule's path, or the place in the data for what `matchBy` finds there.
        path: String,
        /// The field of the rule.
        field: &'static str,
        /// Why it cannot apply.
        reason: &'static str,
    },
    /// The comparison would take more work than one evaluator may use (D-59).
    #[error("the comparison exceeds the limit of {} {limit}", limit.value())]
    Limit {
        /// Which limit.
        limit: ComparisonLimit,
    },
}

/// The limits of one comparison (spec 4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComparisonLimit {
    /// [`MAX_UNORDERED_ITEMS`](super::MAX_UNORDERED_ITEMS)
    UnorderedItems,
    /// [`MAX_PAIRS`](super::MAX_PAIRS)
    Pairs,
    /// [`MAX_STEPS`](super::MAX_STEPS)
    Steps,
    /// [`MAX_DEPTH`](super::MAX_DEPTH)
    Depth,
}

impl ComparisonLimit {
    /// The limit's value, in its unit.
    pub fn value(self) -> u64 {
        match self {
            Self::UnorderedItems => super::MAX_UNORDERED_ITEMS as u64,
            Self::Pairs => super::MAX_PAIRS,
            Self::Steps => super::MAX_STEPS,
            Self::Depth => super::MAX_DEPTH as u64,
        }
    }
}

impl std::fmt::Display for ComparisonLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::UnorderedItems => "items in an unordered array",
            Self::Pairs => "pairs of items in unordered arrays",
            Self::Steps => "comparison steps",
            Self::Depth => "levels of nesting",
        })
    }
}

impl ComparisonError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SelectionMissing { .. } => "E_EXPECTED_SELECTION_MISSING",
            Self::SelectionEmpty => "E_EXPECTED_SELECTION_EMPTY",
            Self::RuleNotApplicable { .. } => "E_RULE_NOT_APPLICABLE",
            Self::Limit { .. } => "E_COMPARISON_LIMIT",
        }
    }

    /// Where in the projection or the rules, if it is about one place.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::SelectionMissing { path } | Self::RuleNotApplicable { path, .. } => Some(path),
            Self::SelectionEmpty | Self::Limit { .. } => None,
        }
    }
}
