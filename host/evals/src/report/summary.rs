//! The summary of an experiment (7.5), made from one run after the other.

use crate::model::{EvaluationUsage, EvaluatorType, RunResult, Status};
use serde::Serialize;

/// Runs in numbers. `total` is `passed + failed + errors`: an error is a run without a decision, and no failed answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Runs.
    pub total: u64,
    /// Decided, and passed.
    pub passed: u64,
    /// Decided, and not passed.
    pub failed: u64,
    /// Not decided: there was no output, or an evaluator or the rule ended in an error.
    pub errors: u64,
    /// Runs whose rule gave a weighted mean.
    pub valued: u64,
    /// Mean of those; none without any.
    pub mean_value: Option<f64>,
    /// In the order in which the evaluators were first seen, which is that of registration.
    pub evaluators: Vec<EvaluatorSummary>,
    /// Fuel of all runs.
    pub run_fuel: u64,
    /// What evaluating cost.
    pub evaluation: EvaluationUsage,
}

/// One evaluator in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorSummary {
    /// Its name.
    pub name: String,
    /// How it works.
    #[serde(rename = "type")]
    pub kind: EvaluatorType,
    /// Runs it had a part in.
    pub total: u64,
    /// Of those, the ones with a score.
    pub scored: u64,
    /// The ones without.
    pub errors: u64,
    /// Over the scores; none without any.
    pub mean: Option<f64>,
    /// The lowest score.
    pub min: Option<f64>,
    /// The highest.
    pub max: Option<f64>,
    /// How many scores lie in each tenth from 0 to 1; 1 is in the last.
    pub histogram: [u64; BUCKETS],
}

/// Parts of a distribution of scores.
pub const BUCKETS: usize = 10;

/// What a run counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Decided, and passed.
    Passed,
    /// Decided, and not passed.
    Failed,
    /// Not decided.
    Error,
}

impl Category {
    /// That of a run.
    pub fn of(run: &RunResult) -> Self {
        match (run.status, run.passed) {
            (Status::Decided, true) => Self::Passed,
            (Status::Decided, false) => Self::Failed,
            (Status::Blocked | Status::RunFailed, _) => Self::Error,
        }
    }
}

impl Summary {
    /// Adds a run.
    pub fn add(&mut self, run: &RunResult) {
        self.total += 1;
        match Category::of(run) {
            Category::Passed => self.passed += 1,
            Category::Failed => self.failed += 1,
            Category::Error => self.errors += 1,
        }
        if let Some(value) = run.value {
            self.valued += 1;
            self.mean_value = Some(mean(self.mean_value, self.valued, value));
        }
        for result in &run.evaluators {
            let known = self.evaluators.iter().position(|evaluator| evaluator.name == result.name);
            let at = known.unwrap_or_else(|| {
                self.evaluators.push(EvaluatorSummary {
                    name: result.name.clone(),
                    kind: result.kind,
                    total: 0,
                    scored: 0,
                    errors: 0,
                    mean: None,
                    min: None,
                    max: None,
                    histogram: [0; BUCKETS],
                });
                self.evaluators.len() - 1
            });
            let evaluator = &mut self.evaluators[at];
            evaluator.total += 1;
            match result.score {
                None => evaluator.errors += 1,
                Some(score) => {
                    evaluator.scored += 1;
                    evaluator.mean = Some(mean(evaluator.mean, evaluator.scored, score));
                    evaluator.min = Some(evaluator.min.map_or(score, |min| min.min(score)));
                    evaluator.max = Some(evaluator.max.map_or(score, |max| max.max(score)));
                    // The conversion saturates, so that no score, however odd, is outside.
                    evaluator.histogram[((score * BUCKETS as f64) as usize).min(BUCKETS - 1)] += 1;
                }
            }
        }
        self.run_fuel = self.run_fuel.saturating_add(run.run_fuel);
        self.evaluation.add(&run.evaluation);
    }

    /// Passed runs over all; 1 without any, because nothing has failed.
    pub fn pass_rate(&self) -> f64 {
        if self.total == 0 { 1.0 } else { self.passed as f64 / self.total as f64 }
    }
}

/// A mean with one value more: in this form it neither overflows nor loses more than its last digits over millions of values.
fn mean(before: Option<f64>, count: u64, value: f64) -> f64 {
    let before = before.unwrap_or(0.0);
    before + (value - before) / count as f64
}

impl EvaluationUsage {
    /// Adds what another evaluation cost.
    pub fn add(&mut self, other: &Self) {
        let Self { fuel, calls, judge_requests, judge_cached, prompt_tokens, completion_tokens } = self;
        for (sum, part) in [
            (fuel, other.fuel),
            (calls, other.calls),
            (judge_requests, other.judge_requests),
            (judge_cached, other.judge_cached),
            (prompt_tokens, other.prompt_tokens),
            (completion_tokens, other.completion_tokens),
        ] {
            *sum = sum.saturating_add(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{lost, run};
    use super::*;

    // 7.5
    #[test]
    fn passed_failed_and_errors_add_up() {
        let mut summary = Summary::default();
        summary.add(&run("a", &[("one", Some(1.0)), ("two", Some(0.5))], Some(true)));
        summary.add(&run("b", &[("one", Some(0.0)), ("two", Some(0.25))], Some(false)));
        summary.add(&run("c", &[("one", Some(0.5)), ("two", None)], None));
        summary.add(&lost("d"));
        assert_eq!((summary.total, summary.passed, summary.failed, summary.errors), (4, 1, 1, 2));
        assert_eq!((summary.valued, summary.mean_value, summary.pass_rate()), (2, Some(0.5), 0.25));
        let [one, two] = &summary.evaluators[..] else { panic!("two evaluators") };
        assert_eq!(
            (one.total, one.scored, one.errors, one.mean, one.min, one.max),
            (3, 3, 0, Some(0.5), Some(0.0), Some(1.0))
        );
        assert_eq!(one.histogram, [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!((two.total, two.scored, two.errors, two.mean), (3, 2, 1, Some(0.375)));
        assert_eq!((summary.run_fuel, summary.evaluation.fuel, summary.evaluation.calls), (40, 20, 8));
    }

    #[test]
    fn nothing_has_no_mean_and_has_not_failed() {
        let summary = Summary::default();
        assert_eq!((summary.mean_value, summary.pass_rate(), summary.evaluators.len()), (None, 1.0, 0));
    }

    #[test]
    fn a_mean_of_many_equal_values_is_that_value() {
        let mut summary = Summary::default();
        (0..100_000).for_each(|_| summary.add(&run("a", &[("one", Some(0.1))], Some(true))));
        assert!((summary.mean_value.unwrap() - 0.1).abs() < 1e-12);
    }
}
