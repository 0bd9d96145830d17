//! Two experiments side by side (7.6).
//!
//! Of each only the scores are held, never the runs: [`Scores`] takes one run after the other, and refuses more than [`MAX_SCORES`].

use crate::model::RunResult;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use thiserror::Error;

/// A difference of more than this is a change, unless the caller says otherwise.
pub const DEFAULT_THRESHOLD: f64 = 0.05;

/// The most scores of one experiment that a comparison holds: one per example and evaluator, and one more per example.
pub const MAX_SCORES: usize = 1_000_000;

/// An experiment is too large to be compared.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("an experiment of more than {MAX_SCORES} scores cannot be compared")]
pub struct TooManyScores;

impl TooManyScores {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "X_COMPARE_LIMIT"
    }
}

/// What became of one score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Lower by more than the threshold.
    Regression,
    /// Higher by more than the threshold.
    Improvement,
    /// Neither.
    Unchanged,
    /// One side has no score.
    Incomparable,
}

/// One evaluator on one example, in both experiments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The example.
    pub example: String,
    /// The evaluator.
    pub evaluator: String,
    /// The score in the first experiment: the mean of its repetitions that have one.
    pub before: Option<f64>,
    /// The score in the second.
    pub after: Option<f64>,
    /// `after - before`; none if either is missing.
    pub delta: Option<f64>,
    /// What that is.
    pub change: Change,
}

/// One evaluator over all examples that both experiments have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollUp {
    /// The evaluator.
    pub evaluator: String,
    /// Pairs with both scores.
    pub comparable: u64,
    /// Their mean difference; none without any.
    pub mean_delta: Option<f64>,
    /// How many are lower.
    pub regressions: u64,
    /// How many are higher.
    pub improvements: u64,
    /// How many are neither.
    pub unchanged: u64,
}

/// The comparison of two experiments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Every evaluator on every example of both.
    pub pairs: Vec<Pair>,
    /// By evaluator, in order of name.
    pub evaluators: Vec<RollUp>,
    /// What a difference had to exceed to be a change.
    pub threshold: f64,
    /// Examples of the first alone; in no figure above.
    pub only_before: Vec<String>,
    /// Examples of the second alone.
    pub only_after: Vec<String>,
}

/// The order of the pairs. Equal ones stand by example, then evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sorting {
    /// The largest change first, whichever its direction; pairs without a difference last.
    #[default]
    Magnitude,
    /// The worst regression first.
    Ascending,
    /// The best improvement first.
    Descending,
    /// By example and evaluator.
    Name,
}

/// The scores of an experiment, by example and evaluator. Repetitions of an example become their mean.
#[derive(Debug, Default)]
pub struct Scores {
    /// Names of evaluators; an example's scores are by position here.
    evaluators: Vec<String>,
    /// None where an evaluator had no part in an example.
    examples: BTreeMap<String, Vec<Option<Mean>>>,
    held: usize,
}

/// Of the repetitions that have a score.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Scores {
    /// Adds a run. One without evaluators counts too: its example is there, and has no scores.
    ///
    /// # Errors
    /// When there are more than [`MAX_SCORES`] scores and examples together.
    pub fn add(&mut self, run: &RunResult) -> Result<(), TooManyScores> {
        if !self.examples.contains_key(&run.example) {
            self.examples.insert(run.example.clone(), Vec::new());
            self.held += 1;
        }
        for (index, result) in run.evaluators.iter().enumerate() {
            // Runs of one definition name its evaluators in one order.
            let is_there = self.evaluators.get(index).is_some_and(|name| *name == result.name);
            let known = || self.evaluators.iter().position(|name| *name == result.name);
            let at = is_there.then_some(index).or_else(known).unwrap_or_else(|| {
                self.evaluators.push(result.name.clone());
                self.evaluators.len() - 1
            });
            let means = self.examples.entry(run.example.clone()).or_default();
            if means.len() <= at {
                self.held += at + 1 - means.len();
                means.resize(at + 1, None);
            }
            let mean = means[at].get_or_insert_default();
            if let Some(score) = result.score {
                mean.sum += score;
                mean.count = mean.count.saturating_add(1);
            }
        }
        if self.held > MAX_SCORES { Err(TooManyScores) } else { Ok(()) }
    }

    /// Of one example, by evaluator.
    fn of<'s>(&'s self, means: &[Option<Mean>]) -> BTreeMap<&'s str, Option<f64>> {
        let names = self.evaluators.iter().map(String::as_str);
        names.zip(means).filter_map(|(name, mean)| Some((name, mean.as_ref()?.value()))).collect()
    }

    fn without(&self, other: &Self) -> Vec<String> {
        self.examples.keys().filter(|example| !other.examples.contains_key(*example)).cloned().collect()
    }
}

/// Compares two experiments. A score counts as changed when it differs by more than `threshold`, not by exactly that.
pub fn compare(before: &Scores, after: &Scores, threshold: f64, sorting: Sorting) -> Comparison {
    let mut pairs = Vec::new();
    for (example, old) in &before.examples {
        let Some(new) = after.examples.get(example) else { continue };
        let (old, new) = (before.of(old), after.of(new));
        let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
        for evaluator in names {
            let score = |side: &BTreeMap<&str, Option<f64>>| side.get(evaluator).copied().flatten();
            pairs.push(pair(example, evaluator, score(&old), score(&new), threshold));
        }
    }
    let evaluators = roll_up(&pairs);
    pairs.sort_by(|a, b| order(sorting, a, b));
    let (only_before, only_after) = (before.without(after), after.without(before));
    Comparison { pairs, evaluators, threshold, only_before, only_after }
}

fn pair(example: &str, evaluator: &str, before: Option<f64>, after: Option<f64>, threshold: f64) -> Pair {
    let delta = before.zip(after).map(|(before, after)| after - before);
    let change = match delta {
        None => Change::Incomparable,
        Some(delta) if delta < -threshold => Change::Regression,
        Some(delta) if delta > threshold => Change::Improvement,
        Some(_) => Change::Unchanged,
    };
    Pair { example: example.to_owned(), evaluator: evaluator.to_owned(), before, after, delta, change }
}

/// The order of two pairs.
pub(super) fn order(sorting: Sorting, a: &Pair, b: &Pair) -> Ordering {
    // Pairs without a difference come last, whatever is asked for.
    let by = |key: fn(f64) -> f64| match (a.delta, b.delta) {
        (Some(a), Some(b)) => key(a).total_cmp(&key(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    let by_delta = match sorting {
        Sorting::Magnitude => by(|delta| -delta.abs()),
        Sorting::Ascending => by(|delta| delta),
        Sorting::Descending => by(|delta| -delta),
        Sorting::Name => Ordering::Equal,
    };
    by_delta.then_with(|| (&a.example, &a.evaluator).cmp(&(&b.example, &b.evaluator)))
}

fn roll_up(pairs: &[Pair]) -> Vec<RollUp> {
    let mut evaluators: BTreeMap<&str, (RollUp, f64)> = BTreeMap::new();
    for pair in pairs {
        let (roll_up, sum) = evaluators.entry(&pair.evaluator).or_insert_with(|| {
            let evaluator = pair.evaluator.clone();
            let none =
                RollUp { evaluator, comparable: 0, mean_delta: None, regressions: 0, improvements: 0, unchanged: 0 };
            (none, 0.0)
        });
        let Some(delta) = pair.delta else { continue };
        roll_up.comparable += 1;
        *sum += delta;
        match pair.change {
            Change::Regression => roll_up.regressions += 1,
            Change::Improvement => roll_up.improvements += 1,
            Change::Unchanged | Change::Incomparable => roll_up.unchanged += 1,
        }
    }
    let mean = |(roll_up, sum): (RollUp, f64)| {
        let mean_delta = (roll_up.comparable > 0).then(|| sum / roll_up.comparable as f64);
        RollUp { mean_delta, ..roll_up }
    };
    evaluators.into_values().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{lost, run};
    use super::*;

    fn scores(runs: &[RunResult]) -> Scores {
        let mut scores = Scores::default();
        runs.iter().for_each(|run| scores.add(run).unwrap());
        scores
    }

    // 7.6
    #[test]
    fn changes_are_larger_than_the_threshold() {
        let change = |before, after| pair("a", "e", before, after, 0.25).change;
        assert_eq!(change(Some(0.5), Some(0.25)), Change::Unchanged);
        assert_eq!(change(Some(0.5), Some(0.125)), Change::Regression);
        assert_eq!(change(Some(0.5), Some(0.75)), Change::Unchanged);
        assert_eq!(change(Some(0.5), Some(1.0)), Change::Improvement);
        assert_eq!(change(None, Some(1.0)), Change::Incomparable);
        assert_eq!(change(Some(1.0), None), Change::Incomparable);
    }

    // 7.6
    #[test]
    fn two_experiments_are_compared_by_example_and_evaluator() {
        let before = [
            run("a", &[("x", Some(0.5)), ("y", Some(1.0))], Some(true)),
            run("b", &[("x", Some(0.0)), ("y", None)], None),
            run("old", &[("x", Some(1.0))], Some(true)),
        ];
        let after = [
            run("a", &[("x", Some(0.75)), ("y", Some(0.0))], Some(true)),
            run("b", &[("x", Some(0.0)), ("y", Some(1.0)), ("z", Some(1.0))], Some(true)),
            run("new", &[("x", Some(1.0))], Some(true)),
        ];
        let compared = |sorting| {
            let comparison = compare(&scores(&before), &scores(&after), DEFAULT_THRESHOLD, sorting);
            let names = comparison.pairs.iter().map(|pair| format!("{}/{}", pair.example, pair.evaluator));
            (names.collect::<Vec<_>>(), comparison)
        };
        assert_eq!(compared(Sorting::Magnitude).0, ["a/y", "a/x", "b/x", "b/y", "b/z"]);
        assert_eq!(compared(Sorting::Ascending).0, ["a/y", "b/x", "a/x", "b/y", "b/z"]);
        assert_eq!(compared(Sorting::Descending).0, ["a/x", "b/x", "a/y", "b/y", "b/z"]);
        let (names, comparison) = compared(Sorting::Name);
        assert_eq!(names, ["a/x", "a/y", "b/x", "b/y", "b/z"]);
        assert_eq!((comparison.only_before, comparison.only_after), (vec!["old".into()], vec!["new".into()]));
        let [x, y, z] = &comparison.evaluators[..] else { panic!("three evaluators") };
        assert_eq!((x.comparable, x.mean_delta, x.regressions, x.improvements, x.unchanged), (2, Some(0.125), 0, 1, 1));
        assert_eq!((y.comparable, y.mean_delta, y.regressions), (1, Some(-1.0), 1));
        assert_eq!((z.comparable, z.mean_delta), (0, None));
    }

    // D-77
    #[test]
    fn repetitions_are_one_score() {
        let before = [
            run("a", &[("x", Some(1.0))], Some(true)),
            run("a", &[("x", None)], None),
            run("a", &[("x", Some(0.5))], Some(true)),
        ];
        let comparison = compare(&scores(&before), &scores(&before), 0.0, Sorting::Name);
        assert_eq!((comparison.pairs[0].before, comparison.pairs[0].delta), (Some(0.75), Some(0.0)));
    }

    #[test]
    fn an_example_without_scores_is_on_both_sides_and_has_no_pairs() {
        let (before, after) = (scores(&[lost("a")]), scores(&[run("a", &[("x", Some(1.0))], Some(true))]));
        let comparison = compare(&before, &after, 0.0, Sorting::Name);
        let pairs: Vec<_> = comparison.pairs.iter().map(|pair| (pair.after, pair.change)).collect();
        assert_eq!(pairs, [(Some(1.0), Change::Incomparable)]);
        assert_eq!((comparison.only_before.len(), comparison.only_after.len()), (0, 0));
        let comparison = compare(&before, &before, 0.0, Sorting::Name);
        assert_eq!((comparison.pairs.len(), comparison.evaluators.len()), (0, 0));
    }

    #[test]
    fn an_experiment_that_is_too_large_is_refused() {
        let names: Vec<String> = (0..MAX_SCORES).map(|index| index.to_string()).collect();
        let many: Vec<_> = names.iter().take(1_000).map(|name| (name.as_str(), Some(1.0))).collect();
        let mut large = Scores::default();
        // An example is one, and its scores as many as it has.
        for index in 0..999 {
            large.add(&RunResult { example: index.to_string(), ..run("", &many, Some(true)) }).unwrap();
        }
        let error = large.add(&run("last", &many, Some(true))).unwrap_err();
        assert_eq!((error, error.code()), (TooManyScores, "X_COMPARE_LIMIT"));
    }
}
