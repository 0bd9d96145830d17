//! Whether an example passed: the decision over all evaluators (spec 6).
//!
//! A decision is made only when every evaluator of the definition has a score. One that failed blocks it, even one that a weighted rule
//! does not list (D-73): the verdict is then "not passed" and says who is at fault, and the mean is not taken over the rest.

use crate::Score;
use crate::model::Status;
use serde::Serialize;
use std::collections::HashSet;
use thiserror::Error;

/// How far a weighted mean may fall below the threshold and still pass: doubles give 0.6999999999999997 for the mean of 0.7 and
/// 0.7 with the weights 0.1 and 0.2 (D-72).
pub const THRESHOLD_SLACK: f64 = 1e-9;

/// A weighted mean with an inclusive threshold: `weightedScore` (EV-90 to EV-97).
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedRule {
    weights: Vec<(String, f64)>,
    total: f64,
    threshold: f64,
}

/// A pass rule that is not valid. The SDK finds the same when a project is compiled.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RuleError {
    /// There are no weights, or their sum is zero or not finite (EV-96).
    #[error("the weights must have a positive, finite sum")]
    Sum,
    /// A weight is negative or not finite (EV-94, EV-95).
    #[error("the weight of `{name}` must be a finite number of at least 0")]
    Weight {
        /// Whose.
        name: String,
    },
    /// A score has two weights.
    #[error("`{name}` has two weights")]
    Twice {
        /// Whose.
        name: String,
    },
    /// A weight names no registered evaluator (EV-22).
    #[error("no evaluator is called `{name}`")]
    UnknownScore {
        /// The name.
        name: String,
    },
    /// The threshold is not from 0 to 1 (EV-97).
    #[error("the threshold must be a number from 0 to 1")]
    Threshold,
}

impl RuleError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Sum | Self::Weight { .. } | Self::Twice { .. } => "C_WEIGHTS_INVALID",
            Self::UnknownScore { .. } => "C_WEIGHTS_UNKNOWN_SCORE",
            Self::Threshold => "C_THRESHOLD_INVALID",
        }
    }
}

/// How one evaluator of the definition ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluated<'a> {
    /// The evaluator's name.
    pub name: &'a str,
    /// Its score, or the stable code of its error: of the runtime (`R_TIMEOUT`), the comparator, the judge or
    /// [`ScoreInvalid`](crate::ScoreInvalid).
    pub outcome: Result<Score, &'a str>,
}

/// The decision about an example.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether the example passed. Never true when `status` is blocked.
    pub passed: bool,
    /// Whether there was a decision: decided or blocked, since there is an output to decide about.
    pub status: Status,
    /// The weighted mean, not rounded; null for predicates and when blocked (D-75).
    pub value: Option<f64>,
    /// Why there was no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
}

/// What kept a rule from deciding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// `E_PASS_BLOCKED`, or the code with which the predicate itself failed, such as `E_PASS_NOT_BOOLEAN` or `R_TIMEOUT`.
    pub code: String,
    /// The evaluators without a score, in the definition's order. Empty if it was the predicate.
    pub evaluators: Vec<Blocker>,
}

/// An evaluator without a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blocker {
    /// Its name.
    pub name: String,
    /// The code of its error.
    pub code: String,
}

impl Verdict {
    fn decided(passed: bool, value: Option<f64>) -> Self {
        Self { passed, status: Status::Decided, value, block: None }
    }

    fn blocked(code: &str, evaluators: Vec<Blocker>) -> Self {
        let block = Some(Block { code: code.to_owned(), evaluators });
        Self { passed: false, status: Status::Blocked, value: None, block }
    }
}

/// The verdict that errors force (EV-104 to EV-108), or nothing if every evaluator has a score. Only then is a predicate called
/// (D-74).
pub fn blocked(evaluated: &[Evaluated<'_>]) -> Option<Verdict> {
    blocked_with(evaluated, Vec::new())
}

fn blocked_with(evaluated: &[Evaluated<'_>], without_outcome: Vec<Blocker>) -> Option<Verdict> {
    let failed = evaluated.iter().filter_map(|evaluated| Some(Blocker::new(evaluated.name, evaluated.outcome.err()?)));
    let blockers: Vec<_> = failed.chain(without_outcome).collect();
    (!blockers.is_empty()).then(|| Verdict::blocked("E_PASS_BLOCKED", blockers))
}

/// The verdict of a predicate (EV-98 to EV-101). `answer` is what it returned for these scores, or the stable code of its error,
/// which is no decision either. If an evaluator failed, `answer` does not count.
pub fn predicate_verdict(evaluated: &[Evaluated<'_>], answer: Result<bool, &str>) -> Verdict {
    blocked(evaluated).unwrap_or_else(|| match answer {
        Ok(passed) => Verdict::decided(passed, None),
        Err(code) => Verdict::blocked(code, Vec::new()),
    })
}

impl Blocker {
    fn new(name: &str, code: &str) -> Self {
        Self { name: name.to_owned(), code: code.to_owned() }
    }
}

impl WeightedRule {
    /// A rule over the scores of `weights`. `registered` are the names of the definition's evaluators. A weight of 0 is legal
    /// and contributes nothing; a threshold of 0 is legal and passes whenever there is a decision.
    ///
    /// # Errors
    /// When the weights, their sum or the threshold are not as spec 6.1 says.
    pub fn new<N: Into<String>>(
        weights: impl IntoIterator<Item = (N, f64)>,
        threshold: f64,
        registered: &[&str],
    ) -> Result<Self, RuleError> {
        let weights: Vec<(String, f64)> = weights.into_iter().map(|(name, weight)| (name.into(), weight)).collect();
        let registered: HashSet<&str> = registered.iter().copied().collect();
        let mut known = HashSet::new();
        for (name, weight) in &weights {
            if !(weight.is_finite() && *weight >= 0.0) {
                return Err(RuleError::Weight { name: name.clone() });
            }
            if !registered.contains(name.as_str()) {
                return Err(RuleError::UnknownScore { name: name.clone() });
            }
            if !known.insert(name.as_str()) {
                return Err(RuleError::Twice { name: name.clone() });
            }
        }
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(RuleError::Sum);
        }
        // NaN is in no range.
        if !(0.0..=1.0).contains(&threshold) {
            return Err(RuleError::Threshold);
        }
        Ok(Self { weights, total, threshold })
    }

    /// The listed scores with their weights, as given.
    pub fn weights(&self) -> &[(String, f64)] {
        &self.weights
    }

    /// The threshold, from 0 to 1; reaching it passes.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The verdict over all evaluators of the definition. Only listed scores contribute (EV-93), but any error blocks. A listed score
    /// without an outcome blocks as well: leaving it out would shrink the denominator (EV-108).
    pub fn verdict(&self, evaluated: &[Evaluated<'_>]) -> Verdict {
        let mut sum = 0.0;
        let mut without_outcome = Vec::new();
        for (name, weight) in &self.weights {
            match evaluated.iter().find(|evaluated| evaluated.name == name) {
                Some(Evaluated { outcome: Ok(score), .. }) => sum += weight * score.get(),
                Some(_) => {}
                None => without_outcome.push(Blocker::new(name, crate::ScoreInvalid.code())),
            }
        }
        blocked_with(evaluated, without_outcome).unwrap_or_else(|| {
            // Scores are at most 1 and both sums round in the same order, so this is at most 1.
            let value = sum / self.total;
            Verdict::decided(value + THRESHOLD_SLACK >= self.threshold, Some(value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn ok(name: &str, score: f64) -> Evaluated<'_> {
        Evaluated { name, outcome: Ok(Score::new(score).unwrap()) }
    }

    fn failed<'a>(name: &'a str, code: &'a str) -> Evaluated<'a> {
        Evaluated { name, outcome: Err(code) }
    }

    const NAMES: [&str; 3] = ["fields", "meaning", "nonnegative"];

    fn example(threshold: f64) -> WeightedRule {
        WeightedRule::new([("fields", 2.0), ("meaning", 1.0), ("nonnegative", 1.0)], threshold, &NAMES).unwrap()
    }

    // EV-91
    #[test]
    fn the_mean_of_the_seed_is_weighted() {
        let verdict = example(0.9).verdict(&[ok("fields", 1.0), ok("meaning", 0.5), ok("nonnegative", 1.0)]);
        assert_eq!(verdict, Verdict::decided(false, Some(0.875)));
    }

    // EV-92, D-72
    #[test]
    fn the_threshold_is_inclusive_for_doubles_too() {
        assert!(example(0.9).verdict(&[ok("fields", 1.0), ok("meaning", 0.6), ok("nonnegative", 1.0)]).passed);
        assert!(!example(0.9).verdict(&[ok("fields", 1.0), ok("meaning", 0.599), ok("nonnegative", 1.0)]).passed);
        for weights in [&[0.1, 0.2][..], &[3.0, 3.0, 3.0]] {
            let rule = WeightedRule::new(NAMES.into_iter().zip(weights.iter().copied()), 0.7, &NAMES).unwrap();
            let verdict = rule.verdict(&NAMES.map(|name| ok(name, 0.7)));
            assert!(verdict.passed && verdict.value.is_some_and(|value| value < 0.7), "{verdict:?}");
        }
        assert!(!example(0.9).verdict(&NAMES.map(|name| ok(name, 0.9 - 2e-9))).passed);
    }

    // EV-97; spec 6.1: a threshold of 0 is legal.
    #[test]
    fn both_ends_are_thresholds() {
        assert!(example(0.0).verdict(&NAMES.map(|name| ok(name, 0.0))).passed);
        assert!(example(1.0).verdict(&NAMES.map(|name| ok(name, 1.0))).passed);
        assert!(!example(0.0).verdict(&NAMES.map(|name| failed(name, "R_THREW"))).passed);
        for threshold in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = WeightedRule::new([("fields", 1.0)], threshold, &NAMES).unwrap_err();
            assert_eq!(error.code(), "C_THRESHOLD_INVALID");
        }
    }

    // EV-94 to EV-96
    #[test]
    fn weights_are_finite_and_not_negative_with_a_positive_sum() {
        for weights in [
            &[][..],
            &[("fields", f64::NAN)],
            &[("fields", f64::INFINITY)],
            &[("fields", -1.0), ("meaning", 2.0)],
            &[("fields", 0.0), ("meaning", 0.0)],
            &[("fields", 1e308), ("meaning", 1e308)],
            &[("fields", 1.0), ("fields", 1.0)],
        ] {
            let error = WeightedRule::new(weights.iter().copied(), 0.5, &NAMES).unwrap_err();
            assert_eq!(error.code(), "C_WEIGHTS_INVALID", "{weights:?}");
        }
        let error = WeightedRule::new([("constructor", 1.0)], 0.5, &NAMES).unwrap_err();
        assert_eq!(error.code(), "C_WEIGHTS_UNKNOWN_SCORE");
    }

    // EV-93
    #[test]
    fn only_listed_scores_contribute() {
        let rule = WeightedRule::new([("fields", 1.0), ("meaning", 0.0)], 0.9, &NAMES).unwrap();
        let verdict = rule.verdict(&[ok("fields", 1.0), ok("meaning", 0.0), ok("nonnegative", 0.0)]);
        assert_eq!(verdict, Verdict::decided(true, Some(1.0)));
    }

    // EV-104 to EV-108, D-73, D-75
    #[test]
    fn an_error_blocks_whoever_it_belongs_to() {
        let rule = WeightedRule::new([("fields", 1.0)], 0.0, &NAMES).unwrap();
        for code in ["R_THREW", "R_TIMEOUT", "E_SCORE_INVALID", "E_EXPECTED_SELECTION_MISSING"] {
            let evaluated = [ok("fields", 1.0), failed("meaning", code), ok("nonnegative", 1.0)];
            let verdict = rule.verdict(&evaluated);
            assert_eq!(verdict, Verdict::blocked("E_PASS_BLOCKED", vec![Blocker::new("meaning", code)]));
            assert_eq!(predicate_verdict(&evaluated, Ok(true)), verdict);
            assert_eq!(blocked(&evaluated), Some(verdict));
        }
        assert_eq!(blocked(&[ok("fields", 0.0)]), None);
    }

    // EV-108
    #[test]
    fn a_listed_score_that_is_not_there_blocks() {
        let verdict = example(0.1).verdict(&[ok("fields", 1.0), failed("meaning", "R_FUEL")]);
        let blockers = vec![Blocker::new("meaning", "R_FUEL"), Blocker::new("nonnegative", "E_SCORE_INVALID")];
        assert_eq!(verdict, Verdict::blocked("E_PASS_BLOCKED", blockers));
    }

    // EV-98, EV-100, EV-101
    #[test]
    fn a_predicate_decides_alone() {
        let evaluated = [ok("fields", 0.0)];
        assert_eq!(predicate_verdict(&evaluated, Ok(true)), Verdict::decided(true, None));
        assert_eq!(predicate_verdict(&evaluated, Ok(false)), Verdict::decided(false, None));
        let broken = predicate_verdict(&evaluated, Err("E_PASS_NOT_BOOLEAN"));
        assert_eq!(broken, Verdict::blocked("E_PASS_NOT_BOOLEAN", vec![]));
        assert!(!broken.passed);
    }

    #[test]
    fn a_verdict_is_plain_json() {
        assert_eq!(
            json!(Verdict::blocked("E_PASS_BLOCKED", vec![Blocker::new("a", "R_THREW")])),
            json!({
                "passed": false, "status": "blocked", "value": null,
                "block": { "code": "E_PASS_BLOCKED", "evaluators": [{ "name": "a", "code": "R_THREW" }] },
            })
        );
        assert_eq!(
            json!(Verdict::decided(true, Some(0.875))),
            json!({ "passed": true, "status": "decided", "value": 0.875 })
        );
    }

    proptest! {
        #[test]
        fn the_mean_lies_between_the_scores(
            rows in prop::collection::vec((0.0..=1e300f64, 0.0..=1.0f64), 1..32), threshold in 0.0..=1.0f64
        ) {
            let names: Vec<String> = (0..rows.len()).map(|index| format!("e{index}")).collect();
            let registered: Vec<&str> = names.iter().map(String::as_str).collect();
            let weights = registered.iter().zip(&rows).map(|(name, (weight, _))| (*name, *weight));
            let Ok(rule) = WeightedRule::new(weights, threshold, &registered) else { return Ok(()) };
            let evaluated: Vec<_> = registered.iter().zip(&rows).map(|(name, (_, score))| ok(name, *score)).collect();
            let value = rule.verdict(&evaluated).value.unwrap();
            let (least, most) = rows.iter().fold((1.0f64, 0.0f64), |(l, m), (_, score)| (l.min(*score), m.max(*score)));
            prop_assert!((0.0..=1.0).contains(&value) && value >= least - 1e-12 && value <= most + 1e-12);
        }
    }
}
