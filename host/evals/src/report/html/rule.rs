//! The pass rule: weights and threshold as a picture and a table, or the predicate's source (EV-102, EV-103).

use super::super::{Head, PassHead, Summary, Weight, text};
use super::parts;
use maud::{Markup, html};

/// Characters of a predicate's source.
const MAX_SOURCE: usize = 20_000;
/// Weights in the table.
const MAX_WEIGHTS: usize = 64;
/// Tints that tell the parts of a bar apart; the style sheet has as many.
const TINTS: usize = 6;

/// The section.
pub fn section(head: &Head, summary: &Summary) -> Markup {
    html! {
        section aria-labelledby="rule" {
            h2 id="rule" { "Pass rule" }
            @match &head.pass {
                PassHead::Weighted { weights, threshold } => (weighted(head, summary, weights, *threshold)),
                PassHead::Predicate { source } => (predicate(summary, source.as_deref())),
            }
        }
        "\n"
    }
}

fn weighted(head: &Head, summary: &Summary, weights: &[Weight], threshold: f64) -> Markup {
    let parts = || weights.iter().take(MAX_WEIGHTS).enumerate();
    let share = |weight: &Weight| head.share(&weight.evaluator).unwrap_or(0.0);
    let classes: Vec<_> = (0..TINTS).map(|tint| format!("tint-{tint}")).collect();
    let words: Vec<_> = parts()
        .map(|(_, weight)| format!("{} {}", text::visible_line(&weight.evaluator), text::percent(share(weight))))
        .collect();
    let mean = |name: &str| summary.evaluators.iter().find(|evaluator| evaluator.name == name)?.mean;
    let unlisted: Vec<_> = head.evaluators.iter().filter(|evaluator| head.share(&evaluator.name).is_none()).collect();
    let shares = parts().map(|(index, weight)| (share(weight), &*classes[index % TINTS]));
    html! {
        p.lead { "A run passes when the weighted mean of its scores is at least " b { (text::score(threshold)) } "." }
        (parts::shares(shares, &format!("Weights: {}", words.join(", "))))
        div.scroll {
            table.weights {
                caption.away { "Weights of the evaluators" }
                thead {
                    tr {
                        th scope="col" { "Evaluator" }
                        th.number scope="col" { "Weight" }
                        th.number scope="col" { "Share" }
                        th.number scope="col" { "Mean score" }
                    }
                }
                tbody {
                    @for (index, weight) in parts() {
                        tr {
                            th scope="row" {
                                (parts::swatch(&classes[index % TINTS]))
                                (parts::name(&weight.evaluator))
                            }
                            td.number { (weight.weight) }
                            td.number { (text::percent(share(weight))) }
                            td.number { (parts::score(mean(&weight.evaluator))) }
                        }
                    }
                }
            }
        }
        @if let Some(mean) = summary.mean_value { (scale(mean, threshold)) }
        @if !unlisted.is_empty() {
            p.note {
                "Shown but not counted: "
                @for (index, evaluator) in unlisted.iter().take(MAX_WEIGHTS).enumerate() {
                    @if index > 0 { ", " } (parts::name(&evaluator.name))
                }
                ". An error of theirs still keeps a run from passing."
            }
        }
    }
}

/// The mean of the values on the scale from 0 to 1, with the threshold.
fn scale(mean: f64, threshold: f64) -> Markup {
    let (mean_text, threshold_text) = (text::score(mean), text::score(threshold));
    let label = format!("The mean value is {mean_text}, the threshold {threshold_text}, on a scale from 0 to 1");
    // A text near an end of the scale is written towards its middle.
    let anchor = |share: f64| {
        if share > 0.85 {
            "end"
        } else if share < 0.15 {
            "start"
        } else {
            "middle"
        }
    };
    html! {
        svg.scale role="img" aria-label=(label) width="100%" height="64" {
            text.tick x=(parts::at(threshold)) y="12" text-anchor=(anchor(threshold)) { "threshold " (threshold_text) }
            rect.track x="0" y="28" width="100%" height="8" rx="4" {}
            rect.reach x="0" y="28" width=(parts::at(mean)) height="8" rx="4" {}
            line.mark x1=(parts::at(threshold)) x2=(parts::at(threshold)) y1="18" y2="42" {}
            text.tick.strong x=(parts::at(mean)) y="58" text-anchor=(anchor(mean)) { "mean value " (mean_text) }
        }
    }
}

fn predicate(summary: &Summary, source: Option<&str>) -> Markup {
    html! {
        p.lead {
            "A function of the scores decides. It returned " b { "true" } " for " (text::plural(summary.passed, "run")) " and " b { "false" } " for "
            (text::plural(summary.failed, "run")) ". Each run below shows its verdict and the scores it was given."
        }
        @if let Some(source) = source { pre.source { code { (parts::text(source, MAX_SOURCE)) } } }
        @else { p.note { "The bundle does not carry its source." } }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{head, predicate_head, run};
    use super::*;

    fn page(head: &Head) -> String {
        let mut summary = Summary::default();
        summary.add(&run("a", &[("fields", Some(0.5)), ("meaning", Some(1.0))], Some(false)));
        section(head, &summary).0
    }

    // EV-102
    #[test]
    fn weights_and_threshold_are_shown() {
        let mut head = head();
        let PassHead::Weighted { weights, .. } = &mut head.pass else { panic!("it is weighted") };
        weights.pop();
        let page = page(&head);
        for part in [
            "is at least <b>0.900</b>.",
            "aria-label=\"Weights: fields 66.7%, meaning 33.3%\"><rect class=\"fill-tint-0\" x=\"0.000%\" width=\"66.667%\" height=\"100%\"></rect>",
            "<bdi>fields</bdi></th><td class=\"number\">2</td><td class=\"number\">66.7%</td><td class=\"number\">0.500</td>",
            "aria-label=\"The mean value is 0.500, the threshold 0.900, on a scale from 0 to 1\"",
            "mean value 0.500</text>",
            "Shown but not counted: <bdi>positive</bdi>.",
        ] {
            assert!(page.contains(part), "{part}\n\n{page}");
        }
    }

    // EV-103
    #[test]
    fn a_predicate_is_shown_as_written() {
        let page = page(&predicate_head());
        assert!(
            page.contains("<code>(scores) =&gt; scores.fields &gt; 0.5 &amp;&amp; scores.meaning &lt; 2</code>"),
            "{page}"
        );
        assert!(page.contains("<b>false</b> for 1 run. Each run below"), "{page}");
        assert!(page.len() < 1_000 && !page.contains("Weight"), "{page}");
    }
}
