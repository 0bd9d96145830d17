//! Where outputs come from.

use crate::judge::BoxFuture;
use crate::model::Failure;
use callcell_runtime::{Bundle, CallOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where an experiment's outputs come from, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Source {
    /// The example has it.
    Actual,
    /// A tool of the bundle makes it from the input.
    Tool {
        /// The tool's name.
        callback: String,
    },
    /// Somebody else makes it; the host brings the [`OutputSource`].
    Endpoint {
        /// Who, for people.
        address: String,
    },
    /// Another experiment has it, and it is scored again (D-79).
    Stored {
        /// That experiment's id.
        experiment: String,
    },
}

/// Makes outputs. Used from several tasks at once.
pub trait OutputSource: Send + Sync {
    /// Makes an output from an example's input, which fits the agent's input schema; that is all there is to know (EV-86). Dropping the
    /// future gives up. How long it may take is its own affair.
    fn output<'a>(&'a self, input: &'a Value) -> BoxFuture<'a, Produced>;
}

/// What came of making an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Produced {
    /// The output, or why there is none. It is checked against the agent's output schema afterwards.
    pub output: Result<Value, Failure>,
    /// What it cost, in fuel; 0 where that is not known.
    pub fuel: u64,
}

/// A tool of a bundle as a source.
#[derive(Clone, Debug)]
pub struct ToolSource {
    /// The bundle.
    pub bundle: Bundle,
    /// The tool's name.
    pub callback: String,
}

impl OutputSource for ToolSource {
    fn output<'a>(&'a self, input: &'a Value) -> BoxFuture<'a, Produced> {
        Box::pin(async move {
            match self.bundle.call(&self.callback, input, &CallOptions::default()).await {
                Ok(outcome) => Produced { output: Ok(outcome.value), fuel: outcome.usage.fuel },
                Err(error) => Produced {
                    fuel: error.usage.map_or(0, |usage| usage.fuel),
                    output: Err(Failure {
                        code: error.code().into(),
                        message: error.kind.to_string(),
                        path: error.kind.path().map(str::to_owned),
                    }),
                },
            }
        })
    }
}
