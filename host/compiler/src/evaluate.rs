//! The bridge to the runtime: modules in, and whatever the evaluation found back as diagnostics in the author's files.

use crate::diagnostics::{self, Diagnostic};
use crate::graph::Graph;
use crate::source::Location;
use crate::{locate, trace};
use callcell_runtime::{EvaluateError, Evaluation, ModuleSet, Problem, Thrown};

/// What an evaluation found, in the author's files.
pub(crate) fn problems(graph: &Graph, modules: &ModuleSet, evaluation: &Evaluation) -> Vec<Diagnostic> {
    let problems = evaluation.problems.iter().take(MAX_LOCATED);
    let mut found: Vec<Diagnostic> = problems.map(|problem| declaration(graph, modules, problem)).collect();
    let more = evaluation.problems.len() - found.len();
    if more > 0 {
        found.push(diagnostics::more(&entry(graph, modules), more, true));
    }
    if evaluation.clock_touched {
        found.push(diagnostics::clock_touched(&entry(graph, modules)));
    }
    if evaluation.random_touched {
        found.push(diagnostics::random_touched(&entry(graph, modules)));
    }
    found
}

/// How many problems of declarations are looked up in the sources; each look parses modules.
const MAX_LOCATED: usize = 200;

fn entry(graph: &Graph, modules: &ModuleSet) -> Location {
    graph.module(&modules.entry).map_or_else(|| Location::start_of(&modules.entry), |module| module.source.locate(0, 0))
}

/// Why a project's modules could not be evaluated; none if the engine is to blame.
pub(crate) fn failure(graph: &Graph, modules: &ModuleSet, error: &EvaluateError) -> Option<Diagnostic> {
    let (thrown, help) = match error {
        EvaluateError::Engine(_) => return None,
        EvaluateError::ClockDisabled { thrown } => {
            (Some(thrown), Some("read the clock inside a callback, or pass the time as input"))
        }
        EvaluateError::RandomDisabled { thrown } => {
            (Some(thrown), Some("call `Math.random()` inside a callback, or pass the value as input"))
        }
        EvaluateError::Threw { thrown } => (
            Some(thrown),
            Some("top-level code runs while the project is compiled, without clock, randomness or network"),
        ),
        EvaluateError::Syntax { thrown } => (Some(thrown), None),
        EvaluateError::TopLevelAwait => (None, Some("modules are evaluated synchronously")),
        EvaluateError::Limit { .. } => {
            (None, Some("top-level code runs at compile time; move the work into a callback"))
        }
        _ => (None, None),
    };
    let at = thrown.and_then(|thrown| throw_site(graph, modules, thrown)).unwrap_or_else(|| entry(graph, modules));
    Some(diagnostics::evaluation(&at, error.code().to_owned(), error.to_string(), help.map(str::to_owned)))
}

/// The first frame of a stack that lies in one of the project's modules, as a place in its TypeScript.
fn throw_site(graph: &Graph, modules: &ModuleSet, thrown: &Thrown) -> Option<Location> {
    let sources = trace::Sources::new(modules);
    let place = thrown.stack.lines().find_map(|frame| sources.place(frame))?;
    Some(graph.module(&place.file)?.source.place(place.line, place.column))
}

/// A wrong declaration, placed where the project writes it.
pub(crate) fn declaration(graph: &Graph, modules: &ModuleSet, problem: &Problem) -> Diagnostic {
    let at = locate::locate(graph, &modules.entry, &problem.path).unwrap_or_else(|| entry(graph, modules));
    let message = match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("`{path}`: {}", problem.message),
    };
    diagnostics::evaluation(&at, problem.code.clone(), message, problem.help.clone())
}
