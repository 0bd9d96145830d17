//! The bridge to the runtime: modules in, and whatever the evaluation found back as diagnostics in the author's files.

use crate::diagnostics::{self, Diagnostic};
use crate::graph::Graph;
use crate::source::Location;
use crate::{locate, trace};
use callcell_runtime::{EvaluateError, Evaluation, ModuleSet, Problem, Thrown};

/// What an evaluation found, in the author's files.
pub(crate) fn problems(graph: &Graph, modules: &ModuleSet, evaluation: &Evaluation) -> Vec<Diagnostic> {
    let mut found = declarations(graph, modules, &evaluation.problems);
    if evaluation.clock_touched {
        found.push(diagnostics::clock_touched(&entry(graph, modules)));
    }
    if evaluation.random_touched {
        found.push(diagnostics::random_touched(&entry(graph, modules)));
    }
    found
}

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

/// Where something was thrown: the first frame of its stack that lies in one of the project's modules, as a place in its TypeScript.
fn throw_site(graph: &Graph, modules: &ModuleSet, thrown: &Thrown) -> Option<Location> {
    let sources = trace::Sources::new(modules);
    let place = thrown.stack.lines().find_map(|frame| sources.place(frame));
    let frame = place.and_then(|place| Some(graph.module(&place.file)?.source.place(place.line, place.column)));
    match thrown.message.strip_suffix(" is not defined").filter(|_| thrown.name == "ReferenceError") {
        Some(name) => unbound(graph, frame.as_ref(), name).or(frame),
        None => frame,
    }
}

/// Where a name is read that nothing defines. The engine keeps no place for that, only one for the last call before it in the same
/// function.
fn unbound(graph: &Graph, frame: Option<&Location>, name: &str) -> Option<Location> {
    let reads = |file: &str| {
        let module = graph.module(file)?;
        Some((module, module.facts.unbound.get(name)?))
    };
    if let Some((module, spans)) = frame.and_then(|frame| reads(&frame.file)) {
        let from = frame.map_or(0, |frame| frame.offset);
        let span = spans.iter().find(|span| span.start as usize >= from).or(spans.first())?;
        return Some(module.source.at(*span));
    }
    let (module, spans) = graph.modules().find_map(|(file, _)| reads(file))?;
    Some(module.source.at(*spans.first()?))
}

/// Wrong declarations, placed where the project writes them.
pub(crate) fn declarations(graph: &Graph, modules: &ModuleSet, problems: &[Problem]) -> Vec<Diagnostic> {
    let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    let places = locate::locate(graph, &modules.entry, &paths);
    let diagnostics = problems.iter().zip(places).map(|(problem, place)| {
        let at = place.unwrap_or_else(|| entry(graph, modules));
        let message = match problem.path.as_str() {
            "" => problem.message.clone(),
            path => format!("`{path}`: {}", problem.message),
        };
        diagnostics::evaluation(&at, problem.code.clone(), message, problem.help.clone())
    });
    diagnostics.collect()
}
