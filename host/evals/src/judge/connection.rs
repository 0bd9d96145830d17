//! The way to a judge's model, and the patience with it (D-69, D-70).

use super::{JudgeRequest, Judgement, read};
use crate::model::Failure;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A future on the heap, so that connections can be exchanged at run time.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A configured model service. A host brings one; tests bring their own.
pub trait ModelConnection: Send + Sync {
    /// Which model answers: the named one, or the configured selection. Looked at before an experiment starts, so that none is
    /// spent on a judge that does not exist (D-65). Sends nothing (EV-87).
    ///
    /// # Errors
    /// [`ConnectionError::Unavailable`] with the reason.
    fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError>;

    /// Asks once. The answer is the model's text as it came; nobody has looked at it yet. `within` is how long it may take.
    ///
    /// # Errors
    /// When there is no answer.
    fn ask<'a>(&'a self, request: &'a JudgeRequest, within: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>>;
}

impl<C: ModelConnection + ?Sized> ModelConnection for Arc<C> {
    fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
        (**self).available(model)
    }

    fn ask<'a>(&'a self, request: &'a JudgeRequest, within: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
        (**self).ask(request, within)
    }
}

/// Who answers a request. Replies of one identity are no replies of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelIdentity {
    /// The service, such as its address without any key.
    pub service: String,
    /// The model, as the service is asked for it.
    pub model: String,
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// The model that gave it, as the service names it.
    pub model: String,
    /// Tokens of the request, as the service counted them; 0 if it did not say.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Whether it came from a cache, and cost nothing.
    pub cached: bool,
}

/// Why there is no answer. Nothing of the request, and no key, is in it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// No connection is configured, the model is unknown, the key is refused, the quota is used up. Asking again does not help.
    #[error("the judge's model is not available: {what}")]
    Unavailable {
        /// A sentence without names of the host's.
        what: &'static str,
    },
    /// The network, the service or its load. Asking again may help.
    #[error("the judge's model did not answer: {what}")]
    Transport {
        /// A sentence.
        what: &'static str,
        /// How long the service asks to be left alone.
        retry_after: Option<Duration>,
    },
}

impl ConnectionError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "E_JUDGE_UNAVAILABLE",
            Self::Transport { .. } => "E_JUDGE_TRANSPORT",
        }
    }
}

impl From<ConnectionError> for Failure {
    fn from(error: ConnectionError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), path: None }
    }
}

/// How long and how often a judge is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For everything, repetitions and pauses among it. 60 s by default (D-70).
    pub deadline: Duration,
    /// Repetitions after a transport error. 3 by default (D-69).
    pub transport_retries: u32,
    /// Repetitions after a reply without a score. 1 by default.
    pub reply_retries: u32,
    /// The pause before the first repetition; each further one is twice as long. 500 ms by default. A service that names a pause gets that
    /// one instead.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(60),
            transport_retries: 3,
            reply_retries: 1,
            pause: Duration::from_millis(500),
        }
    }
}

/// What asking a judge came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The verdict, or why there is none.
    pub outcome: Result<Judgement, Failure>,
    /// The model that answered last.
    pub model: Option<String>,
    /// How often it was asked.
    pub attempts: u32,
    /// Of the attempts, those that a cache answered.
    pub cached: u32,
    /// Tokens of all requests that were answered (EV-89).
    pub prompt_tokens: u64,
    /// Tokens of all answers.
    pub completion_tokens: u64,
}

/// Asks a judge until there is a score, the patience ends, or asking again would not help.
pub async fn ask(connection: &dyn ModelConnection, request: &JudgeRequest, patience: &Patience) -> Asked {
    let end = Instant::now() + patience.deadline;
    let mut asked = Asked {
        outcome: Err(ConnectionError::Transport { what: "it took too long", retry_after: None }.into()),
        model: None,
        attempts: 0,
        cached: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
    };
    let mut request = Cow::Borrowed(request);
    let (mut transport, mut pause) = (0, patience.pause);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return asked;
        }
        asked.attempts += 1;
        // The connection is asked to keep the time; it is not trusted to.
        let answer = tokio::time::timeout(left, connection.ask(&request, left)).await;
        let wait = match answer {
            Err(_) => return asked,
            Ok(Ok(reply)) => {
                asked.prompt_tokens = asked.prompt_tokens.saturating_add(reply.prompt_tokens);
                asked.completion_tokens = asked.completion_tokens.saturating_add(reply.completion_tokens);
                asked.cached += u32::from(reply.cached);
                asked.model = Some(reply.model);
                match read(&reply.text) {
                    Ok(judgement) => {
                        asked.outcome = Ok(judgement);
                        return asked;
                    }
                    Err(invalid) => asked.outcome = Err(invalid.into()),
                }
                if request.refused >= patience.reply_retries {
                    return asked;
                }
                request.to_mut().refused += 1;
                Duration::ZERO
            }
            Ok(Err(error)) => {
                let retry_after = match &error {
                    ConnectionError::Transport { retry_after, .. } => *retry_after,
                    ConnectionError::Unavailable { .. } => {
                        asked.outcome = Err(error.into());
                        return asked;
                    }
                };
                asked.outcome = Err(error.into());
                if transport == patience.transport_retries {
                    return asked;
                }
                transport += 1;
                let wait = retry_after.unwrap_or(pause);
                pause = pause.saturating_mul(2);
                wait
            }
        };
        // A pause beyond the deadline is waiting for nothing.
        if wait >= end.saturating_duration_since(Instant::now()) {
            return asked;
        }
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use serde_json::json;
    use std::sync::Mutex;

    /// Gives these answers, one after the other, then never any.
    struct Script(Mutex<Vec<Result<Reply, ConnectionError>>>);

    impl Script {
        fn new(mut answers: Vec<Result<Reply, ConnectionError>>) -> Self {
            answers.reverse();
            Self(Mutex::new(answers))
        }
    }

    impl ModelConnection for Script {
        fn available(&self, _: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
            Ok(ModelIdentity { service: "script".into(), model: "m".into() })
        }

        fn ask<'a>(&'a self, _: &'a JudgeRequest, _: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
            let answer = self.0.lock().unwrap().pop();
            Box::pin(async move {
                match answer {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                }
            })
        }
    }

    fn says(text: &str) -> Result<Reply, ConnectionError> {
        Ok(Reply { text: text.into(), model: "m".into(), prompt_tokens: 10, completion_tokens: 3, cached: false })
    }

    fn busy(retry_after: Option<Duration>) -> Result<Reply, ConnectionError> {
        Err(ConnectionError::Transport { what: "it is busy", retry_after })
    }

    fn asked(answers: Vec<Result<Reply, ConnectionError>>) -> Asked {
        asked_within(answers, Patience::default().deadline)
    }

    fn asked_within(answers: Vec<Result<Reply, ConnectionError>>, deadline: Duration) -> Asked {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let patience = Patience { deadline, pause: Duration::from_millis(1), ..Patience::default() };
        let request = request("Score the answer.", None, &json!({ "a": 1 }), &[]).unwrap();
        runtime.block_on(ask(&Script::new(answers), &request, &patience))
    }

    fn code(asked: &Asked) -> &str {
        asked.outcome.as_ref().map_or_else(|failure| failure.code.as_str(), |_| "")
    }

    const GOOD: &str = r#"{"rationale":"Fine.","score":0.5}"#;

    // EV-88, EV-89
    #[test]
    fn one_good_answer_is_enough() {
        let asked = asked(vec![says(GOOD), says(GOOD)]);
        assert_eq!(asked.outcome.as_ref().map(|judgement| judgement.score.get()), Ok(0.5));
        assert_eq!((asked.attempts, asked.prompt_tokens, asked.completion_tokens), (1, 10, 3));
        assert_eq!(asked.model.as_deref(), Some("m"));
    }

    // D-69
    #[test]
    fn transport_errors_are_repeated_three_times() {
        let good = asked(vec![busy(None), busy(Some(Duration::ZERO)), busy(None), says(GOOD)]);
        assert_eq!((code(&good), good.attempts), ("", 4));
        let bad = asked(vec![busy(None), busy(None), busy(None), busy(None), says(GOOD)]);
        assert_eq!((code(&bad), bad.attempts), ("E_JUDGE_TRANSPORT", 4));
    }

    // D-69: an error, never a score
    #[test]
    fn a_reply_without_a_score_is_repeated_once() {
        let good = asked(vec![says("Well…"), says(GOOD)]);
        assert_eq!((code(&good), good.attempts, good.prompt_tokens), ("", 2, 20));
        let bad = asked(vec![says("Well…"), busy(None), says("{}"), says(GOOD)]);
        assert_eq!((code(&bad), bad.attempts), ("E_JUDGE_REPLY_INVALID", 3));
    }

    // D-69, D-70
    #[test]
    fn what_does_not_help_is_not_repeated() {
        let refused = asked(vec![Err(ConnectionError::Unavailable { what: "the key is refused" }), says(GOOD)]);
        assert_eq!((code(&refused), refused.attempts), ("E_JUDGE_UNAVAILABLE", 1));
        let later = asked(vec![busy(Some(Duration::from_secs(3_600))), says(GOOD)]);
        assert_eq!((code(&later), later.attempts), ("E_JUDGE_TRANSPORT", 1));
        let silent = asked_within(vec![], Duration::from_millis(50));
        assert_eq!((code(&silent), silent.attempts), ("E_JUDGE_TRANSPORT", 1));
    }
}
