//! The fields that differ, over all runs (7.5).

use super::details::{differences, unlisted};
use crate::exact_diff::shown;
use crate::model::RunResult;
use serde::Serialize;
use serde_json::Value;

/// The most discrepancies that are listed; further ones are counted.
pub const MAX_DISCREPANCIES: usize = 1_000;

/// One field of one run that is not as expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Discrepancy {
    /// The example's name.
    pub example: String,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// The evaluator that found it.
    pub evaluator: String,
    /// Where in the selection, as `lines[2].price`.
    pub path: String,
    /// What kind of difference, such as `value` or `missing`.
    pub kind: String,
    /// What was expected, if anything was; long values are cut to text that ends in `…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// What there was, if anything; cut likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Value>,
}

/// The first [`MAX_DISCREPANCIES`] of an experiment, in the order of its runs, and how many there are besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discrepancies {
    listed: Vec<Discrepancy>,
    left_out: u64,
}

impl Discrepancies {
    /// Adds those of a run.
    pub fn add(&mut self, run: &RunResult) {
        for result in &run.evaluators {
            self.left_out = self.left_out.saturating_add(unlisted(result));
            for difference in differences(result) {
                if self.listed.len() == MAX_DISCREPANCIES {
                    self.left_out = self.left_out.saturating_add(1);
                    continue;
                }
                self.listed.push(Discrepancy {
                    example: run.example.clone(),
                    repetition: run.repetition,
                    evaluator: result.name.clone(),
                    path: cut(difference.path),
                    kind: cut(difference.kind),
                    expected: difference.expected.map(shown),
                    actual: difference.actual.map(shown),
                });
            }
        }
    }

    /// The listed ones.
    pub fn listed(&self) -> &[Discrepancy] {
        &self.listed
    }

    /// How many are not listed: beyond the bound, or beyond what the comparator itself lists.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The comparator's texts are short already; a store's may be anything.
fn cut(text: &str) -> String {
    crate::exact_diff::cut(text)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, run};
    use super::*;
    use serde_json::json;

    // 7.5
    #[test]
    fn mismatches_are_flattened_and_bounded() {
        let rows =
            [("total", "value", Some(json!(10)), Some(json!(11))), ("lines[1]", "missing-item", Some(json!({})), None)];
        let mut one = run("a", &[], Some(false));
        one.repetition = 2;
        one.evaluators = vec![compared("fields", 0.5, &rows), compared("again", 1.0, &[])];
        let mut all = Discrepancies::default();
        all.add(&one);
        assert_eq!(
            serde_json::to_value(all.listed()).unwrap(),
            json!([
                { "example": "a", "repetition": 2, "evaluator": "fields", "path": "total", "kind": "value", "expected": 10, "actual": 11 },
                { "example": "a", "repetition": 2, "evaluator": "fields", "path": "lines[1]", "kind": "missing-item", "expected": {} },
            ])
        );
        assert_eq!(all.left_out(), 0);
        let many: Vec<_> =
            (0..MAX_DISCREPANCIES).map(|_| ("x", "value", Some(json!("y".repeat(9_000))), None)).collect();
        one.evaluators = vec![compared("fields", 0.0, &many)];
        one.evaluators[0].details.as_mut().unwrap()["truncated"] = json!(5);
        all.add(&one);
        assert_eq!((all.listed().len(), all.left_out()), (1_000, 7));
        assert_eq!(all.listed()[999].expected, Some(json!("y".repeat(500) + "…")));
    }
}
