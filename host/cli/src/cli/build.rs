//! `callcell build`: a project as one file.

use super::args::BuildArguments;
use super::environment::Environment;
use super::failure::Problem;
use super::render::{Terminal, bytes};
use super::{files, open};
use std::path::PathBuf;

pub fn run(arguments: &BuildArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    open::require_scripts(environment)?;
    let output = output(arguments)?;
    let engine = open::engine(environment, arguments.no_cache, terminal)?;
    let bundle = open::compilation(&engine, &arguments.project, terminal)?.bundle;
    let contents = bundle.to_bytes()?;
    files::write(&output, &contents)?;
    let callbacks = bundle.manifest.callbacks.len();
    let plural = if callbacks == 1 { "" } else { "s" };
    let size = bytes(contents.len() as u64);
    terminal.note(&format!("wrote `{}`: {size}, {callbacks} callback{plural}", output.display()));
    Ok(())
}

/// The bundle's file. `callcell call` knows bundles by their names.
fn output(arguments: &BuildArguments) -> Result<PathBuf, Problem> {
    match &arguments.output {
        Some(output) if open::is_bundle(output) => Ok(output.clone()),
        Some(output) => Err(Problem::BundleName { path: output.clone() }),
        None => {
            let name = arguments.project.file_name();
            let name = name.ok_or_else(|| Problem::Folder { path: arguments.project.clone() })?;
            Ok(PathBuf::from(name).with_extension("cell"))
        }
    }
}
