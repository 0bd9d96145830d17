//! `callcell build`: a project as one file.

use super::args::BuildArguments;
use super::environment::Environment;
use super::failure::Problem;
use super::open::Warnings;
use super::render::{Terminal, bytes, plural};
use super::{files, open};
use callcell::compiler::Project;
use serde_json::json;
use std::path::PathBuf;

pub fn run(arguments: &BuildArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    open::require_scripts(environment)?;
    let project = open::project(&arguments.project)?;
    let output = output(arguments, &project)?;
    let engine = open::engine(environment, arguments.no_cache, terminal)?;
    let compilation = open::compilation(&engine, &project, Warnings::Show, terminal)?;
    let contents = compilation.bundle.to_bytes()?;
    files::write(&output, &contents)?;
    let callbacks = &compilation.bundle.manifest.callbacks;
    if arguments.json {
        let names: Vec<_> = callbacks.iter().map(|callback| &callback.name).collect();
        return Ok(terminal.json(&json!({
            "ok": true, "file": output.display().to_string(), "bytes": contents.len(), "callbacks": names,
            "warnings": compilation.warnings,
        }))?);
    }
    let (size, count) = (bytes(contents.len() as u64), plural(callbacks.len(), "callback"));
    terminal.note(&format!("wrote `{}`: {size}, {count}", output.display()));
    Ok(())
}

/// The bundle's file. `callcell call` knows bundles by their names.
fn output(arguments: &BuildArguments, project: &Project) -> Result<PathBuf, Problem> {
    match &arguments.output {
        Some(output) if output.extension().is_some_and(|extension| extension == open::BUNDLE_EXTENSION) => {
            Ok(output.clone())
        }
        Some(output) => Err(Problem::BundleName { path: output.clone() }),
        None => {
            let name = project.entry().rsplit('/').next().unwrap_or_default();
            Ok(PathBuf::from(name).with_extension(open::BUNDLE_EXTENSION))
        }
    }
}
