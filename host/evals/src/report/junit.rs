//! An experiment as JUnit XML, for continuous integration (D-80).
//!
//! One suite per experiment, one case per example and repetition. A case that was decided and did not pass is a failure, whose text names
//! the evaluators responsible with their scores and first differences; one without a decision is an error with its code. The counts
//! stand before the cases, so they are those of the summary.
//!
//! Written with `quick-xml`, one case at a time, because the model of `quick-junit` holds a whole report; the tests read it back with the
//! latter. What XML cannot hold is made visible (`\u{1b}`), and text is bounded: [`MAX_CASE_CHARACTERS`] a case.

use super::details::{Difference, differences, unlisted};
use super::text::{self, cut, json, visible_line};
use super::{Category, Head, PassHead, ReportError, Summary, responsible};
use crate::model::{EvaluatorResult, RunResult};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io::{self, Write};

/// The most characters of a case's text; the rest is cut, and the text says so.
pub const MAX_CASE_CHARACTERS: usize = 8_000;
/// Differences shown per evaluator.
const MAX_DIFFERENCES: usize = 20;
/// Characters of a name or message.
const MAX_LINE: usize = 1_000;
/// Characters of a value.
const MAX_VALUE: usize = 200;

/// Writes the document. `summary` is that of these runs.
///
/// # Errors
/// When the runs end early or the output takes nothing more; what is written is then no whole document.
pub fn write<E: std::error::Error + 'static>(
    out: impl Write,
    head: &Head,
    summary: &Summary,
    runs: impl IntoIterator<Item = Result<RunResult, E>>,
) -> Result<(), ReportError<E>> {
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let [tests, failures, errors] = [summary.total, summary.failed, summary.errors].map(|count| count.to_string());
    let counts = [("tests", &*tests), ("failures", &*failures), ("errors", &*errors), ("skipped", "0")];
    let (agent, name) = (line(&head.agent), line(&format!("{} {}", head.agent, head.experiment)));
    let suites = BytesStart::new("testsuites").with_attributes([("name", "callcell")]).with_attributes(counts);
    writer.write_event(Event::Start(suites))?;
    let mut suite = BytesStart::new("testsuite").with_attributes([("name", &*name)]).with_attributes(counts);
    // An empty time is none.
    if !head.created.is_empty() {
        suite.push_attribute(("timestamp", &*line(&head.created)));
    }
    writer.write_event(Event::Start(suite))?;
    properties(&mut writer, head)?;
    for run in runs {
        case(&mut writer, head, &agent, &run.map_err(ReportError::Runs)?)?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    let out = writer.get_mut();
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

fn properties(writer: &mut Writer<impl Write>, head: &Head) -> io::Result<()> {
    let rule = match &head.pass {
        PassHead::Weighted { weights, threshold } => {
            let weights = weights.iter().map(|weight| format!("{} x {}", weight.evaluator, weight.weight));
            format!("weighted: {}, at least {threshold}", weights.collect::<Vec<_>>().join(", "))
        }
        PassHead::Predicate { source } => format!("predicate: {}", source.as_deref().unwrap_or("no source")),
    };
    let properties = [
        ("bundle", line(&head.bundle)),
        ("dataset", line(&format!("{} {}", head.dataset, head.dataset_version))),
        ("source", line(&head.source)),
        ("pass", line(&rule)),
        ("minPassRate", head.min_pass_rate.to_string()),
    ];
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in &properties {
            writer.create_element("property").with_attributes([("name", *name), ("value", value)]).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn case(writer: &mut Writer<impl Write>, head: &Head, agent: &str, run: &RunResult) -> io::Result<()> {
    let name = line(&run.example);
    // People count from 1.
    let name = if head.repeat > 1 { format!("{name} #{}", u64::from(run.repetition) + 1) } else { name };
    let time = format!("{}.{:03}", run.duration_millis / 1_000, run.duration_millis % 1_000);
    let case = writer.create_element("testcase");
    let case = case.with_attributes([("name", &*name), ("classname", agent), ("time", &time)]);
    let (element, kind, message) = match Category::of(run) {
        Category::Passed => return case.write_empty().map(drop),
        Category::Failed => ("failure", "not-passed".to_owned(), failed(head, run)),
        Category::Error => {
            let error = run.error.as_ref();
            let message = error.map_or("there is no decision", |error| &error.message);
            ("error", error.map_or_else(|| "blocked".into(), |error| line(&error.code)), line(message))
        }
    };
    case.write_inner_content(|writer| {
        let element = writer.create_element(element).with_attributes([("message", &*message), ("type", &kind)]);
        element.write_text_content(BytesText::new(&description(head, run)))?;
        Ok(())
    })?;
    Ok(())
}

/// One line about what did not pass.
fn failed(head: &Head, run: &RunResult) -> String {
    let names: Vec<_> = responsible(head, run).into_iter().map(outcome).collect();
    let blame = if names.is_empty() { "the pass rule says no".into() } else { names.join(", ") };
    let value = match (&head.pass, run.value) {
        (PassHead::Weighted { threshold, .. }, Some(value)) => {
            let [value, threshold] = text::apart(value, *threshold);
            format!("{value} is below {threshold}: ")
        }
        _ => String::new(),
    };
    line(&format!("{value}{blame}"))
}

/// Everything there is to say about a case that did not pass, bounded.
fn description(head: &Head, run: &RunResult) -> String {
    let mut lines = Vec::new();
    if let Some(path) = run.error.as_ref().and_then(|error| error.path.as_ref()) {
        lines.push(format!("at {}", line(path)));
    }
    for result in responsible(head, run) {
        lines.push(visible_line(&outcome(result)));
        lines.extend(differences(result).take(MAX_DIFFERENCES).map(difference));
        let listed = differences(result).count();
        let more = (listed.saturating_sub(MAX_DIFFERENCES) as u64).saturating_add(unlisted(result));
        if more > 0 {
            lines.push(format!("  and {}", text::plural(more, "more difference")));
        }
    }
    let cut = cut(&lines.join("\n"), MAX_CASE_CHARACTERS);
    match cut.left_out {
        0 => cut.text,
        left_out => format!("{}…\n({} more)", cut.text, text::plural(left_out, "character")),
    }
}

/// `fields 0.500`, or `fields: R_THREW, the callback threw`.
fn outcome(result: &EvaluatorResult) -> String {
    let name = cut(&result.name, MAX_LINE).text;
    match (&result.score, &result.error) {
        (Some(score), _) => format!("{name} {}", text::score(*score)),
        (None, Some(error)) => {
            let [message, path] =
                [&error.message, error.path.as_ref().unwrap_or(&String::new())].map(|it| cut(it, MAX_LINE).text);
            let at = if path.is_empty() { String::new() } else { format!(" at {path}") };
            format!("{name}: {}, {message}{at}", error.code)
        }
        (None, None) => format!("{name}: no score"),
    }
}

fn difference(difference: Difference<'_>) -> String {
    let side = |value: Option<&serde_json::Value>| {
        value.map_or_else(|| "nothing".into(), |value| json(value, MAX_VALUE).line())
    };
    let (expected, actual) = (side(difference.expected), side(difference.actual));
    let (path, kind) = (line(difference.path), line(difference.kind));
    format!("  {path} ({kind}): expected {expected}, got {actual}")
}

/// One line of bounded text that XML can hold.
fn line(text: &str) -> String {
    cut(text, MAX_LINE).line()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, failure, head, judged, lost, predicate_head, run, stored};
    use super::*;
    use crate::model::Failure;
    use serde_json::json;

    fn written(head: &Head, runs: &[RunResult]) -> String {
        let mut summary = Summary::default();
        runs.iter().for_each(|run| summary.add(run));
        let mut out = Vec::new();
        write(&mut out, head, &summary, stored(runs)).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn failing() -> RunResult {
        let mut failed = run("wrong-total", &[("positive", Some(1.0))], Some(false));
        let rows = [
            ("total", "value", Some(json!(10)), Some(json!("<b>"))),
            ("lines[1]", "missing", Some(json!({ "a": 1 })), None),
        ];
        failed.evaluators.splice(0..0, [compared("fields", 0.5, &rows), judged("meaning", 0.25, "It is not.")]);
        failed.value = Some(0.4375);
        failed.duration_millis = 1_250;
        failed
    }

    // D-80, 7.5
    #[test]
    fn a_case_says_who_is_responsible() {
        let mut blocked = run("broken", &[("fields", Some(1.0)), ("meaning", None)], None);
        blocked.evaluators[1].error = Some(Failure { path: Some("$.x".into()), ..failure("R_TIMEOUT") });
        let text =
            written(&head(), &[run("fine", &[("fields", Some(1.0))], Some(true)), failing(), blocked, lost("lost")]);
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="callcell" tests="4" failures="1" errors="2" skipped="0">
  <testsuite name="invoices e1" tests="4" failures="1" errors="2" skipped="0" timestamp="2026-12-01T05:00:00Z">
    <properties>
      <property name="bundle" value="sha256:ab12"/>
      <property name="dataset" value="invoices-2026 3"/>
      <property name="source" value="the dataset"/>
      <property name="pass" value="weighted: fields x 2, meaning x 1, positive x 0, at least 0.9"/>
      <property name="minPassRate" value="1"/>
    </properties>
    <testcase name="fine" classname="invoices" time="0.001"/>
    <testcase name="wrong-total" classname="invoices" time="1.250">
      <failure message="0.438 is below 0.900: fields 0.500, meaning 0.250" type="not-passed">fields 0.500
  total (value): expected 10, got &quot;&lt;b&gt;&quot;
  lines[1] (missing): expected {&quot;a&quot;:1}, got nothing
meaning 0.250</failure>
    </testcase>
    <testcase name="broken" classname="invoices" time="0.001">
      <error message="It failed." type="E_PASS_BLOCKED">meaning: R_TIMEOUT, It failed. at $.x</error>
    </testcase>
    <testcase name="lost" classname="invoices" time="0.001">
      <error message="It failed." type="X_RUN_FAILED"></error>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(text, expected);
    }

    // D-77
    #[test]
    fn repetitions_are_cases_of_their_own() {
        let two = Head { repeat: 2, ..predicate_head() };
        let mut second = failing();
        second.repetition = 1;
        second.value = None;
        let text = written(&two, &[second]);
        assert!(text.contains(r#"<testcase name="wrong-total #2" "#), "{text}");
        assert!(text.contains(r#"<failure message="meaning 0.250, fields 0.500" "#), "{text}");
        assert!(text.contains(r#"name="pass" value="predicate: (scores) =&gt; scores.fields"#), "{text}");
    }

    #[test]
    fn text_that_xml_cannot_hold_is_replaced() {
        let mut hostile = run("a\0]]>\"'\u{1b}[31m\u{ffff}\n", &[("fields", None)], None);
        hostile.error = Some(Failure { message: "\u{8}<x>&".into(), ..failure("\u{1}") });
        hostile.evaluators[0].name = "\u{202e}\u{b}".into();
        let rows: Vec<_> = (0..300).map(|_| ("p\0", "value", Some(json!("\u{c}y".repeat(900))), None)).collect();
        let mut long = run("long", &[], Some(false));
        long.evaluators = vec![compared("fields", 0.0, &rows); 3];
        let text = written(&head(), &[hostile, long]);
        assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text}");
        assert!(text.contains(r#"<testcase name="a\u{0}]]&gt;&quot;&apos;\u{1b}[31m\u{ffff}\n" "#), "{text}");
        assert!(text.contains(r#"<error message="\u{8}&lt;x&gt;&amp;" type="\u{1}">\u{202e}\u{b}: R_THREW"#), "{text}");
        assert!(text.contains("characters more)") && text.contains(" more)</failure>"), "{text}");
        assert!(text.len() < 40_000, "{}", text.len());
        let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
        assert_eq!((report.tests, report.failures, report.errors), (2, 1, 1));
        assert_eq!(report.test_suites[0].test_cases[0].name.as_str(), r#"a\u{0}]]>"'\u{1b}[31m\u{ffff}\n"#);
    }

    #[test]
    fn runs_that_end_early_are_an_error() {
        let runs = [Err(io::Error::other("the disk is gone"))];
        assert_eq!(write(io::sink(), &head(), &Summary::default(), runs).unwrap_err().code(), "X_REPORT_RUNS");
        let error = write(&mut [0u8; 10][..], &head(), &Summary::default(), stored(&[])).unwrap_err();
        assert_eq!(error.code(), "X_REPORT_OUTPUT");
    }
}
