//! Evaluations from the command line: `eval`, `dataset`, `experiment`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Files, Run, cache, command, run};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// An agent whose answer is scored by a comparison and a callback, and a tool that answers itself.
const AGENT: &str = "import { createAgent, createTool, exactDiff, llmJudge, weightedScore } from '@eigenpal/automations';
import { z } from 'zod';
const answer = z.object({ total: z.number() });
export const double = createTool({
  description: 'Doubles.', inputSchema: z.object({ value: z.number() }), outputSchema: answer,
  execute: ({ value }) => ({ total: value * 2 }),
});
const made = createAgent({ name: 'sums', instructions: 'Add.', inputSchema: z.object({ value: z.number() }), outputSchema: answer });
export default made
  .defineEvaluator('fields', exactDiff({ select: ({ total }) => ({ total }) }))
  .defineEvaluator('positive', ({ actual }) => Number(actual.total > 0))
  .defineEvalPass(weightedScore({ weights: { fields: 3, positive: 1 }, threshold: 0.9 }));
export const judged = made
  .defineEvaluator('meaning', llmJudge({ prompt: 'Score the total.', select: ({ actual }) => ({ total: actual.total }) }))
  .defineEvalPass(({ meaning }) => meaning > 0.5);
";

/// Ten examples; every fifth answer is wrong.
fn lines(count: u32) -> String {
    (0..count)
        .map(|number| {
            let wrong = number % 5 == 4;
            let actual = if wrong { json!({ "total": 0 }) } else { json!({ "total": number * 2 + 2 }) };
            let expected = json!({ "total": number * 2 + 2 });
            let example =
                json!({ "name": format!("e{number}"), "input": { "value": number + 1 }, "actual": actual, "expected": expected });
            format!("{example}\n")
        })
        .collect()
}

fn files() -> Files {
    Files::new(&[("agent.ts", AGENT), ("sums.jsonl", &lines(10))])
}

/// Without the judge of whoever runs the tests.
fn callcell(files: &Files, arguments: &[&str]) -> Run {
    let mut command = command(arguments, cache());
    command.current_dir(files.0.path());
    for name in ["CALLCELL_STORE", "CALLCELL_JUDGE_URL", "CALLCELL_JUDGE_MODELS", "CALLCELL_JUDGE_KEY"] {
        command.env_remove(name);
    }
    run(command)
}

fn experiments(files: &Files) -> Vec<Value> {
    callcell(files, &["experiment", "list", "--json"]).json()["experiments"].as_array().unwrap().clone()
}

// 7.2, 7.5, 7.7, D-81, D-82
#[test]
fn a_dataset_is_evaluated_and_the_gate_decides() {
    let files = files();
    let failed = callcell(&files, &["eval", "--data", "sums.jsonl"]);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(
        failed.stdout.contains(
            "✗ e4  failed with 0.0000\n    fields: 0.000\n      total: expected 10, got 0\n    positive: 0.000"
        ),
        "{}",
        failed.stdout
    );
    assert!(
        failed.stderr.contains("8 passed, 2 failed, 0 without a decision: 80.0 %, and 100.0 % must pass"),
        "{}",
        failed.stderr
    );
    let passed = callcell(&files, &["eval", "--data", "sums", "--min-pass-rate", "0.8", "--json"]);
    assert_eq!(passed.code, Some(0), "{}", passed.stderr);
    let summary = &passed.json()["summary"];
    assert_eq!(
        [&summary["total"], &summary["passed"], &summary["failed"], &summary["errors"]],
        [&json!(10), &json!(8), &json!(2), &json!(0)]
    );
    assert_eq!(experiments(&files).len(), 2);
    assert_eq!(callcell(&files, &["eval", "--data", "sums", "--only", "e0,e1"]).code, Some(0));
}

// 7.4, D-80
#[test]
fn reports_are_written_whole() {
    let files = files();
    let arguments = [
        "eval",
        "--data",
        "sums.jsonl",
        "--html",
        "r.html",
        "--csv",
        "r.csv",
        "--junit",
        "r.xml",
        "--report",
        "r.json",
    ];
    assert_eq!(callcell(&files, &arguments).code, Some(1));
    let read = |name: &str| fs::read_to_string(files.path(name)).unwrap();
    assert_eq!(read("r.csv").lines().count(), 1 + 10 * 2);
    assert!(read("r.xml").contains("tests=\"10\" failures=\"2\" errors=\"0\""));
    let report: Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!((report["runs"].as_array().unwrap().len(), report["discrepancies"].as_array().unwrap().len()), (10, 2));
    assert!(read("r.html").starts_with("<!DOCTYPE html>") && read("r.html").trim_end().ends_with("</html>"));
    let unwritable = callcell(&files, &["experiment", "show", "last", "--csv", "none/r.csv"]);
    assert_eq!(unwritable.code, Some(4), "{}", unwritable.stderr);
}

// 7.1: everything that is wrong is reported, and nothing is imported
#[test]
fn bad_examples_are_all_named_and_nothing_is_kept() {
    let files = files();
    files.write("bad.jsonl", "{\"name\":\"A\",\"input\":{}}\nnot json\n{\"name\":\"ok\",\"input\":{\"value\":1},\"actual\":{\"total\":\"1\"}}\n");
    let bad = callcell(&files, &["dataset", "import", "bad.jsonl", "--for", "."]);
    assert_eq!(bad.code, Some(2), "{}", bad.stderr);
    for part in ["line 1", "line 2", "the output must have", "[X_EXAMPLE_INVALID]", "the store is as it was"] {
        assert!(bad.stderr.contains(part), "{part}: {}", bad.stderr);
    }
    assert_eq!(callcell(&files, &["dataset", "list", "--json"]).json()["datasets"], json!([]));
    callcell(&files, &["dataset", "import", "none.jsonl"]).failed(4, "FILE_UNREADABLE");
    callcell(&files, &["eval", "--data", "none"]).failed(2, "X_UNKNOWN_DATASET");
    callcell(&files, &["experiment", "show", "none"]).failed(2, "X_UNKNOWN_EXPERIMENT");
    callcell(&files, &["eval", "--data", "sums.jsonl", "--only", "none"]).failed(2, "X_UNKNOWN_EXAMPLE");
    files.write("other.db", "This is not a database, and long enough to look like one if nobody looks.");
    let foreign = callcell(&files, &["dataset", "list", "--store", "other.db"]);
    assert_eq!(foreign.code, Some(4), "{}", foreign.stderr);
}

// 7.1: both formats come back as they went in
#[test]
fn an_export_is_what_was_imported() {
    let files = files();
    assert_eq!(callcell(&files, &["dataset", "import", "sums.jsonl"]).code, Some(0));
    let exported = callcell(&files, &["dataset", "export", "sums"]);
    let parsed = |text: &str| text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    assert_eq!(parsed(&exported.stdout), parsed(&lines(10)));
    files.write("more.jsonl", "{\"name\":\"more\",\"input\":{}}\n");
    assert_eq!(callcell(&files, &["dataset", "import", "more.jsonl", "--name", "sums", "--append"]).code, Some(0));
    let list = callcell(&files, &["dataset", "list", "--json"]).json();
    assert_eq!((&list["datasets"][0]["examples"], &list["datasets"][0]["version"]), (&json!(11), &json!(1)));
}

// D-65: before any run is spent
#[test]
fn a_missing_judge_is_found_out_first() {
    let files = files();
    callcell(&files, &["eval", "--data", "sums.jsonl", "--agent", "judged"]).failed(2, "E_JUDGE_UNAVAILABLE");
    assert_eq!(experiments(&files), [json!(null); 0]);
    let url = ["eval", "--data", "sums", "--agent", "judged", "--judge-url", "http://127.0.0.1:9/v1"];
    callcell(&files, &url).failed(2, "OPTION");
    callcell(&files, &["eval", "--data", "sums", "--judge-url", "ftp://a/", "--judge-model", "m"]).failed(2, "OPTION");
    // Nobody listens there: an error of each run, and no score.
    let unreachable = [&url[..], &["--judge-model", "m", "--only", "e0", "--json"]].concat();
    let unreachable = callcell(&files, &unreachable);
    assert_eq!(
        (unreachable.code, &unreachable.json()["summary"]["errors"]),
        (Some(1), &json!(1)),
        "{}",
        unreachable.stderr
    );
}

// EV-86, D-79
#[test]
fn tools_make_outputs_and_outputs_are_scored_again() {
    let files = files();
    let tool = callcell(&files, &["eval", "--data", "sums.jsonl", "--tool", "double", "--json"]);
    assert_eq!((tool.code, &tool.json()["summary"]["passed"]), (Some(0), &json!(10)), "{}", tool.stderr);
    let first = tool.json()["experiment"].as_str().unwrap().to_owned();
    files.write("agent.ts", &AGENT.replace("actual.total > 0", "actual.total > 10"));
    let again = callcell(&files, &["experiment", "rescore", &first, "--with", ".", "--json"]);
    assert_eq!((again.code, &again.json()["summary"]["passed"]), (Some(1), &json!(5)), "{}", again.stderr);
    let own = callcell(&files, &["experiment", "rescore", &first, "--json"]);
    assert_eq!(own.json()["summary"]["passed"], json!(10), "its own bundle is kept");
    let second = again.json()["experiment"].as_str().unwrap().to_owned();
    let compared = callcell(&files, &["experiment", "compare", &first, &second, "--json", "--html", "c.html"]).json();
    let roll_up = compared["comparison"]["evaluators"].as_array().unwrap();
    let positive = roll_up.iter().find(|it| it["evaluator"] == "positive").unwrap();
    assert_eq!(
        [&positive["comparable"], &positive["regressions"], &positive["unchanged"]],
        [&json!(10), &json!(5), &json!(5)]
    );
    assert!(fs::read_to_string(files.path("c.html")).unwrap().contains("</html>"));
    callcell(&files, &["eval", "--data", "sums", "--tool", "triple"]).failed(2, "X_UNKNOWN_TOOL");
}

// 7.2, 7.7: what is finished stays, whether the deadline, a kill or nobody ends it
#[test]
fn a_stopped_experiment_goes_on_where_it_ended() {
    let files = Files::new(&[("agent.ts", AGENT), ("sums.jsonl", &lines(3_000))]);
    assert_eq!(callcell(&files, &["dataset", "import", "sums.jsonl"]).code, Some(0));
    let late = callcell(&files, &["eval", "--data", "sums", "--deadline", "1ms", "--json"]);
    assert_eq!((late.code, &late.json()["status"]), (Some(2), &json!("cancelled")), "{}", late.stderr);
    let id = late.json()["experiment"].as_str().unwrap().to_owned();
    let done = callcell(&files, &["experiment", "resume", &id, "--json"]).json();
    assert_eq!((&done["status"], &done["summary"]["total"]), (&json!("completed"), &json!(3_000)));

    let mut killed = command(&["eval", "--data", "sums", "--events"], cache());
    let mut child = killed.current_dir(files.0.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let told: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).take(20).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = told.iter().filter(|line| line.contains("\"event\":\"finished\"")).count();
    assert_eq!((told.len(), finished), (20, 19), "{told:?}");
    let kept = &experiments(&files)[0];
    assert!(kept["counts"]["total"].as_u64().unwrap() >= 19, "{kept}");
    let done = callcell(&files, &["experiment", "resume", "last", "--min-pass-rate", "0.8", "--json"]);
    assert_eq!((done.code, &done.json()["summary"]["total"]), (Some(0), &json!(3_000)), "{}", done.stderr);
}

// CB-94: a deployment without scripts evaluates nothing
#[test]
fn without_scripts_nothing_is_evaluated() {
    let files = files();
    let mut command = command(&["eval", "--data", "sums.jsonl"], cache());
    command.current_dir(files.0.path()).env("CALLCELL_SCRIPTS", "off");
    run(command).failed(1, "R_SCRIPTS_DISABLED");
}
