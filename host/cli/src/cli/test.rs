//! `callcell test`: callbacks on representative inputs, before anybody depends on them (CB-125).

use super::args::TestArguments;
use super::call::{in_typescript, resolve, with_names};
use super::environment::Environment;
use super::exit::Exit;
use super::failure::{Failure, Problem, UsageView};
use super::render::{Terminal, bytes, count, cut, plural, time};
use super::table::table;
use super::{input, open};
use callcell::runtime::{
    Bundle, CallOptions, CallbackKind, DataSchema, Manifest, ModuleSet, Outcome, Thrown, Usage, clean, partial_schema,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Differences shown of one case.
const MAX_DIFFERENCES: usize = 10;
/// Characters of a value in a difference.
const MAX_VALUE: usize = 80;

/// One argument, and what must come of it.
struct Case {
    /// The folder's name.
    callback: String,
    /// The file's, without its ending.
    name: String,
    input: Option<PathBuf>,
    expected: Option<PathBuf>,
    error: Option<PathBuf>,
}

/// What came of it.
#[derive(Default)]
struct Report {
    /// Why it fails; none if it passes.
    failure: Option<String>,
    details: Vec<String>,
    value: Option<Value>,
    code: Option<String>,
    usage: Option<Usage>,
    thrown: Option<Thrown>,
}

impl Report {
    fn failed(why: impl Into<String>) -> Self {
        Self { failure: Some(why.into()), ..Self::default() }
    }
}

pub fn run(arguments: &TestArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<Exit> {
    open::require_scripts(environment)?;
    let folder = inputs(arguments)?;
    let mut cases = cases(&folder)?;
    if let Some(only) = &arguments.only {
        cases.retain(|case| format!("{}/{}", case.callback, case.name).contains(only.as_str()));
        if cases.is_empty() {
            return Err(Problem::NoCases { folder, what: "no case has that text in its name" }.into());
        }
    }
    let engine = open::engine(environment, arguments.no_cache, terminal)?;
    let file = open::file(&engine, &arguments.source, terminal)?;
    let (bundle, modules) = open::load(&engine, file, &arguments.source)?;
    let outputs = Outputs::new(bundle.manifest());
    let runner = Runner { bundle: &bundle, modules: &modules, outputs: &outputs, reveal: arguments.reveal };
    let bar = terminal.progress(cases.len());
    let reports: Vec<_> = cases
        .iter()
        .map(|case| {
            bar.set_message(clean(&format!("{}/{}", case.callback, case.name)));
            let report = runner.run(case).unwrap_or_else(|error| {
                let Failure { code, message, thrown, hint, .. } = Failure::from(error);
                let details = hint.map(|hint| format!("hint: {hint}")).into_iter().collect();
                Report { code: Some(code), thrown, details, ..Report::failed(message) }
            });
            bar.inc(1);
            report
        })
        .collect();
    bar.finish_and_clear();
    let failed = reports.iter().filter(|report| report.failure.is_some()).count();
    if arguments.json {
        let cases: Vec<_> = cases.iter().zip(&reports).map(|(case, report)| as_json(case, report)).collect();
        terminal
            .json(&json!({ "ok": failed == 0, "passed": cases.len() - failed, "failed": failed, "cases": cases }))?;
    } else {
        terminal.data(&as_table(&cases, &reports, terminal))?;
        for (case, report) in cases.iter().zip(&reports) {
            explain(case, report, terminal);
        }
        let passed = plural(cases.len() - failed, "case");
        match failed {
            0 => terminal.note(&format!("{passed} passed")),
            _ => terminal.error(&format!("{} failed, {passed} passed", plural(failed, "case"))),
        }
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}

/// The folder of the inputs.
fn inputs(arguments: &TestArguments) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &arguments.inputs {
        return Ok(folder.clone());
    }
    let root = if open::is_bundle(&arguments.source) {
        arguments.source.parent().unwrap_or(Path::new("")).to_owned()
    } else {
        open::project(&arguments.source)?.root().to_owned()
    };
    Ok(root.join("inputs"))
}

/// The cases of a folder, by callback and name.
fn cases(folder: &Path) -> Result<Vec<Case>, Problem> {
    let none = |what| Problem::NoCases { folder: folder.to_owned(), what };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Problem::File { action: "read", path, source }
    };
    if !folder.is_dir() {
        return Err(none("there is no such folder"));
    }
    let mut cases = BTreeMap::new();
    for callback in std::fs::read_dir(folder).map_err(failed(folder))? {
        let callback = callback.map_err(failed(folder))?;
        if !callback.path().is_dir() {
            continue;
        }
        let callback_name = callback.file_name().to_string_lossy().into_owned();
        for file in std::fs::read_dir(callback.path()).map_err(failed(&callback.path()))? {
            let path = file.map_err(failed(&callback.path()))?.path();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(stem) = file.strip_suffix(".json") else { continue };
            let (name, part) = match (stem.strip_suffix(".expected"), stem.strip_suffix(".error")) {
                (Some(name), _) => (name, Part::Expected),
                (_, Some(name)) => (name, Part::Error),
                _ => (stem, Part::Input),
            };
            let case = cases.entry((callback_name.clone(), name.to_owned())).or_insert_with(|| Case {
                callback: callback_name.clone(),
                name: name.to_owned(),
                input: None,
                expected: None,
                error: None,
            });
            match part {
                Part::Input => case.input = Some(path),
                Part::Expected => case.expected = Some(path),
                Part::Error => case.error = Some(path),
            }
        }
    }
    if cases.is_empty() {
        return Err(none("it has no file `CALLBACK/CASE.json`"));
    }
    Ok(cases.into_values().collect())
}

enum Part {
    Input,
    Expected,
    Error,
}

/// What a case runs on.
struct Runner<'b> {
    bundle: &'b Bundle,
    modules: &'b ModuleSet,
    outputs: &'b Outputs,
    reveal: bool,
}

impl Runner<'_> {
    fn run(&self, case: &Case) -> anyhow::Result<Report> {
        let Some(path) = &case.input else {
            return Ok(Report::failed(format!("there is no input `{}.json` beside it", case.name)));
        };
        if case.expected.is_some() && case.error.is_some() {
            return Ok(Report::failed("it has both a result and an error that are expected; delete one of the files"));
        }
        let argument = input::file(path)?;
        let expected = case.expected.as_deref().map(input::file).transpose()?;
        let error = match &case.error {
            Some(path) => Some(ExpectedError::read(&input::file(path)?).map_err(|what| anyhow::anyhow!("{what}"))?),
            None => None,
        };
        let name = resolve(self.bundle.manifest(), &case.callback)?;
        if let Some(why) = self.outputs.refuse(name, &argument) {
            return Ok(Report::failed(why));
        }
        // The same clock and the same random numbers in every run, so that a case that passed passes again.
        let options = CallOptions {
            clock: Some(SystemTime::UNIX_EPOCH),
            seed: Some(0),
            reveal: self.reveal,
            ..CallOptions::default()
        };
        match self.bundle.call_blocking(name, &argument, &options) {
            Ok(outcome) => Ok(returned(outcome, expected.as_ref(), error.as_ref())),
            Err(failed) => {
                let usage = failed.usage;
                let failed = with_names(in_typescript(failed, self.modules).into(), self.bundle.manifest());
                Ok(Report { usage, ..refused(Failure::from(failed), expected.is_some(), error.as_ref()) })
            }
        }
    }
}

/// `{"code":"R_INPUT_SCHEMA","path":"$.subtotal"}`.
struct ExpectedError {
    code: String,
    path: Option<String>,
}

impl ExpectedError {
    fn read(value: &Value) -> Result<Self, String> {
        let code = value.get("code").and_then(Value::as_str);
        let path = value.get("path").map(|path| path.as_str().map(str::to_owned));
        let known = value.as_object().is_some_and(|it| it.keys().all(|key| key == "code" || key == "path"));
        match (code, path) {
            (Some(code), None) if known => Ok(Self { code: code.to_owned(), path: None }),
            (Some(code), Some(Some(path))) if known => Ok(Self { code: code.to_owned(), path: Some(path) }),
            _ => Err("an expected error is written `{\"code\":\"R_INPUT_SCHEMA\",\"path\":\"$.subtotal\"}`".into()),
        }
    }
}

fn returned(outcome: Outcome, expected: Option<&Value>, error: Option<&ExpectedError>) -> Report {
    let report = Report { usage: Some(outcome.usage), ..Report::default() };
    let mut value = outcome.value;
    if !outcome.undefined.is_empty() {
        remove(&mut "$".to_owned(), &mut value, &outcome.undefined.into_iter().collect());
    }
    if let Some(error) = error {
        let failure = Some(format!("it works, and should fail with {}", error.code));
        return Report { failure, details: vec![format!("gives {}", shown(&value))], value: Some(value), ..report };
    }
    let mut differences = Vec::new();
    if let Some(expected) = expected {
        compare(&mut "$".to_owned(), expected, &value, &mut differences);
    }
    let failure = (!differences.is_empty()).then(|| "the result is another one".to_owned());
    Report { failure, details: differences, value: Some(value), ..report }
}

fn refused(failed: Failure, expects_value: bool, error: Option<&ExpectedError>) -> Report {
    let report = Report { code: Some(failed.code.clone()), thrown: failed.thrown, ..Report::default() };
    let met = failed.message;
    match error {
        Some(error) if error.code != failed.code => {
            Report { failure: Some(format!("it fails with {}, not with {}", failed.code, error.code)), ..report }
        }
        Some(ExpectedError { path: Some(path), .. }) if failed.path.as_ref() != Some(path) => {
            let found = failed.path.map_or("without a path".to_owned(), |path| format!("at {path}"));
            Report { failure: Some(format!("it fails {found}, not at {path}")), ..report }
        }
        Some(_) => report,
        None => {
            let details = failed.hint.map(|hint| format!("hint: {hint}")).into_iter().collect();
            let wish = if expects_value { "" } else { "; if it shall fail, expect that in a `.error.json`" };
            Report { failure: Some(format!("{met}{wish}")), details, ..report }
        }
    }
}

/// Takes out the members that were undefined: JSON shows them as null, and a case must tell the two apart.
fn remove(path: &mut String, value: &mut Value, undefined: &HashSet<String>) {
    let length = path.len();
    match value {
        Value::Object(members) => members.retain(|key, value| {
            path.push_str(&segment(key));
            let keep = !undefined.contains(path.as_str());
            if keep {
                remove(path, value, undefined);
            }
            path.truncate(length);
            keep
        }),
        Value::Array(items) => {
            for (index, value) in items.iter_mut().enumerate() {
                path.push_str(&format!("[{index}]"));
                remove(path, value, undefined);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// Where two values differ. Numbers are equal as JavaScript has it: `1` and `1.0` are one number.
fn compare(path: &mut String, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    if differences.len() == MAX_DIFFERENCES {
        return;
    }
    let length = path.len();
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let added = found.keys().filter(|key| !expected.contains_key(*key));
            for key in expected.keys().chain(added) {
                path.push_str(&segment(key));
                match (expected.get(key), found.get(key)) {
                    (Some(expected), Some(found)) => compare(path, expected, found, differences),
                    (Some(expected), None) => differences.push(format!("{path}: {} is missing", shown(expected))),
                    (None, Some(found)) => differences.push(format!("{path}: {} is not expected", shown(found))),
                    (None, None) => {}
                }
                path.truncate(length);
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                path.push_str(&format!("[{index}]"));
                compare(path, expected, found, differences);
                path.truncate(length);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            differences.push(format!("{path}: {} expected, {} found", plural(expected.len(), "item"), found.len()));
        }
        (Value::Number(expected), Value::Number(found)) if expected.as_f64() == found.as_f64() => {}
        (expected, found) if expected == found => {}
        (expected, found) => {
            differences.push(format!("{path}: {} expected, {} found", shown(expected), shown(found)));
        }
    }
}

fn segment(key: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    match !key.is_empty() && key.chars().all(plain) && !key.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!(".{key}"),
        false => format!("[{}]", Value::from(key)),
    }
}

fn shown(value: &Value) -> String {
    cut(&value.to_string(), MAX_VALUE)
}

/// What an agent's evaluation callbacks may be given: the platform checks outputs and expectations before any of them runs
/// (spec 3.2), and so does a test.
struct Outputs {
    callbacks: HashMap<String, (CallbackKind, usize)>,
    schemas: Vec<Schemas>,
}

/// A full schema and a partial one. One that does not compile refuses nothing here; `check` reports it.
struct Schemas {
    full: Option<DataSchema>,
    partial: Option<DataSchema>,
}

impl Outputs {
    fn new(manifest: &Manifest) -> Self {
        let mut outputs = Self { callbacks: HashMap::new(), schemas: Vec::new() };
        let kinds: HashMap<_, _> = manifest.callbacks.iter().map(|it| (it.name.as_str(), it.kind)).collect();
        for agent in &manifest.agents {
            let Some(schema) = agent.get("outputSchema") else { continue };
            let partial = partial_schema(schema).ok().and_then(|partial| DataSchema::compile(&partial).ok());
            let schemas = Schemas { full: DataSchema::compile(schema).ok(), partial };
            for evaluator in agent["evaluators"].as_array().into_iter().flatten() {
                if let Some(name) = evaluator["callback"].as_str()
                    && let Some(kind) = kinds.get(name)
                {
                    outputs.callbacks.insert(name.to_owned(), (*kind, outputs.schemas.len()));
                }
            }
            outputs.schemas.push(schemas);
        }
        outputs
    }

    /// Why a callback would never be given this argument.
    fn refuse(&self, callback: &str, argument: &Value) -> Option<String> {
        let (kind, index) = self.callbacks.get(callback)?;
        let Schemas { full, partial } = self.schemas.get(*index)?;
        let check = |schema: &Option<DataSchema>, value: &Value, what: &str| {
            let violation = schema.as_ref()?.check(value).err()?;
            let (path, expected) = (violation.path, violation.expected);
            Some(format!("the platform would not give this input: {what} must have {expected} at `{path}`"))
        };
        match kind {
            CallbackKind::DiffSelector => check(partial, argument, "it"),
            CallbackKind::Evaluator | CallbackKind::JudgeSelector => {
                let Some(actual) = argument.get("actual") else {
                    return Some("the input has no member `actual`".into());
                };
                let expected = argument.get("expected").filter(|expected| !expected.is_null());
                check(full, actual, "`actual`")
                    .or_else(|| expected.and_then(|expected| check(partial, expected, "`expected`")))
            }
            CallbackKind::Tool | CallbackKind::PassRule => None,
        }
    }
}

fn as_json(case: &Case, report: &Report) -> Value {
    let mut object = json!({ "callback": case.callback, "case": case.name, "ok": report.failure.is_none() });
    if let Some(value) = &report.value {
        object["value"] = value.clone();
    }
    if let Some(code) = &report.code {
        object["code"] = json!(code);
    }
    if let Some(failure) = &report.failure {
        object["failure"] = json!(failure);
        object["details"] = json!(report.details);
    }
    if let Some(Thrown { name, message, stack }) = &report.thrown {
        object["thrown"] = json!({ "name": name, "message": message, "stack": stack });
    }
    if let Some(usage) = report.usage {
        object["usage"] = json!(UsageView::from(usage));
    }
    object
}

fn as_table(cases: &[Case], reports: &[Report], terminal: &Terminal) -> String {
    let rows: Vec<_> = cases
        .iter()
        .zip(reports)
        .map(|(case, report)| {
            let verdict = if report.failure.is_none() { "pass" } else { "FAIL" };
            let gives = match (&report.value, &report.code) {
                (Some(value), _) => shown(value),
                (None, Some(code)) => code.clone(),
                (None, None) => String::new(),
            };
            let usage = report.usage.map_or([String::new(), String::new(), String::new()], |usage| {
                [count(usage.fuel), bytes(usage.peak_memory_bytes), time(usage.wall)]
            });
            let [fuel, memory, wall] = usage;
            vec![verdict.into(), format!("{}/{}", case.callback, case.name), fuel, memory, wall, gives]
        })
        .collect();
    table(terminal, &["", "case", "fuel", "memory", "time", "gives"], &[2, 3, 4], &rows)
}

fn explain(case: &Case, report: &Report, terminal: &Terminal) {
    let Some(failure) = &report.failure else { return };
    terminal.error(&format!("{}/{}: {failure}", case.callback, case.name));
    for detail in &report.details {
        terminal.plain(&format!("  {detail}"));
    }
    if let Some(Thrown { name, message, stack }) = &report.thrown {
        terminal.plain(&format!("  {name}: {message}"));
        stack.lines().for_each(|line| terminal.plain(&format!("  {line}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(expected: &Value, found: &Value) -> Vec<String> {
        let mut differences = Vec::new();
        compare(&mut "$".to_owned(), expected, found, &mut differences);
        differences
    }

    #[test]
    fn numbers_are_javascript_numbers_and_order_of_keys_is_none() {
        assert_eq!(differences(&json!({ "a": 1.0, "b": -0.0 }), &json!({ "b": 0, "a": 1 })), [""; 0]);
    }

    #[test]
    fn differences_name_their_place() {
        assert_eq!(
            differences(
                &json!({ "a": [1, { "b c": null }], "d": [1], "gone": "x" }),
                &json!({ "a": [1, { "b c": 2 }], "d": [], "new": true })
            ),
            [
                "$.a[1][\"b c\"]: null expected, 2 found",
                "$.d: 1 item expected, 0 found",
                "$.gone: \"x\" is missing",
                "$.new: true is not expected"
            ]
        );
        let many = Value::from(vec![0; 50]);
        assert_eq!(differences(&many, &Value::from(vec![1; 50])).len(), MAX_DIFFERENCES);
    }

    #[test]
    fn an_expected_error_has_a_code_and_perhaps_a_path() {
        assert!(ExpectedError::read(&json!({ "code": "R_THREW" })).is_ok());
        for wrong in
            [json!("R_THREW"), json!({}), json!({ "code": "R", "paht": "$" }), json!({ "code": "R", "path": 1 })]
        {
            assert!(ExpectedError::read(&wrong).is_err(), "{wrong}");
        }
    }
}
