//! Compiles a TypeScript project to a callcell bundle.
//!
//! ```no_run
//! use callcell_compiler::{Project, compile};
//! use callcell_runtime::{Engine, EngineConfig};
//!
//! let engine = Engine::new(EngineConfig::default())?;
//! let project = Project::open("agents/tools.ts".as_ref())?;
//! let compilation = compile(&engine, &project)?;
//! let bundle = engine.load(compilation.bundle)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The phases, one file each: *capture* the entry and what it imports (`project`, `graph`, `imports`), *inspect* each module
//! (`module`), *check* callbacks across modules (`checks`), *transform* to JavaScript (`transform`), *evaluate* in a compile cell
//! (`evaluate`) and place what it found back in the sources (`locate`, `trace`). `compiler` runs them, and remembers what it
//! can use again ([`Compiler`]). A project's problems are data ([`Diagnostic`]) and are reported together: the first three phases always
//! run to their end; later ones run unless an error keeps the modules from being what they are meant to be, because they would
//! report consequences.
#![deny(missing_docs)]

mod checks;
mod compiler;
mod diagnostics;
mod evaluate;
mod graph;
mod imports;
mod locate;
mod module;
mod namespaces;
mod nesting;
mod predicate;
mod project;
mod regular_expressions;
mod source;
mod trace;
mod transform;

use callcell_runtime::{BundleFile, EvaluateError, Logs, ModuleSet, SourceFile};
use thiserror::Error;

pub use compiler::{Compiler, MAX_DIAGNOSTICS, check, compile};
pub use diagnostics::{Category, Diagnostic, Severity};
pub use graph::{MAX_MODULES, MAX_TOTAL_BYTES};
pub use nesting::MAX_DEPTH;
pub use project::{Project, ProjectError};
pub use source::MAX_SOURCE_BYTES;
pub use trace::{Place, Sources};

/// A project that compiled.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The bundle: manifest, modules, image.
    pub bundle: BundleFile,
    /// What the author should look at. None of them is an error.
    pub warnings: Vec<Diagnostic>,
    /// What the modules wrote to `console` while they were evaluated. For the author's eyes.
    pub logs: Logs,
}

/// A project that passed every check that needs no engine.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The project's modules as JavaScript. The same sources give the same modules, byte for byte.
    pub modules: ModuleSet,
    /// Every file that was read, in the order of their paths.
    pub sources: Vec<SourceFile>,
    /// What the author should look at.
    pub warnings: Vec<Diagnostic>,
}

/// A project that does not compile.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The project's own problems: at least one error, and the warnings, by file and place.
    #[error("the project has {} {}", errors(.0), if errors(.0) == 1 { "error" } else { "errors" })]
    Diagnostics(Vec<Diagnostic>),
    /// The engine could not evaluate anything; the project is not to blame.
    #[error("the compile cell failed: {0}")]
    Engine(#[source] EvaluateError),
}

fn errors(diagnostics: &[Diagnostic]) -> usize {
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count()
}

impl CompileError {
    /// The stable code of the first error.
    pub fn code(&self) -> &str {
        match self {
            Self::Diagnostics(found) => {
                found.iter().find(|diagnostic| diagnostic.is_error()).map_or("C_SYNTAX", |error| &error.code)
            }
            Self::Engine(error) => error.code(),
        }
    }

    /// The project's problems; empty if the engine failed.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Diagnostics(found) => found,
            Self::Engine(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests;
