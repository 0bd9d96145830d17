//! `callcell check --watch`: checks again whenever a source changes, until somebody ends it.

use super::args::CheckArguments;
use super::check;
use super::exit::Exit;
use super::failure::{Failure, Problem};
use super::render::Terminal;
use callcell::compiler::{Compiler, Project};
use notify::{Event, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// Editors write a file in several steps; this long nothing must happen before the next check.
const QUIET: Duration = Duration::from_millis(50);
/// Folders that are watched. A system gives a process only so many watches.
const MAX_FOLDERS: usize = 5_000;

pub fn run(
    compiler: &mut Compiler,
    project: &Project,
    arguments: &CheckArguments,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    let root = project.root();
    let failed = |source| Problem::Watch { folder: root.to_owned(), source };
    let (send, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| concerns(&event)) {
            let _ = send.send(());
        }
    })
    .map_err(failed)?;
    let mut watched = BTreeSet::new();
    loop {
        let folders = folders(root);
        for gone in watched.difference(&folders) {
            let _ = watcher.unwatch(gone);
        }
        // All of them each time: one of the same name may be another folder now.
        for folder in &folders {
            match watcher.watch(folder, RecursiveMode::NonRecursive) {
                // Between the look and the watch a folder may go.
                Err(error) if folder.exists() => return Err(failed(error).into()),
                _ => {}
            }
        }
        watched = folders;
        // The entry may have become another one; what is wrong now may be right with the next change.
        let checked = Project::open(&arguments.project)
            .map_err(anyhow::Error::from)
            .and_then(|project| check::once(compiler, &project, arguments.json, terminal));
        if let Err(error) = checked {
            let failure = Failure::from(error);
            match arguments.json {
                true => terminal.json(&failure.to_json())?,
                false => terminal.failure(&failure),
            }
        }
        terminal.note("waiting for a change; Ctrl-C ends");
        if changes.recv().is_err() {
            return Ok(Exit::Ok);
        }
        while changes.recv_timeout(QUIET).is_ok() {}
    }
}

/// Whether an event may change what a check says: sources, the files that say where a project begins, and folders.
fn concerns(event: &Event) -> bool {
    !event.kind.is_access()
        && event.paths.iter().any(|path| match path.extension() {
            Some(extension) => extension == "ts" || path.ends_with("package.json") || path.ends_with("tsconfig.json"),
            None => true,
        })
}

/// The folder and those below it, without the ones that hold no sources of the project.
fn folders(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::from([root.to_owned()]);
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let passed_over = name == "node_modules" || name == "target" || name.to_string_lossy().starts_with('.');
            if found.len() < MAX_FOLDERS && !passed_over && entry.file_type().is_ok_and(|it| it.is_dir()) {
                found.insert(entry.path());
                open.push(entry.path());
            }
        }
    }
    found
}
