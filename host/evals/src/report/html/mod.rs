//! An experiment as one page for people (7.4).
//!
//! The page is a single file that loads nothing, reads without a script, prints, and follows the reader's light or dark setting. From the top:
//! the verdict with its counts and the gate, the scores of each evaluator, the pass rule, and the runs, each of which opens to its scores,
//! differences, rationales, output and cost.
//!
//! A page cannot hold a million runs. It has at most [`MAX_ROWS`] of them, and [`MAX_ROW_BYTES`]: those that did not pass first, in the order
//! of the dataset, then the others. What is left out is said, with where it is. Beyond these rows nothing is held.

pub(super) mod frame;
pub(super) mod parts;
mod row;
mod rule;

use super::{Category, EvaluatorHead, EvaluatorSummary, Head, MethodHead, ReportError, Summary, text};
use crate::model::RunResult;
use frame::markup;
use maud::{Markup, PreEscaped, html};
use parts::MAX_NAME;
use std::io::Write;

/// The most runs that a page shows.
pub const MAX_ROWS: usize = 2_000;
/// The most bytes that those runs take on the page.
pub const MAX_ROW_BYTES: usize = 24 * 1024 * 1024;
/// Evaluators of a page. A definition has at most 32.
const MAX_EVALUATORS: usize = 64;
/// Characters of a judge's prompt.
const MAX_PROMPT: usize = 8_000;
/// Characters of the options of a comparison.
const MAX_OPTIONS: usize = 8_000;

/// Writes the page. `summary` is that of these runs.
///
/// # Errors
/// When the runs end early, before anything is written; or when the output takes nothing more.
pub fn write<E: std::error::Error + 'static>(
    mut out: impl Write,
    head: &Head,
    summary: &Summary,
    runs: impl IntoIterator<Item = Result<RunResult, E>>,
) -> Result<(), ReportError<E>> {
    let mut kept = Kept::new(MAX_ROWS, MAX_ROW_BYTES);
    for (position, run) in runs.into_iter().enumerate() {
        let run = run.map_err(ReportError::Runs)?;
        kept.add(Category::of(&run) == Category::Passed, || row::row(head, &run, position as u64).0);
    }
    frame::open(&mut out, &format!("{} · {}", head.agent, head.experiment))?;
    markup(&mut out, &top(head))?;
    markup(&mut out, &verdict(head, summary))?;
    markup(&mut out, &evaluators(head, summary))?;
    markup(&mut out, &rule::section(head, summary))?;
    markup(&mut out, &before_rows(head, summary, &kept))?;
    for row in kept.rows() {
        out.write_all(row.as_bytes())?;
    }
    out.write_all(b"</table></section>\n")?;
    frame::close(&mut out)?;
    Ok(())
}

/// The rows that a page has room for.
struct Kept {
    most: usize,
    most_bytes: usize,
    bytes: usize,
    /// Of runs that did not pass.
    first: Vec<String>,
    /// Of runs that passed.
    then: Vec<String>,
    /// Once one was left out, so are those after it: what is shown is a beginning.
    first_full: bool,
    then_full: bool,
    counts: [u64; 2],
}

impl Kept {
    fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            most,
            most_bytes,
            bytes: 0,
            first: Vec::new(),
            then: Vec::new(),
            first_full: false,
            then_full: false,
            counts: [0; 2],
        }
    }

    /// Adds a row if there is room. A row of the second kind makes room for one of the first.
    fn add(&mut self, passed: bool, row: impl FnOnce() -> String) {
        self.counts[usize::from(passed)] += 1;
        if if passed { self.then_full } else { self.first_full } {
            return;
        }
        let row = row();
        if !passed {
            while !self.fits(&row)
                && let Some(last) = self.then.pop()
            {
                self.bytes -= last.len();
                self.then_full = true;
            }
        }
        if !self.fits(&row) {
            self.first_full |= !passed;
            self.then_full = true;
            return;
        }
        self.bytes += row.len();
        if passed { self.then.push(row) } else { self.first.push(row) }
    }

    fn fits(&self, row: &str) -> bool {
        self.first.len() + self.then.len() < self.most && self.bytes + row.len() <= self.most_bytes
    }

    fn rows(&self) -> impl Iterator<Item = &String> {
        self.first.iter().chain(&self.then)
    }

    /// A sentence about the rows that are not on the page, if there are any.
    fn left_out(&self) -> Option<String> {
        let [not_passed, passed] = self.counts;
        let (first, then) = (self.first.len() as u64, self.then.len() as u64);
        let shown = first + then;
        if shown == not_passed + passed {
            return None;
        }
        let (shown_text, all) = (text::count(shown), text::plural(not_passed + passed, "run"));
        let which = if first < not_passed {
            format!(
                "the first {} of {} that did not pass, and none that passed",
                text::count(first),
                text::count(not_passed)
            )
        } else {
            format!(
                "all {} that did not pass, and the first {} of {} that passed",
                text::count(first),
                text::count(then),
                text::count(passed)
            )
        };
        Some(format!(
            "This page shows {shown_text} of {all}: {which}. The JSON and CSV reports of this experiment hold all of them."
        ))
    }
}

fn top(head: &Head) -> Markup {
    let fact = |term, text: &str| parts::fact(term, &parts::text(text, MAX_NAME));
    html! {
        header.top {
            p.kicker { "Evaluation report" }
            h1 { (parts::name(&head.agent)) }
            dl.facts {
                (fact("Experiment", &head.experiment))
                (parts::fact("Dataset", &html! {
                    (parts::name(&head.dataset))
                    @if !head.dataset_version.is_empty() { " version " (parts::text(&head.dataset_version, MAX_NAME)) }
                }))
                (fact("Outputs from", &head.source))
                (fact("Bundle", &head.bundle))
                (fact("Started", &head.created))
                (fact("Finished", head.finished.as_deref().unwrap_or("not yet")))
                @if head.repeat > 1 { (parts::fact("Repetitions", &html! { (head.repeat) })) }
            }
        }
        "\n"
    }
}

fn verdict(head: &Head, summary: &Summary) -> Markup {
    let reached = head.is_reached(summary);
    let rate = text::percent(summary.pass_rate());
    let gate = text::percent(head.min_pass_rate);
    let counts =
        [(summary.passed, Category::Passed), (summary.failed, Category::Failed), (summary.errors, Category::Error)];
    let word = |category| match category {
        Category::Passed => "passed",
        Category::Failed => "failed",
        Category::Error => "ended in an error",
    };
    let label: Vec<_> =
        counts.iter().map(|(count, category)| format!("{} {}", text::count(*count), word(*category))).collect();
    html! {
        section.verdict.reached[reached].missed[!reached] aria-labelledby="verdict" {
            p.rate aria-hidden="true" { (rate) }
            div.words {
                h2 id="verdict" {
                    @if reached { "Gate reached: " } @else { "Below the gate: " }
                    (text::count(summary.passed)) " of " (text::plural(summary.total, "run")) " passed"
                }
                p {
                    "That is " b { (rate) } ", " @if reached { "which reaches" } @else { "and below" } " the gate of " b { (gate) } "."
                    @if let Some(mean) = summary.mean_value {
                        " The mean value is " b { (text::score(mean)) } " over " (text::plural(summary.valued, "decided run")) "."
                    }
                }
            }
            div.counts {
                (parts::stacked(&counts.map(|(count, category)| (count, parts::class(category))), &label.join(", ")))
                svg.gate width="100%" height="12" aria-hidden="true" {
                    rect x=(parts::at(head.min_pass_rate)) y="0" width="2" height="10" transform="translate(-2 2)" {}
                }
                ul.legend {
                    @for (count, category) in counts {
                        li {
                            (parts::swatch(parts::class(category)))
                            b { (text::count(count)) } " " (word(category))
                        }
                    }
                    li.gate { "gate at " b { (gate) } }
                }
            }
        }
        "\n"
    }
}

fn evaluators(head: &Head, summary: &Summary) -> Markup {
    let figures = |name: &str| summary.evaluators.iter().find(|evaluator| evaluator.name == name);
    html! {
        section aria-labelledby="evaluators" {
            h2 id="evaluators" { "Evaluators" }
            div.scroll {
                table.evaluators {
                    caption.away { "Scores of each evaluator over all runs" }
                    thead {
                        tr {
                            th scope="col" { "Evaluator" }
                            th.number scope="col" { "Mean" }
                            th.picture.wide scope="col" { "Lowest to highest" }
                            th.picture scope="col" { "Distribution" }
                            th.number.wide scope="col" { "Scores" }
                            th.number scope="col" { "Errors" }
                        }
                    }
                    @for evaluator in head.evaluators.iter().take(MAX_EVALUATORS) { (one(head, evaluator, figures(&evaluator.name))) }
                }
            }
            (parts::left_out(head.evaluators.len(), MAX_EVALUATORS, "evaluators"))
            (usage(summary))
        }
        "\n"
    }
}

fn one(head: &Head, evaluator: &EvaluatorHead, figures: Option<&EvaluatorSummary>) -> Markup {
    let about = about(&evaluator.method);
    html! {
        tbody {
            tr {
                th scope="row" {
                    (parts::name(&evaluator.name))
                    span.kind {
                        (parts::kind(evaluator.kind()))
                        @if let Some(share) = head.share(&evaluator.name) { ", counts " (text::percent(share)) }
                    }
                }
                @if let Some(figures) = figures {
                    td.number.mean { (parts::score(figures.mean)) }
                    td.picture.wide { (parts::range(figures)) }
                    td.picture { (parts::histogram(&figures.histogram)) }
                    td.number.wide { (text::count(figures.scored)) }
                    td.number { @if figures.errors > 0 { b.error { (text::count(figures.errors)) } } @else { "0" } }
                } @else {
                    td.number colspan="5" { span.none { "never ran" } }
                }
            }
            @if !about.0.is_empty() { tr.about { td colspan="6" { (about) } } }
        }
    }
}

/// How an evaluator works, where that takes more than a word.
fn about(method: &MethodHead) -> Markup {
    html! {
        @match method {
            MethodHead::Callback => {}
            MethodHead::ExactDiff { options } => {
                @if !options.is_empty() {
                    @let options = text::pretty(&options.clone().into(), MAX_OPTIONS);
                    details { summary { "Options" } pre { code { (parts::shown(&options)) } } }
                }
            }
            MethodHead::LlmJudge { prompt, model } => {
                details {
                    summary {
                        "Criteria for "
                        @if let Some(model) = model { (parts::text(model, MAX_NAME)) } @else { "the configured model" }
                    }
                    pre.prose { (parts::text(prompt, MAX_PROMPT)) }
                }
            }
        }
    }
}

fn usage(summary: &Summary) -> Markup {
    let usage = &summary.evaluation;
    let fact = |term, number: u64| parts::fact(term, &html! { @if number > 0 { (text::count(number)) } });
    html! {
        dl.usage {
            (fact("Fuel of the runs", summary.run_fuel))
            (fact("Fuel of evaluating", usage.fuel))
            (fact("Calls", usage.calls))
            (fact("Judge requests", usage.judge_requests))
            (fact("from the cache", usage.judge_cached))
            (fact("Prompt tokens", usage.prompt_tokens))
            (fact("Completion tokens", usage.completion_tokens))
        }
    }
}

/// From the heading of the runs to the head of their table.
fn before_rows(head: &Head, summary: &Summary, kept: &Kept) -> Markup {
    let counts = [
        ("passed", "Passed", summary.passed),
        ("failed", "Failed", summary.failed),
        ("error", "Errors", summary.errors),
    ];
    let orders =
        [("", "Failing first"), ("worst", "Worst first"), ("position", "Dataset order"), ("-time", "Slowest first")];
    html! {
        // Left open: the rows follow.
        (PreEscaped("<section aria-labelledby=\"runs\">"))
        h2 id="runs" { "Runs" }
        @if let Some(sentence) = kept.left_out() { p.note.left-out { (sentence) } }
        (toolbar(&counts, summary.total, &orders, Some(head)))
        (PreEscaped("<table class=\"rows runs\" role=\"table\">"))
        caption.away { "Runs, each followed by its details" }
        thead role="rowgroup" {
            tr role="row" {
                th scope="col" role="columnheader" { "Example" }
                th scope="col" role="columnheader" { "Verdict" }
                @if row::has_value(head) { th.number scope="col" role="columnheader" { "Value" } }
                th scope="col" role="columnheader" { "Look at" }
                th.number scope="col" role="columnheader" { "Time" }
            }
        }
        "\n"
    }
}

/// What narrows and sorts a table of rows. Only the script shows it.
pub(super) fn toolbar(
    statuses: &[(&str, &str, u64)],
    total: u64,
    orders: &[(&str, &str)],
    evaluators: Option<&Head>,
) -> Markup {
    html! {
        div.toolbar hidden {
            fieldset.segments {
                legend.away { "Show" }
                label { input type="radio" name="status" value="" checked; span { "All " b { (text::count(total)) } } }
                @for (value, word, count) in statuses {
                    label { input type="radio" name="status" value=(value); span { (word) " " b { (text::count(*count)) } } }
                }
            }
            label.search {
                span.away { "Search" }
                input type="search" name="text" placeholder="Search names, fields, values" autocomplete="off";
            }
            @if let Some(head) = evaluators {
                label { span.away { "Evaluator below 1" }
                    select name="below" {
                        option value="" { "Any scores" }
                        @for (index, evaluator) in head.evaluators.iter().take(MAX_EVALUATORS).enumerate() {
                            option value=(index) { (parts::text(&text::visible_line(&evaluator.name), 60)) " below 1" }
                        }
                    }
                }
            }
            label { span.away { "Order" } select name="order" { @for (value, word) in orders { option value=(value) { (word) } } } }
            @if evaluators.is_some() { button.all type="button" aria-pressed="false" { "Open all" } }
        }
        p.shown role="status" aria-live="polite" {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, head, judged, lost, run, stored};
    use super::*;
    use serde_json::json;

    fn page(head: &Head, runs: &[RunResult]) -> String {
        let mut summary = Summary::default();
        runs.iter().for_each(|run| summary.add(run));
        let mut out = Vec::new();
        write(&mut out, head, &summary, stored(runs)).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Every element that is opened is closed, in order. Enough of a parser for what is written here.
    fn assert_balanced(page: &str) {
        const VOID: [&str; 2] = ["meta", "input"];
        let mut open = Vec::new();
        let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
        while let Some((_, tag)) = rest.split_once('<') {
            let (tag, after) = tag.split_once('>').unwrap();
            let name = tag.split(' ').next().unwrap();
            rest = after;
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "before {}", &after[..after.len().min(200)]),
                None if VOID.contains(&name) => {}
                None => open.push(name),
            }
            if let "style" | "script" = name {
                let (_, end) = rest.split_at(rest.find(&format!("</{name}>")).unwrap());
                rest = end;
            }
        }
        assert_eq!(open, [""; 0]);
    }

    fn some_runs() -> Vec<RunResult> {
        let mut failed = run("wrong", &[("positive", Some(1.0))], Some(false));
        failed.evaluators.splice(
            0..0,
            [
                compared("fields", 0.5, &[("total", "value", Some(json!(1)), Some(json!(2)))]),
                judged("meaning", 0.25, "No."),
            ],
        );
        failed.output = Some(json!({ "total": 2 }));
        let scores = [("fields", Some(1.0)), ("meaning", Some(1.0)), ("positive", Some(1.0))];
        vec![run("fine", &scores, Some(true)), failed, lost("lost"), run("good", &scores, Some(true))]
    }

    // 7.4, 7.5, D-81
    #[test]
    fn a_page_has_the_verdict_the_evaluators_the_rule_and_the_runs() {
        let page = page(&head(), &some_runs());
        assert_balanced(&page);
        for part in [
            "<title>invoices · e1</title>",
            "<section class=\"verdict missed\" aria-labelledby=\"verdict\"><p class=\"rate\" aria-hidden=\"true\">50%</p>",
            "Below the gate: 2 of 4 runs passed</h2><p>That is <b>50%</b>, and below the gate of <b>100%</b>. The mean value is <b>1.000</b> over 3 decided runs.",
            "aria-label=\"2 passed, 1 failed, 1 ended in an error\"",
            "<dt>Dataset</dt><dd><bdi>invoices-2026</bdi> version 3</dd>",
            "<bdi>fields</bdi><span class=\"kind\">exactDiff, counts 66.7%</span>",
            "aria-label=\"from 0.500 to 1.000, mean 0.833\"",
            "<summary>Criteria for the configured model</summary><pre class=\"prose\">Score the summary.</pre>",
            "<option value=\"1\">meaning below 1</option>",
        ] {
            assert!(page.contains(part), "{part}\n\n{page}");
        }
        // Those that did not pass come first.
        let order = ["run-1", "run-2", "run-0", "run-3"].map(|id| page.find(&format!("id=\"{id}\"")).unwrap());
        assert!(order.is_sorted(), "{order:?}");
        assert!(!page.contains("This page shows"));
    }

    #[test]
    fn an_experiment_of_nothing_is_a_page() {
        let page = page(&Head { evaluators: Vec::new(), ..head() }, &[]);
        assert_balanced(&page);
        assert!(page.contains("Gate reached: 0 of 0 runs passed"));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</script></style><script>alert(1)</script>]]>\"'><img src=x onerror=alert(1)>\u{202e}<!--";
        let mut head = head();
        head.agent = hostile.into();
        head.evaluators[0].name = hostile.into();
        head.evaluators[1].method = MethodHead::LlmJudge { prompt: hostile.into(), model: Some(hostile.into()) };
        (head.dataset, head.source, head.created) = (hostile.into(), hostile.into(), hostile.into());
        let mut runs = some_runs();
        runs[1].example = hostile.into();
        runs[1].evaluators[0].name = hostile.into();
        runs[1].output = Some(json!({ hostile: hostile }));
        let page = page(&head, &runs);
        assert_balanced(&page);
        assert_eq!(page.matches("<script").count(), 1);
        assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains('\u{202e}'));
        assert!(page.contains("<span class=\"hidden\">U+202E</span>"));
    }

    #[test]
    fn a_page_keeps_those_that_did_not_pass() {
        let mut kept = Kept::new(4, 100);
        for (passed, name) in [(true, "a"), (true, "b"), (true, "c"), (false, "d"), (true, "e"), (false, "f")] {
            kept.add(passed, || name.into());
        }
        assert_eq!(kept.rows().collect::<Vec<_>>(), ["d", "f", "a", "b"]);
        assert_eq!(
            kept.left_out().unwrap(),
            "This page shows 4 of 6 runs: all 2 that did not pass, and the first 2 of 4 that passed. The JSON and CSV reports of this experiment hold all of them."
        );
        for name in ["g", "h", "i"] {
            kept.add(false, || name.into());
        }
        assert_eq!(kept.rows().collect::<Vec<_>>(), ["d", "f", "g", "h"]);
        assert!(kept.left_out().unwrap().contains("the first 4 of 5 that did not pass, and none that passed"));
        let mut small = Kept::new(4, 100);
        small.add(true, || "x".repeat(60));
        small.add(false, || "y".repeat(60));
        small.add(true, || panic!("what cannot be shown is not made"));
        assert_eq!(small.rows().map(String::len).collect::<Vec<_>>(), [60]);
        small.add(false, || "z".repeat(60));
        assert_eq!((small.rows().count(), small.bytes), (1, 60));
    }

    #[test]
    fn runs_that_end_early_leave_no_page() {
        let runs = [Ok(run("a", &[], None)), Err(std::io::Error::other("the disk is gone"))];
        let mut out = Vec::new();
        assert_eq!(write(&mut out, &head(), &Summary::default(), runs).unwrap_err().code(), "X_REPORT_RUNS");
        assert_eq!(out.len(), 0);
        let error = write(&mut [0u8; 10][..], &head(), &Summary::default(), stored(&[])).unwrap_err();
        assert_eq!(error.code(), "X_REPORT_OUTPUT");
    }
}
