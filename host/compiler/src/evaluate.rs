//! The bridge to the runtime: modules in, and whatever the evaluation found back as diagnostics in the author's files.

use crate::diagnostics::{self, Diagnostic};
use crate::graph::Graph;
use crate::source::Location;
use callcell_runtime::{Engine, EvaluateError, Evaluation, ModuleSet, Problem, Thrown};
use oxc_sourcemap::SourceMap;

/// Evaluates a project's modules.
pub(crate) fn evaluate(
    engine: &Engine,
    graph: &Graph,
    modules: &ModuleSet,
) -> Result<(Evaluation, Vec<Diagnostic>), Outcome> {
    let evaluation = engine.evaluate(modules).map_err(|error| failure(graph, modules, &error))?;
    let entry = entry(graph, modules);
    let mut found: Vec<Diagnostic> =
        evaluation.problems.iter().map(|problem| declaration(graph, modules, problem)).collect();
    if evaluation.clock_touched {
        found.push(diagnostics::clock_touched(&entry));
    }
    if evaluation.random_touched {
        found.push(diagnostics::random_touched(&entry));
    }
    Ok((evaluation, found))
}

/// Why there is no evaluation.
pub(crate) enum Outcome {
    /// The project is wrong.
    Diagnostic(Box<Diagnostic>),
    /// The engine could not do its work; nothing the author can change.
    Engine(EvaluateError),
}

fn entry(graph: &Graph, modules: &ModuleSet) -> Location {
    graph.module(&modules.entry).map_or_else(|| Location::start_of(&modules.entry), |module| module.source.locate(0, 0))
}

fn failure(graph: &Graph, modules: &ModuleSet, error: &EvaluateError) -> Outcome {
    let (thrown, help) = match error {
        EvaluateError::Engine(_) => return Outcome::Engine(error.clone()),
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
    Outcome::Diagnostic(Box::new(diagnostics::evaluation(
        &at,
        error.code().to_owned(),
        error.to_string(),
        help.map(str::to_owned),
    )))
}

/// The first frame of a stack that lies in one of the project's modules, as a place in its TypeScript.
fn throw_site(graph: &Graph, modules: &ModuleSet, thrown: &Thrown) -> Option<Location> {
    thrown.stack.lines().find_map(|frame| {
        let (name, line, column) = frame_position(frame)?;
        let module = modules.modules.iter().find(|module| module.name == name)?;
        let map = SourceMap::from_json_string(module.source_map.as_deref()?).ok()?;
        let table = map.generate_lookup_table();
        let token = map.lookup_token(&table, line.saturating_sub(1), column.saturating_sub(1))?;
        let source = &graph.module(name)?.source;
        Some(source.place(token.get_src_line() + 1, token.get_src_col() + 1))
    })
}

/// `    at f (tools.ts:3:5)` or `    at tools.ts:3:5`, as module, line and column.
fn frame_position(frame: &str) -> Option<(&str, u32, u32)> {
    let frame = frame.trim().strip_prefix("at ")?;
    let place = match frame.strip_suffix(')') {
        Some(inner) => inner.split_once(" (")?.1,
        None => frame,
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (name, line) = rest.rsplit_once(':')?;
    Some((name, line.parse().ok()?, column.parse().ok()?))
}

/// A wrong declaration, placed where the entry exports it.
fn declaration(graph: &Graph, modules: &ModuleSet, problem: &Problem) -> Diagnostic {
    let export = problem.path.split(['.', '[']).next().unwrap_or_default();
    let at = graph
        .module(&modules.entry)
        .and_then(|module| Some(module.source.at(*module.facts.export_spans.get(export)?)))
        .unwrap_or_else(|| entry(graph, modules));
    let message = match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("`{path}`: {}", problem.message),
    };
    diagnostics::evaluation(&at, problem.code.clone(), message, problem.help.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_frames_are_read() {
        assert_eq!(frame_position("    at f (a/tools.ts:3:5)"), Some(("a/tools.ts", 3, 5)));
        assert_eq!(frame_position("    at <anonymous> (a (1).ts:3:5)"), Some(("a (1).ts", 3, 5)));
        assert_eq!(frame_position("    at tools.ts:3:5"), Some(("tools.ts", 3, 5)));
        assert_eq!(frame_position("    at f (native)"), None);
        assert_eq!(frame_position(""), None);
    }
}
