//! The connection to a service of the OpenAI kind: `POST {base}/chat/completions`.
//!
//! The service may be anybody's. Its answers are read up to a limit, its errors become sentences of ours, and its numbers are bounded.
//! Of the key nobody learns but the service: it is in no error, in no `Debug` output, and follows no redirect.

use super::request::hash;
use super::{BoxFuture, ConnectionError, JudgeRequest, ModelConnection, ModelIdentity, Reply};
use crate::http::{self, AddressInvalid, BodyError};
use crate::secret::Secret;
use callcell_runtime::parse_json;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use url::Url;

/// Bytes of an answer's body that are read. A judge's reply is two sentences; one with more than this is a mishap.
pub const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of an error's body that are read, to tell why.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// The longest pause a service can ask for. No deadline is longer, so more than this would only be a number to overflow with.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Characters of a model's name that is taken from an answer.
const MAX_MODEL_NAME: usize = 200;
/// Tokens that are believed of one answer. More do not fit into a body, and the sums of these fit everywhere.
const MAX_TOKENS: u64 = u32::MAX as u64;

/// A configured model service.
#[derive(Clone)]
pub struct Service {
    /// What stands before `/chat/completions`, such as `https://api.example.com/v1`. A query is kept. With `http` the key and everything
    /// that is disclosed travel openly, so that is for gateways on the same machine.
    pub base_url: Url,
    /// Sent as bearer token. None for services without keys.
    pub key: Option<Secret>,
    /// The organisation's models (EV-82). The first is the configured selection (EV-83).
    pub models: Vec<String>,
}

impl fmt::Debug for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, key, models } = self;
        formatter
            .debug_struct("Service")
            .field("base_url", &http::shown(base_url))
            .field("key", key)
            .field("models", models)
            .finish()
    }
}

/// A connection to a [`Service`]. One serves any number of judgements, side by side.
///
/// What it makes of an answer:
///
/// | answer | outcome |
/// | --- | --- |
/// | 2xx with a chat completion | a [`Reply`], whatever its text |
/// | the same, cut at the model's limit, filtered, refused, or without text | a [`Reply`] with an empty text: it cost tokens, and it is no judgement |
/// | 2xx with anything else | [`Transport`](ConnectionError::Transport): a gateway's page is no model's reply |
/// | 408, 409, 425, 429, 5xx | `Transport`, with the service's `Retry-After` |
/// | 402, and 429 for a quota that is used up | [`Unavailable`](ConnectionError::Unavailable) |
/// | every other status, redirects among them | `Unavailable` |
/// | no answer in time, a connection that breaks, more than [`MAX_BODY_BYTES`] | `Transport` |
///
/// A service that refuses a JSON schema as reply format is asked for any JSON object instead, then and from then on. That counts as one
/// request: the refused one did not reach a model.
pub struct ChatCompletions {
    client: Client,
    address: Url,
    service: String,
    authorization: Option<HeaderValue>,
    models: Vec<Model>,
}

struct Model {
    name: String,
    /// Whether the service refused a schema for it and took the request without one.
    without_schema: AtomicBool,
}

/// One exchange that did not end in a reply.
enum Trouble {
    /// The service refuses the reply's format.
    Format,
    Other(ConnectionError),
}

impl fmt::Debug for ChatCompletions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models: Vec<_> = self.models.iter().map(|model| &model.name).collect();
        formatter
            .debug_struct("ChatCompletions")
            .field("service", &self.service)
            .field("models", &models)
            .finish_non_exhaustive()
    }
}

impl ChatCompletions {
    /// Prepares a connection. Nothing is sent yet, so a wrong key is found out by the first judgement.
    ///
    /// # Errors
    /// When the address is not of `http` or `https`, or has a name or password in it.
    pub fn new(service: Service) -> Result<Self, AddressInvalid> {
        let Service { base_url, key, models } = service;
        let client = http::client(&base_url)?;
        let mut address = base_url.clone();
        address.set_fragment(None);
        // An address of `http` always has segments.
        address
            .path_segments_mut()
            .map_err(|()| AddressInvalid::Scheme)?
            .pop_if_empty()
            .extend(["chat", "completions"]);
        let models = models.into_iter().map(|name| Model { name, without_schema: AtomicBool::new(false) }).collect();
        Ok(Self {
            client,
            service: identity(&base_url),
            address,
            authorization: key.as_ref().map(Secret::bearer),
            models,
        })
    }

    fn model(&self, name: Option<&str>) -> Result<&Model, ConnectionError> {
        let Some(name) = name else {
            return self.models.first().ok_or(unavailable("no model is configured"));
        };
        let known = self.models.iter().find(|model| model.name == name);
        known.ok_or(unavailable("the model is not among the configured ones"))
    }

    async fn answer(&self, request: &JudgeRequest) -> Result<Reply, ConnectionError> {
        let model = self.model(request.model.as_deref())?;
        let with_schema = !model.without_schema.load(Ordering::Relaxed);
        let mut answer = self.post(&model.name, request, with_schema).await;
        if with_schema && matches!(answer, Err(Trouble::Format)) {
            answer = self.post(&model.name, request, false).await;
            // Only what works is remembered: the refusal may have had another reason.
            if answer.is_ok() {
                model.without_schema.store(true, Ordering::Relaxed);
            }
        }
        answer.map_err(|trouble| match trouble {
            Trouble::Format => REFUSED,
            Trouble::Other(error) => error,
        })
    }

    async fn post(&self, model: &str, request: &JudgeRequest, with_schema: bool) -> Result<Reply, Trouble> {
        let format = if with_schema {
            let schema = json!({ "name": "judgement", "strict": true, "schema": request.schema });
            json!({ "type": "json_schema", "json_schema": schema })
        } else {
            json!({ "type": "json_object" })
        };
        let question = json!({
            "model": model,
            "messages": [
                { "role": "system", "content": request.system },
                { "role": "user", "content": request.user },
            ],
            "temperature": request.temperature,
            "response_format": format,
        });
        // Another body under the same key would be refused by services that look at it.
        let idempotency_key = request.idempotency_key() + if with_schema { "" } else { "-object" };
        let mut post = self
            .client
            .post(self.address.clone())
            .header(ACCEPT, "application/json")
            .header("idempotency-key", idempotency_key)
            .json(&question);
        if let Some(authorization) = &self.authorization {
            post = post.header(AUTHORIZATION, authorization);
        }
        let response = post.send().await.map_err(|error| Trouble::Other(transport(http::sentence(&error))))?;
        let status = response.status();
        if !status.is_success() {
            let retry_after = retry_after(response.headers(), Timestamp::now());
            // Waiting for an explanation that changes nothing could use up the deadline. The status stands, even if one does not come.
            let body = match status.as_u16() {
                400 | 422 | 429 => http::body(response, MAX_ERROR_BYTES).await.unwrap_or_default(),
                _ => Vec::new(),
            };
            return Err(refusal(status, retry_after, &body));
        }
        let body = http::body(response, MAX_BODY_BYTES).await.map_err(|error| {
            Trouble::Other(transport(match error {
                BodyError::TooLarge => "its answer is too large",
                BodyError::Broken(what) => what,
            }))
        })?;
        completion(&body, model).ok_or(Trouble::Other(transport("its answer is no chat completion")))
    }
}

impl ModelConnection for ChatCompletions {
    fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
        let model = self.model(model)?;
        Ok(ModelIdentity { service: self.service.clone(), model: model.name.clone() })
    }

    fn ask<'a>(&'a self, request: &'a JudgeRequest, within: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
        Box::pin(async move {
            let answer = tokio::time::timeout(within, self.answer(request)).await;
            answer.unwrap_or(Err(transport("it took too long")))
        })
    }
}

/// The service's name. A query may hold a key, and it may choose who answers: queries are told apart and not shown.
fn identity(base_url: &Url) -> String {
    let shown = http::shown(base_url);
    base_url.query().map_or(shown.clone(), |query| format!("{shown}?{}", hash(&query.into())))
}

const REFUSED: ConnectionError = unavailable("the service refuses the request");

const fn unavailable(what: &'static str) -> ConnectionError {
    ConnectionError::Unavailable { what }
}

const fn transport(what: &'static str) -> ConnectionError {
    ConnectionError::Transport { what, retry_after: None }
}

/// What a status other than success means. Of the body only this is looked at: whether it is about the quota or the reply's format.
fn refusal(status: StatusCode, retry_after: Option<Duration>, body: &[u8]) -> Trouble {
    const QUOTA: ConnectionError = unavailable("the quota is used up");
    Trouble::Other(match status.as_u16() {
        300..=399 => unavailable("the service redirects, and the key is sent to no other address"),
        400 | 422 if is_about_format(body) => return Trouble::Format,
        401 | 403 => unavailable("the service refuses the key"),
        402 => QUOTA,
        404 => unavailable("the service knows no such model or address"),
        413 => unavailable("the request is too large for the service"),
        429 if is_about_quota(body) => QUOTA,
        408 => ConnectionError::Transport { what: "the service did not wait for the request", retry_after },
        409 | 425 | 429 => ConnectionError::Transport { what: "the service is busy", retry_after },
        500..=599 => ConnectionError::Transport { what: "the service has a fault", retry_after },
        _ => REFUSED,
    })
}

/// Services say it in different words; these two are names of ours, which they have no other reason to mention.
fn is_about_format(body: &[u8]) -> bool {
    let body = String::from_utf8_lossy(body);
    body.contains("response_format") || body.contains("json_schema")
}

fn is_about_quota(body: &[u8]) -> bool {
    let Ok(body) = parse_json(body) else { return false };
    let error = &body["error"];
    [&error["code"], &error["type"], &body["code"], &body["type"]].into_iter().any(|it| it == "insufficient_quota")
}

/// The pause that a service asks for, from `now` on. One that is no whole number of seconds and no date of mail's form is none; neither
/// is a date that has passed, since clocks differ. At most [`MAX_RETRY_AFTER`].
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits that are no number are too many.
        return Some(text.parse().map_or(MAX_RETRY_AFTER, Duration::from_secs).min(MAX_RETRY_AFTER));
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    let pause = Duration::try_from(date.duration_since(now)).ok()?;
    (!pause.is_zero()).then(|| pause.min(MAX_RETRY_AFTER))
}

/// A model's answer out of a chat completion; none if the body is something else.
fn completion(body: &[u8], asked: &str) -> Option<Reply> {
    let mut body = parse_json(body).ok()?;
    let tokens = |name: &str| body["usage"][name].as_u64().unwrap_or(0).min(MAX_TOKENS);
    let (prompt_tokens, completion_tokens) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    let named = body["model"].as_str().filter(|name| is_name(name)).unwrap_or(asked).to_owned();
    let choice = body.get_mut("choices")?.as_array_mut()?.first_mut().filter(|choice| choice.is_object())?;
    // What is cut off may have been the opposite of what is there.
    let unfinished = choice["finish_reason"] == "length" || choice["finish_reason"] == "content_filter";
    let message = choice.get_mut("message").filter(|message| message.is_object())?;
    let refused = message["refusal"].as_str().is_some_and(|refusal| !refusal.is_empty());
    let text = match message.get_mut("content").map(Value::take) {
        Some(Value::String(text)) if !unfinished && !refused => text,
        _ => String::new(),
    };
    Some(Reply { text, model: named, prompt_tokens, completion_tokens, cached: false })
}

/// Whether a text may be shown as a model's name: it goes to terminals as well.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= MAX_MODEL_NAME && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(base: &str) -> Service {
        Service {
            base_url: Url::parse(base).unwrap(),
            key: Some(Secret::new("sk-1234567890").unwrap()),
            models: vec!["large".into(), "small".into()],
        }
    }

    fn outcome(status: u16, body: &str) -> Option<ConnectionError> {
        match refusal(StatusCode::from_u16(status).unwrap(), Some(Duration::from_secs(7)), body.as_bytes()) {
            Trouble::Format => None,
            Trouble::Other(error) => Some(error),
        }
    }

    fn text(choice: Value) -> Option<String> {
        completion(json!({ "choices": [choice] }).to_string().as_bytes(), "large").map(|reply| reply.text)
    }

    // EV-82, EV-83, D-65
    #[test]
    fn only_configured_models_are_there() {
        let connection = ChatCompletions::new(service("https://api.example.com/v1/#x")).unwrap();
        let identity = |model: Option<&str>| connection.available(model).map(|it| (it.service, it.model));
        let service_name = "https://api.example.com/v1/".to_owned();
        assert_eq!(identity(None), Ok((service_name.clone(), "large".into())));
        assert_eq!(identity(Some("small")), Ok((service_name, "small".into())));
        assert_eq!(identity(Some("Small")), Err(unavailable("the model is not among the configured ones")));
        let none = ChatCompletions::new(Service { models: Vec::new(), ..service("http://localhost/") }).unwrap();
        assert_eq!(none.available(None), Err(unavailable("no model is configured")));
    }

    // EV-82, EV-85
    #[test]
    fn queries_are_told_apart_and_not_shown() {
        let service_name = |base: &str| identity(&Url::parse(base).unwrap());
        let (one, other) =
            (service_name("https://a.example/v1?deployment=sk-1"), service_name("https://a.example/v1?b"));
        assert_eq!(one, service_name("https://a.example/v1?deployment=sk-1#x"));
        assert_eq!((one.len(), &one[..21]), (21 + 64, "https://a.example/v1?"));
        assert!(one != other && !one.contains("sk-1"), "{one}");
    }

    #[test]
    fn the_address_is_the_base_with_two_segments() {
        for (base, address) in [
            ("https://api.example.com/v1", "https://api.example.com/v1/chat/completions"),
            ("https://api.example.com/v1/", "https://api.example.com/v1/chat/completions"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/chat/completions"),
            ("https://a.example/b?api-version=2#c", "https://a.example/b/chat/completions?api-version=2"),
        ] {
            assert_eq!(ChatCompletions::new(service(base)).unwrap().address.as_str(), address);
        }
        let refused = ChatCompletions::new(service("file:///v1")).unwrap_err();
        assert_eq!((refused, refused.code()), (AddressInvalid::Scheme, "E_ADDRESS_INVALID"));
    }

    // EV-85
    #[test]
    fn neither_service_nor_connection_shows_the_key() {
        let service = service("https://api.example.com/v1?key=sk-1234567890");
        let connection = ChatCompletions::new(service.clone()).unwrap();
        for shown in [format!("{service:?}"), format!("{connection:?}"), format!("{:?}", connection.available(None))] {
            assert!(shown.contains("https://api.example.com/v1") && !shown.contains("1234567890"), "{shown}");
        }
    }

    // 3.6: by kind
    #[test]
    fn a_status_says_whether_asking_again_helps() {
        for (status, body, what) in [
            (301, "", "the service redirects, and the key is sent to no other address"),
            (304, "", "the service redirects, and the key is sent to no other address"),
            (400, "{\"error\":{\"message\":\"bad\"}}", "the service refuses the request"),
            (401, "", "the service refuses the key"),
            (402, "", "the quota is used up"),
            (403, "", "the service refuses the key"),
            (404, "", "the service knows no such model or address"),
            (405, "", "the service refuses the request"),
            (413, "", "the request is too large for the service"),
            (418, "response_format", "the service refuses the request"),
            (422, "", "the service refuses the request"),
            (429, "{\"error\":{\"code\":\"insufficient_quota\"}}", "the quota is used up"),
            (429, "{\"error\":{\"type\":\"insufficient_quota\"}}", "the quota is used up"),
            (600, "", "the service refuses the request"),
        ] {
            assert_eq!(outcome(status, body), Some(unavailable(what)), "{status}");
        }
        for (status, body, what) in [
            (408, "", "the service did not wait for the request"),
            (409, "", "the service is busy"),
            (425, "", "the service is busy"),
            (429, "", "the service is busy"),
            (429, "insufficient_quota", "the service is busy"),
            (429, "{\"error\":{\"message\":\"insufficient_quota\"}}", "the service is busy"),
            (500, "response_format", "the service has a fault"),
            (503, "", "the service has a fault"),
            (599, "", "the service has a fault"),
        ] {
            let retry_after = Some(Duration::from_secs(7));
            assert_eq!(outcome(status, body), Some(ConnectionError::Transport { what, retry_after }), "{status}");
        }
        for (status, body) in [(400, "Unknown name \"response_format\""), (422, "`json_schema` is not supported")] {
            assert_eq!(outcome(status, body), None, "{status}");
        }
    }

    // D-69
    #[test]
    fn a_pause_is_seconds_or_a_date_and_bounded() {
        let now = Timestamp::from_second(784_111_770).unwrap();
        let pause = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_bytes(text.as_bytes()).unwrap());
            retry_after(&headers, now)
        };
        for (text, seconds) in [
            ("0", 0),
            ("7", 7),
            ("007 ", 7),
            ("86401", 86_400),
            ("18446744073709551615", 86_400),
            ("99999999999999999999999999", 86_400),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 7),
            ("Fri, 01 Jan 9999 00:00:00 GMT", 86_400),
        ] {
            assert_eq!(pause(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "-1",
            "+1",
            "1.5",
            "1e3",
            "soon",
            "\u{665}",
            "Sun, 06 Nov 1994 08:49:30 GMT",
            "Sun, 06 Nov 1994 08:49:29 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 99999999999 08:49:37 GMT",
        ] {
            assert_eq!(pause(text), None, "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    // 5.3: what is no whole reply is no judgement
    #[test]
    fn text_that_is_not_whole_is_left_out() {
        let whole = json!({ "finish_reason": "stop", "message": { "content": "{\"score\":1}", "refusal": null } });
        assert_eq!(text(whole.clone()).as_deref(), Some("{\"score\":1}"));
        for (path, value) in [
            ("/finish_reason", json!("length")),
            ("/finish_reason", json!("content_filter")),
            ("/message/refusal", json!("I cannot do that.")),
            ("/message/content", json!(null)),
            ("/message/content", json!([{ "type": "text", "text": "{\"score\":1}" }])),
            ("/message/content", json!({ "score": 1 })),
        ] {
            let mut choice = whole.clone();
            *choice.pointer_mut(path).unwrap() = value;
            assert_eq!(text(choice).as_deref(), Some(""), "{path}");
        }
        assert_eq!(text(json!({ "message": {} })).as_deref(), Some(""));
    }

    #[test]
    fn what_is_no_chat_completion_is_no_reply() {
        for body in [
            "",
            "null",
            "[]",
            "{}",
            "<html></html>",
            "{\"choices\":[]}",
            "{\"choices\":{\"0\":{\"message\":{\"content\":\"\"}}}}",
            "{\"choices\":[null]}",
            "{\"choices\":[[]]}",
            "{\"choices\":[{}]}",
            "{\"choices\":[{\"message\":null}]}",
            "{\"choices\":[{\"message\":\"{}\"}]}",
            "{\"error\":{\"message\":\"overloaded\"}}",
            "{\"choices\":[{\"message\":{\"content\":\"{}\"}}]} trailing",
        ] {
            assert_eq!(completion(body.as_bytes(), "large"), None, "{body}");
        }
        assert_eq!(completion("[".repeat(1_000_000).as_bytes(), "large"), None);
        assert_eq!(completion(b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}", "large"), None);
    }

    // EV-89: numbers of the service's are bounded
    #[test]
    fn tokens_and_names_are_believed_within_reason() {
        let reply = |model: Value, prompt: Value, completed: Value| {
            let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completed });
            let body = json!({ "model": model, "usage": usage, "choices": [{ "message": { "content": "x" } }] });
            let reply = completion(body.to_string().as_bytes(), "large").unwrap();
            (reply.model, reply.prompt_tokens, reply.completion_tokens)
        };
        assert_eq!(reply(json!("large-2"), json!(12), json!(3)), ("large-2".into(), 12, 3));
        assert_eq!(reply(json!(null), json!(u64::MAX), json!(1e300)), ("large".into(), MAX_TOKENS, 0));
        assert_eq!(reply(json!(""), json!(-1), json!("9")), ("large".into(), 0, 0));
        assert_eq!(reply(json!("\u{1b}[2J"), json!(null), json!([1])), ("large".into(), 0, 0));
        assert_eq!(reply(json!("x".repeat(201)), json!(1.5), json!({})), ("large".into(), 0, 0));
    }
}
