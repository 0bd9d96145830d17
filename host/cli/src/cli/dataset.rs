//! `callcell dataset`: examples on their way into the store, and out of it.

use super::args::{
    DatasetArguments, DatasetCommand, DatasetExportArguments, DatasetImportArguments, DatasetListArguments,
};
use super::environment::Environment;
use super::failure::{Hint, Problem};
use super::open;
use super::render::{Terminal, count, plural};
use super::store::{self, time};
use super::table::table;
use callcell::evals::dataset::folder::Folder;
use callcell::evals::definition::Definition;
use callcell::evals::store::{Dataset, ImportEvent, ImportMode, Store, StoreError};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write, stdin, stdout};
use std::path::Path;

/// Bad examples and warnings that are shown one by one; the rest is counted.
const MAX_SHOWN: u64 = 50;

pub fn run(arguments: &DatasetArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    match &arguments.command {
        DatasetCommand::Import(arguments) => import(arguments, environment, terminal),
        DatasetCommand::List(arguments) => list(arguments, terminal),
        DatasetCommand::Export(arguments) => export(arguments, terminal),
    }
}

fn import(arguments: &DatasetImportArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    let definition = match &arguments.r#for {
        None => None,
        Some(source) => {
            open::require_scripts(environment)?;
            let engine = open::engine(environment, arguments.no_cache, terminal)?;
            Some(Definition::of(&open::file(&engine, source, terminal)?.manifest, arguments.agent.as_deref())?)
        }
    };
    let store = store::open(&arguments.store)?;
    let mode = if arguments.append { ImportMode::Append } else { ImportMode::Replace };
    let name = arguments.name.clone().unwrap_or_else(|| name_of(&arguments.path));
    let dataset = read(&store, &arguments.path, &name, mode, definition.as_ref(), terminal)?;
    match arguments.json {
        true => terminal.json(&json!({ "ok": true, "dataset": shown(&dataset) }))?,
        false => terminal.note(&format!(
            "imported {} as `{}`, version {}",
            plural(dataset.examples as usize, "example"),
            dataset.name,
            dataset.version
        )),
    }
    Ok(())
}

/// A dataset's name, from the path it is imported from.
pub fn name_of(path: &Path) -> String {
    let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let name = stem.map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' }).collect();
    match name.trim_matches(['-', '_']) {
        "" => "examples".into(),
        name => name.to_owned(),
    }
}

/// Imports a folder, a file of lines, or standard input; shows what is wrong with examples.
pub fn read(
    store: &Store,
    path: &Path,
    name: &str,
    mode: ImportMode,
    definition: Option<&Definition>,
    terminal: &Terminal,
) -> anyhow::Result<Dataset> {
    let bar = terminal.counting("examples read");
    let (mut bad, mut unsafe_integers) = (0, 0);
    let mut on_event = |event| match event {
        ImportEvent::Bad(example) => {
            bad += 1;
            if bad <= MAX_SHOWN {
                bar.suspend(|| terminal.error(&example.to_string()));
            }
        }
        ImportEvent::UnsafeInteger { example, path } => {
            unsafe_integers += 1;
            if unsafe_integers <= MAX_SHOWN {
                let text = format!(
                    "`{example}` has a whole number at `{path}` that JavaScript cannot tell from its neighbours"
                );
                bar.suspend(|| terminal.warning(&text));
            }
        }
        ImportEvent::Read { examples } => bar.set_position(examples),
        _ => {}
    };
    let imported = if path == Path::new("-") {
        store.import_lines(name, mode, stdin().lock(), definition, &mut on_event)
    } else if path.is_dir() {
        let folder = Folder::open(path)?;
        store.import_folder(name, mode, &folder, definition, &mut on_event)
    } else {
        // A pipe without a writer would be waited for without end; whoever wants one writes `-`.
        let file = std::fs::metadata(path).and_then(|found| match found.is_file() {
            true => File::open(path),
            false => Err(std::io::Error::other("it is neither a file nor a folder")),
        });
        let file = file.map_err(|source| Problem::File { action: "read", path: path.to_owned(), source })?;
        store.import_lines(name, mode, BufReader::new(file), definition, &mut on_event)
    };
    bar.finish_and_clear();
    for (count, what) in [(bad, "bad example"), (unsafe_integers, "number")] {
        if count > MAX_SHOWN {
            terminal.note(&format!("{} more", plural((count - MAX_SHOWN) as usize, what)));
        }
    }
    imported.map_err(|error| match error {
        StoreError::BadExamples { .. } => {
            anyhow::Error::from(error).context(Hint("correct them and import again; the store is as it was".into()))
        }
        error => error.into(),
    })
}

fn shown(dataset: &Dataset) -> Value {
    json!({
        "name": dataset.name, "version": dataset.version, "examples": dataset.examples, "created": time(dataset.created_millis),
    })
}

fn list(arguments: &DatasetListArguments, terminal: &Terminal) -> anyhow::Result<()> {
    let datasets = store::existing(&arguments.store)?.datasets()?;
    if arguments.json {
        let datasets: Vec<_> = datasets.iter().map(shown).collect();
        return Ok(terminal.json(&json!({ "ok": true, "datasets": datasets }))?);
    }
    if datasets.is_empty() {
        terminal.note("there is no dataset yet; `callcell dataset import` makes one");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = datasets
        .iter()
        .map(|it| vec![it.name.clone(), it.version.to_string(), count(it.examples), time(it.created_millis)])
        .collect();
    Ok(terminal.data(&table(terminal, &["dataset", "version", "examples", "made"], &[1, 2], &rows))?)
}

fn export(arguments: &DatasetExportArguments, terminal: &Terminal) -> anyhow::Result<()> {
    let store = store::existing(&arguments.store)?;
    let dataset = store.dataset(&arguments.name, arguments.version)?;
    let written = match &arguments.folder {
        Some(folder) => store.export_folder(&dataset, folder)?,
        None => {
            let mut output = BufWriter::new(stdout().lock());
            let written = store.export_lines(&dataset, &mut output)?;
            output.flush().map_err(Problem::Output)?;
            written
        }
    };
    terminal.note(&format!("{} of `{}`", plural(written as usize, "example"), dataset.name));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_paths() {
        for (path, name) in [
            ("data/Invoices 2026.jsonl", "invoices-2026"),
            ("a.b.jsonl", "a-b"),
            ("größe.jsonl", "gr--e"),
            ("-", "examples"),
            ("/", "examples"),
            ("__.jsonl", "examples"),
        ] {
            assert_eq!(name_of(Path::new(path)), name, "{path}");
        }
    }
}
