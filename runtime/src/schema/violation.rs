//! Says where and why a value does not match, without telling anything about the value (D-42).

use serde_json::Value;
use thiserror::Error;

pub(super) const MAX_PATH: usize = 512;
const MAX_EXPECTED: usize = 512;

/// The first place where a value does not match.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the value does not match the schema at `{path}`: {expected}")]
pub struct SchemaViolation {
    /// Where in the value, as `$.items[2].price`. A key that the schema does not name is data and appears as `.*`.
    pub path: String,
    /// What the schema asks for there; derived from the schema alone (D-42).
    pub expected: String,
}

/// A step from a value to a value inside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// A key, which the schema names.
    Key(&'a str),
    Index(usize),
    /// A key that only the data names.
    Anything,
}

impl SchemaViolation {
    pub(super) fn new<'a>(path: impl IntoIterator<Item = Step<'a>>, expected: impl Into<String>) -> Self {
        let mut text = String::from("$");
        for step in path {
            match step {
                Step::Key(key) if is_identifier(key) => {
                    text.push('.');
                    text.push_str(key);
                }
                Step::Key(key) => text.push_str(&format!("[{}]", quoted(key))),
                Step::Index(index) => text.push_str(&format!("[{index}]")),
                Step::Anything => text.push_str(".*"),
            }
        }
        Self { path: cut(text, MAX_PATH), expected: cut(expected.into(), MAX_EXPECTED) }
    }

    /// The check took too much work, wherever it was.
    pub(super) fn exhausted() -> Self {
        Self::new([], "a value that takes less work to check")
    }
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|first: char| first.is_ascii_digit())
        && key.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'$')
}

/// At most `limit` bytes; a cut shows as `…`.
pub(super) fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let mut end = limit - '…'.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// `"a"`, or `one of "a", "b"`. Values that are neither text nor number nor `true`, `false`, `null` are left out.
pub(super) fn one_of<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut text = String::new();
    let mut count = 0;
    for value in values.into_iter().filter(|value| !value.is_array() && !value.is_object()) {
        if text.len() > MAX_EXPECTED {
            break;
        }
        text.push_str(if count == 0 { "" } else { ", " });
        text.push_str(&value.to_string());
        count += 1;
    }
    match count {
        0 => "one of the listed values".into(),
        1 => format!("exactly {text}"),
        _ => format!("one of {text}"),
    }
}

/// `1 item`, `2 items`.
pub(super) fn counted(count: u64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// A type of JSON Schema with its article.
pub(super) fn type_name(name: &str) -> &'static str {
    match name {
        "string" => "a string",
        "number" => "a number",
        "integer" => "an integer",
        "boolean" => "a boolean",
        "null" => "null",
        "array" => "an array",
        _ => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::{SchemaViolation as Violation, *};

    #[test]
    fn paths_are_those_of_javascript() {
        let steps = [
            Step::Key("items"),
            Step::Index(2),
            Step::Key("a b"),
            Step::Key("\"\n"),
            Step::Key("1a"),
            Step::Key(""),
            Step::Key("$_1"),
            Step::Anything,
        ];
        assert_eq!(Violation::new(steps, "x").path, "$.items[2][\"a b\"][\"\\\"\\n\"][\"1a\"][\"\"].$_1.*");
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        let violation = Violation::new([Step::Key(&"ä".repeat(400))], "é".repeat(400));
        assert_eq!((violation.path.len(), violation.path.ends_with('…')), (512, true));
        assert_eq!((violation.expected.len(), violation.expected.ends_with('…')), (511, true));
    }

    #[test]
    fn lists_of_values() {
        let values = [Value::from("a"), Value::from(1), Value::Null, serde_json::json!({ "a": 1 })];
        assert_eq!(one_of(&values), "one of \"a\", 1, null");
        assert_eq!(one_of(&values[..1]), "exactly \"a\"");
        assert_eq!(one_of(&values[3..]), "one of the listed values");
    }
}
