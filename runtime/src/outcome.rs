//! What a call gives back: its value, its price, its console output.

use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// A call that worked.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The callback's result.
    pub value: Value,
    /// Paths of members that were `undefined` and stand as null in `value`. Only selectors have any (spec 4.3).
    pub undefined: Vec<String>,
    /// What the call cost.
    pub usage: Usage,
    /// What it wrote to `console`. For the author's eyes; a deployment does not return it (D-26).
    pub logs: Logs,
}

/// What a call cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// WebAssembly work. Repeats exactly: same bundle, callback, arguments, clock and seed, same number.
    pub fuel: u64,
    /// Wall clock from before the cell existed until its result was read.
    pub wall: Duration,
    /// The most bytes QuickJS held at once, the bundle among them.
    pub peak_memory_bytes: u64,
    /// Bytes of the arguments as compact JSON.
    pub argument_bytes: u64,
    /// Bytes of the result as compact JSON.
    pub result_bytes: u64,
    /// Whether the callback read the clock; its result may then differ next time (D-40).
    pub clock_used: bool,
    /// Whether the callback used `Math.random` (D-40).
    pub random_used: bool,
}

/// Console output, at most 8 KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// The lines, in order.
    pub lines: Vec<LogLine>,
    /// Whether more was written than is kept.
    pub truncated: bool,
}

/// One call of a `console` method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Which method.
    pub level: LogLevel,
    /// The text. Chosen by the script: neutralise control characters before showing it on a terminal.
    pub text: String,
}

/// The methods of `console`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
    /// `console.debug`
    Debug,
}

impl LogLevel {
    /// The level behind the guest's number; an unknown one is `Log`.
    pub(crate) fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Info,
            2 => Self::Warn,
            3 => Self::Error,
            4 => Self::Debug,
            _ => Self::Log,
        }
    }
}
