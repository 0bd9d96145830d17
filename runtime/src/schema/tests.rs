//! The contract of SCHEMA-IR.md keyword by keyword, on both sides of each boundary, and hostile schemas. One module per
//! subject; here is what they share.

mod combinations;
mod keywords;
mod objects;
mod partial;
mod privacy;
mod public;
mod random;
mod raw;
mod refusals;
mod work;

use super::*;
use serde_json::json;

type Map = serde_json::Map<String, Value>;

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|problem| panic!("{problem} {schema}"))
}

fn problem(schema: Value) -> String {
    Schema::compile(&schema).err().unwrap_or_else(|| panic!("{schema} compiles"))
}

/// The normalised value.
fn normal(schema: Value, value: Value) -> Value {
    compile(&schema).check(value).unwrap_or_else(|violation| panic!("{violation:?} {schema}"))
}

/// Path and expectation.
fn broken(schema: Value, value: Value) -> (String, String) {
    let violation = compile(&schema).check(value.clone()).expect_err(&format!("{value} fits {schema}"));
    (violation.path, violation.expected)
}

/// `good` values stay as they are, `bad` ones are refused with `expected`.
fn keyword(schema: Value, good: &[Value], bad: &[Value], expected: &str) {
    let compiled = compile(&schema);
    for value in good {
        assert_eq!(compiled.check(value.clone()), Ok(value.clone()), "{schema}");
    }
    for value in bad {
        assert_eq!(compiled.check(value.clone()), Err(Violation::new([], expected)), "{value} under {schema}");
    }
}

fn nested(levels: usize, inner: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(inner, |schema, _| wrap(schema))
}
