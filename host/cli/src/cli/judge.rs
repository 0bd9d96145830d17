//! The judge's service, from the command line and the environment.

use super::args::RunArguments;
use super::environment::{self, ENDPOINT_KEY, JUDGE_KEY, JUDGE_MODELS, JUDGE_URL, Variable};
use super::failure::{Hint, Problem};
use super::render::{Terminal, plural};
use super::store::Replies;
use callcell::evals::judge::{
    BoxFuture, Cached, ChatCompletions, ConnectionError, JudgeRequest, ModelConnection, ModelIdentity, Reply, Service,
};
use callcell::evals::store::Store;
use callcell::evals::{Secret, judge};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The connection to the judge, and what its cache has to tell at the end.
pub struct Judge {
    pub connection: Option<Arc<dyn ModelConnection>>,
    cache: Option<Arc<Cached<ChatCompletions, Replies>>>,
}

/// A cache that is looked at after the experiment.
struct Shared(Arc<Cached<ChatCompletions, Replies>>);

impl ModelConnection for Shared {
    fn available(&self, model: Option<&str>) -> Result<ModelIdentity, ConnectionError> {
        self.0.available(model)
    }

    fn ask<'a>(&'a self, request: &'a JudgeRequest, within: Duration) -> BoxFuture<'a, Result<Reply, ConnectionError>> {
        self.0.ask(request, within)
    }
}

impl Judge {
    /// None is configured without an address; an evaluator that needs one is told so before anything runs (D-65).
    pub fn configured(arguments: &RunArguments, store: &Arc<Store>) -> anyhow::Result<Self> {
        let Some(address) = arguments.judge_url.as_deref().filter(|address| !address.is_empty()) else {
            return Ok(Self { connection: None, cache: None });
        };
        let base_url = url(address, "--judge-url")?;
        let models: Vec<String> = arguments.judge_model.iter().filter(|model| !model.is_empty()).cloned().collect();
        if models.is_empty() {
            let hint = format!("name one with `--judge-model` or `{}`", JUDGE_MODELS.name);
            let problem = Problem::Option { name: "--judge-url", what: "needs a model as well".into() };
            return Err(anyhow::Error::from(problem).context(Hint(hint)));
        }
        let client = ChatCompletions::new(Service { base_url, key: secret(&JUDGE_KEY)?, models })
            .map_err(|error| Problem::Option { name: "--judge-url", what: error.to_string() })?;
        if arguments.fresh_judge {
            return Ok(Self { connection: Some(Arc::new(client)), cache: None });
        }
        let cache = Arc::new(Cached::new(client, Replies(store.clone())));
        Ok(Self { connection: Some(Arc::new(Shared(cache.clone()))), cache: Some(cache) })
    }

    /// Says what was free, and whether the cache works.
    pub fn tell(&self, terminal: &Terminal) {
        let Some(report) = self.cache.as_ref().map(|cache| cache.report()) else { return };
        if report.hits > 0 {
            terminal.note(&format!(
                "{} of the judge came from the cache and cost nothing; `--fresh-judge` asks again",
                plural(report.hits as usize, "reply").replace("replys", "replies")
            ));
        }
        if let Some(failure) = &report.last_failure {
            terminal.warning(&format!("{failure}; the judge was asked instead"));
        }
    }
}

/// What to do about a judge that is missing.
pub fn hint() -> String {
    format!("set `{}` and `{}`, and `{}` if the service wants a key", JUDGE_URL.name, JUDGE_MODELS.name, JUDGE_KEY.name)
}

pub fn url(text: &str, name: &'static str) -> Result<Url, Problem> {
    Url::parse(text).map_err(|error| Problem::Option { name, what: format!("is no address: {error}") })
}

/// The key of the agent behind `--endpoint`.
pub fn endpoint_key() -> Result<Option<Secret>, Problem> {
    secret(&ENDPOINT_KEY)
}

/// A key from the environment. What is wrong with one is said without showing it.
fn secret(variable: &Variable) -> Result<Option<Secret>, Problem> {
    let Some(value) = environment::secret(variable) else { return Ok(None) };
    let value = value.to_str().ok_or(()).and_then(|value| Secret::new(value).map_err(drop));
    let problem = Problem::Secret { name: variable.name };
    value.map(Some).map_err(|()| problem)
}

/// How patient the program is with judges (D-69, D-70).
pub fn patience() -> judge::Patience {
    judge::Patience::default()
}
