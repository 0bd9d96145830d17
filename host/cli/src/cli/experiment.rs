//! `callcell experiment`: what is kept of experiments, and what can still be done with it.

use super::args::{
    ExperimentArguments, ExperimentCommand, ExperimentCompareArguments, ExperimentListArguments,
    ExperimentRescoreArguments, ExperimentResumeArguments, ExperimentShowArguments, Sort,
};
use super::environment::Environment;
use super::exit::Exit;
use super::failure::Problem;
use super::render::{Terminal, count, plural};
use super::store::{self, time};
use super::table::table;
use super::{files, open, report, run};
use callcell::evals::definition::Definition;
use callcell::evals::experiment::{Mode, Plan, create};
use callcell::evals::report::{Change, Comparison, Pair, Scores, Sorting, compare, compare_html};
use callcell::evals::store::{Experiment, Store};
use callcell::runtime::BundleFile;
use serde_json::{Value, json};

/// Scores of a comparison that a terminal shows.
const MAX_PAIRS: usize = 40;

pub fn run(arguments: &ExperimentArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<Exit> {
    match &arguments.command {
        ExperimentCommand::List(arguments) => list(arguments, terminal),
        ExperimentCommand::Show(arguments) => show(arguments, terminal),
        ExperimentCommand::Resume(arguments) => resume(arguments, environment, terminal),
        ExperimentCommand::Rescore(arguments) => rescore(arguments, environment, terminal),
        ExperimentCommand::Compare(arguments) => compared(arguments, terminal),
    }
}

fn list(arguments: &ExperimentListArguments, terminal: &Terminal) -> anyhow::Result<Exit> {
    let store = store::existing(&arguments.store)?;
    let experiments = store.experiments(arguments.limit)?;
    let counts = experiments.iter().map(|it| store.counts(it)).collect::<Result<Vec<_>, _>>()?;
    if arguments.json {
        let experiments: Vec<Value> = experiments
            .iter()
            .zip(&counts)
            .map(|(it, counts)| {
                json!({
                    "id": it.id, "agent": it.agent, "dataset": it.dataset.name, "datasetVersion": it.dataset.version,
                    "source": it.source, "status": it.status, "total": it.total(), "counts": counts,
                    "created": time(it.created_millis), "ended": it.ended_millis.map(time),
                })
            })
            .collect();
        terminal.json(&json!({ "ok": true, "experiments": experiments }))?;
        return Ok(Exit::Ok);
    }
    if experiments.is_empty() {
        terminal.note("there is no experiment yet; `callcell eval` makes one");
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<String>> = experiments
        .iter()
        .zip(&counts)
        .map(|(it, counts)| {
            vec![
                it.id.clone(),
                it.agent.clone(),
                format!("{} v{}", it.dataset.name, it.dataset.version),
                report::status(it.status).to_owned(),
                format!("{} of {}", count(counts.total), count(it.total())),
                count(counts.passed),
                count(counts.failed),
                count(counts.errors),
                time(it.created_millis),
            ]
        })
        .collect();
    let header = ["experiment", "agent", "dataset", "status", "runs", "passed", "failed", "errors", "made"];
    terminal.data(&table(terminal, &header, &[4, 5, 6, 7], &rows))?;
    Ok(Exit::Ok)
}

fn show(arguments: &ExperimentShowArguments, terminal: &Terminal) -> anyhow::Result<Exit> {
    let store = store::existing(&arguments.store)?;
    let experiment = store::experiment(&store, &arguments.experiment)?;
    report::tell(&store, &experiment, &arguments.report, terminal)
}

fn resume(
    arguments: &ExperimentResumeArguments,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    open::require_scripts(environment)?;
    let store = store::existing(&arguments.run.store)?;
    let experiment = store::experiment(&store, &arguments.experiment)?;
    let engine = open::service(environment, arguments.run.no_cache, terminal)?;
    let mode = if arguments.errors { Mode::Errors } else { Mode::Missing };
    run::Evaluator::new(&arguments.run, &store, engine, terminal)?.run(&experiment, mode)
}

fn rescore(
    arguments: &ExperimentRescoreArguments,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    open::require_scripts(environment)?;
    let store = store::existing(&arguments.run.store)?;
    let earlier = store::experiment(&store, &arguments.experiment)?;
    let engine = open::service(environment, arguments.run.no_cache, terminal)?;
    let file = match &arguments.with {
        Some(source) => open::file(&engine, source, terminal)?,
        None => BundleFile::from_bytes(&store.bundle(&earlier)?)?,
    };
    let mut plan = Plan::rescore(&earlier);
    if arguments.agent.is_some() {
        plan.agent.clone_from(&arguments.agent);
    }
    let evaluator = run::Evaluator::new(&arguments.run, &store, engine, terminal)?;
    evaluator.require_judge(&Definition::of(&file.manifest, plan.agent.as_deref())?)?;
    let experiment = create(&store, &file, &plan)?;
    evaluator.run(&experiment, Mode::Missing)
}

fn compared(arguments: &ExperimentCompareArguments, terminal: &Terminal) -> anyhow::Result<Exit> {
    let store = store::existing(&arguments.store)?;
    let before = store::experiment(&store, &arguments.before)?;
    let after = store::experiment(&store, &arguments.after)?;
    let sorting = match arguments.sort {
        Sort::Change => Sorting::Magnitude,
        Sort::Worst => Sorting::Ascending,
        Sort::Best => Sorting::Descending,
        Sort::Name => Sorting::Name,
    };
    let comparison = compare(&scores(&store, &before)?, &scores(&store, &after)?, arguments.threshold, sorting);
    if let Some(path) = &arguments.html {
        let mut page = Vec::new();
        let (before, after) = (report::head(&store, &before, 1.0)?, report::head(&store, &after, 1.0)?);
        compare_html::write(&mut page, &before, &after, &comparison).map_err(|source| Problem::File {
            action: "write",
            path: path.clone(),
            source,
        })?;
        files::write(path, &page)?;
        terminal.note(&format!("wrote `{}`", path.display()));
    }
    if arguments.json {
        terminal.json(&json!({
            "ok": true, "before": before.id, "after": after.id, "threshold": arguments.threshold, "comparison": comparison,
        }))?;
        return Ok(Exit::Ok);
    }
    print(&comparison, terminal)?;
    Ok(Exit::Ok)
}

fn scores(store: &Store, experiment: &Experiment) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    for run in store.runs(experiment) {
        scores.add(&run?.result)?;
    }
    Ok(scores)
}

fn print(comparison: &Comparison, terminal: &Terminal) -> Result<(), Problem> {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let signed = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:+.3}"));
    let rows: Vec<Vec<String>> = comparison
        .evaluators
        .iter()
        .map(|it| {
            let counts = [it.comparable, it.regressions, it.improvements, it.unchanged].map(count);
            let [comparable, regressions, improvements, unchanged] = counts;
            vec![it.evaluator.clone(), comparable, signed(it.mean_delta), regressions, improvements, unchanged]
        })
        .collect();
    let header = ["evaluator", "compared", "mean Δ", "worse", "better", "same"];
    terminal.data(&table(terminal, &header, &[1, 2, 3, 4, 5], &rows))?;
    let changed = |pair: &&Pair| pair.change != Change::Unchanged;
    let pairs: Vec<&Pair> = comparison.pairs.iter().filter(changed).collect();
    if !pairs.is_empty() {
        let rows: Vec<Vec<String>> = pairs
            .iter()
            .take(MAX_PAIRS)
            .map(|pair| {
                let change = match pair.change {
                    Change::Regression => "▼ worse",
                    Change::Improvement => "▲ better",
                    Change::Unchanged => "",
                    Change::Incomparable => "no score",
                };
                let figures = [number(pair.before), number(pair.after), signed(pair.delta)];
                let [before, after, delta] = figures;
                vec![pair.example.clone(), pair.evaluator.clone(), before, after, delta, change.to_owned()]
            })
            .collect();
        let header = ["example", "evaluator", "before", "after", "Δ", ""];
        terminal.data(&format!("\n{}", table(terminal, &header, &[2, 3, 4], &rows)))?;
    }
    if let Some(more) = pairs.len().checked_sub(MAX_PAIRS).filter(|more| *more > 0) {
        terminal.note(&format!("{} more; `--json` or `--html` shows all", plural(more, "score")));
    }
    for (names, side) in [(&comparison.only_before, "first"), (&comparison.only_after, "second")] {
        if !names.is_empty() {
            terminal.note(&format!(
                "{} of the {side} experiment alone: {}",
                plural(names.len(), "example"),
                super::failure::list(names)
            ));
        }
    }
    Ok(())
}
