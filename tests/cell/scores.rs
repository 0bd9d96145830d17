//! What evaluators and pass rules may return (3.2, CB-35, CB-37, CB-120).

use callcell_tests::{evaluator, pass_rule};
use serde_json::{Value, json};

fn example() -> Value {
    json!({ "actual": { "total": 1 }, "expected": { "total": 1 } })
}

// CB-35
#[test]
fn a_score_is_a_number_from_0_to_1_and_is_not_rounded() {
    let scores = [
        ("0", 0.0),
        ("1", 1.0),
        ("0.5", 0.5),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("5e-324", 5e-324),
        ("1 - 2 ** -53", 1.0 - f64::EPSILON / 2.0),
    ];
    for (text, score) in scores {
        assert_eq!(evaluator(&format!("return {text};")).value(example()).as_f64(), Some(score), "{text}");
    }
    let compared = evaluator("return input.actual.total === input.expected.total ? 1 : 0;");
    assert_eq!(compared.value(example()), json!(1));
}

// 3.1, 3.2
#[test]
fn minus_zero_is_the_score_0() {
    let value = evaluator("return -0;").value(example());
    assert_eq!(value.to_string(), "0");
}

// 3.2
#[test]
fn expected_may_be_absent() {
    let absent = evaluator("return 'expected' in input || input.expected !== undefined ? 0 : 1;");
    assert_eq!(absent.value(json!({ "actual": {} })), json!(1));
}

// CB-120, EV-106
#[test]
fn anything_else_is_no_score() {
    let results = [
        "1.0000000001",
        "-0.0000001",
        "2",
        "-1",
        "true",
        "false",
        "'0.5'",
        "''",
        "null",
        "[]",
        "[1]",
        "({})",
        "({ score: 1 })",
        "NaN",
        "Infinity",
        "-Infinity",
        "0 / 0",
    ];
    for result in results {
        let error = evaluator(&format!("return {result};")).call(example()).expect_err(result);
        assert_eq!(error.code(), "E_SCORE_INVALID", "{result}");
    }
}

// CB-120
#[test]
fn a_score_that_is_no_json_is_no_score() {
    for result in ["1n", "Symbol('one')", "() => 1", "new Number(1)", "[NaN]"] {
        let error = evaluator(&format!("return {result};")).call(example()).expect_err(result);
        assert_eq!((error.code(), error.kind.path()), ("E_SCORE_INVALID", None), "{result}");
    }
    assert_eq!(evaluator("").call(example()).expect_err("undefined").code(), "R_RESULT_UNDEFINED");
    assert_eq!(evaluator("return Promise.resolve(1);").call(example()).expect_err("a promise").code(), "R_PROMISE");
}

// CB-37
#[test]
fn a_pass_rule_returns_true_or_false() {
    let rule = pass_rule("return input.fields >= 0.9 && input.meaning > 0;");
    assert_eq!(rule.value(json!({ "fields": 0.9, "meaning": 0.1 })), json!(true));
    assert_eq!(rule.value(json!({ "fields": 0.89, "meaning": 1 })), json!(false));
}

// CB-37, EV-100
#[test]
fn a_truthy_value_is_no_pass() {
    for result in ["1", "0", "'true'", "''", "null", "({})", "[]", "[true]"] {
        let error = pass_rule(&format!("return {result};")).call(json!({ "one": 1 })).expect_err(result);
        assert_eq!(error.code(), "E_PASS_NOT_BOOLEAN", "{result}");
    }
    let boxed = pass_rule("return new Boolean(true);").call(json!({ "one": 1 })).expect_err("an object");
    assert_eq!(boxed.code(), "E_PASS_NOT_BOOLEAN");
    assert_eq!(pass_rule("").call(json!({ "one": 1 })).expect_err("undefined").code(), "R_RESULT_UNDEFINED");
}
