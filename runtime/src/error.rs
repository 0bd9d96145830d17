//! Every way to fail, each with a stable code and a fixed public message (spec 3.6).

use crate::outcome::{Logs, Usage};
use std::path::PathBuf;
use thiserror::Error;

/// A call that did not work: why, and what it cost until then.
#[derive(Clone, Debug, Error)]
#[error("{kind}")]
pub struct CallError {
    /// Why.
    #[source]
    pub kind: CallErrorKind,
    /// What the call cost, if a cell existed.
    pub usage: Option<Usage>,
    /// What it wrote to `console` before it failed. For the author's eyes.
    pub logs: Logs,
}

/// Why a call failed. The messages are fixed: nothing the callback threw or returned is part of them (CB-123).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// The deployment runs no scripts (CB-94, CB-95).
    #[error("script execution is switched off in this deployment")]
    ScriptsDisabled,
    /// The bundle declares no such callback.
    #[error("the bundle declares no callback `{name}`")]
    UnknownCallback {
        /// What was asked for.
        name: String,
        /// The declared name that is most like it.
        nearest: Option<String>,
    },
    /// The tool's input does not match its schema. `execute` did not run (CB-18).
    #[error("the input does not match the tool's input schema at `{path}`: {expected}")]
    InputSchema {
        /// Where, as `$.items[2].price`.
        path: String,
        /// What the schema asks for there. Comes from the declaration, never from the value (D-42).
        expected: String,
    },
    /// The arguments are larger than 256 KiB as compact JSON, or the configured limit (CB-90).
    #[error("the arguments have {bytes} bytes, the limit is {limit}")]
    ArgumentsTooLarge {
        /// Their size.
        bytes: usize,
        /// The limit in force.
        limit: usize,
    },
    /// The arguments nest deeper than 128 levels.
    #[error("the arguments nest more than 128 levels deep")]
    ArgumentsTooDeep,
    /// The time limit or the caller's deadline passed (CB-86).
    #[error("the callback ran longer than its time limit")]
    Timeout,
    /// The fuel limit was used up.
    #[error("the callback did more work than its fuel limit allows")]
    Fuel,
    /// The memory limit was hit, even if the callback caught the error (CB-87, D-39).
    #[error("the callback used more memory than its limit")]
    Memory,
    /// The stack limit was hit and the callback did not catch the error (CB-88).
    #[error("the callback recursed deeper than its stack limit")]
    Stack,
    /// No cell became free before the deadline.
    #[error("no cell became free before the deadline")]
    Busy,
    /// The caller cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// The callback threw.
    #[error("the callback threw an exception")]
    Threw {
        /// What it threw, if the caller asked to see it ([`CallOptions::reveal`](crate::CallOptions)).
        detail: Option<Box<Thrown>>,
    },
    /// The result is a promise or a thenable, or jobs are pending (CB-56, CB-119).
    #[error("the callback returned a promise or left asynchronous work behind; callbacks run synchronously")]
    Promise,
    /// The result is a generator or another iterator.
    #[error("the callback returned a generator or an iterator; return an array")]
    Generator,
    /// The result is undefined.
    #[error("the callback returned undefined")]
    ResultUndefined,
    /// The result holds something JSON cannot carry (CB-27 to CB-33).
    #[error("the result is not JSON data: {what} at `{path}`")]
    ResultNotJson {
        /// Where, as `$.items[2].price`.
        path: String,
        /// What stands there.
        what: String,
    },
    /// The result is larger than 128 KiB as compact JSON, or the configured limit (CB-89).
    #[error("the result has more than {limit} bytes")]
    ResultTooLarge {
        /// The limit in force.
        limit: usize,
    },
    /// The tool's result does not match its schema (CB-19, CB-34).
    #[error("the result does not match the tool's output schema at `{path}`: {expected}")]
    OutputSchema {
        /// Where.
        path: String,
        /// What the schema asks for there.
        expected: String,
    },
    /// An evaluator returned something other than a finite number from 0 to 1 (CB-120).
    #[error("the evaluator did not return a finite number from 0 to 1")]
    ScoreInvalid,
    /// A pass rule returned something other than true or false (CB-37).
    #[error("the pass rule did not return true or false")]
    PassNotBoolean,
    /// The cell died for no reason of the callback's, or answered what no guest of ours answers.
    #[error("the cell was lost; try again once")]
    WorkerLost,
}

/// What a callback threw. Never part of a public message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// The error's name, empty if it was no error.
    pub name: String,
    /// Its message, at most 4 KiB.
    pub message: String,
    /// Its stack, at most 8 KiB, with positions in the compiled modules.
    pub stack: String,
}

impl CallErrorKind {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ScriptsDisabled => "R_SCRIPTS_DISABLED",
            Self::UnknownCallback { .. } => "R_UNKNOWN_CALLBACK",
            Self::InputSchema { .. } => "R_INPUT_SCHEMA",
            Self::ArgumentsTooLarge { .. } | Self::ArgumentsTooDeep => "R_ARGS_TOO_LARGE",
            Self::Timeout => "R_TIMEOUT",
            Self::Fuel => "R_FUEL",
            Self::Memory => "R_MEMORY",
            Self::Stack => "R_STACK",
            Self::Busy => "R_BUSY",
            Self::Cancelled => "R_CANCELLED",
            Self::Threw { .. } => "R_THREW",
            Self::Promise => "R_PROMISE",
            Self::Generator => "R_GENERATOR",
            Self::ResultUndefined => "R_RESULT_UNDEFINED",
            Self::ResultNotJson { .. } => "R_RESULT_NOT_JSON",
            Self::ResultTooLarge { .. } => "R_RESULT_TOO_LARGE",
            Self::OutputSchema { .. } => "R_OUTPUT_SCHEMA",
            Self::ScoreInvalid => "E_SCORE_INVALID",
            Self::PassNotBoolean => "E_PASS_NOT_BOOLEAN",
            Self::WorkerLost => "R_WORKER_LOST",
        }
    }

    /// Where in the arguments or the result, if it is about one place.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::InputSchema { path, .. } | Self::OutputSchema { path, .. } | Self::ResultNotJson { path, .. } => {
                Some(path)
            }
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::ScriptsDisabled => "switch scripts on in the deployment's configuration".into(),
            Self::UnknownCallback { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::ArgumentsTooLarge { .. } => "pass less data, or only the part the callback needs".into(),
            Self::Timeout | Self::Fuel => "look for a loop that does not end, or split the work".into(),
            Self::Memory => "keep less data at once: work through it piece by piece".into(),
            Self::Stack => "use a loop instead of recursion, or limit its depth".into(),
            Self::Busy => "try again later, or allow more cells at once".into(),
            Self::Promise => "drop `async` and pass fetched data in as input".into(),
            Self::Generator => "collect the values with `[...values]` before returning them".into(),
            Self::ResultUndefined => "return a value on every path".into(),
            Self::ResultNotJson { .. } => {
                "convert it to plain objects, arrays, strings and finite numbers first".into()
            }
            Self::ResultTooLarge { .. } => "return less data".into(),
            Self::WorkerLost => "if it happens again with the same input, please report it".into(),
            _ => return None,
        })
    }

    /// Whether the same call may work if it is tried again (the table's column `retry`).
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy | Self::WorkerLost)
    }
}

impl CallError {
    /// The stable code, as [`CallErrorKind::code`].
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl From<CallErrorKind> for CallError {
    fn from(kind: CallErrorKind) -> Self {
        Self { kind, usage: None, logs: Logs::default() }
    }
}

/// An engine that could not be made or loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The guest module is not one this host can rely on.
    #[error("the guest module is unusable: {what}")]
    Guest {
        /// What is wrong with it.
        what: String,
    },
    /// wasmtime refused the configuration, the code or the memory it would need.
    #[error("wasmtime could not set the engine up: {message}")]
    Wasmtime {
        /// wasmtime's own words.
        message: String,
    },
    /// The engine's own modules (SDK, Zod) did not evaluate.
    #[error("the built-in module `{module}` could not be loaded: {message}")]
    Builtin {
        /// Which one.
        module: String,
        /// What it threw.
        message: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} `{}`: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A precompiled engine is not the one whose digest the caller named, or it is damaged.
    #[error("the precompiled engine cannot be used: {what}")]
    Artifact {
        /// What is wrong with it.
        what: String,
    },
}

impl EngineError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Guest { .. } => "ENGINE_GUEST",
            Self::Wasmtime { .. } => "ENGINE_WASMTIME",
            Self::Builtin { .. } => "ENGINE_BUILTIN",
            Self::File { .. } => "ENGINE_FILE",
            Self::Artifact { .. } => "ENGINE_ARTIFACT",
        }
    }

    pub(crate) fn wasmtime(error: wasmtime::Error) -> Self {
        Self::Wasmtime { message: format!("{error:#}") }
    }
}

/// Modules that could not be evaluated into an image. Compile time; the author sees every detail.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluateError {
    /// A module does not parse.
    #[error("{}: {}", thrown.name, thrown.message)]
    Syntax {
        /// The error.
        thrown: Box<Thrown>,
    },
    /// A module threw at its top level.
    #[error("the project threw while it was loaded: {}: {}", thrown.name, thrown.message)]
    Threw {
        /// What it threw.
        thrown: Box<Thrown>,
    },
    /// A module read the clock at its top level (CB-82).
    #[error("the clock is disabled while a project is compiled")]
    ClockDisabled {
        /// The error that stopped it.
        thrown: Box<Thrown>,
    },
    /// A module used `Math.random` at its top level (CB-83).
    #[error("`Math.random` is disabled while a project is compiled")]
    RandomDisabled {
        /// The error that stopped it.
        thrown: Box<Thrown>,
    },
    /// A module waits at its top level, or leaves jobs behind.
    #[error("a module awaits at its top level or leaves asynchronous work behind")]
    TopLevelAwait,
    /// Loading the project took more time, work, memory or stack than a compilation may (D-13).
    #[error("loading the project exceeded the compile limit on {what}")]
    Limit {
        /// Which limit.
        what: &'static str,
    },
    /// The declaration the project makes is not one the host can read.
    #[error("the project's declarations cannot be read: {what}")]
    Declaration {
        /// Why.
        what: String,
    },
    /// The engine could not provide a compile cell.
    #[error("{0}")]
    Engine(String),
}

impl EvaluateError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "C_SYNTAX",
            Self::Threw { .. } => "C_TOP_LEVEL_THREW",
            Self::ClockDisabled { .. } => "C_CLOCK_DISABLED",
            Self::RandomDisabled { .. } => "C_RANDOM_DISABLED",
            Self::TopLevelAwait => "C_TOP_LEVEL_AWAIT",
            Self::Limit { .. } => "C_COMPILE_LIMIT",
            Self::Declaration { .. } => "C_DECLARATION_INVALID",
            Self::Engine(_) => "ENGINE_WASMTIME",
        }
    }
}

/// A bundle that could not be read or loaded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleError {
    /// The bytes are no bundle, or not a whole one.
    #[error("the bundle is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// The bundle was written by a newer or older format.
    #[error("the bundle has format {found}; this build reads format {expected}")]
    Format {
        /// The bundle's format.
        found: u32,
        /// Ours.
        expected: u32,
    },
    /// A schema in the manifest is not one the host can validate with.
    #[error("the schema of `{callback}` is unusable: {what}")]
    Schema {
        /// Whose.
        callback: String,
        /// Why.
        what: String,
    },
    /// The image was made with another engine, and its modules could not be evaluated again.
    #[error("the bundle's modules could not be evaluated: {0}")]
    Evaluate(#[from] EvaluateError),
    /// The engine could not take the image.
    #[error("{0}")]
    Engine(String),
}

impl BundleError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "BUNDLE_DAMAGED",
            Self::Format { .. } => "BUNDLE_FORMAT",
            Self::Schema { .. } => "BUNDLE_SCHEMA",
            Self::Evaluate(error) => error.code(),
            Self::Engine(_) => "ENGINE_WASMTIME",
        }
    }
}
