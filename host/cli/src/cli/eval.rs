//! `callcell eval`: a dataset, an agent's evaluations, and whether enough passes.

use super::args::EvalArguments;
use super::environment::Environment;
use super::exit::Exit;
use super::failure::Hint;
use super::render::Terminal;
use super::{call, dataset, judge, open, run, store};
use callcell::evals::definition::Definition;
use callcell::evals::experiment::{Mode, Plan, Source, create};
use callcell::evals::store::{ImportMode, Store, StoreError};
use std::path::Path;

pub fn run(arguments: &EvalArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<Exit> {
    open::require_scripts(environment)?;
    let engine = open::service(environment, arguments.run.no_cache, terminal)?;
    let file = open::file(&engine, &arguments.source, terminal)?;
    let definition = Definition::of(&file.manifest, arguments.agent.as_deref())?;
    let store = store::open(&arguments.run.store)?;
    let data = data(&store, &arguments.data, &definition, terminal)?;
    let source = match (&arguments.tool, &arguments.endpoint) {
        (Some(tool), _) => Source::Tool { callback: call::resolve(&file.manifest, tool)?.to_owned() },
        (None, Some(address)) => Source::Endpoint { address: judge::url(address, "--endpoint")?.into() },
        (None, None) => Source::Actual,
    };
    let plan = Plan {
        examples: (!arguments.only.is_empty()).then(|| arguments.only.clone()),
        repeat: arguments.repeat,
        concurrency: arguments.concurrency,
        agent: Some(definition.export.clone()),
        ..Plan::new(data, source)
    };
    // A judge that is missing is found out before an experiment is written down (D-65).
    let evaluator = run::Evaluator::new(&arguments.run, &store, engine, terminal)?;
    evaluator.require_judge(&definition)?;
    let experiment = create(&store, &file, &plan)?;
    evaluator.run(&experiment, Mode::Missing)
}

/// The examples: a dataset of the store, or what a path leads to, imported now.
fn data(
    store: &Store,
    name: &str,
    definition: &Definition,
    terminal: &Terminal,
) -> anyhow::Result<callcell::evals::store::Dataset> {
    let path = Path::new(name);
    if name == "-" || path.exists() {
        return dataset::read(store, path, &dataset::name_of(path), ImportMode::Replace, Some(definition), terminal);
    }
    store.dataset(name, None).map_err(|error| match error {
        StoreError::UnknownDataset { .. } => {
            let known: Vec<String> = store.datasets().into_iter().flatten().map(|dataset| dataset.name).collect();
            let hint = match known.is_empty() {
                true => "there is no file of that name either; give a `.jsonl` file or a folder with `examples`".into(),
                false => format!(
                    "there is no file of that name either; there are the datasets {}",
                    super::failure::list(&known)
                ),
            };
            anyhow::Error::from(error).context(Hint(hint))
        }
        error => anyhow::Error::from(error).context("the dataset cannot be read"),
    })
}
