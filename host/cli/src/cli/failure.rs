//! Any error, as what people and programs are told: a code, a sentence, a hint, an exit code.

use super::exit::Exit;
use callcell::compiler::{CompileError, Diagnostic, ProjectError};
use callcell::evals::AddressInvalid;
use callcell::evals::dataset::folder::FolderError;
use callcell::evals::definition::DefinitionError;
use callcell::evals::evaluate::JudgeMissing;
use callcell::evals::experiment::ExperimentError;
use callcell::evals::report::{ReportError, TooManyScores};
use callcell::evals::store::StoreError;
use callcell::runtime::{BundleError, CallError, CallErrorKind, EngineError, Thrown, Usage};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What this program itself finds wrong; the libraries have errors of their own.
#[derive(Debug, Error)]
pub enum Problem {
    /// Text that should be JSON is not.
    #[error("{origin} is not JSON: {what}")]
    ArgumentNotJson {
        /// Where the text comes from, as the sentence's subject.
        origin: String,
        what: String,
        text: TextSource,
    },
    /// More text than is read for an argument.
    #[error("{origin} has more than {read} bytes; a callback's argument may have {limit} as compact JSON")]
    ArgumentTooLong { origin: String, read: usize, limit: usize },
    /// Several callbacks end with the name.
    #[error("{} callbacks end with `{name}`", matches.len())]
    AmbiguousCallback { name: String, matches: Vec<String> },
    /// A file could not be read or written.
    #[error("cannot {action} `{}`: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    /// Files are in the way of new ones.
    #[error("`{}` has {} already", folder.display(), list(names))]
    Exists { folder: PathBuf, names: Vec<String> },
    /// No inputs to test with.
    #[error("there is nothing to test in `{}`: {what}", folder.display())]
    NoCases { folder: PathBuf, what: &'static str },
    /// Changes of files cannot be seen.
    #[error("changes in `{}` cannot be watched: {source}", folder.display())]
    Watch { folder: PathBuf, source: notify::Error },
    /// A bundle's file name that `callcell call` would take for a project's.
    #[error("the bundle's name `{}` does not end with `.cell`", path.display())]
    BundleName { path: PathBuf },
    /// An environment variable with a value that means nothing.
    #[error("the environment variable `{name}` is `{value}`; it must be {expected}")]
    Variable { name: &'static str, value: String, expected: &'static str },
    /// An option whose value means nothing.
    #[error("`{name}` {what}")]
    Option { name: &'static str, what: String },
    /// A key that cannot be one. It is not shown.
    #[error("the environment variable `{name}` holds no key: it has characters that a request cannot carry")]
    Secret { name: &'static str },
    /// Standard output does not take the result.
    #[error("the result cannot be written: {0}")]
    Output(io::Error),
}

/// Where text that should be JSON comes from.
#[derive(Debug)]
pub enum TextSource {
    CommandLine,
    /// The command line, where the text is also the name of a file; somebody may have meant that.
    NameOfFile(String),
    File,
}

impl Problem {
    fn code(&self) -> &'static str {
        match self {
            Self::ArgumentNotJson { .. } => "ARGUMENT_NOT_JSON",
            Self::ArgumentTooLong { .. } => "R_ARGS_TOO_LARGE",
            Self::AmbiguousCallback { .. } => "R_UNKNOWN_CALLBACK",
            Self::File { action: "read", .. } => "FILE_UNREADABLE",
            Self::File { .. } => "FILE_UNWRITABLE",
            Self::Exists { .. } => "FILE_EXISTS",
            Self::NoCases { .. } => "NO_CASES",
            Self::Watch { .. } => "WATCH",
            Self::BundleName { .. } => "BUNDLE_NAME",
            Self::Variable { .. } => "ENVIRONMENT",
            Self::Option { .. } => "OPTION",
            Self::Secret { .. } => "ENVIRONMENT",
            Self::Output(_) => "OUTPUT",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::ArgumentTooLong { .. } | Self::AmbiguousCallback { .. } => Exit::Failed,
            Self::ArgumentNotJson { .. }
            | Self::BundleName { .. }
            | Self::Exists { .. }
            | Self::NoCases { .. }
            | Self::Option { .. }
            | Self::Secret { .. }
            | Self::Variable { .. } => Exit::Usage,
            // `callcell call … | head` is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
            Self::File { .. } | Self::Watch { .. } | Self::Output(_) => Exit::Unusable,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::ArgumentNotJson { text: TextSource::File, .. } => return None,
            Self::ArgumentNotJson { text: TextSource::NameOfFile(file), .. } => {
                format!("to read the file, write `@{file}`")
            }
            Self::ArgumentNotJson { text: TextSource::CommandLine, .. } => {
                "give one JSON value, such as '{\"subtotal\": 100}'; `@FILE` reads a file, `-` standard input".into()
            }
            Self::ArgumentTooLong { .. } => "pass less data, or only the part the callback needs".into(),
            Self::AmbiguousCallback { matches, .. } => format!("give a whole name: {}", list(matches)),
            Self::Exists { .. } => "give a new folder, such as `callcell init my-agent`; nothing is overwritten".into(),
            Self::NoCases { .. } => {
                "put a callback's argument into `inputs/CALLBACK/CASE.json`; `callcell test --help` tells more".into()
            }
            Self::Watch { .. } => "run `callcell check` without `--watch`".into(),
            Self::BundleName { path } => format!("call it `{}`", path.with_extension("cell").display()),
            _ => return None,
        })
    }
}

/// Names in backticks, at most twenty.
pub fn list<Name: AsRef<str>>(names: &[Name]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A hint that a command knows and the error does not; attached to it as context.
#[derive(Debug)]
pub struct Hint(pub String);

impl std::fmt::Display for Hint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What is shown of an error.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub code: String,
    pub message: String,
    /// Where in the argument or the result.
    pub path: Option<String>,
    pub hint: Option<String>,
    /// What a project that does not compile has wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// What the callback threw, if that was asked for.
    pub thrown: Option<Thrown>,
    /// What a failed call cost, if a cell existed.
    pub usage: Option<Usage>,
}

impl Failure {
    fn new(exit: Exit, code: &str, message: String) -> Self {
        Self {
            exit,
            code: code.to_owned(),
            message,
            path: None,
            hint: None,
            diagnostics: Vec::new(),
            thrown: None,
            usage: None,
        }
    }

    /// `{"ok":false,"error":{…},"usage"?}`.
    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(path) = &self.path {
            error["path"] = json!(path);
        }
        if let Some(hint) = &self.hint {
            error["hint"] = json!(hint);
        }
        if !self.diagnostics.is_empty() {
            error["diagnostics"] = json!(self.diagnostics);
        }
        if let Some(Thrown { name, message, stack }) = &self.thrown {
            error["thrown"] = json!({ "name": name, "message": message, "stack": stack });
        }
        let mut failure = json!({ "ok": false, "error": error });
        if let Some(usage) = self.usage {
            failure["usage"] = json!(UsageView::from(usage));
        }
        failure
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let mut failure = if let Some(problem) = error.downcast_ref::<Problem>() {
            let failure = Self::new(problem.exit(), problem.code(), problem.to_string());
            Self { hint: problem.hint(), ..failure }
        } else if let Some(error) = error.downcast_ref::<CallError>() {
            of_call(error)
        } else if let Some(error) = error.downcast_ref::<CompileError>() {
            let exit = if error.diagnostics().is_empty() { Exit::Unusable } else { Exit::DoesNotCompile };
            let failure = Self::new(exit, error.code(), error.to_string());
            Self { diagnostics: error.diagnostics().to_vec(), ..failure }
        } else if let Some(error) = error.downcast_ref::<ProjectError>() {
            of_project(error)
        } else if let Some(failure) = of_evaluations(&error) {
            failure
        } else if let Some(bundle) = error.downcast_ref::<BundleError>() {
            Self::new(Exit::Unusable, bundle.code(), sentence(&error))
        } else if let Some(engine) = error.downcast_ref::<EngineError>() {
            Self::new(Exit::Unusable, engine.code(), sentence(&error))
        } else {
            Self::new(Exit::Unusable, "INTERNAL", sentence(&error))
        };
        if let Some(Hint(hint)) = error.downcast_ref::<Hint>() {
            failure.hint = Some(hint.clone());
        }
        failure
    }
}

fn of_call(error: &CallError) -> Failure {
    let failure = Failure::new(Exit::Failed, error.code(), error.kind.to_string());
    let thrown = match &error.kind {
        CallErrorKind::Threw { detail } => detail.as_deref().cloned(),
        _ => None,
    };
    let hint = match &error.kind {
        CallErrorKind::Threw { detail: None } => Some("`--reveal` shows what it threw".into()),
        kind => kind.hint(),
    };
    Failure { path: error.kind.path().map(str::to_owned), hint, thrown, usage: error.usage, ..failure }
}

/// An error of the evaluations: what names nothing is usage, what cannot be used is a file's or a service's affair.
fn of_evaluations(error: &anyhow::Error) -> Option<Failure> {
    fn code(error: &anyhow::Error) -> Option<&'static str> {
        let found = error.downcast_ref::<StoreError>().map(StoreError::code);
        let found = found.or_else(|| error.downcast_ref::<ExperimentError>().map(ExperimentError::code));
        let found = found.or_else(|| error.downcast_ref::<DefinitionError>().map(DefinitionError::code));
        let found = found.or_else(|| error.downcast_ref::<JudgeMissing>().map(JudgeMissing::code));
        let found = found.or_else(|| error.downcast_ref::<FolderError>().map(FolderError::code));
        let found = found.or_else(|| error.downcast_ref::<AddressInvalid>().map(AddressInvalid::code));
        let found = found.or_else(|| error.downcast_ref::<TooManyScores>().map(TooManyScores::code));
        found.or_else(|| error.downcast_ref::<ReportError<StoreError>>().map(ReportError::code))
    }
    let code = code(error)?;
    let exit = match code {
        "X_DATASET_INVALID" => Exit::Failed,
        _ if code.starts_with("FILE_") || code.starts_with("BUNDLE_") || code.starts_with("X_STORE") => Exit::Unusable,
        _ => Exit::Usage,
    };
    Some(Failure::new(exit, code, sentence(error)))
}

fn of_project(error: &ProjectError) -> Failure {
    match error {
        ProjectError::Root { path, source } => {
            let message = format!("the project folder `{}` cannot be opened: {source}", path.display());
            Failure::new(Exit::Unusable, "FILE_UNREADABLE", message)
        }
        _ => Failure { hint: error.help(), ..Failure::new(Exit::Usage, error.code(), error.to_string()) },
    }
}

/// An error and its causes in one sentence. Some errors name their cause themselves.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |sentence, cause| match cause.to_string() {
        cause if sentence.contains(&cause) => sentence,
        cause if sentence.is_empty() => cause,
        cause => format!("{sentence}: {cause}"),
    })
}

/// What a call cost, as programs get it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    fuel: u64,
    wall_micros: u64,
    peak_memory_bytes: u64,
    argument_bytes: u64,
    result_bytes: u64,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            fuel: usage.fuel,
            wall_micros: usage.wall.as_micros().try_into().unwrap_or(u64::MAX),
            peak_memory_bytes: usage.peak_memory_bytes,
            argument_bytes: usage.argument_bytes,
            result_bytes: usage.result_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_each_cause_once() {
        let source = io::Error::other("disk on fire");
        let error = EngineError::File { action: "read", path: "e".into(), source };
        let error = anyhow::Error::from(error).context("cannot load `e`");
        assert_eq!(Failure::from(error).message, "cannot load `e`: cannot read `e`: disk on fire");
    }

    #[test]
    fn a_hint_from_a_command_wins() {
        let error = CallError::from(CallErrorKind::UnknownCallback { name: "x".into(), nearest: None });
        let failure = Failure::from(anyhow::Error::from(error).context(Hint("try `y`".into())));
        assert_eq!((failure.hint.as_deref(), failure.code.as_str()), (Some("try `y`"), "R_UNKNOWN_CALLBACK"));
        assert_eq!(failure.message, "the bundle declares no callback `x`");
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<_> = (0..23).map(|number| format!("n{number}")).collect();
        assert!(list(&names).ends_with("`n19` and 3 more"));
        assert_eq!(list(&["a", "b"]), "`a`, `b`");
    }
}
