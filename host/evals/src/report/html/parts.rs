//! Small parts of pages: text from anybody, numbers, words, pictures of numbers.

use super::super::text::{self, Cut, is_hidden};
use super::super::{BUCKETS, Category, EvaluatorSummary};
use crate::model::EvaluatorType;
use maud::{Escaper, Markup, PreEscaped, html};
use std::fmt::Write as _;

/// Characters of a name.
pub const MAX_NAME: usize = 200;

/// Text of at most so many characters. Hidden characters are marked by their number, and what is cut is said.
pub fn text(text: &str, most: usize) -> Markup {
    shown(&text::cut(text, most))
}

/// Text that was cut already.
pub fn shown(cut: &Cut) -> Markup {
    let mut html = String::with_capacity(cut.text.len());
    for character in cut.text.chars() {
        // Writing to a string does not fail.
        let _ = if is_hidden(character) {
            write!(html, "<span class=\"hidden\">U+{:04X}</span>", u32::from(character))
        } else {
            Escaper::new(&mut html).write_char(character)
        };
    }
    html! {
        (PreEscaped(html))
        @if cut.left_out > 0 { span.cut { "… " (text::plural(cut.left_out, "character")) " left out" } }
    }
}

/// A name, which neither takes part in the direction of the text around it nor is long.
pub fn name(name: &str) -> Markup {
    html! { bdi { (text(name, MAX_NAME)) } }
}

/// A score or a mean, if there is one.
pub fn score(score: Option<f64>) -> Markup {
    html! { @if let Some(score) = score { (text::score(score)) } @else { span.none { "–" } } }
}

/// A sentence about rows that there is no room for. Nothing if there are none.
pub fn left_out(all: usize, most: usize, nouns: &str) -> Markup {
    html! {
        @if all > most {
            p.note { (text::count((all - most) as u64)) " more " (nouns) " are left out." }
        }
    }
}

/// A spot of colour before the word that it stands for.
pub fn swatch(class: &str) -> Markup {
    html! {
        svg.swatch width="10" height="10" aria-hidden="true" {
            rect class={"fill-" (class)} width="10" height="10" rx="2" {}
        }
    }
}

/// What a run counts as: a sign, a word, a colour.
pub fn badge(category: Category) -> Markup {
    let (sign, word) = match category {
        Category::Passed => ("✓", "Passed"),
        Category::Failed => ("✗", "Failed"),
        Category::Error => ("!", "Error"),
    };
    html! { span class={"badge " (class(category))} { span aria-hidden="true" { (sign) } " " (word) } }
}

/// The class that colours a category.
pub fn class(category: Category) -> &'static str {
    match category {
        Category::Passed => "passed",
        Category::Failed => "failed",
        Category::Error => "error",
    }
}

/// A type of evaluators in the author's word.
pub fn kind(kind: EvaluatorType) -> &'static str {
    match kind {
        EvaluatorType::Callback => "callback",
        EvaluatorType::ExactDiff => "exactDiff",
        EvaluatorType::LlmJudge => "llmJudge",
    }
}

/// A share as a coordinate. What is no share is drawn at an end.
pub fn at(share: f64) -> String {
    format!("{:.3}%", if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) * 100.0 })
}

/// Parts of a whole as one bar, each with its class; `label` says the same in words.
pub fn stacked(parts: &[(u64, &str)], label: &str) -> Markup {
    let total = parts.iter().map(|(count, _)| *count).sum::<u64>().max(1) as f64;
    shares(parts.iter().map(|(count, class)| (*count as f64 / total, *class)), label)
}

/// The same for shares, which add up to 1.
pub fn shares<'a>(parts: impl Iterator<Item = (f64, &'a str)>, label: &str) -> Markup {
    let placed = parts.filter(|(share, _)| *share > 0.0).scan(0.0, |from, (share, class)| {
        let here = *from;
        *from += share;
        Some((here, share, class))
    });
    html! {
        svg.bar role="img" aria-label=(label) {
            @for (from, share, class) in placed {
                rect class={"fill-" (class)} x=(at(from)) width=(at(share)) height="100%" {}
            }
        }
    }
}

/// A score as a bar.
pub fn meter(score: f64) -> Markup {
    let class = if score >= 1.0 { "fill-full" } else { "fill-part" };
    html! { svg.meter aria-hidden="true" { rect class=(class) width=(at(score)) height="100%" {} } }
}

/// From the lowest to the highest score, with the mean as a dot.
pub fn range(evaluator: &EvaluatorSummary) -> Markup {
    let (Some(min), Some(mean), Some(max)) = (evaluator.min, evaluator.mean, evaluator.max) else {
        return html! { span.none { "no scores" } };
    };
    let label = format!("from {} to {}, mean {}", text::score(min), text::score(max), text::score(mean));
    // The dot would leave the picture at both ends, so the scale is inset.
    let x = |score: f64| format!("{:.2}", 6.0 + 148.0 * if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) });
    html! {
        svg.range viewBox="0 0 160 34" width="160" height="34" role="img" aria-label=(label) {
            line.track x1="6" x2="154" y1="12" y2="12" {}
            line.span x1=(x(min)) x2=(x(max)) y1="12" y2="12" {}
            circle.dot cx=(x(mean)) cy="12" r="5" {}
            text.tick x="6" y="31" { "0" }
            text.tick.end x="154" y="31" { "1" }
        }
    }
}

/// How many scores lie in each tenth.
pub fn histogram(histogram: &[u64; BUCKETS]) -> Markup {
    let most = histogram.iter().copied().max().unwrap_or(0).max(1) as f64;
    let tenths = histogram.iter().enumerate().filter(|(_, count)| **count > 0);
    let tenths: Vec<_> = tenths.map(|(at, count)| format!("{} from 0.{at}", text::count(*count))).collect();
    let label = format!("Scores by tenths: {}", if tenths.is_empty() { "none".into() } else { tenths.join(", ") });
    html! {
        svg.histogram viewBox="0 0 160 46" width="160" height="46" role="img" aria-label=(label) {
            @for (index, count) in histogram.iter().enumerate() {
                // One score among many is still to be seen.
                @let height = if *count == 0 { 0.0 } else { (32.0 * *count as f64 / most).max(2.0) };
                rect class={ @if index + 1 == BUCKETS { "fill-full" } @else { "fill-part" } }
                    x=(index * 16 + 1) y=(format!("{:.1}", 34.0 - height)) width="14" height=(format!("{height:.1}")) rx="1.5" {
                    @let end = if index + 1 == BUCKETS { "1".into() } else { format!("0.{}", index + 1) };
                    title { "0." (index) " to " (end) ": " (text::count(*count)) }
                }
            }
            line.track x1="0" x2="160" y1="34.5" y2="34.5" {}
            text.tick x="0" y="45" { "0" }
            text.tick.end x="160" y="45" { "1" }
        }
    }
}

/// A term with its description, for lists of facts. Nothing where there is nothing to say.
pub fn fact(term: &str, description: &Markup) -> Markup {
    html! { @if !description.0.is_empty() { div { dt { (term) } dd { (description) } } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_made_visible_and_cut() {
        let hostile = "<script>alert(\"1\")</script>]]>&'\u{202e}\0";
        assert_eq!(
            text(hostile, 100).0,
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;]]&gt;&amp;'<span class=\"hidden\">U+202E</span><span class=\"hidden\">U+0000</span>"
        );
        let long = "x".repeat(1 << 20);
        assert_eq!(text(&long, 3).0, "xxx<span class=\"cut\">… 1,048,573 characters left out</span>");
    }

    #[test]
    fn pictures_say_what_they_show() {
        let bar = stacked(&[(3, "passed"), (0, "failed"), (1, "error")], "3 passed, 1 error").0;
        let expected = "<svg class=\"bar\" role=\"img\" aria-label=\"3 passed, 1 error\">\
            <rect class=\"fill-passed\" x=\"0.000%\" width=\"75.000%\" height=\"100%\"></rect>\
            <rect class=\"fill-error\" x=\"75.000%\" width=\"25.000%\" height=\"100%\"></rect></svg>";
        assert_eq!(bar, expected);
        let mut counts = [0; BUCKETS];
        (counts[0], counts[9]) = (1, 1_000);
        let picture = histogram(&counts).0;
        assert!(picture.contains("aria-label=\"Scores by tenths: 1 from 0.0, 1,000 from 0.9\""), "{picture}");
        assert!(
            picture.contains("y=\"32.0\" width=\"14\" height=\"2.0\" rx=\"1.5\"><title>0.0 to 0.1: 1</title>"),
            "{picture}"
        );
        assert_eq!([f64::NAN, -1.0, 7.0, 0.5].map(at), ["0.000%", "0.000%", "100.000%", "50.000%"]);
    }
}
