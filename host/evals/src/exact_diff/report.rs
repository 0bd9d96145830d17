//! What a comparison says (spec 4.9, 4.10).

use serde::Serialize;
use serde_json::Value;
use std::io;

/// The most mismatches listed; further ones are counted (spec 4.10).
pub const MAX_MISMATCHES: usize = 200;
/// The most characters of a value or path in a report; longer ones are cut and end in `…` (spec 4.10).
pub const MAX_SHOWN_CHARACTERS: usize = 500;

/// A comparison that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// `matched / total`: finite, from 0 to 1.
    pub score: f64,
    /// How many fields match.
    pub matched: usize,
    /// How many fields there are, at least 1.
    pub total: usize,
    /// The units of the score (D-61): the expected projection's members if it is an object, in its order, then members that only
    /// the actual one has where those are not allowed; else `$` alone.
    pub fields: Vec<Field>,
    /// The differences, at most [`MAX_MISMATCHES`], in the order of the expected projection.
    pub mismatches: Vec<Mismatch>,
    /// How many more differences there are than `mismatches` lists.
    pub truncated: usize,
}

/// A unit of the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The member's path, or `$`.
    pub path: String,
    /// Whether there is no difference in or below it.
    pub matched: bool,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mismatch {
    /// Where, as `lines[2].price`, in the grammar of rule paths with indexes. Indexes are those of the expected projection;
    /// for what only the actual one has (`extra-item` and the `identity-…` kinds), of the actual one (spec 4.8).
    pub path: String,
    /// What kind of difference.
    pub kind: MismatchKind,
    /// What was expected, if there is such a value. Cut if long: then a string that ends in `…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// What there was, if there was a value. Cut like `expected`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Value>,
    /// For `identity-duplicate`: indexes of the actual items that share an identity, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<usize>,
}

/// Kinds of differences (spec 4.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MismatchKind {
    /// Same type, other value.
    Value,
    /// Other type. Null is a type of its own.
    Type,
    /// The actual projection has no value here.
    Missing,
    /// A member that was not expected.
    ExtraField,
    /// An item that was not expected.
    ExtraItem,
    /// No item matches the expected one.
    MissingItem,
    /// An actual item lacks a value that `matchBy` names.
    IdentityMissing,
    /// An actual item has an object or array where `matchBy` needs a scalar.
    IdentityNotScalar,
    /// Actual items share an identity that must be unique.
    IdentityDuplicate,
}

/// A value for a report: a copy, or the beginning of its JSON.
pub(crate) fn shown(value: &Value) -> Value {
    if let Value::String(text) = value {
        return Value::String(cut(text));
    }
    let mut beginning = Beginning(Vec::new());
    let complete = serde_json::to_writer(&mut beginning, value).is_ok();
    let text = String::from_utf8_lossy(&beginning.0);
    if complete && text.chars().nth(MAX_SHOWN_CHARACTERS).is_none() {
        return value.clone();
    }
    Value::String(cut(&text))
}

/// At most [`MAX_SHOWN_CHARACTERS`] of a text.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Takes just more than a report shows, so that neither a long nor a deep value is written to its end.
struct Beginning(Vec<u8>);

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (MAX_SHOWN_CHARACTERS + 1) * 4 - self.0.len();
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        // Writing nothing is an error to `write_all`, which ends the serialization.
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // Spec 4.10.
    #[test]
    fn long_values_are_cut() {
        let short = json!("x".repeat(MAX_SHOWN_CHARACTERS));
        assert_eq!(shown(&short), short);
        assert_eq!(shown(&json!("é".repeat(501))), json!("é".repeat(500) + "…"));
        let list = json!(vec![1; 250]);
        assert_eq!(shown(&list), json!(format!("[{}…", "1,".repeat(249) + "1")));
        assert_eq!(shown(&json!([1, { "a": null }])), json!([1, { "a": null }]));
        assert_eq!(shown(&json!([["漢".repeat(100_000)]])), json!(format!("[[\"{}…", "漢".repeat(497))));
    }
}
