//! One run: a row of the table, and what it opens to.

use super::super::details::{Difference, differences, judged, matched, responsible, unlisted};
use super::super::{Category, Head, PassHead, run_id, text};
use super::parts::{self, MAX_NAME};
use crate::model::{EvaluatorResult, Failure, RunResult, Status};
use maud::{Markup, html};
use serde_json::Value;

/// Characters of an error's message.
const MAX_MESSAGE: usize = 1_000;
/// Characters of a value that differs.
const MAX_VALUE: usize = 600;
/// Characters of a judge's rationale.
const MAX_RATIONALE: usize = 4_000;
/// Characters of an output's JSON.
const MAX_OUTPUT: usize = 8_000;
/// Evaluators of a row. A definition has at most 32.
const MAX_EVALUATORS: usize = 64;
/// Differences of a row.
const MAX_DIFFERENCES: usize = 100;
/// Evaluators named in the row itself.
const MAX_CHIPS: usize = 4;

/// A run as a part of the table's body. `position` is that in the dataset, from 0.
pub fn row(head: &Head, run: &RunResult, position: u64) -> Markup {
    let has_value = has_value(head);
    let category = Category::of(run);
    let id = format!("run-{position}");
    html! {
        tbody.run role="rowgroup" id=(id) data-status=(parts::class(category)) data-position=(position) data-worst=(worst(run))
            data-time=(run.duration_millis) data-below=(below(head, run)) {
            tr.line role="row" {
                th.example scope="row" role="rowheader" {
                    button.open type="button" aria-expanded="true" aria-controls={(id) "-more"} {
                        (parts::name(&run.example))
                        @if head.repeat > 1 { span.repetition { " #" (u64::from(run.repetition) + 1) } }
                    }
                }
                td.verdict role="cell" { (parts::badge(category)) }
                @if has_value { td.number.value role="cell" { (parts::score(run.value)) } }
                td.chips role="cell" { (chips(head, run)) }
                td.number.time role="cell" { (text::millis(run.duration_millis)) }
            }
            tr.more role="row" id={(id) "-more"} { td colspan=(if has_value { 5 } else { 4 }) role="cell" { (more(head, run)) } }
        }
        "\n"
    }
}

/// Whether runs have a value of their own, which a predicate does not give.
pub fn has_value(head: &Head) -> bool {
    matches!(head.pass, PassHead::Weighted { .. })
}

/// Sorts errors before failed runs before passed ones, the lower value first.
fn worst(run: &RunResult) -> String {
    let scores = run.evaluators.iter().filter_map(|result| result.score);
    let (sum, count) = scores.fold((0.0, 0.0), |(sum, count), score| (sum + score, count + 1.0));
    let value = run.value.unwrap_or(if count > 0.0 { sum / count } else { 0.0 });
    let category = match Category::of(run) {
        Category::Error => 0.0,
        Category::Failed => 2.0,
        Category::Passed => 4.0,
    };
    format!("{:.6}", category + if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
}

/// The positions of the evaluators that did not give 1, for the filter.
fn below(head: &Head, run: &RunResult) -> String {
    let below = run.evaluators.iter().filter(|result| result.score.is_none_or(|score| score < 1.0));
    let positions = below.filter_map(|result| head.position(&result.name)).map(|position| position.to_string());
    positions.collect::<Vec<_>>().join(" ")
}

/// The evaluators to look at first. For a run that passed: those below 1.
fn chips(head: &Head, run: &RunResult) -> Markup {
    let mut results = responsible(head, run);
    if run.passed {
        results = run.evaluators.iter().filter(|result| result.score.is_some_and(|score| score < 1.0)).collect();
    }
    html! {
        @for result in results.iter().take(MAX_CHIPS) {
            span.chip.failed[!run.passed && result.score.is_some()].error[result.score.is_none()] {
                bdi { (parts::text(&result.name, 60)) } " "
                b {
                    @match (result.score, &result.error) {
                        (Some(score), _) => (text::score(score)),
                        (None, Some(error)) => (parts::text(&error.code, 60)),
                        (None, None) => "no score",
                    }
                }
            }
            " "
        }
        @if results.len() > MAX_CHIPS { span.chip { "and " (results.len() - MAX_CHIPS) " more" } }
        @if results.is_empty() && !run.passed {
            @if let Some(error) = &run.error { span.chip.error { b { (parts::text(&error.code, 60)) } } }
            @else { span.chip.failed { "the pass rule" } }
        }
    }
}

fn more(head: &Head, run: &RunResult) -> Markup {
    let mut left = MAX_DIFFERENCES;
    html! {
        div.detail {
            (reason(head, run))
            @if !run.evaluators.is_empty() { (scores(head, run)) }
            @for result in run.evaluators.iter().take(MAX_EVALUATORS) {
                (compared(result, &mut left))
                (rationale(result))
            }
            @if let Some(output) = &run.output {
                details.output {
                    summary { "Output" }
                    pre { code { (parts::shown(&text::pretty(output, MAX_OUTPUT))) } }
                }
            }
            (usage(head, run))
        }
    }
}

/// Why the run passed, did not, or was not decided.
fn reason(head: &Head, run: &RunResult) -> Markup {
    let names = responsible(head, run);
    let blame = html! {
        @if !names.is_empty() {
            // A predicate keeps its reasons to itself.
            @if run.status == Status::Decided && !has_value(head) { " Scores below 1: " } @else { " Responsible: " }
            @for (index, result) in names.iter().take(MAX_EVALUATORS).enumerate() {
                @if index > 0 { ", " }
                b { (parts::name(&result.name)) }
            }
            "."
        }
    };
    let decided = match (&head.pass, run.value) {
        (PassHead::Weighted { threshold, .. }, Some(value)) => {
            let [short, short_threshold] = [text::score(value), text::score(*threshold)];
            // What reached the threshold by the slack of D-72 may read like it; what did not may not.
            let [value, threshold] = if run.passed { [short, short_threshold] } else { text::apart(value, *threshold) };
            html! {
                "The weighted mean " b { (value) } @if run.passed { " reaches " } @else { " is below " }
                "the threshold " b { (threshold) } "."
            }
        }
        (PassHead::Predicate { .. }, _) => {
            html! { "The predicate returned " b { @if run.passed { "true" } @else { "false" } } "." }
        }
        (PassHead::Weighted { .. }, None) => html! { "The pass rule decided." },
    };
    html! {
        p class={"reason " (parts::class(Category::of(run)))} {
            @match Category::of(run) {
                Category::Passed => (decided),
                Category::Failed => { (decided) (blame) }
                Category::Error => {
                    @if run.status == Status::RunFailed { "There is no output to evaluate. " } @else { "Nothing was decided. " }
                    @if let Some(error) = &run.error { (failure(error)) }
                    (blame)
                }
            }
        }
    }
}

fn failure(error: &Failure) -> Markup {
    html! {
        code.code { (parts::text(&error.code, MAX_NAME)) } " " (parts::text(&error.message, MAX_MESSAGE))
        @if let Some(path) = &error.path { " at " code { (parts::text(path, MAX_NAME)) } }
    }
}

fn scores(head: &Head, run: &RunResult) -> Markup {
    let weighted = has_value(head);
    html! {
        div.scroll {
            table.scores {
                caption { "Scores" }
                thead {
                    tr {
                        th scope="col" { "Evaluator" }
                        th scope="col" { "Score" }
                        @if weighted { th.number.wide scope="col" { "Counts" } }
                        th scope="col" { "Result" }
                    }
                }
                tbody {
                    @for result in run.evaluators.iter().take(MAX_EVALUATORS) {
                        tr {
                            th scope="row" { (parts::name(&result.name)) span.kind { (parts::kind(result.kind)) } }
                            td.score {
                                @if let Some(score) = result.score { (parts::meter(score)) span.number { (text::score(score)) } }
                                @else { span.badge.error { span aria-hidden="true" { "!" } " Error" } }
                            }
                            @if weighted {
                                td.number.wide {
                                    @if let Some(share) = head.share(&result.name) { (text::percent(share)) }
                                    @else { span.none { "–" } }
                                }
                            }
                            td { (outcome(result)) }
                        }
                    }
                }
            }
        }
        (parts::left_out(run.evaluators.len(), MAX_EVALUATORS, "evaluators"))
    }
}

fn outcome(result: &EvaluatorResult) -> Markup {
    html! {
        @if let Some(error) = &result.error { (failure(error)) }
        @else if let Some((matched, total)) = matched(result) {
            (text::count(matched)) " of " (text::plural(total, "field")) @if total == 1 { " matches" } @else { " match" }
        }
        @else if let Some((_, model)) = judged(result) {
            "judged" @if let Some(model) = model { " by " (parts::text(model, MAX_NAME)) }
        }
    }
}

/// Fields that differ, expected beside actual. `left` is how many a row still has room for.
fn compared(result: &EvaluatorResult, left: &mut usize) -> Markup {
    let all = differences(result).count();
    let listed: Vec<_> = differences(result).take(*left).collect();
    *left -= listed.len();
    let more = (all.saturating_sub(listed.len()) as u64).saturating_add(unlisted(result));
    html! {
        @if !listed.is_empty() {
            div.scroll {
                table.differences role="table" {
                    caption { "Differences found by " (parts::name(&result.name)) }
                    thead role="rowgroup" {
                        tr role="row" {
                            @for column in ["Field", "Difference", "Expected", "Actual"] {
                                th scope="col" role="columnheader" { (column) }
                            }
                        }
                    }
                    tbody role="rowgroup" { @for difference in &listed { (row_of(difference)) } }
                }
            }
        }
        @if more > 0 {
            p.note {
                (text::plural(more, "more difference")) " found by " (parts::name(&result.name))
                @if more == 1 { " is" } @else { " are" } " not listed."
            }
        }
    }
}

fn row_of(difference: &Difference<'_>) -> Markup {
    html! {
        tr role="row" {
            th scope="row" role="rowheader" { code { (parts::text(difference.path, MAX_NAME)) } }
            td.what role="cell" { (words(difference.kind)) }
            td.expected role="cell" data-label="Expected" { (value(difference.expected)) }
            td.actual role="cell" data-label="Actual" { (value(difference.actual)) }
        }
    }
}

/// What a kind of differences means. Kinds of later versions stand as they are.
fn words(kind: &str) -> Markup {
    let words = match kind {
        "value" => "other value",
        "type" => "other type",
        "missing" => "missing",
        "extra-field" => "unexpected field",
        "extra-item" => "unexpected item",
        "missing-item" => "missing item",
        "identity-missing" => "no identity",
        "identity-not-scalar" => "identity is no scalar",
        "identity-duplicate" => "identity not unique",
        other => return parts::text(other, MAX_NAME),
    };
    html! { (words) }
}

fn value(value: Option<&Value>) -> Markup {
    html! {
        @if let Some(value) = value { code { (parts::shown(&text::json(value, MAX_VALUE))) } }
        @else { span.none { "nothing" } }
    }
}

fn rationale(result: &EvaluatorResult) -> Markup {
    let rationale = judged(result).filter(|(rationale, _)| !rationale.is_empty());
    html! {
        @if let Some((rationale, model)) = rationale {
            figure.rationale {
                figcaption {
                    span { "Rationale of " (parts::name(&result.name)) }
                    span.untrusted {
                        "Written by " @if let Some(model) = model { (parts::text(model, MAX_NAME)) } @else { "the model" }
                        ", not verified"
                    }
                }
                blockquote { (parts::text(rationale, MAX_RATIONALE)) }
            }
        }
    }
}

fn usage(head: &Head, run: &RunResult) -> Markup {
    let usage = &run.evaluation;
    let fact = |term, number: u64| parts::fact(term, &html! { @if number > 0 { (text::count(number)) } });
    html! {
        dl.usage {
            (parts::fact("Run", &html! { code { (parts::text(&run_id(head, run), 3 * MAX_NAME)) } }))
            (fact("Fuel of the run", run.run_fuel))
            (fact("Fuel of evaluating", usage.fuel))
            (fact("Calls", usage.calls))
            (fact("Judge requests", usage.judge_requests))
            (fact("from the cache", usage.judge_cached))
            (fact("Prompt tokens", usage.prompt_tokens))
            (fact("Completion tokens", usage.completion_tokens))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{
        compared as compared_result, failure as sample_failure, head, judged as judged_result, lost, predicate_head,
        run,
    };
    use super::*;
    use serde_json::json;

    fn failing() -> RunResult {
        let mut failed = run("wrong", &[("positive", Some(1.0))], Some(false));
        let rows = [
            ("total", "value", Some(json!(10)), Some(json!(11))),
            ("lines[1]", "missing-item", Some(json!({ "a": "<i>" })), None),
        ];
        failed
            .evaluators
            .splice(0..0, [compared_result("fields", 0.5, &rows), judged_result("meaning", 0.25, "<img src=x>")]);
        failed.value = Some(0.4375);
        failed
    }

    // 7.5, EV-102
    #[test]
    fn a_failed_run_shows_who_and_what() {
        let page = row(&head(), &failing(), 7).0;
        for part in [
            "<tbody class=\"run\" role=\"rowgroup\" id=\"run-7\" data-status=\"failed\" data-position=\"7\" data-worst=\"2.437500\" data-time=\"1\" data-below=\"0 1\">",
            "<span class=\"badge failed\"><span aria-hidden=\"true\">✗</span> Failed</span>",
            "<span class=\"chip failed\"><bdi>fields</bdi> <b>0.500</b></span> <span class=\"chip failed\"><bdi>meaning</bdi> <b>0.250</b></span> </td>",
            "The weighted mean <b>0.438</b> is below the threshold <b>0.900</b>. Responsible: <b><bdi>fields</bdi></b>, <b><bdi>meaning</bdi></b>.",
            "<td>1 of 2 fields match</td>",
            "<td class=\"number wide\">66.7%</td>",
            "<code>total</code></th><td class=\"what\" role=\"cell\">other value</td><td class=\"expected\" role=\"cell\" data-label=\"Expected\"><code>10</code></td><td class=\"actual\" role=\"cell\" data-label=\"Actual\"><code>11</code></td>",
            "<code>{&quot;a&quot;:&quot;&lt;i&gt;&quot;}</code></td><td class=\"actual\" role=\"cell\" data-label=\"Actual\"><span class=\"none\">nothing</span></td>",
            "<span class=\"untrusted\">Written by judge-1, not verified</span></figcaption><blockquote>&lt;img src=x&gt;</blockquote>",
            "<dt>Run</dt><dd><code>e1/wrong/0</code></dd>",
        ] {
            assert!(page.contains(part), "{part}\n\n{page}");
        }
    }

    // D-72
    #[test]
    fn a_value_close_to_the_threshold_is_told_apart_from_it() {
        let mut close = run("a", &[("fields", Some(0.9))], Some(false));
        close.value = Some(0.8999);
        let page = row(&head(), &close, 0).0;
        assert!(page.contains("<b>0.8999</b> is below the threshold <b>0.9</b>."), "{page}");
        let page = row(&head(), &RunResult { passed: true, value: Some(0.899_999_999_9), ..close }, 0).0;
        assert!(page.contains("<b>0.900</b> reaches the threshold <b>0.900</b>."), "{page}");
    }

    // EV-103
    #[test]
    fn a_predicate_is_shown_with_its_verdict_and_the_scores() {
        let mut run = failing();
        run.value = None;
        let page = row(&predicate_head(), &run, 0).0;
        assert!(
            page.contains(
                "The predicate returned <b>false</b>. Scores below 1: <b><bdi>meaning</bdi></b>, <b><bdi>fields</bdi></b>."
            ),
            "{page}"
        );
        assert!(page.contains("<span class=\"number\">0.250</span>") && !page.contains("Counts"), "{page}");
    }

    // 6.3, 7.2
    #[test]
    fn an_error_shows_its_code() {
        let mut blocked = run("b", &[("fields", None), ("positive", Some(1.0))], None);
        blocked.evaluators[0].error = Some(Failure { path: Some("$.x".into()), ..sample_failure("R_TIMEOUT") });
        let page = row(&head(), &blocked, 0).0;
        for part in [
            "Nothing was decided. <code class=\"code\">E_PASS_BLOCKED</code> It failed. Responsible: <b><bdi>fields</bdi></b>.",
            "<span class=\"chip error\"><bdi>fields</bdi> <b>R_TIMEOUT</b></span>",
            "<code class=\"code\">R_TIMEOUT</code> It failed. at <code>$.x</code>",
        ] {
            assert!(page.contains(part), "{part}\n\n{page}");
        }
        let page = row(&Head { repeat: 3, ..head() }, &RunResult { repetition: 1, ..lost("l") }, 0).0;
        assert!(page.contains("There is no output to evaluate. <code class=\"code\">X_RUN_FAILED</code>"), "{page}");
        assert!(page.contains("<bdi>l</bdi><span class=\"repetition\"> #2</span>"), "{page}");
    }

    #[test]
    fn a_hostile_run_stays_small() {
        let long = "\u{202e}</script>".repeat(1_000);
        let rows: Vec<_> =
            (0..150).map(|_| (long.as_str(), long.as_str(), Some(json!(long)), Some(json!([long])))).collect();
        let mut hostile = run(&long, &[], Some(false));
        hostile.error = Some(Failure { code: long.clone(), message: long.clone(), path: Some(long.clone()) });
        hostile.evaluators = vec![compared_result(&long, f64::NAN, &rows), judged_result(&long, -1e300, &long)];
        hostile.output = Some(json!({ "a": long.repeat(100) }));
        hostile.value = Some(f64::NAN);
        let page = row(&head(), &hostile, 0).0;
        assert!(page.len() < 1_500_000, "{}", page.len());
        assert!(!page.contains("</script>") && !page.contains('\u{202e}'));
        assert!(page.contains("50 more differences found by") && page.contains("characters left out</span>"));
    }
}
