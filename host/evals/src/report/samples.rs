//! Heads and runs for the tests of reports.

use super::{EvaluatorHead, Head, MethodHead, PassHead, Weight};
use crate::model::{EvaluationUsage, EvaluatorResult, EvaluatorType, Failure, RunResult, Status};
use serde_json::{Map, Value, json};
use std::convert::Infallible;

/// An experiment with `fields` (exactDiff, weight 2), `meaning` (a judge, weight 1) and `positive` (a callback, weight 0).
pub fn head() -> Head {
    let evaluator = |name: &str, method| EvaluatorHead { name: name.into(), method };
    let weight = |evaluator: &str, weight| Weight { evaluator: evaluator.into(), weight };
    Head {
        experiment: "e1".into(),
        agent: "invoices".into(),
        bundle: "sha256:ab12".into(),
        dataset: "invoices-2026".into(),
        dataset_version: "3".into(),
        source: "the dataset".into(),
        repeat: 1,
        created: "2026-12-01T05:00:00Z".into(),
        finished: Some("2026-12-01T05:01:00Z".into()),
        min_pass_rate: 1.0,
        evaluators: vec![
            evaluator("fields", MethodHead::ExactDiff { options: Map::new() }),
            evaluator("meaning", MethodHead::LlmJudge { prompt: "Score the summary.".into(), model: None }),
            evaluator("positive", MethodHead::Callback),
        ],
        pass: PassHead::Weighted {
            weights: vec![weight("fields", 2.0), weight("meaning", 1.0), weight("positive", 0.0)],
            threshold: 0.9,
        },
    }
}

/// The same, decided by a predicate.
pub fn predicate_head() -> Head {
    let source = "(scores) => scores.fields > 0.5 && scores.meaning < 2".to_owned();
    Head { pass: PassHead::Predicate { source: Some(source) }, ..head() }
}

pub fn failure(code: &str) -> Failure {
    Failure { code: code.into(), message: "It failed.".into(), path: None }
}

/// A run of an example, with a score for each evaluator or none where it ended in an error.
pub fn run(example: &str, scores: &[(&str, Option<f64>)], passed: Option<bool>) -> RunResult {
    let evaluators = scores.iter().map(|(name, score)| EvaluatorResult {
        name: (*name).into(),
        kind: EvaluatorType::Callback,
        score: *score,
        error: score.is_none().then(|| failure("R_THREW")),
        details: None,
    });
    RunResult {
        example: example.into(),
        repetition: 0,
        passed: passed == Some(true),
        status: if passed.is_some() { Status::Decided } else { Status::Blocked },
        value: passed.and_then(|_| scores.first()?.1),
        error: passed.is_none().then(|| failure("E_PASS_BLOCKED")),
        output: None,
        evaluators: evaluators.collect(),
        run_fuel: 10,
        evaluation: EvaluationUsage { fuel: 5, calls: 2, ..EvaluationUsage::default() },
        duration_millis: 1,
    }
}

/// A run without an output.
pub fn lost(example: &str) -> RunResult {
    RunResult { status: Status::RunFailed, error: Some(failure("X_RUN_FAILED")), ..run(example, &[], None) }
}

/// Path, kind, expected, actual.
pub type Row<'a> = (&'a str, &'a str, Option<Value>, Option<Value>);

/// What exactDiff makes of these differences.
pub fn compared(name: &str, score: f64, rows: &[Row<'_>]) -> EvaluatorResult {
    let mismatches = rows.iter().map(|(path, kind, expected, actual)| {
        let mut row = json!({ "path": path, "kind": kind });
        let sides = [("expected", expected), ("actual", actual)];
        sides
            .into_iter()
            .filter_map(|(side, value)| Some((side, value.as_ref()?)))
            .for_each(|(side, value)| row[side] = value.clone());
        row
    });
    let details = json!({ "score": score, "matched": 1, "total": 2, "fields": [], "mismatches": mismatches.collect::<Vec<_>>(), "truncated": 0 });
    EvaluatorResult {
        name: name.into(),
        kind: EvaluatorType::ExactDiff,
        score: Some(score),
        error: None,
        details: Some(details),
    }
}

/// What a judge makes of an output.
pub fn judged(name: &str, score: f64, rationale: &str) -> EvaluatorResult {
    let details = json!({ "rationale": rationale, "model": "judge-1", "attempts": 1 });
    EvaluatorResult {
        name: name.into(),
        kind: EvaluatorType::LlmJudge,
        score: Some(score),
        error: None,
        details: Some(details),
    }
}

/// Runs as a store gives them.
pub fn stored(runs: &[RunResult]) -> impl Iterator<Item = Result<RunResult, Infallible>> {
    runs.iter().cloned().map(Ok)
}
