//! The commands around a project: `init`, `check`, `test`, `build`, `inspect`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Files, cache, callcell, command};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// A tool `double`, whose `execute` is this.
fn double(execute: &str) -> String {
    format!(
        "import {{ createTool }} from '@eigenpal/automations';\nimport {{ z }} from 'zod';\n\
         export const double = createTool({{\n\
         \x20 description: 'Doubles a number.',\n\
         \x20 inputSchema: z.object({{ value: z.number() }}),\n\
         \x20 outputSchema: z.looseObject({{}}),\n\
         \x20 execute: {execute},\n\
         }});\n"
    )
}

const WORKS: &str = "({ value }) => ({ value: value * 2 })";

/// Every file below a folder, relative to it.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path().strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    found.sort();
    found
}

// CB-96..CB-104, CB-111, CB-112, CB-125
#[test]
fn a_new_project_checks_and_passes_its_own_tests() {
    let folder = Files::new(&[]);
    let made = folder.callcell(&["init", "agents"]);
    assert_eq!((made.code, made.stdout.as_str()), (Some(0), ""), "{}", made.stderr);

    let read = |name: &str| -> Value { serde_json::from_str(&fs::read_to_string(folder.path(name)).unwrap()).unwrap() };
    assert_eq!(
        read("agents/tsconfig.json"),
        json!({
            "compilerOptions": {
                "target": "ES2022",
                "module": "NodeNext",
                "moduleResolution": "NodeNext",
                "strict": true,
                "noEmit": true,
                "allowImportingTsExtensions": true,
                "skipLibCheck": true,
                "lib": ["ES2022"],
                "types": []
            },
            "include": ["agents/**/*.ts", "resources/**/*.ts"]
        })
    );
    assert_eq!(read("agents/package.json")["devDependencies"]["@eigenpal/automations"], "file:./sdk");
    assert_eq!(read("agents/verify/tsconfig.json")["compilerOptions"]["types"], json!(["node"]));
    assert!(!tree(&folder.0.path().join("agents")).iter().any(|path| path.to_string_lossy().contains(".callcell-")));

    let check = folder.callcell(&["check", "agents", "--json"]);
    assert_eq!(check.code, Some(0), "{}", check.stderr);
    let report = check.json();
    assert_eq!((&report["ok"], &report["diagnostics"]), (&json!(true), &json!([])));
    assert_eq!(report["entry"], "agents/invoice/agent.ts");
    assert_eq!(report["callbacks"].as_array().unwrap().len(), 8);

    let test = folder.callcell(&["test", "agents", "--json"]).json();
    assert_eq!((&test["ok"], &test["passed"], &test["failed"]), (&json!(true), &json!(18), &json!(0)));
}

#[test]
fn a_new_project_overwrites_nothing() {
    let folder = Files::new(&[("notes.txt", "mine"), ("agents", "a file of mine")]);
    folder.callcell(&["init"]).failed(2, "FILE_EXISTS");
    assert_eq!(tree(folder.0.path()), [Path::new("agents"), Path::new("notes.txt")]);
    fs::remove_file(folder.path("agents")).unwrap();
    assert_eq!(folder.callcell(&["init"]).code, Some(0));
    assert_eq!(fs::read_to_string(folder.path("notes.txt")).unwrap(), "mine");
    let again = folder.callcell(&["init"]);
    again.failed(2, "FILE_EXISTS");
    assert!(again.stderr.contains("hint: give a new folder"), "{}", again.stderr);
    folder.callcell(&["init", "notes.txt"]).failed(4, "FILE_UNWRITABLE");
}

// EV-08, CB-16
#[test]
fn the_examples_check() {
    for entry in ["tax/tools.ts", "tax", "invoice", "invoice/agents/invoice/strict.ts"] {
        let check = callcell(&["check", &format!("{EXAMPLES}/{entry}")]);
        assert_eq!((check.code, check.stdout.as_str()), (Some(0), ""), "{}", check.stderr);
        assert!(check.stderr.contains("is fine"), "{}", check.stderr);
    }
}

// CB-112..CB-115, D-29
#[test]
fn check_ends_with_1_and_lists_everything() {
    let folder = Files::new(&[
        ("tools.ts", &double("async ({ value }) => ({ value })")),
        ("index.ts", "import { readFile } from 'node:fs';\nexport * from './tools.ts';\nreadFile();\n"),
    ]);
    let shown = folder.callcell(&["check"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(1), ""));
    for text in ["index.ts:1:26", "node-builtin", "tools.ts:7:12", "drop `async`", "error: `index.ts` has 2 errors"] {
        assert!(shown.stderr.contains(text), "{text}: {}", shown.stderr);
    }
    let listed = folder.callcell(&["check", "--json"]);
    assert_eq!(listed.code, Some(1));
    let report = listed.json();
    let found: Vec<_> =
        report["diagnostics"].as_array().unwrap().iter().map(|it| json!([it["file"], it["code"]])).collect();
    assert_eq!(found, [json!(["index.ts", "C_IMPORT_UNSUPPORTED"]), json!(["tools.ts", "C_CALLBACK_ASYNC"])]);
    assert_eq!((&report["ok"], &report["callbacks"]), (&json!(false), &json!([])));

    folder.callcell(&["check", "none.ts"]).failed(4, "FILE_UNREADABLE");
    assert_eq!(folder.callcell(&["check", "--nope"]).code, Some(2));
    assert_eq!(
        folder.callcell(&["call", ".", "double", "{}"]).code,
        Some(3),
        "elsewhere 3 tells it from a failed call"
    );
}

#[test]
fn warnings_are_shown_where_they_are_asked_for() {
    let folder = Files::new(&[("tools.ts", &double("({ value }) => ({ value: value + Date.now() })"))]);
    let check = folder.callcell(&["check"]);
    assert_eq!(check.code, Some(0));
    assert!(check.stderr.contains("W_NOT_REPRODUCIBLE") && check.stderr.contains("1 warning"), "{}", check.stderr);
    let call = folder.callcell(&["call", ".", "double", r#"{"value":1}"#]);
    assert_eq!(call.stderr, "note: 1 warning; `callcell check` shows what they are\n");
}

#[test]
fn a_watcher_checks_what_changes() {
    let folder = Files::new(&[("tools.ts", &double(WORKS))]);
    let mut command = command(&["check", "--watch", "--json"], cache());
    command.current_dir(folder.0.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Blocks until the watcher speaks; a watcher that never does is the test runner's to end.
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let mut until = |ok: bool| while next()["ok"] != json!(ok) {};
    until(true);
    folder.write("tools.ts", &double("async ({ value }) => ({ value })"));
    until(false);
    folder.write("lib/more.ts", "export const two = 2;\n");
    folder.write(
        "tools.ts",
        &format!("import {{ two }} from './lib/more.ts';\n{}", double("({ value }) => ({ value: value * two })")),
    );
    until(true);
    folder.write("lib/more.ts", "export const three = 3;\n");
    until(false);
    fs::remove_file(folder.path("tools.ts")).unwrap();
    until(false);
    folder.write("tools.ts", &double(WORKS));
    until(true);
    child.kill().unwrap();
    child.wait().unwrap();
}

// CB-125, CB-120..CB-124
#[test]
fn cases_pass_fail_and_say_why() {
    let folder = Files::new(&[
        (
            "tools.ts",
            &double("({ value }) => { if (value === 13) throw new Error('secret 13'); return { value: value * 2 }; }"),
        ),
        ("inputs/double/works.json", r#"{"value":2}"#),
        ("inputs/double/works.expected.json", r#"{"value":4.0}"#),
        ("inputs/double/no-expectation.json", r#"{"value":2}"#),
        ("inputs/double/refused.json", r#"{"value":"2"}"#),
        ("inputs/double/refused.error.json", r#"{"code":"R_INPUT_SCHEMA","path":"$.value"}"#),
        ("inputs/README.md", "no case"),
    ]);
    let passed = folder.callcell(&["test"]);
    assert_eq!(passed.code, Some(0), "{}", passed.stderr);
    let lines: Vec<&str> = passed.stdout.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(
        lines[2].starts_with("pass  double/no-expectation") && lines[2].ends_with(r#"{"value":4}"#),
        "{}",
        lines[2]
    );
    assert_eq!(passed.stderr, "note: 3 cases passed\n");

    folder.write("inputs/double/wrong.json", r#"{"value":3}"#);
    folder.write("inputs/double/wrong.expected.json", r#"{"value":7,"more":[]}"#);
    folder.write("inputs/double/throws.json", r#"{"value":13}"#);
    folder.write("inputs/double/orphan.expected.json", "{}");
    folder.write("inputs/double/torn.json", r#"{"value":"#);
    folder.write("inputs/double/works-after-all.json", r#"{"value":1}"#);
    folder.write("inputs/double/works-after-all.error.json", r#"{"code":"R_THREW"}"#);
    folder.write("inputs/duoble/typo.json", r#"{"value":1}"#);
    folder.write("inputs/double/misspelt.json", r#"{"value":1}"#);
    folder.write("inputs/double/misspelt.error.json", r#"{"kode":"R_THREW"}"#);
    let failed = folder.callcell(&["test"]);
    assert_eq!(failed.code, Some(1));
    for text in [
        "error: double/wrong: the result is another one",
        "  $.value: 7 expected, 6 found",
        "  $.more: [] is missing",
        "error: double/throws: the callback threw an exception; if it shall fail, expect that in a `.error.json`",
        "error: double/orphan: there is no input `orphan.json` beside it",
        "error: double/torn: `",
        "error: double/works-after-all: it works, and should fail with R_THREW",
        "error: duoble/typo: the bundle declares no callback `duoble`",
        "error: double/misspelt: an expected error is written",
        "error: 7 cases failed, 3 cases passed",
    ] {
        assert!(failed.stderr.contains(text), "{text}: {}", failed.stderr);
    }
    assert!(!failed.stderr.contains("secret"), "what a callback threw is private (CB-123)");
    let revealed = folder.callcell(&["test", "--reveal", "--only", "throws"]);
    assert!(
        revealed.stderr.contains("Error: secret 13") && revealed.stderr.contains("tools.ts:7:"),
        "{}",
        revealed.stderr
    );

    let report = folder.callcell(&["test", "--json", "--only", "double/w"]).json();
    assert_eq!((&report["passed"], &report["failed"]), (&json!(1), &json!(2)));
    assert_eq!(report["cases"][0]["case"], "works");
    assert!(report["cases"][0]["usage"]["fuel"].as_u64() > Some(0));
    assert_eq!(report["cases"][2]["details"], json!(["$.value: 7 expected, 6 found", "$.more: [] is missing"]));
}

// A pipe that nobody writes to would keep the program for ever.
#[cfg(unix)]
#[test]
fn inputs_that_are_no_files_fail_their_case() {
    let folder = Files::new(&[("tools.ts", &double(WORKS)), ("inputs/double/fine.json", r#"{"value":1}"#)]);
    for (maker, name) in [("mkfifo", "pipe.json"), ("mkdir", "folder.json")] {
        let path = folder.path(&format!("inputs/double/{name}"));
        assert!(std::process::Command::new(maker).arg(path).status().unwrap().success());
    }
    let run = folder.callcell(&["test"]);
    assert_eq!(run.code, Some(1));
    for name in ["pipe", "folder"] {
        let text = format!("inputs/double/{name}.json`: it is no regular file");
        assert!(run.stderr.contains(&text), "{text}: {}", run.stderr);
    }
    assert!(run.stderr.ends_with("error: 2 cases failed, 1 case passed\n"), "{}", run.stderr);
}

#[test]
fn nothing_to_test_is_no_success() {
    let folder = Files::new(&[("tools.ts", &double(WORKS))]);
    folder.callcell(&["test"]).failed(2, "NO_CASES");
    folder.write("inputs/double.json", "{}");
    folder.callcell(&["test"]).failed(2, "NO_CASES");
    folder.write("inputs/double/a.json", r#"{"value":1}"#);
    folder.callcell(&["test", "--only", "other"]).failed(2, "NO_CASES");
    folder.callcell(&["test", "--inputs", "none"]).failed(2, "NO_CASES");
    assert_eq!(folder.callcell(&["test"]).code, Some(0));
}

// 3.2: an evaluator is only given outputs that fit the output schema, and expectations that fit its partial form.
#[test]
fn evaluators_are_tested_on_what_the_platform_would_give() {
    let folder = Files::new(&[
        (
            "agent.ts",
            "import { createAgent, exactDiff, weightedScore } from '@eigenpal/automations';\nimport { z } from 'zod';\n\
             export default createAgent({ name: 'a', instructions: 'Work.', outputSchema: z.object({ total: z.number(), note: z.string().optional() }) })\n\
             .defineEvaluator('score', ({ actual, expected }) => Number(actual.total === expected?.total))\n\
             .defineEvaluator('diff', exactDiff({ select: (output) => ({ total: output.total, note: output.note }) }))\n\
             .defineEvalPass(weightedScore({ weights: { score: 1, diff: 1 }, threshold: 1 }));\n",
        ),
        ("inputs/a.evaluators.score/same.json", r#"{"actual":{"total":1},"expected":{"total":1}}"#),
        ("inputs/a.evaluators.score/same.expected.json", "1"),
        ("inputs/a.evaluators.score/partial.json", r#"{"actual":{"total":1},"expected":{}}"#),
        ("inputs/a.evaluators.score/partial.expected.json", "0"),
        // What is undefined counts as absent, and null as null.
        ("inputs/diff/absent.json", r#"{"total":1}"#),
        ("inputs/diff/absent.expected.json", r#"{"total":1}"#),
    ]);
    let passed = folder.callcell(&["test"]);
    assert_eq!(passed.code, Some(0), "{}", passed.stderr);
    folder.write("inputs/diff/absent.expected.json", r#"{"total":1,"note":null}"#);
    folder.write("inputs/a.evaluators.score/output.json", r#"{"actual":{}}"#);
    folder.write("inputs/a.evaluators.score/expectation.json", r#"{"actual":{"total":1},"expected":{"total":"1"}}"#);
    folder.write("inputs/a.evaluators.score/none.json", r#"{"total":1}"#);
    let failed = folder.callcell(&["test"]);
    assert_eq!(failed.code, Some(1));
    for text in [
        "diff/absent: the result is another one",
        "  $.note: null is missing",
        "score/output: the platform would not give this input: `actual` must have",
        "score/expectation: the platform would not give this input: `expected` must have a number at `$.total`",
        "score/none: the input has no member `actual`",
    ] {
        assert!(failed.stderr.contains(text), "{text}: {}", failed.stderr);
    }
}

// CB-20, CB-71
#[test]
fn a_bundle_outlives_its_sources() {
    let folder = Files::new(&[
        (
            "tools.ts",
            &double("({ value }) => { if (value < 0) throw new Error('negative'); return { value: value * 2 }; }"),
        ),
        ("inputs/double/a.json", r#"{"value":4}"#),
        ("inputs/double/a.expected.json", r#"{"value":8}"#),
    ]);
    let built = folder.callcell(&["build", "--json"]).json();
    assert_eq!((&built["file"], &built["callbacks"]), (&json!("tools.cell"), &json!(["double"])));
    assert_eq!(built["bytes"], fs::metadata(folder.path("tools.cell")).unwrap().len());
    fs::remove_file(folder.path("tools.ts")).unwrap();
    assert_eq!(folder.callcell(&["call", "tools.cell", "double", r#"{"value":4}"#]).stdout, "{\"value\":8}\n");
    assert_eq!(folder.callcell(&["test", "tools.cell"]).code, Some(0));
    let thrown = folder.callcell(&["call", "tools.cell", "double", r#"{"value":-1}"#, "--reveal"]);
    assert!(thrown.stderr.contains("(tools.ts:7:"), "a stack names the line of the TypeScript: {}", thrown.stderr);
}

#[test]
fn inspect_shows_what_a_bundle_declares() {
    let folder = Files::new(&[]);
    let bundle = folder.path("agent.cell");
    assert_eq!(callcell(&["build", &format!("{EXAMPLES}/invoice"), "-o", &bundle]).code, Some(0));
    let shown = callcell(&["inspect", &bundle]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    for text in [
        "agents/invoice/agent.ts: 8 callbacks",
        "invoices.tools.computeDueDate",
        "{ issueDate, days?, endOfMonth? }",
        "when the weighted mean of fields × 2 + meaning × 1 + nonnegative × 1 reaches 0.9",
        "resources/vat-rates.ts",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let object = callcell(&["inspect", &bundle, "--json"]).json();
    let project = callcell(&["inspect", &format!("{EXAMPLES}/invoice"), "--json"]).json();
    assert_eq!(object, project, "a project is inspected by compiling it");
    assert_eq!(object["manifest"]["agents"][1]["export"], "filesystemReviewer");
    assert_eq!(object["manifest"]["agents"][1]["filesystem"], json!({ "cwd": null }));
    folder.write("empty.cell", "");
    callcell(&["inspect", &folder.path("empty.cell")]).failed(4, "BUNDLE_DAMAGED");
}

// EV-103
#[test]
fn a_predicate_is_shown_as_source() {
    let shown = callcell(&["inspect", &format!("{EXAMPLES}/invoice/agents/invoice/strict.ts")]);
    assert!(shown.stdout.contains("=>") && shown.stdout.contains("is true"), "{}", shown.stdout);
}
