//! What a callback throws stays in its cell (3.5, CB-123, CB-124).

use callcell_runtime::{CallErrorKind, CallOptions, Thrown};
use callcell_tests::{engine, evaluator, pass_rule, tool};
use serde_json::json;
use std::error::Error;

const SECRET: &str = "hunter2-7f3a";

/// Ways to throw a secret.
const THROWS: [&str; 14] = [
    "throw new Error(secret);",
    "throw secret;",
    "throw { message: secret, name: secret, stack: secret };",
    "throw Symbol(secret);",
    "throw Object.assign(new Error('x'), { name: secret });",
    "throw new Error('x', { cause: secret });",
    "throw new AggregateError([new Error(secret)], secret);",
    "throw new (class Secret extends Error { get message() { return secret; } get stack() { return secret; } })();",
    "throw { toString() { return secret; }, [Symbol.toPrimitive]() { return secret; } };",
    "throw () => secret;",
    "throw [secret];",
    "(function hunter2() { throw new TypeError(secret); })();",
    "JSON.parse(secret);",
    "null[secret];",
];

fn options(reveal: bool) -> CallOptions {
    CallOptions { reveal, ..CallOptions::default() }
}

/// Everything a caller could print of an error and its causes.
fn printed(error: &(dyn Error + 'static)) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    text
}

// CB-123
#[test]
fn a_thrown_secret_is_nowhere_in_the_error() {
    for throw in THROWS {
        let error = tool(&format!("const secret = input.secret; {throw}")).call(json!({ "secret": SECRET }));
        let error = error.expect_err(throw);
        assert_eq!(error.kind, CallErrorKind::Threw { detail: None }, "{throw}");
        assert!(!printed(&error).contains("hunter2"), "{throw}: {}", printed(&error));
        assert_eq!(error.kind.hint(), None);
        assert_eq!(error.logs.lines, []);
    }
}

// CB-124
#[test]
fn the_author_receives_a_code_and_a_fixed_message() {
    let error = tool("throw new Error(input.secret);").call(json!({ "secret": SECRET })).expect_err("it throws");
    assert_eq!((error.code(), error.to_string().as_str()), ("R_THREW", "the callback threw an exception"));
    assert!(!error.kind.is_retryable());
}

// D-41
#[test]
fn the_author_may_ask_to_see_the_exception() {
    let body = "function inner() { throw new RangeError(input.secret); } inner();";
    let error = tool(body).call_with(json!({ "secret": SECRET }), &options(true)).expect_err("it throws");
    let CallErrorKind::Threw { detail: Some(thrown) } = &error.kind else { panic!("{error:?}") };
    assert_eq!((thrown.name.as_str(), thrown.message.as_str()), ("RangeError", SECRET));
    assert!(thrown.stack.contains("inner") && thrown.stack.contains("main.js:"), "{}", thrown.stack);
    assert_eq!(error.to_string(), "the callback threw an exception");
}

// D-41, extism/js-pdk#134: a thrown value need not be an error
#[test]
fn a_thrown_value_without_a_name_is_shown_as_text() {
    let table = [
        ("throw 'text';", "text"),
        ("throw 42;", "42"),
        ("throw null;", "null"),
        ("throw undefined;", "undefined"),
        ("throw Symbol('s');", "[a value without text]"),
        ("throw Object.create(null);", "[a value without text]"),
        ("throw { toString() { throw 1; } };", "[a value without text]"),
        ("throw 10n ** 20n;", "100000000000000000000"),
    ];
    for (throw, message) in table {
        let error = tool(throw).call_with(json!({}), &options(true)).expect_err(throw);
        let thrown = Thrown { name: String::new(), message: message.into(), stack: String::new() };
        assert_eq!(error.kind, CallErrorKind::Threw { detail: Some(Box::new(thrown)) }, "{throw}");
    }
}

// D-41
#[test]
fn a_revealed_exception_has_bounded_text() {
    let throws = [
        "throw new Error('m'.repeat(1000000));",
        "throw 'é'.repeat(1000000);",
        "throw Object.assign(new Error('\\x01'.repeat(5000)), { name: '\\x01'.repeat(5000), stack: '\\x01'.repeat(9000) });",
        "throw new Error('\\ud800'.repeat(5000));",
    ];
    for throw in throws {
        let error = tool(throw).call_with(json!({}), &options(true)).expect_err(throw);
        let CallErrorKind::Threw { detail: Some(thrown) } = &error.kind else { panic!("{throw}: {:?}", error.kind) };
        assert!(thrown.message.len() <= 4096 && thrown.message.len() > 4000, "{throw}: {}", thrown.message.len());
        assert!(thrown.name.len() <= 4096 && thrown.stack.len() <= 8192, "{throw}");
    }
}

// CB-123
#[test]
fn getters_of_a_thrown_error_are_bounded_too() {
    let looping = "throw Object.defineProperty(new Error('x'), 'message', { get() { for (;;); } });";
    let limits = callcell_runtime::Limits { fuel: 50_000_000, ..Default::default() };
    for reveal in [false, true] {
        let options = CallOptions { reveal, limits: Some(limits), ..CallOptions::default() };
        assert_eq!(tool(looping).call_with(json!({}), &options).expect_err("it loops").code(), "R_FUEL");
        let throwing = "throw Object.defineProperty(new Error('x'), 'message', { get() { throw 1; } });";
        assert_eq!(tool(throwing).call_with(json!({}), &options).expect_err("it throws").code(), "R_THREW");
    }
    callcell_tests::assert_alive(engine());
}

// D-42: schema failures name the declaration, never the value
#[test]
fn refused_values_are_not_quoted() {
    let table = [tool("return [input.secret];"), evaluator("return input.secret;"), pass_rule("return input.secret;")];
    for callback in table {
        let error = callback.call(json!({ "secret": SECRET })).expect_err("not what the kind asks for");
        assert!(!printed(&error).contains("hunter2"), "{}", printed(&error));
    }
}
