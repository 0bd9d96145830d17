//! What stands in a result's details, read with care: they come out of a store, and what is in it may be anything.

use super::Head;
use super::PassHead;
use crate::model::{EvaluatorResult, EvaluatorType, RunResult};
use serde_json::Value;
use std::cmp::Ordering;

/// A field that differs, as an exactDiff evaluator reported it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference<'r> {
    /// Where.
    pub path: &'r str,
    /// What kind of difference, such as `missing`.
    pub kind: &'r str,
    /// What was expected; none for what should not be there.
    pub expected: Option<&'r Value>,
    /// What there was; none if there was nothing.
    pub actual: Option<&'r Value>,
}

/// The differences that a result lists, in its order. What is not of the shape the comparator writes is passed over.
pub(super) fn differences(result: &EvaluatorResult) -> impl Iterator<Item = Difference<'_>> {
    let rows = exact_diff(result).and_then(|details| details["mismatches"].as_array());
    rows.into_iter().flatten().filter_map(|row| {
        Some(Difference {
            path: row["path"].as_str()?,
            kind: row["kind"].as_str()?,
            expected: row.get("expected"),
            actual: row.get("actual"),
        })
    })
}

/// How many more differences there were than are listed.
pub(super) fn unlisted(result: &EvaluatorResult) -> u64 {
    exact_diff(result).and_then(|details| details["truncated"].as_u64()).unwrap_or(0)
}

/// How many fields match, and of how many.
pub(super) fn matched(result: &EvaluatorResult) -> Option<(u64, u64)> {
    let details = exact_diff(result)?;
    Some((details["matched"].as_u64()?, details["total"].as_u64()?))
}

/// What a judge said, in its own words, and which model it was. A model's text: not to be trusted.
pub(super) fn judged(result: &EvaluatorResult) -> Option<(&str, Option<&str>)> {
    let details = result.details.as_ref().filter(|_| result.kind == EvaluatorType::LlmJudge)?;
    Some((details["rationale"].as_str()?, details["model"].as_str()))
}

fn exact_diff(result: &EvaluatorResult) -> Option<&Value> {
    result.details.as_ref().filter(|_| result.kind == EvaluatorType::ExactDiff)
}

/// The evaluators that a run has to thank for not passing, the one that cost most first; empty if it passed, if there was no output,
/// and if the rule itself failed.
///
/// Where nothing was decided they are those without a score. A weighted mean is short of what each listed score is short of 1, times its
/// weight. A predicate says nothing about its reasons, so every score below 1 may be one, the lowest first.
pub fn responsible<'r>(head: &Head, run: &'r RunResult) -> Vec<&'r EvaluatorResult> {
    if run.passed {
        return Vec::new();
    }
    let errors: Vec<_> = run.evaluators.iter().filter(|result| result.score.is_none()).collect();
    if !errors.is_empty() {
        return errors;
    }
    let weighted = matches!(head.pass, PassHead::Weighted { .. });
    let loss = |result: &EvaluatorResult| {
        let share = if weighted { head.share(&result.name).unwrap_or(0.0) } else { 1.0 };
        share * (1.0 - result.score.unwrap_or(0.0))
    };
    let mut losing: Vec<_> = run.evaluators.iter().map(|it| (loss(it), it)).filter(|(loss, _)| *loss > 0.0).collect();
    losing.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    losing.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, head, judged as judged_result, predicate_head, run};
    use super::*;
    use serde_json::json;

    fn names(head: &Head, run: &RunResult) -> Vec<String> {
        responsible(head, run).iter().map(|result| result.name.clone()).collect()
    }

    // 7.5: the weights are fields 2, meaning 1, positive 0
    #[test]
    fn the_dearest_evaluator_comes_first() {
        let scores = |fields, meaning, positive| {
            run("a", &[("fields", fields), ("meaning", meaning), ("positive", positive)], Some(false))
        };
        assert_eq!(names(&head(), &scores(Some(0.5), Some(0.25), Some(0.0))), ["fields", "meaning"]);
        assert_eq!(
            names(&predicate_head(), &scores(Some(0.5), Some(0.25), Some(0.0))),
            ["positive", "meaning", "fields"]
        );
        assert_eq!(names(&head(), &scores(Some(1.0), Some(0.25), Some(1.0))), ["meaning"]);
        assert_eq!(names(&head(), &scores(None, Some(0.25), None)), ["fields", "positive"]);
        assert_eq!(names(&head(), &scores(Some(1.0), Some(1.0), Some(1.0))), [""; 0]);
        assert_eq!(names(&head(), &run("a", &[("fields", Some(0.9))], Some(true))), [""; 0]);
    }

    #[test]
    fn details_of_another_shape_say_nothing() {
        for details in
            [json!(null), json!([1]), json!("x"), json!({ "mismatches": 1, "truncated": "1", "matched": -1 })]
        {
            let result = EvaluatorResult { details: Some(details), ..compared("fields", 0.5, &[]) };
            assert_eq!((differences(&result).count(), unlisted(&result), matched(&result)), (0, 0, None));
        }
        let rows = json!({ "mismatches": [1, { "path": "a" }, { "path": 1, "kind": "value" }, { "path": "b", "kind": "missing", "expected": null }] });
        let result = EvaluatorResult { details: Some(rows), ..compared("fields", 0.5, &[]) };
        let null = json!(null);
        let expected = Difference { path: "b", kind: "missing", expected: Some(&null), actual: None };
        assert_eq!(differences(&result).collect::<Vec<_>>(), [expected]);
        assert_eq!(judged(&result), None);
        assert_eq!(judged(&judged_result("meaning", 0.5, "So so.")), Some(("So so.", Some("judge-1"))));
    }
}
