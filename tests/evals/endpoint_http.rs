//! Outputs from an agent behind HTTP, against a server on loopback that misbehaves (7.2).

use crate::loopback::{Answer, Loopback, nobody};
use callcell_evals::Secret;
use callcell_evals::experiment::endpoint::Endpoint;
use callcell_evals::model::{Example, Failure};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-endpoint-1234567890";
const RESULT_BYTES: usize = 128 * 1024;

fn endpoint(address: &str) -> Endpoint {
    let key = Secret::new(KEY).expect("a key");
    Endpoint::new(address.parse().expect("an address"), Some(&key)).expect("an endpoint")
}

fn run_within(endpoint: &Endpoint, input: &Value, within: Duration) -> Result<Value, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(endpoint.run(input, within))
}

/// The output, or the failure's code, message and path, of an endpoint that answers so. It is asked once, whatever it answers.
fn output(answer: Answer) -> Result<Value, (String, String, Option<String>)> {
    let server = Loopback::new([answer]);
    let output = run_within(&endpoint(&server.url("/run")), &json!({ "a": 1 }), Duration::from_secs(60));
    assert_eq!(server.connections(), 1, "a run may have effects");
    output.map_err(|failure| {
        assert!(!format!("{failure:?}").contains("1234567890"), "no key in a failure");
        (failure.code, failure.message, failure.path)
    })
}

fn failed(message: &str) -> Result<Value, (String, String, Option<String>)> {
    Err(("X_RUN_FAILED".into(), message.into(), None))
}

fn unanswered(what: &str) -> Result<Value, (String, String, Option<String>)> {
    failed(&format!("the agent's endpoint did not answer: {what}"))
}

// EV-86
#[test]
fn an_agent_is_given_the_input_alone() {
    let server = Loopback::new([Answer::json(200, &json!({ "total": 10 }))]);
    let example = Example {
        name: "secret-name".into(),
        input: json!({ "z": [1, 2.5, "ü"], "a": null }),
        actual: Some(json!("secret-actual")),
        expected: Some(json!({ "total": "secret-expectation" })),
        annotation: Some("secret-annotation".into()),
    };
    let endpoint = endpoint(&server.url("/run?version=2"));
    let output = run_within(&endpoint, &example.input, Duration::from_secs(60));
    assert_eq!(output, Ok(json!({ "total": 10 })));
    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].line.as_str()), (1, "POST /run?version=2 HTTP/1.1"));
    assert_eq!(String::from_utf8_lossy(&seen[0].body), r#"{"z":[1,2.5,"ü"],"a":null}"#);
    assert_eq!(seen[0].names(), ["accept", "authorization", "content-length", "content-type", "host", "user-agent"]);
    assert_eq!(seen[0].header("authorization"), Some("Bearer sk-endpoint-1234567890"));
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    assert!(seen[0].headers.iter().all(|(_, value)| !value.contains("secret")));
    assert!(!format!("{endpoint:?}").contains("1234567890"), "EV-85");
}

#[test]
fn without_a_key_none_is_sent() {
    let server = Loopback::new([Answer::json(200, &json!(null))]);
    let endpoint = Endpoint::new(server.url("/").parse().expect("an address"), None).expect("an endpoint");
    assert_eq!(run_within(&endpoint, &json!({}), Duration::from_secs(60)), Ok(Value::Null));
    assert_eq!(server.seen()[0].header("authorization"), None);
}

// 3.1, 3.3
#[test]
fn an_output_is_json_of_128_kib() {
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert_eq!(output(Answer::with(200, "", text(RESULT_BYTES))), Ok(json!("x".repeat(RESULT_BYTES - 2))));
    assert_eq!(output(Answer::with(201, "content-type: text/html\r\n", "[1]")), Ok(json!([1])));
    let nested = |depth: usize| Answer::with(200, "", "[".repeat(depth) + &"]".repeat(depth));
    assert!(output(nested(128)).is_ok());

    let too_large = output(Answer::with(200, "", text(RESULT_BYTES + 1))).expect_err("it is too large");
    assert_eq!((too_large.0.as_str(), too_large.2), ("R_RESULT_TOO_LARGE", None));
    let zipped = Answer::with(200, "content-encoding: gzip\r\n", b"\x1f\x8b\x08\0");
    let page = Answer::with(200, "", "<html>sk-endpoint-1234567890</html>");
    let nan = Answer::with(200, "", "{\"a\":NaN}");
    let huge = Answer::with(200, "", "1e999");
    let two = Answer::with(200, "", "{}{}");
    let latin = Answer::with(200, "", b"\"\xfc\"");
    for answer in [nested(129), page, zipped, nan, huge, two, latin, Answer::with(204, "", "")] {
        let failure = output(answer).expect_err("it is no JSON");
        let message = "the result is not JSON data: a body of another format at `$`";
        assert_eq!((failure.0.as_str(), failure.1.as_str()), ("R_RESULT_NOT_JSON", message));
        assert_eq!(failure.2.as_deref(), Some("$"));
    }
}

// 3.3: more than the limit is neither read nor held
#[test]
fn a_flood_is_cut_off() {
    const FLOOD: usize = 100_000_000;
    for head in [
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\ncontent-length: {FLOOD}\r\n\r\n"),
    ] {
        let server = Loopback::new([Answer::Flood(head.into_bytes(), FLOOD)]);
        let failure = run_within(&endpoint(&server.url("/")), &json!({}), Duration::from_secs(60));
        assert_eq!(failure.map_err(|failure| failure.code), Err("R_RESULT_TOO_LARGE".into()));
        assert!(server.flooded() < FLOOD);
    }
}

// 7.2: a run that did not complete; of the answer only the status is told
#[test]
fn a_status_of_failure_is_told_and_the_body_is_not() {
    for status in [400, 401, 404, 429, 500, 503] {
        let answer = Answer::with(status, "retry-after: 0\r\n", "it broke: sk-endpoint-1234567890");
        assert_eq!(output(answer), failed(&format!("the agent's endpoint answered with status {status}")));
    }
}

// EV-85, EV-86: neither the key nor the input goes to another address
#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Loopback::new([Answer::json(200, &json!({}))]);
    for status in [301, 302, 303, 307, 308] {
        let answer = Answer::with(status, &format!("location: {}\r\n", elsewhere.url("/")), "");
        assert_eq!(output(answer), failed(&format!("the agent's endpoint answered with status {status}")));
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_connection_that_breaks_is_a_failed_run() {
    let broke = || unanswered("the connection broke");
    assert_eq!(output(Answer::Close), broke());
    assert_eq!(output(Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}".to_vec())), broke());
    let garbage = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n";
    assert_eq!(output(Answer::Bytes(garbage.to_vec())), broke());
    let nobody = run_within(&endpoint(&nobody()), &json!({}), Duration::from_secs(60)).expect_err("nobody is there");
    assert_eq!(nobody.message, "the agent's endpoint did not answer: there is no connection to it");
}

#[test]
fn a_slow_run_ends_in_time() {
    let half = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"a\":".to_vec();
    for answer in [Answer::Silence, Answer::Trickle(half)] {
        let server = Loopback::new([answer]);
        let failure = run_within(&endpoint(&server.url("/")), &json!({}), Duration::from_millis(300));
        let failure = failure.expect_err("it is slow");
        assert_eq!(failure.code, "X_RUN_FAILED");
        assert_eq!(failure.message, "the agent's endpoint did not answer: it took too long");
    }
}

#[test]
fn an_address_of_another_kind_is_refused() {
    for address in ["file:///etc/passwd", "ftp://127.0.0.1/", "http://name:password@127.0.0.1/"] {
        let refused = Endpoint::new(address.parse().expect("an address"), None).expect_err("it is refused");
        assert_eq!(refused.code(), "E_ADDRESS_INVALID", "{address}");
        assert!(!refused.to_string().contains("password@"), "{refused}");
    }
}
