//! The file of datasets and experiments, and what the judge's cache keeps in it.

use super::args::StoreArguments;
use callcell::evals::judge::{Reply, ReplyStore, ReplyStoreError};
use callcell::evals::store::{Experiment, Store, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// Opens the store, making one where there is none.
pub fn open(arguments: &StoreArguments) -> Result<Arc<Store>, StoreError> {
    Store::open(&arguments.store).map(Arc::new)
}

/// Opens a store that must be there: where nothing was ever kept, there is nothing to look for.
pub fn existing(arguments: &StoreArguments) -> Result<Arc<Store>, StoreError> {
    let path: &Path = &arguments.store;
    if let Err(source) = std::fs::metadata(path) {
        return Err(StoreError::File { path: path.to_owned(), source });
    }
    open(arguments)
}

/// An experiment by its id; `last` is the newest one.
pub fn experiment(store: &Store, id: &str) -> Result<Experiment, StoreError> {
    if id != "last" {
        return store.experiment(id);
    }
    store.experiments(1)?.into_iter().next().ok_or_else(|| StoreError::UnknownExperiment { id: id.to_owned() })
}

/// A time of the store's, for people and machines: RFC 3339.
pub fn time(millis: i64) -> String {
    Timestamp::from_millisecond(millis).map(|time| time.to_string()).unwrap_or_default()
}

/// The judge's replies, kept in the store.
pub struct Replies(pub Arc<Store>);

/// What of a reply is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    text: String,
    model: String,
}

impl ReplyStore for Replies {
    fn get(&self, key: &str) -> Result<Option<Reply>, ReplyStoreError> {
        let kept = self.0.reply(key).map_err(failed)?;
        // What somebody wrote there that is no reply counts as none, and is asked for again.
        let kept = kept.and_then(|text| serde_json::from_str::<Kept>(&text).ok());
        Ok(kept.map(|Kept { text, model }| Reply { text, model, prompt_tokens: 0, completion_tokens: 0, cached: true }))
    }

    fn put(&self, key: &str, reply: &Reply) -> Result<(), ReplyStoreError> {
        let kept = Kept { text: reply.text.clone(), model: reply.model.clone() };
        let text = serde_json::to_string(&kept).map_err(|error| ReplyStoreError { what: error.to_string() })?;
        self.0.keep_reply(key, &text).map_err(failed)
    }
}

fn failed(error: StoreError) -> ReplyStoreError {
    ReplyStoreError { what: error.to_string() }
}
