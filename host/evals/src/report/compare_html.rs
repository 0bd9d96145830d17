//! Two experiments side by side as one page for people (7.6).
//!
//! Like [`html`](super::html) the page is a single file that loads nothing and reads without a script. It has at most [`MAX_PAIRS`] pairs: the
//! changes first, then those that cannot be compared, then the unchanged ones, each by the size of the difference. What is left out is said.

use super::compare::order;
use super::html::{frame, parts, toolbar};
use super::{Change, Comparison, Head, Pair, RollUp, Sorting, text};
use frame::markup;
use maud::{Markup, PreEscaped, html};
use parts::MAX_NAME;
use std::io::{self, Write};

/// The most pairs that a page shows.
pub const MAX_PAIRS: usize = 2_000;
/// The most examples listed that only one side has.
const MAX_ALONE: usize = 200;
/// Evaluators of a page.
const MAX_EVALUATORS: usize = 64;

/// Writes the page. `before` and `after` head the experiments that `comparison` compares.
///
/// # Errors
/// When the output takes nothing more.
pub fn write(mut out: impl Write, before: &Head, after: &Head, comparison: &Comparison) -> io::Result<()> {
    let counts = Counts::of(comparison);
    let pairs = shown(comparison);
    frame::open(&mut out, &format!("{} · {} and {}", after.agent, before.experiment, after.experiment))?;
    markup(&mut out, &top(before, after))?;
    markup(&mut out, &verdict(comparison, &counts))?;
    markup(&mut out, &evaluators(comparison))?;
    markup(&mut out, &before_rows(comparison, &counts, pairs.len()))?;
    for (position, pair) in pairs.into_iter().enumerate() {
        markup(&mut out, &row(pair, position))?;
    }
    out.write_all(b"</table></section>\n")?;
    markup(&mut out, &alone("Only in the first", "only-before", &comparison.only_before))?;
    markup(&mut out, &alone("Only in the second", "only-after", &comparison.only_after))?;
    frame::close(&mut out)
}

struct Counts {
    regressions: u64,
    improvements: u64,
    unchanged: u64,
    incomparable: u64,
}

impl Counts {
    fn of(comparison: &Comparison) -> Self {
        let of = |change| comparison.pairs.iter().filter(|pair| pair.change == change).count() as u64;
        Self {
            regressions: of(Change::Regression),
            improvements: of(Change::Improvement),
            unchanged: of(Change::Unchanged),
            incomparable: of(Change::Incomparable),
        }
    }

    fn total(&self) -> u64 {
        self.regressions + self.improvements + self.unchanged + self.incomparable
    }

    fn bar(&self) -> Markup {
        let label = format!(
            "{}, {}, {} unchanged, {} incomparable",
            text::plural(self.regressions, "regression"),
            text::plural(self.improvements, "improvement"),
            text::count(self.unchanged),
            text::count(self.incomparable)
        );
        let parts = [
            (self.regressions, "failed"),
            (self.improvements, "passed"),
            (self.unchanged, "neutral"),
            (self.incomparable, "error"),
        ];
        parts::stacked(&parts, &label)
    }
}

/// The pairs that there is room for, whatever order the comparison itself is in.
fn shown(comparison: &Comparison) -> Vec<&Pair> {
    let group = |pair: &Pair| match pair.change {
        Change::Regression | Change::Improvement => 0,
        Change::Incomparable => 1,
        Change::Unchanged => 2,
    };
    let mut pairs: Vec<&Pair> = comparison.pairs.iter().collect();
    pairs.sort_by(|a, b| group(a).cmp(&group(b)).then_with(|| order(Sorting::Magnitude, a, b)));
    pairs.truncate(MAX_PAIRS);
    pairs
}

fn top(before: &Head, after: &Head) -> Markup {
    type Fact = fn(&Head) -> Markup;
    let facts: [(&str, Fact); 6] = [
        ("Experiment", |head| parts::text(&head.experiment, MAX_NAME)),
        ("Agent", |head| parts::text(&head.agent, MAX_NAME)),
        ("Dataset", |head| {
            html! {
                (parts::text(&head.dataset, MAX_NAME))
                @if !head.dataset_version.is_empty() { " version " (parts::text(&head.dataset_version, MAX_NAME)) }
            }
        }),
        ("Outputs from", |head| parts::text(&head.source, MAX_NAME)),
        ("Bundle", |head| parts::text(&head.bundle, MAX_NAME)),
        ("Started", |head| parts::text(&head.created, MAX_NAME)),
    ];
    html! {
        header.top {
            p.kicker { "Comparison of two experiments" }
            h1 {
                (parts::name(&before.experiment))
                span.arrow aria-label="compared with" { " → " }
                (parts::name(&after.experiment))
            }
            div.scroll {
                table.sides {
                    caption.away { "The two experiments" }
                    thead { tr { td {} th scope="col" { "First" } th scope="col" { "Second" } } }
                    tbody {
                        @for (term, fact) in facts {
                            @let (one, other) = (fact(before), fact(after));
                            tr class=[(one.0 != other.0).then_some("differs")] {
                                th scope="row" { (term) }
                                td { bdi { (one) } }
                                td { bdi { (other) } }
                            }
                        }
                    }
                }
            }
        }
        "\n"
    }
}

fn verdict(comparison: &Comparison, counts: &Counts) -> Markup {
    let items = [
        ("failed", counts.regressions, "regressions"),
        ("passed", counts.improvements, "improvements"),
        ("neutral", counts.unchanged, "unchanged"),
        ("error", counts.incomparable, "incomparable"),
    ];
    html! {
        section.verdict.compared aria-labelledby="verdict" {
            div.words {
                h2 id="verdict" {
                    (text::plural(counts.regressions, "regression")) ", "
                    (text::plural(counts.improvements, "improvement"))
                }
                p {
                    "Over " (text::plural(counts.total(), "score")) " of examples that both experiments have. A score counts as changed when it differs by more than "
                    b { (text::score(comparison.threshold)) } "."
                }
            }
            div.counts {
                (counts.bar())
                ul.legend {
                    @for (class, count, word) in items {
                        li {
                            (parts::swatch(class))
                            b { (text::count(count)) } " " (word)
                        }
                    }
                }
            }
        }
        "\n"
    }
}

fn evaluators(comparison: &Comparison) -> Markup {
    // All are drawn to one scale, so that lengths can be compared.
    let deltas = comparison.evaluators.iter().filter_map(|roll_up| roll_up.mean_delta);
    let most = deltas.map(f64::abs).fold(comparison.threshold.max(0.05), f64::max);
    html! {
        section aria-labelledby="evaluators" {
            h2 id="evaluators" { "Evaluators" }
            div.scroll {
                table.evaluators {
                    caption.away { "Mean difference of each evaluator" }
                    thead {
                        tr {
                            th scope="col" { "Evaluator" }
                            th.number scope="col" { "Mean Δ" }
                            th.picture scope="col" { "Worse or better" }
                            th.number scope="col" { span.long { "Regressions" } span.short aria-hidden="true" { "▼" } }
                            th.number scope="col" { span.long { "Improvements" } span.short aria-hidden="true" { "▲" } }
                            th.number.wide scope="col" { "Unchanged" }
                            th.number.wide scope="col" { "Compared" }
                        }
                    }
                    tbody { @for roll_up in comparison.evaluators.iter().take(MAX_EVALUATORS) { (one(roll_up, most)) } }
                }
            }
            (parts::left_out(comparison.evaluators.len(), MAX_EVALUATORS, "evaluators"))
        }
        "\n"
    }
}

fn one(roll_up: &RollUp, most: f64) -> Markup {
    html! {
        tr {
            th scope="row" { (parts::name(&roll_up.evaluator)) }
            td.number.mean { (delta(roll_up.mean_delta)) }
            td.picture {
                @if let Some(mean) = roll_up.mean_delta { (diverging(mean, most)) }
                @else { span.none { "nothing to compare" } }
            }
            td.number { @if roll_up.regressions > 0 { b.failed { (text::count(roll_up.regressions)) } } @else { "0" } }
            td.number { @if roll_up.improvements > 0 { b.passed { (text::count(roll_up.improvements)) } } @else { "0" } }
            td.number.wide { (text::count(roll_up.unchanged)) }
            td.number.wide { (text::count(roll_up.comparable)) }
        }
    }
}

/// A difference with its direction as sign, arrow, word and colour.
fn delta(delta: Option<f64>) -> Markup {
    html! {
        @match delta {
            None => span.none { "–" },
            Some(delta) => {
                @let (class, arrow, word) = direction(delta);
                span class={"delta " (class)} {
                    span aria-hidden="true" { (arrow) } " " (text::difference(delta)) span.away { " " (word) }
                }
            }
        }
    }
}

fn direction(delta: f64) -> (&'static str, &'static str, &'static str) {
    if delta > 0.0 {
        ("passed", "▲", "higher")
    } else if delta < 0.0 {
        ("failed", "▼", "lower")
    } else {
        ("same", "=", "the same")
    }
}

/// A bar to the left or the right of the middle.
fn diverging(delta: f64, most: f64) -> Markup {
    let share = if most > 0.0 && delta.is_finite() { (delta / most).clamp(-1.0, 1.0) } else { 0.0 };
    let width = share.abs() * 84.0;
    let x = format!("{:.2}", if share < 0.0 { 90.0 - width } else { 90.0 });
    let (class, _, word) = direction(delta);
    html! {
        svg.diverging viewBox="0 0 180 22" width="180" height="22" role="img"
            aria-label={(text::difference(delta)) ", " (word)} {
            rect.track x="6" y="7" width="168" height="8" rx="2" {}
            rect class={"fill-" (class)} x=(x) y="5" width=(format!("{width:.2}")) height="12" rx="2" {}
            line.mark x1="90" x2="90" y1="1" y2="21" {}
        }
    }
}

fn before_rows(comparison: &Comparison, counts: &Counts, shown: usize) -> Markup {
    let statuses = [
        ("regression", "Regressions", counts.regressions),
        ("improvement", "Improvements", counts.improvements),
        ("unchanged", "Unchanged", counts.unchanged),
        ("incomparable", "Incomparable", counts.incomparable),
    ];
    let orders = [("", "Largest change first"), ("delta", "Worst first"), ("-delta", "Best first"), ("@", "By name")];
    let left_out = comparison.pairs.len().saturating_sub(shown) as u64;
    html! {
        // Left open: the rows follow.
        (PreEscaped("<section aria-labelledby=\"pairs\">"))
        h2 id="pairs" { "Scores" }
        @if left_out > 0 {
            p.note.left-out {
                "This page shows " (text::count(shown as u64)) " of " (text::plural(counts.total(), "score"))
                ": changes first, then what cannot be compared, then what did not change. " (text::count(left_out)) " are left out."
            }
        }
        (toolbar(&statuses, counts.total(), &orders, None))
        (PreEscaped("<table class=\"rows pairs\" role=\"table\">"))
        caption.away { "Scores of both experiments" }
        thead role="rowgroup" {
            tr role="row" {
                th scope="col" role="columnheader" { "Example" }
                th scope="col" role="columnheader" { "Evaluator" }
                th.number scope="col" role="columnheader" { "First" }
                th.number scope="col" role="columnheader" { "Second" }
                th.number scope="col" role="columnheader" { "Δ" }
                th scope="col" role="columnheader" { "Change" }
            }
        }
        "\n"
    }
}

fn row(pair: &Pair, position: usize) -> Markup {
    let (status, class, word) = match pair.change {
        Change::Regression => ("regression", "failed", "▼ Regression"),
        Change::Improvement => ("improvement", "passed", "▲ Improvement"),
        Change::Unchanged => ("unchanged", "neutral", "= Unchanged"),
        Change::Incomparable => ("incomparable", "error", "? Incomparable"),
    };
    let score = |score: Option<f64>| html! { @if let Some(score) = score { (text::score(score)) } @else { span.none { "no score" } } };
    html! {
        tbody.run role="rowgroup" data-status=(status) data-position=(position)
            data-delta=[pair.delta.filter(|delta| delta.is_finite())] data-name={(pair.example) " " (pair.evaluator)} {
            tr.line role="row" {
                th.example scope="row" role="rowheader" { (parts::name(&pair.example)) }
                td.evaluator role="cell" { (parts::name(&pair.evaluator)) }
                td.number role="cell" data-label="First" { (score(pair.before)) }
                td.number role="cell" data-label="Second" { (score(pair.after)) }
                td.number role="cell" data-label="Δ" { (delta(pair.delta)) }
                td.verdict role="cell" { span class={"badge " (class)} { (word) } }
            }
        }
        "\n"
    }
}

fn alone(title: &str, id: &str, examples: &[String]) -> Markup {
    html! {
        @if !examples.is_empty() {
            section aria-labelledby=(id) {
                h2 id=(id) { (title) ": " (text::plural(examples.len() as u64, "example")) }
                p.note { "They are in none of the figures above." }
                ul.alone { @for example in examples.iter().take(MAX_ALONE) { li { (parts::name(example)) } } }
                (parts::left_out(examples.len(), MAX_ALONE, "examples"))
            }
            "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{head, run};
    use super::super::{DEFAULT_THRESHOLD, Scores, compare};
    use super::*;
    use crate::model::RunResult;

    fn page(before: &[RunResult], after: &[RunResult], sorting: Sorting) -> String {
        let scores = |runs: &[RunResult]| {
            let mut scores = Scores::default();
            runs.iter().for_each(|run| scores.add(run).unwrap());
            scores
        };
        let comparison = compare(&scores(before), &scores(after), DEFAULT_THRESHOLD, sorting);
        let mut out = Vec::new();
        write(&mut out, &head(), &Head { experiment: "e2".into(), ..head() }, &comparison).unwrap();
        String::from_utf8(out).unwrap()
    }

    // 7.6
    #[test]
    fn differences_are_shown_with_their_direction() {
        let before = [
            run("a", &[("x", Some(0.5)), ("y", Some(1.0)), ("z", None)], Some(true)),
            run("b", &[("x", Some(0.5))], None),
            run("old<", &[], None),
        ];
        let after = [
            run("a", &[("x", Some(0.75)), ("y", Some(0.0)), ("z", Some(1.0))], Some(true)),
            run("b", &[("x", Some(0.5))], None),
            run("new", &[], None),
        ];
        let page = page(&before, &after, Sorting::Name);
        for part in [
            "<title>invoices · e1 and e2</title>",
            "<h2 id=\"verdict\">1 regression, 1 improvement</h2>",
            "aria-label=\"1 regression, 1 improvement, 1 unchanged, 1 incomparable\"",
            "<tr class=\"differs\"><th scope=\"row\">Experiment</th><td><bdi>e1</bdi></td><td><bdi>e2</bdi></td></tr><tr><th scope=\"row\">Agent</th>",
            "<bdi>x</bdi></th><td class=\"number mean\"><span class=\"delta passed\"><span aria-hidden=\"true\">▲</span> +0.125<span class=\"away\"> higher</span></span></td>",
            "<rect class=\"fill-failed\" x=\"6.00\" y=\"5\" width=\"84.00\" height=\"12\" rx=\"2\"></rect>",
            "<tbody class=\"run\" role=\"rowgroup\" data-status=\"regression\" data-position=\"0\" data-delta=\"-1\" data-name=\"a y\">",
            "<tbody class=\"run\" role=\"rowgroup\" data-status=\"improvement\" data-position=\"1\" data-delta=\"0.25\" data-name=\"a x\">",
            "<tbody class=\"run\" role=\"rowgroup\" data-status=\"incomparable\" data-position=\"2\" data-name=\"a z\">",
            "<tbody class=\"run\" role=\"rowgroup\" data-status=\"unchanged\" data-position=\"3\" data-delta=\"0\" data-name=\"b x\">",
            "<span class=\"none\">no score</span>",
            "<h2 id=\"only-before\">Only in the first: 1 example</h2>",
            "<li><bdi>old&lt;</bdi></li>",
            "<li><bdi>new</bdi></li>",
        ] {
            assert!(page.contains(part), "{part}\n\n{page}");
        }
    }

    #[test]
    fn a_page_keeps_the_changes() {
        let names: Vec<_> = (0..MAX_PAIRS + 10).map(|index| format!("n{index}")).collect();
        let runs = |last| -> Vec<_> {
            names
                .iter()
                .enumerate()
                .map(|(index, name)| run(name, &[("x", Some(if index > MAX_PAIRS { last } else { 1.0 }))], Some(true)))
                .collect()
        };
        let page = page(&runs(1.0), &runs(0.5), Sorting::Name);
        assert_eq!(page.matches("data-status=\"regression\"").count(), 9);
        assert_eq!(page.matches("<tbody class=\"run\"").count(), MAX_PAIRS);
        assert!(page.contains("This page shows 2,000 of 2,010 scores: changes first, then what cannot be compared, then what did not change. 10 are left out."));
    }

    #[test]
    fn nothing_compared_is_a_page() {
        let page = page(&[], &[], Sorting::default());
        assert!(page.contains("0 regressions, 0 improvements") && page.ends_with("</body></html>\n"));
    }
}
