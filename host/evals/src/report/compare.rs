//! Two experiments side by side (7.6).

use crate::model::RunResult;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A difference of more than this is a change, unless the caller says otherwise.
pub const DEFAULT_THRESHOLD: f64 = 0.05;

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

/// Compares two experiments, each given by its runs. A score counts as changed when it differs by more than `threshold`, not by exactly that.
pub fn compare<'r>(
    before: impl IntoIterator<Item = &'r RunResult>,
    after: impl IntoIterator<Item = &'r RunResult>,
    threshold: f64,
    sorting: Sorting,
) -> Comparison {
    let (before, after) = (scores(before), scores(after));
    let mut pairs = Vec::new();
    for (example, old) in &before {
        let Some(new) = after.get(example) else { continue };
        let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
        for evaluator in names {
            let score = |side: &Evaluators<'_>| side.get(evaluator).and_then(Mean::value);
            pairs.push(pair(example, evaluator, score(old), score(new), threshold));
        }
    }
    let evaluators = roll_up(&pairs);
    pairs
        .sort_by(|a, b| order(sorting, a, b).then_with(|| (&a.example, &a.evaluator).cmp(&(&b.example, &b.evaluator))));
    let alone = |here: &Examples<'_>, there: &Examples<'_>| -> Vec<String> {
        here.keys().filter(|example| !there.contains_key(*example)).map(|example| (*example).to_owned()).collect()
    };
    Comparison { pairs, evaluators, only_before: alone(&before, &after), only_after: alone(&after, &before) }
}

type Evaluators<'r> = BTreeMap<&'r str, Mean>;
type Examples<'r> = BTreeMap<&'r str, Evaluators<'r>>;

/// Of the repetitions that have a score.
#[derive(Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

fn scores<'r>(runs: impl IntoIterator<Item = &'r RunResult>) -> Examples<'r> {
    let mut examples = Examples::new();
    for run in runs {
        let evaluators = examples.entry(&run.example).or_default();
        for result in &run.evaluators {
            let mean = evaluators.entry(&result.name).or_default();
            if let Some(score) = result.score {
                mean.sum += score;
                mean.count += 1;
            }
        }
    }
    examples
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

fn order(sorting: Sorting, a: &Pair, b: &Pair) -> Ordering {
    // Pairs without a difference come last, whatever is asked for.
    let by = |key: fn(f64) -> f64| match (a.delta, b.delta) {
        (Some(a), Some(b)) => key(a).total_cmp(&key(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    match sorting {
        Sorting::Magnitude => by(|delta| -delta.abs()),
        Sorting::Ascending => by(|delta| delta),
        Sorting::Descending => by(|delta| -delta),
        Sorting::Name => Ordering::Equal,
    }
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
    use super::super::summary::tests::run;
    use super::*;

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
            let comparison = compare(&before, &after, DEFAULT_THRESHOLD, sorting);
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
        let comparison = compare(&before, &before, 0.0, Sorting::Name);
        assert_eq!((comparison.pairs[0].before, comparison.pairs[0].delta), (Some(0.75), Some(0.0)));
    }
}
