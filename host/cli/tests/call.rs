//! The program as people and scripts use it: output, error output, exit code.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Run, cache, callcell, command, run};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const TAX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tax/tools.ts");
const HUNDRED: &str = r#"{"subtotal":100}"#;

fn with_stdin(arguments: &[&str], input: &[u8]) -> Run {
    let mut command = command(arguments, cache());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program need not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A project of one module, in a folder of its own.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tools.ts"), source).unwrap();
        Self { folder }
    }

    /// A project with one tool `run` that takes and gives any object.
    fn tool(body: &str) -> Self {
        Self::new(&format!(
            "import {{ createTool }} from '@eigenpal/automations';
             import {{ z }} from 'zod';
             export const run = createTool({{
               description: 'A tool under test.',
               inputSchema: z.looseObject({{}}),
               outputSchema: z.looseObject({{}}),
               execute: (input: any): any => {{ {body} }},
             }});"
        ))
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, argument: &str, options: &[&str]) -> Run {
        callcell(&[&["call", &self.path("tools.ts"), "run", argument], options].concat())
    }
}

// CB-16
#[test]
fn the_main_job_prints_the_result_and_nothing_else() {
    let run = callcell(&["call", TAX, "calculateTotal", HUNDRED]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "{\"total\":120}\n", ""));
}

// CB-18
#[test]
fn a_negative_subtotal_is_refused_before_the_tool_runs() {
    callcell(&["call", TAX, "calculateTotal", r#"{"subtotal":-1}"#]).failed(1, "R_INPUT_SCHEMA");
    let run = callcell(&["call", TAX, "calculateTotal", r#"{"subtotal":-1}"#, "--report"]);
    assert!(!run.stderr.contains("fuel"), "no cell existed: {}", run.stderr);
}

// CB-19
#[test]
fn an_extra_key_in_the_result_is_refused() {
    let source = fs::read_to_string(TAX).unwrap();
    let project = Project::new(&source.replace("total: totalWithTax(subtotal)", "total: 1, extra: 'h-u-n-t-e-r'"));
    fs::copy(Path::new(TAX).with_file_name("math.ts"), project.path("math.ts")).unwrap();
    let run = callcell(&["call", &project.path("tools.ts"), "calculateTotal", HUNDRED]);
    run.failed(1, "R_OUTPUT_SCHEMA");
    assert!(!run.stderr.contains("h-u-n-t-e-r"), "{}", run.stderr);
}

// CB-20
#[test]
fn a_bundle_needs_no_sources() {
    let project = Project::new(&fs::read_to_string(TAX).unwrap());
    fs::copy(Path::new(TAX).with_file_name("math.ts"), project.path("math.ts")).unwrap();
    let bundle = project.path("tax.cell");
    let built = callcell(&["build", &project.path("tools.ts"), "-o", &bundle]);
    assert_eq!((built.code, built.stdout.as_str()), (Some(0), ""), "{}", built.stderr);
    fs::remove_file(project.path("tools.ts")).unwrap();
    fs::remove_file(project.path("math.ts")).unwrap();
    assert_eq!(callcell(&["call", &bundle, "calculateTotal", HUNDRED]).stdout, "{\"total\":120}\n");
}

#[test]
fn a_bundle_is_written_beside_the_caller_under_the_entrys_name() {
    let project = Project::tool("return {}");
    let mut build = command(&["build", "tools.ts"], cache());
    build.current_dir(project.folder.path());
    assert_eq!(run(build).code, Some(0));
    assert_eq!(callcell(&["call", &project.path("tools.cell"), "run", "{}"]).stdout, "{}\n");
}

#[test]
fn arguments_come_from_a_file_or_standard_input() {
    let project = Project::tool("return { got: input.a }");
    fs::write(project.path("a.json"), "{\n  \"a\": \"file\"\n}\n").unwrap();
    let entry = project.path("tools.ts");
    assert_eq!(project.run(&format!("@{}", project.path("a.json")), &[]).stdout, "{\"got\":\"file\"}\n");
    let from_stdin = with_stdin(&["call", &entry, "run", "-"], b" {\"a\": \"stdin\"} ");
    assert_eq!(from_stdin.stdout, "{\"got\":\"stdin\"}\n");
    let indented = format!("{{{}\"a\": 1}}", " ".repeat(1_000_000));
    assert_eq!(with_stdin(&["call", &entry, "run", "-"], indented.as_bytes()).stdout, "{\"got\":1}\n");
}

#[test]
fn arguments_that_cannot_be_read_say_why() {
    let project = Project::tool("return {}");
    project.run("@/no/such/file.json", &[]).failed(4, "FILE_UNREADABLE");
    project.run("@", &[]).failed(4, "FILE_UNREADABLE");
    let broken = project.run("{\"a\":\n  1,}", &[]);
    broken.failed(2, "ARGUMENT_NOT_JSON");
    assert!(broken.stderr.contains("trailing comma at line 2 column 5"), "{}", broken.stderr);
    with_stdin(&["call", &project.path("tools.ts"), "run", "-"], b"").failed(2, "ARGUMENT_NOT_JSON");
    with_stdin(&["call", &project.path("tools.ts"), "run", "-"], b"\"\xff\"").failed(2, "ARGUMENT_NOT_JSON");
    let path = project.path("tools.ts");
    assert!(project.run(&path, &[]).stderr.contains(&format!("hint: to read the file, write `@{path}`")));
}

// CB-90
#[test]
fn arguments_may_have_256_kib() {
    let call = |bytes: usize| {
        let project = Project::tool("return {}");
        let argument = json!({ "a": "x".repeat(bytes - 8) }).to_string();
        assert_eq!(argument.len(), bytes);
        with_stdin(&["call", &project.path("tools.ts"), "run", "-"], argument.as_bytes())
    };
    assert_eq!(call(262_144).stdout, "{}\n");
    call(262_145).failed(1, "R_ARGS_TOO_LARGE");
    call(8_000_000).failed(1, "R_ARGS_TOO_LARGE");
}

#[test]
fn deep_arguments_are_refused() {
    let project = Project::tool("return {}");
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(project.run(&nested(127), &[]).stdout, "{}\n");
    project.run(&nested(128), &[]).failed(1, "R_ARGS_TOO_LARGE");
    project.run(&"[".repeat(100_000), &[]).failed(1, "R_ARGS_TOO_LARGE");
}

#[test]
fn json_of_a_call_that_works() {
    let run = callcell(&["call", TAX, "calculateTotal", HUNDRED, "--json"]);
    let object = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_eq!((&object["ok"], &object["value"]), (&json!(true), &json!({ "total": 120 })));
    let keys: Vec<_> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ok", "value", "usage"]);
    let usage = object["usage"].as_object().unwrap();
    let keys: Vec<_> = usage.keys().collect();
    assert_eq!(keys, ["fuel", "wallMicros", "peakMemoryBytes", "argumentBytes", "resultBytes"]);
    assert!(usage.values().all(|figure| figure.as_u64().is_some_and(|figure| figure > 0)), "{usage:?}");
    assert_eq!((&usage["argumentBytes"], &usage["resultBytes"]), (&json!(16), &json!(13)));
}

#[test]
fn json_of_a_call_that_fails() {
    let run = callcell(&["call", TAX, "calculateTotal", r#"{"subtotal":-1}"#, "--json"]);
    let object = run.json();
    assert_eq!((run.code, run.stderr.as_str(), &object["ok"]), (Some(1), "", &json!(false)));
    assert_eq!(object["error"]["code"], "R_INPUT_SCHEMA");
    assert!(object["error"]["message"].is_string() && object["error"]["path"].as_str().unwrap().starts_with('$'));
    assert_eq!(object.get("usage"), None);

    let object = Project::tool("return { a: [NaN] }").run("{}", &["--json"]).json();
    assert_eq!(object["error"]["code"], "R_RESULT_NOT_JSON");
    assert_eq!(object["error"]["path"], "$.a[0]");
    assert!(object["error"]["hint"].is_string() && object["usage"]["fuel"].as_u64() > Some(0));

    for (argument, code, exit) in [("{", "ARGUMENT_NOT_JSON", 2), ("@/none", "FILE_UNREADABLE", 4)] {
        let run = callcell(&["call", TAX, "calculateTotal", argument, "--json"]);
        assert_eq!((run.code, &run.json()["error"]["code"]), (Some(exit), &json!(code)));
    }
}

#[test]
fn json_of_a_project_that_does_not_compile() {
    let project = Project::new("import 'node:fs';\nimport 'lodash';\nexport const a = 1;");
    let run = project.run("{}", &["--json"]);
    let object = run.json();
    assert_eq!((run.code, &object["ok"]), (Some(3), &json!(false)));
    assert_eq!(object["error"]["code"], "C_IMPORT_UNSUPPORTED");
    let found = object["error"]["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((&found[0]["file"], &found[0]["line"]), (&json!("tools.ts"), &json!(1)));
    assert_eq!((&found[0]["category"], &found[1]["category"]), (&json!("node-builtin"), &json!("npm-package")));
}

#[test]
fn a_project_that_does_not_compile_is_shown_with_code_frames() {
    let project = Project::new("export const a = ;\n");
    let run = project.run("{}", &[]);
    run.failed(3, "C_SYNTAX");
    assert!(run.stderr.contains("tools.ts:1") && run.stderr.contains("export const a = ;"), "{}", run.stderr);
    let build = callcell(&["build", &project.path("tools.ts"), "-o", &project.path("a.cell")]);
    build.failed(3, "C_SYNTAX");
    assert!(!Path::new(&project.path("a.cell")).exists());
}

#[test]
fn an_unknown_callback_is_answered_with_names() {
    let run = callcell(&["call", TAX, "calculateTotl", HUNDRED]);
    run.failed(1, "R_UNKNOWN_CALLBACK");
    assert!(run.stderr.contains("hint: did you mean `calculateTotal`?"), "{}", run.stderr);
    let run = callcell(&["call", TAX, "zzz", HUNDRED]);
    run.failed(1, "R_UNKNOWN_CALLBACK");
    assert!(run.stderr.contains("hint: it declares `calculateTotal`"), "{}", run.stderr);
}

#[test]
fn the_last_segment_of_a_name_is_enough() {
    let project = Project::new(
        "import { createAgent, weightedScore } from '@eigenpal/automations';
         export const invoices = createAgent({ name: 'invoices', instructions: 'Read invoices.' })
           .defineEvaluator('half', ({ actual }) => 0.5)
           .defineEvalPass(weightedScore({ weights: { half: 1 }, threshold: 0.5 }));",
    );
    let run = callcell(&["call", &project.path("tools.ts"), "half", r#"{"actual":1}"#]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "0.5\n"), "{}", run.stderr);
}

// CB-123, CB-124
#[test]
fn what_a_callback_throws_stays_private() {
    let project = Project::tool("throw new TypeError(`password ${input.secret}`)");
    let argument = r#"{"secret":"hunter2"}"#;
    for options in [&[][..], &["--report"], &["--json"], &["--json", "--report"]] {
        let run = project.run(argument, options);
        assert_eq!(run.code, Some(1));
        let all = run.stdout + &run.stderr;
        assert!(all.contains("R_THREW"), "{all}");
        for private in ["hunter2", "password", "TypeError"] {
            assert!(!all.contains(private), "{options:?}: {all}");
        }
    }
    let revealed = project.run(argument, &["--reveal"]);
    revealed.failed(1, "R_THREW");
    assert!(revealed.stderr.contains("thrown: TypeError: password hunter2\n"), "{}", revealed.stderr);
    let revealed = project.run(argument, &["--reveal", "--json"]).json();
    assert_eq!(revealed["error"]["thrown"]["message"], "password hunter2");
    assert_eq!(revealed["error"]["message"], "the callback threw an exception");
}

// CB-94, CB-95
#[test]
fn a_deployment_without_scripts_runs_none() {
    let project = Project::new("console.log('top level');");
    let off = |arguments: &[&str]| {
        let mut command = command(arguments, cache());
        command.env("CALLCELL_SCRIPTS", "off");
        run(command)
    };
    off(&["call", TAX, "calculateTotal", HUNDRED]).failed(1, "R_SCRIPTS_DISABLED");
    let run = off(&["build", &project.path("tools.ts"), "-o", &project.path("a.cell")]);
    run.failed(1, "R_SCRIPTS_DISABLED");
    assert!(!run.stderr.contains("top level"));
    let object = off(&["call", TAX, "calculateTotal", HUNDRED, "--json"]).json();
    assert_eq!(object["error"]["code"], "R_SCRIPTS_DISABLED");
}

#[test]
fn a_misspelt_switch_is_refused() {
    let mut command = command(&["call", TAX, "calculateTotal", HUNDRED], cache());
    command.env("CALLCELL_SCRIPTS", "no");
    run(command).failed(2, "ENVIRONMENT");
}

#[test]
fn a_report_names_every_figure_beside_its_limit() {
    let run = callcell(&["call", TAX, "calculateTotal", HUNDRED, "--report", "--fuel", "1000000"]);
    assert_eq!(run.stdout, "{\"total\":120}\n");
    let rows: Vec<_> = run.stderr.lines().skip(1).collect();
    for (row, (name, limit)) in rows.iter().zip([
        ("fuel ", " 1,000,000"),
        ("peak memory ", " 64 MiB"),
        ("wall time ", " 2 s"),
        ("bytes in ", " 256 KiB"),
        ("bytes out ", " 128 KiB"),
    ]) {
        assert!(row.starts_with(name) && row.ends_with(limit), "{row}");
    }
    assert_eq!(rows.len(), 5);
    assert!(rows[3].contains(" 16 B ") && rows[4].contains(" 13 B "), "{rows:?}");
}

#[test]
fn seed_and_clock_can_be_fixed() {
    let project = Project::tool("return { now: Date.now(), random: Math.random() }");
    let call = |seed: &str, clock: &str| project.run("{}", &["--seed", seed, "--clock", clock]).stdout;
    let first = call("7", "1234567890123");
    assert!(first.starts_with("{\"now\":1234567890123,\"random\":0."), "{first}");
    assert_eq!(call("7", "2009-02-13T23:31:30.123Z"), first);
    assert_ne!(call("8", "1234567890123"), first);
}

#[test]
fn limits_can_be_lowered_and_not_raised() {
    let forever = Project::tool("for (;;);");
    forever.run("{}", &["--timeout", "50ms"]).failed(1, "R_TIMEOUT");
    forever.run("{}", &["--fuel", "1000000"]).failed(1, "R_FUEL");
    let raised = callcell(&["call", TAX, "calculateTotal", HUNDRED, "--timeout", "1h"]);
    assert_eq!(raised.stdout, "{\"total\":120}\n");
    assert_eq!(raised.stderr, "warning: a limit can be lowered, not raised; the platform's holds\n");
}

#[test]
fn console_output_goes_to_standard_error_and_cannot_act_on_a_terminal() {
    let body = "console.warn('a\\u001b[2J\\u009b\\u202e\\nerror: forged\\r'); console.log({ b: 1 }); return {}";
    let run = Project::tool(body).run("{}", &[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "{}\n"));
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines[0], "console.warn: a\\u{1b}[2J\\u{9b}\\u{202e}");
    assert_eq!(lines[1], "console.warn: error: forged\\r");
    assert!(lines[2].starts_with("console.log: "), "{lines:?}");
}

#[test]
fn text_from_a_script_is_made_visible_in_errors() {
    let run = Project::tool("return { ['\\u001b]0;x\\u0007']: NaN }").run("{}", &[]);
    run.failed(1, "R_RESULT_NOT_JSON");
    let run2 = Project::tool("throw new Error('\\u001b[31m\\u202e')").run("{}", &["--reveal"]);
    let source = Project::new("// \u{1b}[2J\u{202e}\nexport const \u{1b}[2J a = ;").run("{}", &[]);
    for text in [run.stderr, run2.stderr, source.stderr] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    }
}

#[test]
fn what_is_no_project_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("damaged.cell"), b"callcell bundle\n\x01\0\0\0\xff\xff\xff\xff").unwrap();
    fs::write(path("empty.cell"), b"").unwrap();
    fs::write(path("data.json"), b"{}").unwrap();
    callcell(&["call", &path("damaged.cell"), "a", "{}"]).failed(4, "BUNDLE_DAMAGED");
    callcell(&["call", &path("empty.cell"), "a", "{}"]).failed(4, "BUNDLE_DAMAGED");
    callcell(&["call", &path("none.cell"), "a", "{}"]).failed(4, "FILE_UNREADABLE");
    callcell(&["call", &path("none.ts"), "a", "{}"]).failed(4, "FILE_UNREADABLE");
    callcell(&["call", &path("data.json"), "a", "{}"]).failed(2, "C_IMPORT_UNSUPPORTED");
    let folder = callcell(&["call", &path(""), "a", "{}"]);
    folder.failed(2, "C_IMPORT_UNSUPPORTED");
    assert!(folder.stderr.contains("hint: give a file, or name it as `main`"), "{}", folder.stderr);
    callcell(&["build", TAX, "-o", &path("a.zip")]).failed(2, "BUNDLE_NAME");
    callcell(&["build", TAX, "-o", &path("none/a.cell")]).failed(4, "FILE_UNWRITABLE");
}

#[test]
fn a_command_line_that_means_nothing_is_usage() {
    for arguments in [
        &[][..],
        &["call"],
        &["call", TAX, "calculateTotal"],
        &["frobnicate"],
        &["call", TAX, "calculateTotal", "{}", "--seed", "x"],
        &["call", TAX, "calculateTotal", "{}", "--clock", "yesterday"],
        &["call", TAX, "calculateTotal", "{}", "--clock", "-1"],
        &["call", TAX, "calculateTotal", "{}", "--timeout", "0s"],
        &["call", TAX, "calculateTotal", "{}", "--memory", "1"],
    ] {
        let run = callcell(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
    }
    let help = callcell(&["call", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("Exit codes:") && help.stdout.contains("CALLCELL_CACHE_DIR"));
}

#[test]
fn without_a_usable_cache_the_engine_is_compiled_in_memory() {
    let run = run(command(&["call", TAX, "calculateTotal", HUNDRED], Path::new("/proc/none/cache")));
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "{\"total\":120}\n"));
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("warning: the cache folder `/proc/none/cache` cannot be used ("), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_cache_that_anybody_may_write_to_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let run = run(command(&["engine"], folder.path()));
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("anybody may write to it"), "{}", run.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn closed_outputs_are_no_reason_to_panic() {
    let mut call = command(&["call", TAX, "calculateTotal", HUNDRED, "--report"], cache());
    let mut child = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut call = command(&["call", TAX, "calculateTotal", "{}", "--json"], cache());
    let mut child = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_precompiled_engine_is_known_by_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("engine.bin");
    let run = callcell(&["engine", "-o", file.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let digest = run.stdout.trim_end();
    let config = callcell::runtime::EngineConfig::one_shot();
    assert!(callcell::runtime::Engine::from_artifact(&file, digest, config.clone()).is_ok());
    assert!(callcell::runtime::Engine::from_artifact(&file, &digest.replace(['0', '1'], "2"), config).is_err());
    let object = callcell(&["engine", "--json", "--report"]).json();
    assert_eq!(object["digest"], digest);
    assert_eq!(object["report"]["code"], "read from the cache");
    let report = callcell(&["engine", "--report"]).stdout;
    assert!(report.contains(digest) && report.contains("\nreset "), "{report}");
}
