//! Evaluations of agent outputs: scores, the comparator behind `exactDiff`, a model as judge, and the decision whether an output passes.
//!
//! [`definition::Definition`] reads an agent's evaluators and its pass rule from a bundle's manifest, [`evaluate::Evaluations`] runs them:
//! callbacks in cells, the comparison here, the judge through a [`judge::ModelConnection`] that the host brings. [`dataset`] reads
//! examples, [`store`] keeps them, [`experiment`] runs over them, [`report`] sums results up. Examples and results are plain data ([`model`]).
//!
//! Everything but [`evaluate`], [`store`], [`experiment`], the reading of folders, and what goes over HTTP ([`judge::ChatCompletions`])
//! is a pure function of its arguments.
#![deny(missing_docs)]

pub mod dataset;
pub mod definition;
pub mod evaluate;
pub mod exact_diff;
pub mod experiment;
mod http;
pub mod judge;
pub mod model;
pub mod pass;
pub mod report;
mod score;
mod secret;
pub mod store;

pub use http::AddressInvalid;
pub use score::{Score, ScoreInvalid};
pub use secret::{MAX_SECRET, Secret, SecretInvalid};
