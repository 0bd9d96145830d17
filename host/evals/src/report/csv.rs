//! An experiment as a table: one row per run and evaluator (7.3, 7.4).
//!
//! The first row names the columns ([`COLUMNS`]), whose order never changes; new ones will come last. A run without evaluators has one
//! row, with the evaluator's columns empty. Null is an empty cell. Rows end in a line feed; cells are quoted where they need to be.
//!
//! **Guard.** A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and looks past a tab or a new line before it.
//! Text that begins with one of them (or its full-width form) therefore gets an apostrophe in front, which spreadsheets hide. Numbers and
//! the words of columns such as `status` are written here, not by others, and stay as they are: a negative number stays a number.

use super::{Head, ReportError, run_id};
use crate::model::{EvaluatorResult, Failure, RunResult};
use csv::Writer;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, Write};

/// The columns, in their order. `repetition` counts from 0; the columns from `runFuel` on are of the run, and the same in all its
/// rows; `details` is JSON.
pub const COLUMNS: [&str; 24] = [
    "runId",
    "exampleName",
    "repetition",
    "status",
    "passed",
    "value",
    "runErrorCode",
    "runErrorMessage",
    "runErrorPath",
    "evaluatorName",
    "evaluatorType",
    "score",
    "errorCode",
    "errorMessage",
    "errorPath",
    "details",
    "runFuel",
    "evaluationFuel",
    "evaluationCalls",
    "judgeRequests",
    "judgeCached",
    "promptTokens",
    "completionTokens",
    "durationMs",
];

/// Writes the table, one run at a time.
///
/// # Errors
/// When the runs end early or the output takes nothing more.
pub fn write<E: std::error::Error + 'static>(
    out: impl Write,
    head: &Head,
    runs: impl IntoIterator<Item = Result<RunResult, E>>,
) -> Result<(), ReportError<E>> {
    let mut table = Writer::from_writer(out);
    table.write_record(COLUMNS).map_err(io::Error::from)?;
    for run in runs {
        let run = run.map_err(ReportError::Runs)?;
        let rows = run.evaluators.iter().map(Some).chain(run.evaluators.is_empty().then_some(None));
        for result in rows {
            row(&mut table, head, &run, result).map_err(io::Error::from)?;
        }
    }
    table.flush()?;
    Ok(())
}

fn row(
    table: &mut Writer<impl Write>,
    head: &Head,
    run: &RunResult,
    result: Option<&EvaluatorResult>,
) -> csv::Result<()> {
    let error = |failure: Option<&Failure>| {
        let [code, message] = [failure.map(|it| &it.code), failure.map(|it| &it.message)];
        let path = failure.and_then(|it| it.path.as_ref());
        [code, message, path].map(|text| guarded(text.map_or("", String::as_str)).into_owned())
    };
    let usage = &run.evaluation;
    let [run_code, run_message, run_path] = error(run.error.as_ref());
    let [code, message, path] = error(result.and_then(|it| it.error.as_ref()));
    table.write_record([
        &*guarded(&run_id(head, run)),
        &*guarded(&run.example),
        &run.repetition.to_string(),
        &word(&run.status),
        if run.passed { "true" } else { "false" },
        &number(run.value),
        &run_code,
        &run_message,
        &run_path,
        &*guarded(result.map_or("", |it| &it.name)),
        &result.map_or_else(String::new, |it| word(&it.kind)),
        &number(result.and_then(|it| it.score)),
        &code,
        &message,
        &path,
        &*guarded(&result.and_then(|it| it.details.as_ref()).map_or_else(String::new, Value::to_string)),
        &run.run_fuel.to_string(),
        &usage.fuel.to_string(),
        &usage.calls.to_string(),
        &usage.judge_requests.to_string(),
        &usage.judge_cached.to_string(),
        &usage.prompt_tokens.to_string(),
        &usage.completion_tokens.to_string(),
        &run.duration_millis.to_string(),
    ])
}

/// Text that no spreadsheet takes for a formula.
fn guarded(text: &str) -> Cow<'_, str> {
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠') => format!("'{text}").into(),
        _ => text.into(),
    }
}

/// As in JSON: the shortest digits that give the number back. What JSON has no number for is empty.
fn number(number: Option<f64>) -> String {
    number.and_then(serde_json::Number::from_f64).map_or_else(String::new, |number| number.to_string())
}

/// The word that JSON has for a variant.
fn word(variant: &impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, failure, head, lost, run, stored};
    use super::*;
    use serde_json::json;

    fn written(runs: &[RunResult]) -> String {
        let mut out = Vec::new();
        write(&mut out, &head(), stored(runs)).unwrap();
        String::from_utf8(out).unwrap()
    }

    // 7.4
    #[test]
    fn there_is_a_row_for_each_run_and_evaluator() {
        let mut failed = run("b", &[("positive", None)], Some(false));
        failed.evaluators.insert(0, compared("fields", 0.5, &[]));
        failed.value = Some(0.1 + 0.2);
        failed.repetition = 1;
        let header = "runId,exampleName,repetition,status,passed,value,runErrorCode,runErrorMessage,runErrorPath,evaluatorName,\
            evaluatorType,score,errorCode,errorMessage,errorPath,details,runFuel,evaluationFuel,evaluationCalls,judgeRequests,\
            judgeCached,promptTokens,completionTokens,durationMs\n";
        let rows = "e1/a/0,a,0,run-failed,false,,X_RUN_FAILED,It failed.,,,,,,,,,10,5,2,0,0,0,0,1\n\
            e1/b/1,b,1,decided,false,0.30000000000000004,,,,fields,exact-diff,0.5,,,,\
            \"{\"\"score\"\":0.5,\"\"matched\"\":1,\"\"total\"\":2,\"\"fields\"\":[],\"\"mismatches\"\":[],\"\"truncated\"\":0}\",10,5,2,0,0,0,0,1\n\
            e1/b/1,b,1,decided,false,0.30000000000000004,,,,positive,callback,,R_THREW,It failed.,,,10,5,2,0,0,0,0,1\n";
        assert_eq!(written(&[lost("a"), failed]), format!("{header}{rows}"));
    }

    // 7.4: "CSV cells starting with `= + - @` are guarded"
    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
            assert_eq!(guarded(text), format!("'{text}"));
        }
        for text in ["", "a=1", "'=1", " =1", "1-1", "é"] {
            assert_eq!(guarded(text), text);
        }
        let mut hostile = run("=cmd|' /C calc'!A0", &[("+x", None)], None);
        hostile.value = Some(-0.5);
        hostile.error =
            Some(Failure { message: "-2, \"quoted\"\nand more".into(), path: Some("@x".into()), ..failure("=E") });
        hostile.evaluators[0].details = Some(json!(-1));
        let text = written(&[hostile]);
        assert_eq!(
            text.split_once('\n').unwrap().1,
            "e1/=cmd|' /C calc'!A0/0,'=cmd|' /C calc'!A0,0,blocked,false,-0.5,'=E,\"'-2, \"\"quoted\"\"\nand more\",'@x,\
             '+x,callback,,R_THREW,It failed.,,'-1,10,5,2,0,0,0,0,1\n"
        );
    }

    #[test]
    fn what_is_no_number_is_empty() {
        assert_eq!(
            [Some(f64::NAN), Some(f64::INFINITY), None, Some(1.0), Some(1e-7)].map(number),
            ["", "", "", "1.0", "1e-7"]
        );
    }
}
