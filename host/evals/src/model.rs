//! What evaluations are about: examples, and what came of them. Plain data, stored and exported as it is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One example of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// Unique in its dataset: lower-case letters, digits, `-` and `_`, a letter or digit first, at most 128 bytes (spec 7.1).
    pub name: String,
    /// What the agent is given. An object.
    pub input: Value,
    /// An output that exists already. None where the output is still to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<Value>,
    /// A part of the right answer. Never part of what an agent is given (EV-86).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// What people wrote about it; at most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
}

/// Why something has no result. The message is a fixed sentence; nothing a callback threw and no value of an example is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable code of spec 3.6, such as `R_TIMEOUT` or `E_SCORE_INVALID`.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// Where in the value it was about: `$.items[2].price`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// How an evaluator comes to its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvaluatorType {
    /// A function of the author's returns it.
    Callback,
    /// The share of the selected parts that are equal.
    ExactDiff,
    /// A model gives it.
    LlmJudge,
}

/// What one evaluator made of one output. Either `score` or `error` is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorResult {
    /// The evaluator's name.
    pub name: String,
    /// How it works.
    #[serde(rename = "type")]
    pub kind: EvaluatorType,
    /// From 0 to 1, not rounded.
    pub score: Option<f64>,
    /// Why there is no score.
    pub error: Option<Failure>,
    /// What there is to tell beside the score: the comparison's report, the judge's rationale. The rationale is a model's
    /// text: data, not to be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// What evaluating cost. Apart from what the run itself cost (EV-89).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationUsage {
    /// Fuel of all callbacks.
    pub fuel: u64,
    /// Calls of callbacks.
    pub calls: u64,
    /// Requests that reached the judge's model.
    pub judge_requests: u64,
    /// Replies that came from the cache instead.
    pub judge_cached: u64,
    /// Tokens of the judge's requests, as its service counted them.
    pub prompt_tokens: u64,
    /// Tokens of its replies.
    pub completion_tokens: u64,
}

/// Whether there is a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The pass rule decided.
    Decided,
    /// An evaluator or the rule itself ended in an error, so nothing is decided. Counts as not passed, and as an error (6.3).
    Blocked,
    /// There is no output to evaluate.
    RunFailed,
}

/// What came of one example, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The example's name.
    pub example: String,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Whether it passes. Never without a decision.
    pub passed: bool,
    /// Whether that was decided.
    pub status: Status,
    /// The weighted mean; none for a predicate and where nothing is decided (D-75).
    pub value: Option<f64>,
    /// Why nothing is decided: the run's failure, or `E_PASS_BLOCKED` with the evaluators' names.
    pub error: Option<Failure>,
    /// What was evaluated.
    pub output: Option<Value>,
    /// In the order of registration (D-78).
    pub evaluators: Vec<EvaluatorResult>,
    /// Fuel of the run, where a tool made the output.
    pub run_fuel: u64,
    /// What evaluating cost.
    pub evaluation: EvaluationUsage,
    /// Milliseconds from the run's start to the verdict.
    pub duration_millis: u64,
}
