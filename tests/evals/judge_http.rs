//! The judge over HTTP, against a server on loopback that misbehaves in every way a service can (5.3).

use crate::evaluate::{SEED, evaluations, run};
use crate::loopback::{Answer, Loopback, nobody};
use callcell_evals::Secret;
use callcell_evals::judge::{
    Asked, Cached, ChatCompletions, JudgeRequest, MAX_BODY_BYTES, MAX_RATIONALE, ModelConnection, Patience, Reply,
    ReplyStore, ReplyStoreError, Service, ask, request,
};
use callcell_evals::model::{EvaluationUsage, RunResult, Status};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KEY: &str = "sk-loopback-1234567890";
const GOOD: &str = r#"{"rationale":"It does.","score":0.75}"#;
/// No pause that a test would notice.
const QUICK: Patience = Patience {
    deadline: Duration::from_secs(60),
    transport_retries: 3,
    reply_retries: 1,
    pause: Duration::from_millis(1),
};

fn connection(base: &str) -> ChatCompletions {
    let key = Some(Secret::new(KEY).expect("a key"));
    let models = vec!["judge-1".to_owned(), "judge-2".to_owned()];
    let base_url = base.parse().expect("an address");
    ChatCompletions::new(Service { base_url, key, models }).expect("a connection")
}

fn asking() -> JudgeRequest {
    request("Score whether the total is right.", None, &json!({ "actual": 10, "expected": 11 }), &[])
        .expect("a request")
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn asked(server: &Loopback, patience: &Patience) -> Asked {
    block_on(ask(&connection(&server.url("/v1")), &asking(), patience))
}

/// A chat completion with this text, for 100 and 10 tokens.
fn says(text: &str) -> Answer {
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } });
    completion(choice, json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 }))
}

fn completion(choice: Value, usage: Value) -> Answer {
    Answer::json(200, &json!({ "id": "1", "model": "judge-1-2026", "choices": [choice], "usage": usage }))
}

/// The score, or the failure's code and message.
fn outcome(asked: &Asked) -> Result<f64, (&str, &str)> {
    match &asked.outcome {
        Ok(judgement) => Ok(judgement.score.get()),
        Err(failure) => {
            assert!(!format!("{failure:?}").contains("1234567890"), "no key in a failure");
            Err((&failure.code, &failure.message))
        }
    }
}

fn tokens(asked: &Asked) -> (u64, u64) {
    (asked.prompt_tokens, asked.completion_tokens)
}

/// The sentence of a transport error.
fn unanswered(what: &str) -> String {
    format!("the judge's model did not answer: {what}")
}

// 5.3, EV-81, EV-84, EV-85, EV-88, EV-89
#[test]
fn a_judge_is_sent_the_selection_and_nothing_else() {
    let server = Loopback::new([says(GOOD)]);
    let judged = evaluations(SEED, Some(Arc::new(connection(&server.url("/v1"))))).expect("it is ready");
    assert_eq!(server.connections(), 0, "EV-87: nobody is asked yet");
    let output = json!({ "total": 10, "summary": "Ten.", "note": "SECRET-NOTE" });
    let result = run(&judged, output, Some(json!({ "total": 10, "summary": "Ten euros." })));
    assert_eq!((result.passed, result.status, result.value), (true, Status::Decided, Some(0.9375)));
    assert_eq!(
        result.evaluators[1].details,
        Some(json!({ "rationale": "It does.", "model": "judge-1-2026", "attempts": 1 }))
    );
    assert_eq!(judge_usage(&result), (1, 0, 100, 10));

    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "POST /v1/chat/completions HTTP/1.1");
    // No `accept-encoding`: an answer may not be compressed.
    assert_eq!(
        seen[0].names(),
        ["accept", "authorization", "content-length", "content-type", "host", "idempotency-key", "user-agent"]
    );
    assert_eq!(seen[0].header("authorization"), Some("Bearer sk-loopback-1234567890"));
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    let prompt = "Score whether the actual summary preserves the expected invoice facts.";
    let expected =
        request(prompt, None, &json!({ "actual": "Ten.", "expected": "Ten euros." }), &[]).expect("a request");
    assert_eq!(seen[0].header("idempotency-key"), Some(expected.idempotency_key().as_str()));
    assert_eq!(
        seen[0].json(),
        json!({
            "model": "judge-1",
            "messages": [
                { "role": "system", "content": expected.system },
                { "role": "user", "content": expected.user },
            ],
            "temperature": 0.0,
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": "judgement", "strict": true, "schema": expected.schema },
            },
        })
    );
    let text = String::from_utf8(seen[0].body.clone()).expect("text");
    for hidden in ["SECRET-NOTE", "total", "1234567890", "fields", "nonnegative", "threshold"] {
        assert!(!text.contains(hidden), "{hidden}");
    }
    assert!(!serde_json::to_string(&result).expect("it is data").contains("1234567890"));
}

/// Requests, cached replies, and both kinds of tokens.
fn judge_usage(result: &RunResult) -> (u64, u64, u64, u64) {
    let EvaluationUsage { judge_requests, judge_cached, prompt_tokens, completion_tokens, .. } = result.evaluation;
    (judge_requests, judge_cached, prompt_tokens, completion_tokens)
}

// EV-82, EV-83, D-65
#[test]
fn a_named_model_is_asked_if_it_is_configured() {
    let server = Loopback::new([says(GOOD)]);
    let named = |model: &str| SEED.replace("prompt: 'Score", &format!("model: '{model}', prompt: 'Score"));
    let judge = || Some(Arc::new(connection(&server.url("/v1"))) as Arc<dyn ModelConnection>);
    let judged = evaluations(&named("judge-2"), judge()).expect("it is ready");
    run(&judged, json!({ "total": 10, "summary": "x" }), Some(json!({ "total": 10, "summary": "x" })));
    assert_eq!(server.seen()[0].json()["model"], "judge-2");
    let missing = evaluations(&named("judge-3"), judge()).expect_err("there is no such model");
    assert_eq!(missing.code(), "E_JUDGE_UNAVAILABLE");
    assert_eq!(
        missing.to_string(),
        "the evaluator `meaning` needs a judge: the judge's model is not available: the model is not among the configured ones"
    );
    assert_eq!(server.connections(), 1, "nothing is spent on it");
}

// 5.3, D-68, D-69: never a default, never clamped, never out of prose
#[test]
fn a_reply_without_a_score_is_asked_for_once_more() {
    for (text, message) in [
        ("", "the judge's reply is not one JSON object"),
        ("{\"score\":", "the judge's reply is not one JSON object"),
        ("I would give it 0.9.", "the judge's reply is not one JSON object"),
        ("Here you are: {\"score\":0.9} Anything else?", "the judge's reply is not one JSON object"),
        ("{\"score\":NaN}", "the judge's reply is not one JSON object"),
        ("{\"rationale\":\"It does.\"}", "the judge's reply has no score"),
        ("{\"score\":\"NaN\"}", "the judge's score is not a number"),
        ("{\"score\":\"high\"}", "the judge's score is not a number"),
        ("{\"score\":1.0000000001}", "the judge's score is not between 0 and 1"),
        ("{\"score\":-1}", "the judge's score is not between 0 and 1"),
        ("{\"score\":\"85\"}", "the judge's score is not between 0 and 1"),
    ] {
        let server = Loopback::new([says(text)]);
        let asked = asked(&server, &QUICK);
        assert_eq!(outcome(&asked), Err(("E_JUDGE_REPLY_INVALID", message)), "{text}");
        assert_eq!((asked.attempts, server.connections(), tokens(&asked)), (2, 2, (200, 20)), "{text}");
        let keys: Vec<_> = server.seen().iter().map(|seen| seen.header("idempotency-key").map(str::to_owned)).collect();
        assert_ne!(keys[0], keys[1], "the service is not to repeat its reply");
    }
    let server = Loopback::new([says("Well."), says(GOOD)]);
    let asked = asked(&server, &QUICK);
    assert_eq!((outcome(&asked), server.connections(), tokens(&asked)), (Ok(0.75), 2, (200, 20)));
}

// 5.3: a refusal or half a reply is no verdict, and was paid for
#[test]
fn a_completion_that_is_not_whole_has_no_score() {
    let whole = json!({ "finish_reason": "stop", "message": { "content": GOOD } });
    for (path, value) in [
        ("/finish_reason", json!("length")),
        ("/finish_reason", json!("content_filter")),
        ("/message", json!({ "content": null, "refusal": "I cannot." })),
        ("/message", json!({ "content": GOOD, "refusal": "I cannot." })),
        ("/message", json!({ "content": { "score": 1 } })),
    ] {
        let mut choice = whole.clone();
        *choice.pointer_mut(path).expect("it is there") = value;
        let server = Loopback::new([completion(choice, json!({ "prompt_tokens": 7, "completion_tokens": 3 }))]);
        let asked = asked(&server, &QUICK);
        let invalid = ("E_JUDGE_REPLY_INVALID", "the judge's reply is not one JSON object");
        assert_eq!((outcome(&asked), server.connections(), tokens(&asked)), (Err(invalid), 2, (14, 6)), "{path}");
    }
}

// D-68, and what else is odd and right
#[test]
fn odd_replies_with_a_score_count() {
    let long = format!(r#"{{"rationale":"{}","score":1}}"#, "x".repeat(1_000_000));
    let body = json!({ "choices": [{ "message": { "content": GOOD } }] }).to_string();
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5;a=b\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
        &body[..5],
        body.len() - 5,
        &body[5..]
    );
    for (answer, score, cost) in [
        (says(r#"{"rationale":"It does.","score":"0.25"}"#), 0.25, (100, 10)),
        (says("```json\n{\"score\":0.5}\n```"), 0.5, (100, 10)),
        (says(&long), 1.0, (100, 10)),
        (Answer::with(200, "content-type: text/html\r\n", &body), 0.75, (0, 0)),
        (Answer::with(201, "", &body), 0.75, (0, 0)),
        (Answer::Bytes(chunked.into_bytes()), 0.75, (0, 0)),
        (Answer::Bytes(format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}").into_bytes()), 0.75, (0, 0)),
    ] {
        let server = Loopback::new([answer]);
        let asked = asked(&server, &QUICK);
        assert_eq!((outcome(&asked), server.connections(), tokens(&asked)), (Ok(score), 1, cost));
        let rationale = &asked.outcome.as_ref().expect("a judgement").rationale;
        assert!(rationale.len() <= MAX_RATIONALE);
    }
}

// EV-89: the service's numbers are bounded, and their sum is
#[test]
fn absurd_numbers_of_tokens_overflow_nothing() {
    let choice = json!({ "message": { "content": "no score" } });
    let server = Loopback::new([completion(choice, json!({ "prompt_tokens": u64::MAX, "completion_tokens": -1 }))]);
    assert_eq!(tokens(&asked(&server, &QUICK)), (2 * u64::from(u32::MAX), 0));
}

// D-69: repeated three times, then an error, never a score
#[test]
fn an_answer_that_is_none_is_a_transport_error() {
    let body = json!({ "choices": [{ "message": { "content": GOOD } }] }).to_string();
    let raw = |text: &str| Answer::Bytes(text.as_bytes().to_vec());
    let cut = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len() + 1);
    let cut_chunk = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n", body.len());
    let garbage = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n";
    let huge_chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n";
    let long_header = format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 2\r\n\r\n{{}}", "x".repeat(2_000_000));
    let promised = "HTTP/1.1 200 OK\r\ncontent-length: 999999999999999\r\n\r\n{}";
    let no_number = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\n{}";
    let (broke, other) = ("the connection broke", "its answer is no chat completion");
    for (name, answer, what) in [
        ("closed at accept", Answer::Close, broke),
        ("cut in the body", raw(&cut), broke),
        ("cut between chunks", raw(&cut_chunk), broke),
        ("garbage for chunks", raw(garbage), broke),
        ("a chunk of no length", raw(huge_chunk), broke),
        ("a long header", raw(&long_header), broke),
        ("another protocol", raw("220 mail.example.com ESMTP\r\n"), broke),
        ("no answer at all", raw(""), broke),
        ("a length beyond all", raw(promised), "its answer is too large"),
        ("a length beyond numbers", raw(no_number), broke),
        ("a page", Answer::with(200, "content-type: text/html\r\n", "<html><p>Sign in</p></html>"), other),
        ("nothing", Answer::with(204, "", ""), other),
        ("no choices", Answer::json(200, &json!({ "choices": [] })), other),
        ("an error with status 200", Answer::json(200, &json!({ "error": { "message": KEY } })), other),
        ("a judgement without its completion", Answer::with(200, "", GOOD), other),
        ("compressed", Answer::with(200, "content-encoding: gzip\r\n", gzip(body.as_bytes())), other),
        ("deep", Answer::with(200, "", "[".repeat(1_000_000)), other),
    ] {
        let server = Loopback::new([answer]);
        let asked = asked(&server, &QUICK);
        assert_eq!(outcome(&asked), Err(("E_JUDGE_TRANSPORT", unanswered(what).as_str())), "{name}");
        assert_eq!((asked.attempts, server.connections(), tokens(&asked)), (4, 4, (0, 0)), "{name}");
    }
    let asked = block_on(ask(&connection(&nobody()), &asking(), &QUICK));
    let nobody = unanswered("there is no connection to it");
    assert_eq!((outcome(&asked), asked.attempts), (Err(("E_JUDGE_TRANSPORT", nobody.as_str())), 4));
}

/// Bytes as a gzip file of one stored block, which a decompressor would turn back.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("one block");
    let crc = !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    });
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    file.extend(length.to_le_bytes());
    file.extend((!length).to_le_bytes());
    file.extend(bytes);
    file.extend(crc.to_le_bytes());
    file.extend(u32::from(length).to_le_bytes());
    file
}

// 5.3: more than the limit is neither read nor held
#[test]
fn a_flood_is_cut_off() {
    const FLOOD: usize = 100_000_000;
    let once = Patience { transport_retries: 0, ..QUICK };
    let too_large = unanswered("its answer is too large");
    for head in [
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{FLOOD:x}\r\n"),
        format!("HTTP/1.1 200 OK\r\ncontent-length: {FLOOD}\r\n\r\n"),
    ] {
        let server = Loopback::new([Answer::Flood(head.into_bytes(), FLOOD)]);
        let asked = asked(&server, &once);
        assert_eq!(outcome(&asked), Err(("E_JUDGE_TRANSPORT", too_large.as_str())));
        assert_eq!((asked.attempts, server.connections()), (1, 1));
        assert!(server.flooded() < FLOOD);
    }
    // Of an error's body less is read, and its status stands.
    let head = "HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n".to_owned();
    let server = Loopback::new([Answer::Flood(head.into_bytes(), FLOOD)]);
    let refused = "the judge's model is not available: the service refuses the key";
    assert_eq!(outcome(&asked(&server, &QUICK)), Err(("E_JUDGE_UNAVAILABLE", refused)));
    assert!(server.flooded() < FLOOD);
}

// 5.3: exactly the limit is no flood
#[test]
fn an_answer_of_the_largest_size_is_read() {
    let body = json!({ "choices": [{ "message": { "content": GOOD } }] }).to_string();
    let once = Patience { transport_retries: 0, ..QUICK };
    let full = body.clone() + &" ".repeat(MAX_BODY_BYTES - body.len());
    let server = Loopback::new([Answer::with(200, "", &full), Answer::with(200, "", full.clone() + " ")]);
    assert_eq!(outcome(&asked(&server, &once)), Ok(0.75));
    assert_eq!(
        outcome(&asked(&server, &once)),
        Err(("E_JUDGE_TRANSPORT", unanswered("its answer is too large").as_str()))
    );
}

// D-69
#[test]
fn a_service_in_trouble_is_asked_again() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
        let server = Loopback::new([Answer::with(status, "", "busy"), says(GOOD)]);
        let asked = asked(&server, &QUICK);
        assert_eq!((outcome(&asked), asked.attempts, tokens(&asked)), (Ok(0.75), 2, (100, 10)), "{status}");
        let seen = server.seen();
        assert_eq!(seen.len(), 2);
        assert_eq!(
            (seen[0].headers.clone(), seen[0].json()),
            (seen[1].headers.clone(), seen[1].json()),
            "the same again"
        );
    }
    let server = Loopback::new([Answer::with(500, "", KEY)]);
    let asked = asked(&server, &QUICK);
    let fault = unanswered("the service has a fault");
    assert_eq!((outcome(&asked), asked.attempts), (Err(("E_JUDGE_TRANSPORT", fault.as_str())), 4));
    assert_eq!(server.connections(), 4);
}

// D-69: the service's pause counts, not ours
#[test]
fn retry_after_is_followed() {
    let busy = unanswered("the service is busy");
    // Our own pause would end all: it is longer than the deadline.
    let slow = Patience { pause: Duration::from_secs(3_600), ..QUICK };
    let server = Loopback::new([Answer::with(429, "retry-after: 0\r\n", ""), says(GOOD)]);
    assert_eq!((outcome(&asked(&server, &slow)), server.connections()), (Ok(0.75), 2));
    // A pause beyond the deadline is not waited for (D-70).
    for header in ["3600", "99999999999999999999", "Fri, 01 Jan 9999 00:00:00 GMT"] {
        let server = Loopback::new([Answer::with(429, &format!("retry-after: {header}\r\n"), ""), says(GOOD)]);
        let asked = asked(&server, &QUICK);
        assert_eq!(outcome(&asked), Err(("E_JUDGE_TRANSPORT", busy.as_str())), "{header}");
        assert_eq!((asked.attempts, server.connections()), (1, 1), "{header}");
    }
    // What names no pause leaves ours.
    for header in ["-1", "soon", "", "Sun, 06 Nov 1994 08:49:37 GMT"] {
        let server = Loopback::new([Answer::with(503, &format!("retry-after: {header}\r\n"), ""), says(GOOD)]);
        assert_eq!((outcome(&asked(&server, &QUICK)), server.connections()), (Ok(0.75), 2), "{header}");
        let server = Loopback::new([Answer::with(503, &format!("retry-after: {header}\r\n"), ""), says(GOOD)]);
        assert_eq!((asked(&server, &slow).attempts, server.connections()), (1, 1), "{header}");
    }
}

// D-70: one deadline, whatever is being waited for
#[test]
fn a_slow_service_is_left_at_the_deadline() {
    let slow = unanswered("it took too long");
    let half = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"choices\":".to_vec();
    let header = b"HTTP/1.1 200 OK\r\nx: ".to_vec();
    let error = b"HTTP/1.1 429 Busy\r\nconnection: close\r\n\r\n".to_vec();
    for answer in [Answer::Silence, Answer::Trickle(half), Answer::Trickle(header), Answer::Trickle(error)] {
        let server = Loopback::new([answer]);
        let patience = Patience { deadline: Duration::from_millis(500), ..QUICK };
        let asked = asked(&server, &patience);
        assert_eq!(outcome(&asked), Err(("E_JUDGE_TRANSPORT", slow.as_str())));
        assert_eq!((asked.attempts, server.connections(), tokens(&asked)), (1, 1, (0, 0)));
    }
}

// D-69, D-70: an explanation that changes nothing is not waited for
#[test]
fn a_status_stands_whatever_follows_it() {
    let fault = b"HTTP/1.1 503 Busy\r\nconnection: close\r\n\r\n".to_vec();
    let server = Loopback::new([Answer::Trickle(fault), says(GOOD)]);
    let asked = asked(&server, &QUICK);
    assert_eq!((outcome(&asked), asked.attempts, server.connections()), (Ok(0.75), 2, 2));
}

// 3.6: by kind; asking again would not help
#[test]
fn a_service_that_refuses_is_asked_once() {
    let quota = json!({ "error": { "message": KEY, "type": "insufficient_quota", "code": "insufficient_quota" } });
    let other = json!({ "error": { "message": KEY } });
    for (status, body, what) in [
        (400, &other, "the service refuses the request"),
        (401, &other, "the service refuses the key"),
        (402, &other, "the quota is used up"),
        (403, &other, "the service refuses the key"),
        (404, &other, "the service knows no such model or address"),
        (422, &other, "the service refuses the request"),
        (429, &quota, "the quota is used up"),
    ] {
        let server = Loopback::new([Answer::json(status, body), says(GOOD)]);
        let asked = asked(&server, &QUICK);
        let message = format!("the judge's model is not available: {what}");
        assert_eq!(outcome(&asked), Err(("E_JUDGE_UNAVAILABLE", message.as_str())), "{status}");
        assert_eq!((asked.attempts, server.connections(), tokens(&asked)), (1, 1, (0, 0)), "{status}");
    }
}

// EV-85: the key goes to the configured service alone
#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Loopback::new([says(GOOD)]);
    for status in [301, 302, 303, 307, 308] {
        for target in [elsewhere.url("/v1/chat/completions"), "/elsewhere".to_owned()] {
            let server = Loopback::new([Answer::with(status, &format!("location: {target}\r\n"), "")]);
            let asked = asked(&server, &QUICK);
            let redirected =
                "the judge's model is not available: the service redirects, and the key is sent to no other address";
            assert_eq!(outcome(&asked), Err(("E_JUDGE_UNAVAILABLE", redirected)), "{status}");
            assert_eq!(server.connections(), 1);
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}

// 5.3: services without schemas
#[test]
fn a_service_without_schemas_is_asked_for_an_object() {
    let refuses = Answer::json(400, &json!({ "error": { "message": "response_format json_schema is not supported" } }));
    let server = Loopback::new([refuses.clone(), says(GOOD)]);
    let connection = connection(&server.url("/v1"));
    for _ in 0..2 {
        let asked = block_on(ask(&connection, &asking(), &QUICK));
        assert_eq!((outcome(&asked), asked.attempts, tokens(&asked)), (Ok(0.75), 1, (100, 10)));
    }
    let formats: Vec<_> = server.seen().iter().map(|seen| seen.json()["response_format"]["type"].clone()).collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_object"], "it is remembered");
    let keys: Vec<_> = server.seen().iter().map(|seen| seen.header("idempotency-key").map(str::to_owned)).collect();
    assert!(keys[0] != keys[1] && keys[1] == keys[2], "another body is another request");

    let server = Loopback::new([refuses]);
    let connection = self::connection(&server.url("/v1"));
    for _ in 0..2 {
        let asked = block_on(ask(&connection, &asking(), &QUICK));
        let refused = "the judge's model is not available: the service refuses the request";
        assert_eq!((outcome(&asked), asked.attempts), (Err(("E_JUDGE_UNAVAILABLE", refused)), 1));
    }
    let formats: Vec<_> = server.seen().iter().map(|seen| seen.json()["response_format"]["type"].clone()).collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_schema", "json_object"], "the reason was another");
}

/// A store in memory.
#[derive(Default)]
struct Memory(Mutex<HashMap<String, Reply>>);

impl ReplyStore for Memory {
    fn get(&self, key: &str) -> Result<Option<Reply>, ReplyStoreError> {
        Ok(self.0.lock().expect("no panic").get(key).cloned())
    }

    fn put(&self, key: &str, reply: &Reply) -> Result<(), ReplyStoreError> {
        self.0.lock().expect("no panic").insert(key.to_owned(), reply.clone());
        Ok(())
    }
}

// D-79, EV-89: a repeated experiment is free and says so
#[test]
fn a_repeated_evaluation_asks_nobody() {
    let server = Loopback::new([Answer::with(503, "", ""), says("No score."), says(GOOD)]);
    let store = Arc::new(Memory::default());
    let cached = || Arc::new(Cached::new(connection(&server.url("/v1")), store.clone()));
    let once = |judge: Arc<dyn ModelConnection>, summary: &str| {
        let judged = evaluations(SEED, Some(judge)).expect("it is ready");
        run(&judged, json!({ "total": 10, "summary": summary }), Some(json!({ "total": 10, "summary": "x" })))
    };
    let first = once(cached(), "y");
    assert_eq!((judge_usage(&first), first.value), ((3, 0, 200, 20), Some(0.9375)));
    // Another connection over the same store, as after a restart.
    let second = once(cached(), "y");
    assert_eq!((judge_usage(&second), second.value), ((0, 1, 0, 0), Some(0.9375)));
    let details = |result: &RunResult| result.evaluators[1].details.clone().expect("details");
    assert_eq!(details(&second)["rationale"], details(&first)["rationale"]);
    assert_eq!(server.connections(), 3);
    let other = once(cached(), "z");
    assert_eq!((judge_usage(&other), server.connections()), ((1, 0, 100, 10), 4), "another selection");
}
