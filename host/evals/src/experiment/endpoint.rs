//! An agent behind HTTP: given an example's input, it answers with the output.
//!
//! The input is all that it gets (EV-86). What it answers is as little trusted as what a tool returns: it is bounded, it must be JSON,
//! and of an answer that is no output nothing but the status is told on.

use crate::http::{self, AddressInvalid, BodyError};
use crate::model::Failure;
use crate::secret::Secret;
use callcell_runtime::{CallErrorKind, Limits, parse_json};
use reqwest::Client;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use url::Url;

/// An agent's address. One serves any number of runs, side by side.
pub struct Endpoint {
    client: Client,
    address: Url,
    authorization: Option<HeaderValue>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Endpoint").field("address", &http::shown(&self.address)).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Prepares requests to an address of `http` or `https`, with `key` as bearer token where there is one. Nothing is sent yet. With
    /// `http` the key and the inputs travel openly, so that is for gateways on the same machine.
    ///
    /// # Errors
    /// When the address has another scheme, or a name or password in it.
    pub fn new(address: Url, key: Option<&Secret>) -> Result<Self, AddressInvalid> {
        let client = http::client(&address)?;
        Ok(Self { client, address, authorization: key.map(Secret::bearer) })
    }

    /// Runs the agent once: posts `input` as JSON and takes the answer's body as the output. `within` is how long all of it may take.
    /// Nothing is tried again, because a run may have effects. Redirects are not followed. The answer's content type does not
    /// matter, its content does.
    ///
    /// # Errors
    /// `X_RUN_FAILED` when there is no answer in time or its status is not one of success; `R_RESULT_TOO_LARGE` when it has more than
    /// 128 KiB, as a tool's result may have (3.3); `R_RESULT_NOT_JSON` when it is not one JSON value of at most 128 levels. The message
    /// holds nothing of the answer but its status.
    pub async fn run(&self, input: &Value, within: Duration) -> Result<Value, Failure> {
        let run = tokio::time::timeout(within, self.post(input)).await;
        run.unwrap_or_else(|_| Err(unanswered("it took too long")))
    }

    async fn post(&self, input: &Value) -> Result<Value, Failure> {
        let mut request = self.client.post(self.address.clone()).header(ACCEPT, "application/json").json(input);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let response = request.send().await.map_err(|error| unanswered(http::sentence(&error)))?;
        let status = response.status();
        if !status.is_success() {
            return Err(failed(format!("the agent's endpoint answered with status {}", status.as_u16())));
        }
        let limit = Limits::default().result_bytes;
        let body = http::body(response, limit).await.map_err(|error| match error {
            BodyError::TooLarge => result(&CallErrorKind::ResultTooLarge { limit }),
            BodyError::Broken(what) => unanswered(what),
        })?;
        parse_json(&body).map_err(|_| {
            result(&CallErrorKind::ResultNotJson { path: "$".into(), what: "a body of another format".into() })
        })
    }
}

fn failed(message: String) -> Failure {
    Failure { code: "X_RUN_FAILED".into(), message, path: None }
}

fn unanswered(what: &'static str) -> Failure {
    failed(format!("the agent's endpoint did not answer: {what}"))
}

/// A result is too large or no JSON for the same reasons and in the same words, whoever gave it.
fn result(kind: &CallErrorKind) -> Failure {
    Failure { code: kind.code().into(), message: kind.to_string(), path: kind.path().map(str::to_owned) }
}
