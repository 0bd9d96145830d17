//! `callcell check`: what the platform would say of a project, before it is released (CB-112).

use super::args::CheckArguments;
use super::environment::Environment;
use super::exit::Exit;
use super::render::{Terminal, plural, time};
use super::{open, watch};
use callcell::compiler::{CompileError, Compiler, Diagnostic, Project};
use serde_json::json;
use std::time::Instant;

pub fn run(arguments: &CheckArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<Exit> {
    open::require_scripts(environment)?;
    let project = open::project(&arguments.project)?;
    let mut compiler = Compiler::new(open::engine(environment, arguments.no_cache, terminal)?);
    if arguments.watch {
        return watch::run(&mut compiler, &project, arguments, terminal);
    }
    once(&mut compiler, &project, arguments.json, terminal)
}

/// Checks a project and reports what was found: code frames for people, one JSON object for programs.
pub fn once(compiler: &mut Compiler, project: &Project, as_json: bool, terminal: &Terminal) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let (diagnostics, bundle) = match compiler.compile(project) {
        Ok(compilation) => {
            terminal.logs(&compilation.logs);
            (compilation.warnings, Some(compilation.bundle))
        }
        Err(CompileError::Diagnostics(diagnostics)) => (diagnostics, None),
        Err(error) => return Err(error.into()),
    };
    let took = start.elapsed();
    let exit = if bundle.is_some() { Exit::Ok } else { Exit::Failed };
    if as_json {
        let callbacks = bundle.iter().flat_map(|bundle| &bundle.manifest.callbacks);
        let callbacks: Vec<_> = callbacks.map(|it| json!({ "name": it.name, "kind": it.kind })).collect();
        let sources = bundle.iter().flat_map(|bundle| &bundle.manifest.sources);
        let sources: Vec<_> = sources.map(|source| &source.path).collect();
        terminal.json(&json!({
            "ok": bundle.is_some(), "entry": project.entry(), "diagnostics": diagnostics, "callbacks": callbacks,
            "sources": sources, "wallMicros": took.as_micros() as u64,
        }))?;
        return Ok(exit);
    }
    terminal.diagnostics(&diagnostics);
    let errors = diagnostics.iter().filter(|it| it.is_error()).count();
    let found = counted(errors, diagnostics.len() - errors);
    match bundle {
        Some(bundle) => {
            let sources = plural(bundle.manifest.sources.len(), "file");
            let callbacks = plural(bundle.manifest.callbacks.len(), "callback");
            terminal.note(&format!("`{}` is fine: {callbacks} in {sources}, {found}, {}", project.entry(), time(took)));
        }
        None => terminal.error(&format!("`{}` has {found} [{}]", project.entry(), first_error(&diagnostics))),
    }
    Ok(exit)
}

fn counted(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no warnings".into(),
        (0, warnings) => plural(warnings, "warning"),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => format!("{} and {}", plural(errors, "error"), plural(warnings, "warning")),
    }
}

fn first_error(diagnostics: &[Diagnostic]) -> &str {
    diagnostics.iter().find(|it| it.is_error()).map_or("", |it| &it.code)
}
