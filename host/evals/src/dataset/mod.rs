//! Examples on their way into a dataset: from a folder ([`folder`]) or from lines of JSON ([`lines`]), each checked before it counts.
//!
//! Both give one example after the other, so that a dataset of any size passes through; one that is wrong is reported with its
//! place and does not stop the others (7.1).

pub mod folder;
pub mod lines;

use crate::definition::Definition;
use crate::model::{Example, Failure};
use serde_json::Value;
use std::fmt;

/// Bytes of one example's JSON, in a file or a line. A callback takes 256 KiB of it.
pub const MAX_JSON_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of an example's name (7.1).
pub const MAX_NAME_BYTES: usize = 128;
/// Characters of an annotation (7.1).
pub const MAX_ANNOTATION: usize = 2_000;
/// Whole numbers up to here are told apart by JavaScript (D-58).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// An example that cannot be used, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadExample {
    /// Where it stands: `line 7`, or its folder.
    pub at: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What is wrong; at least one.
    pub problems: Vec<Failure>,
}

impl fmt::Display for BadExample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.at)?;
        if let Some(name) = self.name.as_ref().filter(|name| !self.at.ends_with(name.as_str())) {
            write!(formatter, " (`{name}`)")?;
        }
        for problem in &self.problems {
            write!(formatter, ": {}", problem.message)?;
            if let Some(path) = &problem.path {
                write!(formatter, " at `{path}`")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for BadExample {}

/// `X_EXAMPLE_INVALID`, or what a schema says of an expectation.
fn problem(code: &str, message: impl Into<String>, path: Option<String>) -> Failure {
    Failure { code: code.into(), message: message.into(), path }
}

pub(crate) fn invalid(message: impl Into<String>) -> Failure {
    problem("X_EXAMPLE_INVALID", message, None)
}

/// Whether a name may be an example's: lower-case letters, digits, `-` and `_`, a letter or digit first.
pub(crate) fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= MAX_NAME_BYTES
        && name.bytes().next().is_some_and(letter)
        && name.bytes().all(|byte| letter(byte) || matches!(byte, b'-' | b'_'))
}

/// What is wrong with an example whatever the agent: its name, its shape, its annotation.
pub(crate) fn shape(example: &Example) -> Vec<Failure> {
    let mut problems = Vec::new();
    if !is_name(&example.name) {
        problems.push(invalid(format!(
            "the name must have at most {MAX_NAME_BYTES} lower-case letters, digits, `-` and `_`, a letter or digit first"
        )));
    }
    if !example.input.is_object() {
        problems.push(invalid("the input must be an object"));
    }
    if let Some(expected) = &example.expected {
        match expected.as_object() {
            None => problems.push(invalid("the expectation must be an object")),
            Some(members) if members.contains_key("$error") => {
                problems
                    .push(invalid("an expected failure cannot be evaluated: agents are evaluated when they complete"));
            }
            Some(_) => {}
        }
    }
    if example.annotation.as_ref().is_some_and(|text| text.chars().count() > MAX_ANNOTATION) {
        problems.push(invalid(format!("the annotation has more than {MAX_ANNOTATION} characters")));
    }
    problems
}

/// Checks an example against the agent's schemas: the input, the output that exists already, and the expectation, which may leave
/// out anything (D-76). The input is not changed, although a schema may strip keys of it: that is the run's affair.
///
/// # Errors
/// With everything that does not fit, one problem for each part.
pub fn check(definition: &Definition, example: &Example, at: &str) -> Result<(), BadExample> {
    let parts = [
        (definition.input.as_ref(), Some(&example.input), "X_EXAMPLE_INVALID", "the input", "input"),
        (definition.output.as_ref(), example.actual.as_ref(), "X_EXAMPLE_INVALID", "the output", "actual"),
        (definition.expected.as_ref(), example.expected.as_ref(), "E_EXPECTED_SCHEMA", "the expectation", "expected"),
    ];
    let mut problems = Vec::new();
    for (schema, value, code, what, member) in parts {
        if let (Some(schema), Some(value)) = (schema, value)
            && let Err(violation) = schema.check(value)
        {
            let path = violation.path.replacen('$', member, 1);
            problems.push(problem(code, format!("{what} must have {}", violation.expected), Some(path)));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(BadExample { at: at.to_owned(), name: Some(example.name.clone()), problems }),
    }
}

/// The first whole number in an example that JavaScript cannot tell from its neighbours, as a path (D-58). Such a number may be equal
/// to another one before anything is compared; whoever imports it should know.
pub fn unsafe_integer(example: &Example) -> Option<String> {
    let parts =
        [("input", Some(&example.input)), ("actual", example.actual.as_ref()), ("expected", example.expected.as_ref())];
    parts.into_iter().find_map(|(name, value)| find_unsafe(value?, &mut name.to_owned()))
}

fn find_unsafe(value: &Value, path: &mut String) -> Option<String> {
    let length = path.len();
    let mut inner = |step: String, value: &Value| {
        path.push_str(&step);
        let found = find_unsafe(value, path);
        path.truncate(length);
        found
    };
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            size.filter(|size| *size > MAX_SAFE_INTEGER).map(|_| path.clone())
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| inner(format!("[{index}]"), item)),
        Value::Object(members) => members.iter().find_map(|(name, member)| inner(format!(".{name}"), member)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callcell_runtime::Manifest;
    use serde_json::json;

    fn example(value: Value) -> Example {
        serde_json::from_value(value).unwrap()
    }

    fn definition() -> Definition {
        let total = json!({ "type": "object", "properties": { "total": { "type": "number" } }, "required": ["total"] });
        let manifest: Manifest = serde_json::from_value(json!({
            "format": 1, "callbacks": [], "sources": [],
            "agents": [{
                "name": "a", "export": "default", "inputSchema": { "type": "object", "required": ["text"] }, "outputSchema": total,
                "evaluators": [{ "name": "e", "type": "callback", "callback": "c" }],
                "pass": { "type": "weighted", "weights": { "e": 1 }, "threshold": 1 },
            }],
        }))
        .unwrap();
        Definition::of(&manifest, None).unwrap()
    }

    // 7.1, D-76
    #[test]
    fn an_example_is_checked_against_the_agents_schemas() {
        let definition = definition();
        let good = json!({ "name": "a", "input": { "text": "x" }, "actual": { "total": 1 }, "expected": {} });
        assert_eq!(check(&definition, &example(good), "line 1"), Ok(()));
        let bad = json!({ "name": "a", "input": {}, "actual": {}, "expected": { "total": "1" } });
        let found = check(&definition, &example(bad), "line 2").unwrap_err();
        let found: Vec<_> = found.problems.iter().map(|it| (it.code.as_str(), it.path.as_deref().unwrap())).collect();
        assert_eq!(
            found,
            [("X_EXAMPLE_INVALID", "input"), ("X_EXAMPLE_INVALID", "actual"), ("E_EXPECTED_SCHEMA", "expected.total")]
        );
    }

    // 7.1
    #[test]
    fn names_are_slugs() {
        for name in ["a", "0", "a-b_c", &"x".repeat(128)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-a", "_a", "A", "a b", "a.b", "ä", "../a", &"x".repeat(129)] {
            assert!(!is_name(name), "{name}");
        }
    }

    // D-58
    #[test]
    fn numbers_beyond_javascript_are_found() {
        let found = |value: Value| unsafe_integer(&example(json!({ "name": "a", "input": value })));
        assert_eq!(found(json!({ "a": 9_007_199_254_740_991_u64, "b": -9_007_199_254_740_991_i64, "c": 1e300 })), None);
        assert_eq!(found(json!({ "a": [1, { "b": 9_007_199_254_740_992_u64 }] })), Some("input.a[1].b".into()));
        assert_eq!(found(json!({ "a": -9_007_199_254_740_993_i64 })), Some("input.a".into()));
    }
}
