//! A model as judge (section 5): what it is asked, and what of its reply counts.
//!
//! The request holds the author's criteria and what the selector disclosed, nothing else of the run, the dataset or the host (EV-81,
//! EV-85). What was disclosed is partly another model's text, so it is fenced off as data. The reply is a score or it is nothing: no
//! number is picked out of prose, none is clamped, and a missing one is no zero.
//!
//! Any host's [`ModelConnection`] will do. [`ChatCompletions`] is one over HTTP, and [`Cached`] remembers the replies of another.

mod cache;
mod client;
mod connection;
mod reply;
mod request;

pub use cache::{CacheReport, Cached, MAX_CACHED_TEXT, ReplyStore, ReplyStoreError};
pub use client::{ChatCompletions, MAX_BODY_BYTES, Service};
pub use connection::{Asked, BoxFuture, ConnectionError, ModelConnection, ModelIdentity, Patience, Reply, ask};
pub use reply::{Judgement, MAX_RATIONALE, ReplyInvalid, read};
pub use request::{JudgeRequest, SelectionMissing, request};
