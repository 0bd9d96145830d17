//! Replies that are remembered, so that a repeated experiment costs nothing.
//!
//! A judge is asked at temperature 0, so its reply to an equal request of the same model counts again. Only replies with a score are
//! kept. A store that fails costs requests and no judgement.

use super::request::hash;
use super::{BoxFuture, ConnectionError, JudgeRequest, ModelConnection, ModelIdentity, Reply, read};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Bytes of a reply's text that are kept. Of a longer one most is no part of a judgement, and it is asked for again.
pub const MAX_CACHED_TEXT: usize = 64 * 1024;

/// Where replies are kept: a table from keys to replies. Its methods are called from asynchronous tasks and must return soon.
pub trait ReplyStore: Send + Sync {
    /// The reply that was put under a key, if there is one. Only [`Reply::text`] and [`Reply::model`] need to be kept.
    ///
    /// # Errors
    /// When the store cannot say.
    fn get(&self, key: &str) -> Result<Option<Reply>, ReplyStoreError>;

    /// Keeps a reply. One that is there already is replaced: it was damaged, or another process was faster.
    ///
    /// # Errors
    /// When it is not kept.
    fn put(&self, key: &str, reply: &Reply) -> Result<(), ReplyStoreError>;
}

impl<S: ReplyStore + ?Sized> ReplyStore for Arc<S> {
    fn get(&self, key: &str) -> Result<Option<Reply>, ReplyStoreError> {
        (**self).get(key)
    }

    fn put(&self, key: &str, reply: &Reply) -> Result<(), ReplyStoreError> {
        (**self).put(key, reply)
    }
}

/// A store of replies cannot be read or written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the store of the judge's replies failed: {what}")]
pub struct ReplyStoreError {
    /// A sentence for the host. It is no part of any result.
    pub what: String,
}

impl ReplyStoreError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "E_REPLY_STORE"
    }
}

/// What a cache did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// Requests that a kept reply answered.
    pub hits: u64,
    /// Requests that were asked, answered or not.
    pub misses: u64,
    /// Kept replies that were none: without a score, or too long. They count as misses as well.
    pub damaged: u64,
    /// Replies without a place in the store: longer than [`MAX_CACHED_TEXT`].
    pub too_long: u64,
    /// Failures of the store, reading or writing. The judgements went on without it.
    pub failures: u64,
    /// The last of them.
    pub last_failure: Option<ReplyStoreError>,
}

/// A connection whose replies are kept in a [`ReplyStore`], by what is asked and who answers.
///
/// Equal requests at the same time become one: the others wait for its reply. If there is none, the next of them asks.
///
/// Repetitions of an experiment with equal outputs are equal requests. Who wants to see how far a judge's replies to one request differ
/// leaves the cache away.
pub struct Cached<C, S> {
    connection: C,
    store: S,
    /// The requests under way, by key. Whoever holds a key's inner lock may ask.
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    report: Mutex<CacheReport>,
}

impl<C, S> std::fmt::Debug for Cached<C, S> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cached").field("report", &*locked(&self.report)).finish_non_exhaustive()
    }
}

impl<C: ModelConnection, S: ReplyStore> Cached<C, S> {
    /// Puts a store before a connection.
    pub fn new(connection: C, store: S) -> Self {
        Self { connection, store, turns: Mutex::default(), report: Mutex::default() }
    }

    /// What it did so far. A host looks at it after an experiment, to say what was free and whether the store works.
    pub fn report(&self) -> CacheReport {
        locked(&self.report).clone()
    }

    fn kept(&self, key: &str) -> Option<Reply> {
        let kept = match self.store.get(key) {
            Ok(kept) => kept,
            Err(failure) => {
                self.failed(failure);
                None
            }
        };
        let whole = kept.filter(|reply| {
            let whole = is_worth_keeping(reply);
            locked(&self.report).damaged += u64::from(!whole);
            whole
        });
        let mut report = locked(&self.report);
        match whole {
            Some(reply) => {
                report.hits += 1;
                // It was paid for when it was made.
                Some(Reply { cached: true, prompt_tokens: 0, completion_tokens: 0, ..reply })
            }
            None => {
                report.misses += 1;
                None
            }
        }
    }

    fn keep(&self, key: &str, reply: &Reply) {
        if read(&reply.text).is_err() {
            return;
        }
        if !is_worth_keeping(reply) {
            locked(&self.report).too_long += 1;
            return;
        }
        if let Err(failure) = self.store.put(key, reply) {
            self.failed(failure);
        }
    }

    fn failed(&self, failure: ReplyStoreError) {
        let mut report = locked(&self.report);
        report.failures += 1;
        report.last_failure = Some(failure);
    }
}

impl<C: ModelConnection, S: ReplyStore> ModelConnection for Cached<C, S> {
    fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
        self.connection.available(model)
    }

    fn ask<'a>(&'a self, request: &'a JudgeRequest, within: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
        Box::pin(async move {
            let start = Instant::now();
            let key = key(&self.connection.available(request.model.as_deref())?, request);
            let turn = Turn::of(&self.turns, &key);
            let Ok(_turn) = tokio::time::timeout(within, turn.lock.lock()).await else {
                return Err(ConnectionError::Transport { what: "it took too long", retry_after: None });
            };
            if let Some(reply) = self.kept(&key) {
                return Ok(reply);
            }
            let reply = self.connection.ask(request, within.saturating_sub(start.elapsed())).await?;
            self.keep(&key, &reply);
            Ok(reply)
        })
    }
}

/// The key of a request to a model. A request that names the configured selection and one that leaves it to the host are equal.
fn key(identity: &ModelIdentity, request: &JudgeRequest) -> String {
    let request = JudgeRequest { model: Some(identity.model.clone()), ..request.clone() };
    hash(&json!([identity.service, request.key()]))
}

/// Whether a reply is a judgement and short enough. What a store gives is checked like what it takes: its file may be anybody's.
fn is_worth_keeping(reply: &Reply) -> bool {
    reply.text.len() <= MAX_CACHED_TEXT && reply.model.len() <= MAX_CACHED_TEXT && read(&reply.text).is_ok()
}

/// A place in the queue for a key. The last to leave takes the queue away, so that the map holds what is under way and no more.
struct Turn<'a> {
    turns: &'a Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    key: &'a str,
    lock: Arc<tokio::sync::Mutex<()>>,
}

impl<'a> Turn<'a> {
    fn of(turns: &'a Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>, key: &'a str) -> Self {
        let lock = locked(turns).entry(key.to_owned()).or_default().clone();
        Self { turns, key, lock }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = locked(self.turns);
        // The map's and this one; others are made under the same lock.
        if Arc::strong_count(&self.lock) == 2 {
            turns.remove(self.key);
        }
    }
}

/// No state behind these locks is ever half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const GOOD: &str = r#"{"rationale":"Fine.","score":0.5}"#;

    /// Answers everybody alike, and counts.
    struct Model {
        identity: ModelIdentity,
        says: Mutex<Result<String, ConnectionError>>,
        asked: AtomicUsize,
        /// Opened by the test before an answer comes.
        gate: tokio::sync::Semaphore,
    }

    impl Model {
        fn saying(text: &str) -> Arc<Self> {
            let identity = ModelIdentity { service: "https://a.example/".into(), model: "large".into() };
            Arc::new(Self {
                identity,
                says: Mutex::new(Ok(text.into())),
                asked: AtomicUsize::new(0),
                gate: tokio::sync::Semaphore::new(tokio::sync::Semaphore::MAX_PERMITS),
            })
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::SeqCst)
        }
    }

    impl ModelConnection for Model {
        fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
            let model = model.unwrap_or(&self.identity.model).to_owned();
            Ok(ModelIdentity { service: self.identity.service.clone(), model })
        }

        fn ask<'a>(&'a self, _: &'a JudgeRequest, _: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            Box::pin(async {
                self.gate.acquire().await.unwrap().forget();
                let text = locked(&self.says).clone()?;
                Ok(Reply { text, model: "large-2".into(), prompt_tokens: 100, completion_tokens: 10, cached: false })
            })
        }
    }

    /// A store in memory that can be told to fail.
    #[derive(Default)]
    struct Memory {
        replies: Mutex<HashMap<String, Reply>>,
        broken: bool,
    }

    impl ReplyStore for Memory {
        fn get(&self, key: &str) -> Result<Option<Reply>, ReplyStoreError> {
            if self.broken {
                return Err(ReplyStoreError { what: "it cannot be read".into() });
            }
            Ok(locked(&self.replies).get(key).cloned())
        }

        fn put(&self, key: &str, reply: &Reply) -> Result<(), ReplyStoreError> {
            if self.broken {
                return Err(ReplyStoreError { what: "it cannot be written".into() });
            }
            locked(&self.replies).insert(key.into(), reply.clone());
            Ok(())
        }
    }

    fn asking(about: i32) -> JudgeRequest {
        request("Score the answer.", None, &json!({ "a": about }), &[]).unwrap()
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    const LONG: Duration = Duration::from_secs(60);

    // D-79, EV-89
    #[test]
    fn a_second_equal_request_is_free() {
        let model = Model::saying(GOOD);
        let cached = Cached::new(model.clone(), Memory::default());
        let ask = |request: JudgeRequest| run(async { cached.ask(&request, LONG).await.unwrap() });
        let first = ask(asking(1));
        assert_eq!((first.cached, first.prompt_tokens, first.completion_tokens), (false, 100, 10));
        let second = ask(asking(1));
        assert_eq!(
            second,
            Reply { text: GOOD.into(), model: "large-2".into(), prompt_tokens: 0, completion_tokens: 0, cached: true }
        );
        // The configured selection, by name and not.
        assert!(ask(JudgeRequest { model: Some("large".into()), ..asking(1) }).cached);
        assert_eq!(model.asked(), 1);
        for other in [asking(2), JudgeRequest { model: Some("small".into()), ..asking(1) }] {
            assert!(!ask(other).cached);
        }
        assert_eq!(cached.report(), CacheReport { hits: 2, misses: 3, ..CacheReport::default() });
        assert!(locked(&cached.turns).is_empty());
    }

    // EV-82: who answers is part of the key
    #[test]
    fn another_service_has_other_replies() {
        let store = Arc::new(Memory::default());
        let here = Model::saying(GOOD);
        let there = Arc::new(Model {
            identity: ModelIdentity { service: "https://b.example/".into(), model: "large".into() },
            says: Mutex::new(Ok(GOOD.into())),
            asked: AtomicUsize::new(0),
            gate: tokio::sync::Semaphore::new(1),
        });
        let ask = |model: &Arc<Model>| {
            run(async { Cached::new(model.clone(), store.clone()).ask(&asking(1), LONG).await.unwrap().cached })
        };
        assert_eq!((ask(&here), ask(&here), ask(&there), ask(&there)), (false, true, false, true));
        assert_eq!(locked(&store.replies).len(), 2);
    }

    // 5.3: a reply without a score is none, tomorrow as today
    #[test]
    fn only_judgements_of_a_fair_length_are_kept() {
        let model = Model::saying("");
        let cached = Cached::new(model.clone(), Memory::default());
        let long = format!(r#"{{"rationale":"{}","score":1}}"#, "x".repeat(MAX_CACHED_TEXT));
        let unusable = [Ok("Well, 0.9."), Ok(r#"{"score":2}"#), Ok(""), Ok(long.as_str())];
        let failed = ConnectionError::Transport { what: "it is busy", retry_after: None };
        for says in unusable.into_iter().chain([Err(failed)]) {
            *locked(&model.says) = says.map(str::to_owned);
            for _ in 0..2 {
                assert!(run(cached.ask(&asking(1), LONG)).map_or(true, |reply| !reply.cached));
            }
        }
        assert_eq!((model.asked(), locked(&cached.store.replies).len()), (10, 0));
        assert_eq!(cached.report(), CacheReport { misses: 10, too_long: 2, ..CacheReport::default() });
    }

    #[test]
    fn a_store_that_fails_is_seen_and_harms_nothing() {
        let model = Model::saying(GOOD);
        let cached = Cached::new(model.clone(), Memory { broken: true, ..Memory::default() });
        for asked in 1..=2 {
            assert_eq!(
                run(cached.ask(&asking(1), LONG)).map(|reply| (reply.text, reply.cached)),
                Ok((GOOD.into(), false))
            );
            assert_eq!(model.asked(), asked);
        }
        let report = cached.report();
        assert_eq!((report.hits, report.misses, report.failures), (0, 2, 4));
        let last = report.last_failure.unwrap();
        assert_eq!(last.to_string(), "the store of the judge's replies failed: it cannot be written");
        assert_eq!(last.code(), "E_REPLY_STORE");
    }

    #[test]
    fn a_damaged_reply_is_asked_for_again() {
        let model = Model::saying(GOOD);
        let cached = Cached::new(model.clone(), Memory::default());
        run(cached.ask(&asking(1), LONG)).unwrap();
        let long = "x".repeat(MAX_CACHED_TEXT + 1);
        for (text, name) in [("{\"score\":7}", "m"), ("", "m"), (long.as_str(), "m"), (GOOD, long.as_str())] {
            for reply in locked(&cached.store.replies).values_mut() {
                (reply.text, reply.model) = (text.into(), name.into());
            }
            assert!(!run(cached.ask(&asking(1), LONG)).unwrap().cached);
            assert!(run(cached.ask(&asking(1), LONG)).unwrap().cached, "it is put right");
        }
        assert_eq!((cached.report().damaged, model.asked()), (4, 5));
    }

    #[test]
    fn equal_requests_at_once_ask_once() {
        let model = Model::saying(GOOD);
        model.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
        let cached = Cached::new(model.clone(), Memory::default());
        let request = asking(1);
        let replies = run(async {
            let all = futures_util::future::join_all((0..8).map(|_| cached.ask(&request, LONG)));
            let open = async {
                tokio::task::yield_now().await;
                model.gate.add_permits(8);
            };
            futures_util::future::join(all, open).await.0
        });
        assert_eq!(replies.iter().filter(|reply| reply.as_ref().unwrap().cached).count(), 7);
        assert_eq!(model.asked(), 1);
        assert!(locked(&cached.turns).is_empty());
    }

    #[test]
    fn who_waits_for_a_request_that_fails_asks_itself() {
        let model = Model::saying(GOOD);
        *locked(&model.says) = Err(ConnectionError::Transport { what: "it is busy", retry_after: None });
        let cached = Cached::new(model.clone(), Memory::default());
        let request = asking(1);
        let replies = run(futures_util::future::join_all((0..3).map(|_| cached.ask(&request, LONG))));
        assert_eq!((replies.iter().filter(|reply| reply.is_err()).count(), model.asked()), (3, 3));
        assert!(locked(&cached.turns).is_empty());
    }

    // D-70: waiting for somebody else's request is waiting as well; and who is dropped makes room
    #[test]
    fn waiting_for_a_turn_has_an_end() {
        let model = Model::saying(GOOD);
        model.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
        let cached = Cached::new(model.clone(), Memory::default());
        let request = asking(1);
        run(async {
            let mut first = cached.ask(&request, LONG);
            assert!(tokio::time::timeout(Duration::ZERO, &mut first).await.is_err());
            let late = cached.ask(&request, Duration::from_millis(1)).await.unwrap_err();
            assert_eq!(late, ConnectionError::Transport { what: "it took too long", retry_after: None });
            assert_eq!(model.asked(), 1);
            drop(first);
            assert!(locked(&cached.turns).is_empty());
            model.gate.add_permits(1);
            assert!(!cached.ask(&request, LONG).await.unwrap().cached);
        });
        assert_eq!(model.asked(), 2);
    }
}
