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
//! (`evaluate`). A project's problems are data ([`Diagnostic`]) and are reported together: the first three phases always
//! run to their end; later ones run only on a project without errors, because they would report consequences.
#![deny(missing_docs)]

mod checks;
mod diagnostics;
mod evaluate;
mod graph;
mod imports;
mod module;
mod nesting;
mod project;
mod source;
mod transform;

use callcell_runtime::{BundleFile, Engine, EvaluateError, Logs, ModuleSet, ModuleSource, SourceFile};
use graph::Graph;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

pub use diagnostics::{Category, Diagnostic, Severity};
pub use graph::MAX_MODULES;
pub use nesting::MAX_DEPTH;
pub use project::{Project, ProjectError};
pub use source::MAX_SOURCE_BYTES;

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

/// Compiles a project: checks it, evaluates its modules without invoking a callback (CB-72), and packs the bundle.
///
/// # Errors
/// [`CompileError::Diagnostics`] with everything that was found, or [`CompileError::Engine`].
pub fn compile(engine: &Engine, project: &Project) -> Result<Compilation, CompileError> {
    let graph = graph::capture(project);
    let Checked { modules, sources, mut warnings } = check_graph(project, &graph)?;
    let (mut evaluation, found) = match evaluate::evaluate(engine, &graph, &modules) {
        Ok(evaluated) => evaluated,
        Err(evaluate::Outcome::Diagnostic(diagnostic)) => {
            warnings.push(*diagnostic);
            return Err(CompileError::Diagnostics(sorted(warnings)));
        }
        Err(evaluate::Outcome::Engine(error)) => return Err(CompileError::Engine(error)),
    };
    warnings.extend(found);
    let warnings = sorted(warnings);
    if errors(&warnings) > 0 {
        return Err(CompileError::Diagnostics(warnings));
    }
    evaluation.manifest.sources = sources;
    let logs = evaluation.logs.clone();
    Ok(Compilation { bundle: engine.bundle_file(evaluation, modules), warnings, logs })
}

/// Does everything [`compile`] does before the evaluation: no engine needed, no code of the project runs.
///
/// # Errors
/// [`CompileError::Diagnostics`] with everything that was found.
pub fn check(project: &Project) -> Result<Checked, CompileError> {
    check_graph(project, &graph::capture(project))
}

fn check_graph(project: &Project, graph: &Graph) -> Result<Checked, CompileError> {
    let mut found = graph.diagnostics.clone();
    found.extend(graph.modules().flat_map(|(_, module)| module.facts.diagnostics.iter().cloned()));
    found.extend(checks::report(graph));
    if errors(&found) > 0 {
        return Err(CompileError::Diagnostics(sorted(found)));
    }
    let mut modules = BTreeMap::new();
    for (name, module) in graph.modules() {
        match transform::transform(graph, name, module) {
            Ok(javascript) => {
                modules.insert(
                    name.to_owned(),
                    ModuleSource {
                        name: name.to_owned(),
                        source: javascript.text,
                        source_map: Some(javascript.source_map),
                        imports: javascript.imports,
                    },
                );
            }
            Err(problems) => found.extend(problems),
        }
    }
    let found = sorted(found);
    if errors(&found) > 0 {
        return Err(CompileError::Diagnostics(found));
    }
    let sources = graph
        .modules()
        .map(|(name, module)| SourceFile { path: name.to_owned(), sha256: module.source.sha256.clone() })
        .collect();
    Ok(Checked { modules: reachable(project.entry(), modules), sources, warnings: found })
}

/// The modules that are still imported once types are gone.
fn reachable(entry: &str, mut modules: BTreeMap<String, ModuleSource>) -> ModuleSet {
    let mut needed = BTreeSet::new();
    let mut stack = vec![entry.to_owned()];
    while let Some(name) = stack.pop() {
        if let Some(module) = modules.get(&name)
            && needed.insert(name)
        {
            stack.extend(module.imports.iter().map(|(_, target)| target.clone()));
        }
    }
    modules.retain(|name, _| needed.contains(name));
    ModuleSet { entry: entry.to_owned(), modules: modules.into_values().collect() }
}

/// By file and place; the same problem once.
fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |it: &Diagnostic| (it.file.clone(), it.line, it.column, it.severity, it.code.clone(), it.message.clone());
    diagnostics.sort_by_cached_key(key);
    diagnostics.dedup_by(|a, b| key(a) == key(b));
    diagnostics
}

#[cfg(test)]
mod tests;
