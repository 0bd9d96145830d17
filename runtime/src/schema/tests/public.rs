//! What other crates see.

use super::*;

#[test]
fn a_host_can_check_data_without_a_bundle() {
    let schema = DataSchema::compile(&json!({
        "type": "object", "properties": { "a": { "type": "number", "default": 1 } }, "x-unknownKeys": "strip",
    }))
    .expect("it compiles");
    let same = json!({ "a": 2 });
    assert!(matches!(schema.check(&same), Ok(Cow::Borrowed(value)) if *value == same));
    assert_eq!(schema.check(&json!({ "b": 2 })).map(Cow::into_owned), Ok(json!({ "a": 1 })));
    let violation = schema.check(&json!({ "a": "secret" })).expect_err("it does not fit");
    assert_eq!(violation.to_string(), "the value does not match the schema at `$.a`: a number");
    let raw = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "required": ["a"] });
    let raw = DataSchema::compile(&raw).expect("it compiles");
    assert_eq!(raw.check(&json!({ "a": 1, "b": 2 })).map(Cow::into_owned), Ok(json!({ "a": 1, "b": 2 })));
    assert_eq!(format!("{raw:?}"), "DataSchema { .. }");
}

#[test]
fn what_is_no_schema_has_a_code_and_a_sentence() {
    let error = DataSchema::compile(&json!({ "not": {} })).expect_err("it is refused");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("C_SCHEMA_UNSUPPORTED", "The schema has the keyword `not`, which the schema IR does not have.")
    );
}

#[test]
fn deep_values_are_refused_before_they_are_looked_at() {
    let refused = Err(Violation::new([], "a value of at most 128 levels"));
    for schema in [json!(true), json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" })] {
        let schema = DataSchema::compile(&schema).expect("it compiles");
        let value = nested(128, json!(1), |inner| Value::Array(vec![inner]));
        assert_eq!(schema.check(&value).map(Cow::into_owned), Ok(value));
        let value = nested(2_000, json!(1), |inner| Value::Array(vec![inner]));
        assert_eq!(schema.check(&value).map(Cow::into_owned), refused);
    }
}
