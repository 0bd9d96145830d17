//! An experiment as one JSON document (7.4).
//!
//! The members, in this order:
//!
//! - `head`: [`Head`];
//! - `summary`: [`Summary`];
//! - `runs`: one object per run, in the order of the dataset: `runId`, `exampleName`, `repetition` (from 0), `passed`, `status`, `value`,
//!   `error`, `durationMs`, `usage` (`fuel`), `evaluationUsage`, `output`, and `results`, one object per evaluator: `evaluatorName`,
//!   `evaluatorType`, `score`, `error`, `details` (7.3). All members are always there; what does not exist is null. An error has `code`
//!   and `message`, and `path` where it is about a place;
//! - `discrepancies`: [`Discrepancy`](super::Discrepancy), at most [`MAX_DISCREPANCIES`](super::MAX_DISCREPANCIES);
//! - `discrepanciesLeftOut`: how many there are besides.
//!
//! The document is compact but for new lines between the runs and the discrepancies. One run is held at a time, and the discrepancies.

use super::{Discrepancies, Head, ReportError, Summary, run_id};
use crate::model::{EvaluationUsage, EvaluatorType, Failure, RunResult, Status};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// Writes the document. `summary` is that of these runs.
///
/// # Errors
/// When the runs end early or the output takes nothing more; what is written is then no whole document.
pub fn write<E: std::error::Error + 'static>(
    mut out: impl Write,
    head: &Head,
    summary: &Summary,
    runs: impl IntoIterator<Item = Result<RunResult, E>>,
) -> Result<(), ReportError<E>> {
    out.write_all(b"{\"head\":")?;
    value(&mut out, head)?;
    out.write_all(b",\n\"summary\":")?;
    value(&mut out, summary)?;
    out.write_all(b",\n\"runs\":[")?;
    let mut discrepancies = Discrepancies::default();
    for (index, run) in runs.into_iter().enumerate() {
        let run = run.map_err(ReportError::Runs)?;
        discrepancies.add(&run);
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        value(&mut out, &Row::new(head, &run))?;
    }
    out.write_all(b"\n],\n\"discrepancies\":[")?;
    for (index, discrepancy) in discrepancies.listed().iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        value(&mut out, discrepancy)?;
    }
    writeln!(out, "\n],\n\"discrepanciesLeftOut\":{}}}", discrepancies.left_out())?;
    out.flush()?;
    Ok(())
}

fn value(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

/// A run, with the names of 7.3.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'r> {
    run_id: String,
    example_name: &'r str,
    repetition: u32,
    passed: bool,
    status: Status,
    value: Option<f64>,
    error: Option<&'r Failure>,
    duration_ms: u64,
    usage: RunUsage,
    evaluation_usage: &'r EvaluationUsage,
    output: Option<&'r Value>,
    results: Vec<ResultRow<'r>>,
}

#[derive(Serialize)]
struct RunUsage {
    fuel: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultRow<'r> {
    evaluator_name: &'r str,
    evaluator_type: EvaluatorType,
    score: Option<f64>,
    error: Option<&'r Failure>,
    details: Option<&'r Value>,
}

impl<'r> Row<'r> {
    fn new(head: &Head, run: &'r RunResult) -> Self {
        let results = run.evaluators.iter().map(|result| ResultRow {
            evaluator_name: &result.name,
            evaluator_type: result.kind,
            score: result.score,
            error: result.error.as_ref(),
            details: result.details.as_ref(),
        });
        Self {
            run_id: run_id(head, run),
            example_name: &run.example,
            repetition: run.repetition,
            passed: run.passed,
            status: run.status,
            value: run.value,
            error: run.error.as_ref(),
            duration_ms: run.duration_millis,
            usage: RunUsage { fuel: run.run_fuel },
            evaluation_usage: &run.evaluation,
            output: run.output.as_ref(),
            results: results.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, head, lost, run, stored};
    use super::*;
    use serde_json::json;

    fn written(runs: &[RunResult]) -> String {
        let mut summary = Summary::default();
        runs.iter().for_each(|run| summary.add(run));
        let mut out = Vec::new();
        write(&mut out, &head(), &summary, stored(runs)).unwrap();
        String::from_utf8(out).unwrap()
    }

    // 7.3, 7.4
    #[test]
    fn runs_stand_between_the_summary_and_the_discrepancies() {
        let mut failed = run("b", &[], Some(false));
        failed.evaluators = vec![compared("fields", 0.5, &[("total", "value", Some(json!(1)), Some(json!(2)))])];
        failed.output = Some(json!({ "total": 2 }));
        failed.value = Some(0.5);
        let text = written(&[lost("a"), failed]);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with(
            r#"{"head":{"experiment":"e1","agent":"invoices","bundle":"sha256:ab12","dataset":"invoices-2026","#
        ));
        assert!(
            lines[1]
                .starts_with(r#""summary":{"total":2,"passed":0,"failed":1,"errors":1,"valued":1,"meanValue":0.5,"#)
        );
        assert_eq!(
            lines[2..],
            [
                r#""runs":["#,
                concat!(
                    r#"{"runId":"e1/a/0","exampleName":"a","repetition":0,"passed":false,"status":"run-failed","value":null,"#,
                    r#""error":{"code":"X_RUN_FAILED","message":"It failed."},"durationMs":1,"usage":{"fuel":10},"#,
                    r#""evaluationUsage":{"fuel":5,"calls":2,"judgeRequests":0,"judgeCached":0,"promptTokens":0,"completionTokens":0},"#,
                    r#""output":null,"results":[]},"#
                ),
                concat!(
                    r#"{"runId":"e1/b/0","exampleName":"b","repetition":0,"passed":false,"status":"decided","value":0.5,"error":null,"#,
                    r#""durationMs":1,"usage":{"fuel":10},"#,
                    r#""evaluationUsage":{"fuel":5,"calls":2,"judgeRequests":0,"judgeCached":0,"promptTokens":0,"completionTokens":0},"#,
                    r#""output":{"total":2},"results":[{"evaluatorName":"fields","evaluatorType":"exact-diff","score":0.5,"error":null,"#,
                    r#""details":{"score":0.5,"matched":1,"total":2,"fields":[],"mismatches":[{"path":"total","kind":"value","expected":1,"#,
                    r#""actual":2}],"truncated":0}}]}"#
                ),
                "],",
                r#""discrepancies":["#,
                r#"{"example":"b","repetition":0,"evaluator":"fields","path":"total","kind":"value","expected":1,"actual":2}"#,
                "],",
                r#""discrepanciesLeftOut":0}"#,
            ]
        );
        let document: Value = serde_json::from_str(&text).unwrap();
        let members: Vec<_> = document.as_object().unwrap().keys().collect();
        assert_eq!(members, ["head", "summary", "runs", "discrepancies", "discrepanciesLeftOut"]);
    }

    #[test]
    fn no_runs_are_a_document_too() {
        let document: Value = serde_json::from_str(&written(&[])).unwrap();
        assert_eq!((&document["runs"], &document["discrepancies"]), (&json!([]), &json!([])));
    }

    #[test]
    fn runs_that_end_early_are_an_error() {
        let runs = [Ok(run("a", &[], None)), Err(io::Error::other("the disk is gone"))];
        let error = write(io::sink(), &head(), &Summary::default(), runs).unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            ("X_REPORT_RUNS", "the runs of the report cannot be read")
        );
        let error = write(&mut [0u8; 10][..], &head(), &Summary::default(), stored(&[])).unwrap_err();
        assert_eq!(error.code(), "X_REPORT_OUTPUT");
    }
}
