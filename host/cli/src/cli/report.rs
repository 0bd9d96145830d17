//! What came of an experiment: files for machines and people, and what a terminal shows.

use super::args::ReportArguments;
use super::exit::Exit;
use super::failure::Problem;
use super::render::{Terminal, count, cut, plural};
use super::store::time;
use super::table::table;
use callcell::evals::definition::Definition;
use callcell::evals::experiment::Source;
use callcell::evals::model::{RunResult, Status};
use callcell::evals::report::{Head, PassHead, Summary, csv, html, json as document, junit, responsible};
use callcell::evals::store::{Experiment, ExperimentStatus, Store, StoreError};
use callcell::runtime::{BundleFile, clean};
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Runs whose differences a terminal shows.
const MAX_RUNS: u64 = 20;
/// Differences of one evaluator.
const MAX_DIFFERENCES: usize = 5;
/// Characters of a value or a rationale.
const MAX_VALUE: usize = 100;

pub fn status(status: ExperimentStatus) -> &'static str {
    match status {
        ExperimentStatus::Queued => "queued",
        ExperimentStatus::Running => "running",
        ExperimentStatus::Completed => "completed",
        ExperimentStatus::Cancelled => "cancelled",
    }
}

/// What a report says of an experiment as a whole, read from the bundle it was made with.
pub fn head(store: &Store, experiment: &Experiment, min_pass_rate: f64) -> anyhow::Result<Head> {
    let file = BundleFile::from_bytes(&store.bundle(experiment)?)?;
    let definition = Definition::of(&file.manifest, Some(&experiment.agent))?;
    Ok(Head {
        experiment: experiment.id.clone(),
        bundle: format!("sha256:{}", experiment.bundle),
        dataset: experiment.dataset.name.clone(),
        dataset_version: experiment.dataset.version.to_string(),
        source: match &experiment.source {
            Source::Actual => "the dataset".into(),
            Source::Tool { callback } => format!("the tool {callback}"),
            Source::Endpoint { address } => format!("the endpoint {address}"),
            Source::Stored { experiment } => format!("the experiment {experiment}"),
        },
        repeat: experiment.repeat,
        created: time(experiment.created_millis),
        finished: experiment.ended_millis.map(time),
        min_pass_rate,
        ..Head::of(&definition)
    })
}

/// Writes the files that are asked for and says the rest; the exit code is the gate's (D-81, D-82).
pub fn tell(
    store: &Store,
    experiment: &Experiment,
    arguments: &ReportArguments,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    let head = head(store, experiment, arguments.min_pass_rate)?;
    let summary = store.summary(experiment)?;
    let runs = || store.runs(experiment).map(|run| run.map(|run| run.result));
    let mut written = Vec::new();
    if let Some(path) = &arguments.report {
        written.push(file(path, |out| Ok(document::write(out, &head, &summary, runs())?))?);
    }
    if let Some(path) = &arguments.csv {
        written.push(file(path, |out| Ok(csv::write(out, &head, runs())?))?);
    }
    if let Some(path) = &arguments.junit {
        written.push(file(path, |out| Ok(junit::write(out, &head, &summary, runs())?))?);
    }
    if let Some(path) = &arguments.html {
        written.push(file(path, |out| Ok(html::write(out, &head, &summary, runs())?))?);
    }
    let complete = experiment.status == ExperimentStatus::Completed;
    let passes = complete && head.is_reached(&summary);
    if arguments.json {
        terminal.json(&json!({
            "ok": passes, "experiment": experiment.id, "status": experiment.status, "head": head, "summary": summary,
            "passRate": summary.pass_rate(), "minPassRate": arguments.min_pass_rate,
        }))?;
    } else {
        show(&head, &summary, runs(), terminal)?;
        verdict(experiment, &head, &summary, passes, terminal);
    }
    for path in written {
        terminal.note(&format!("wrote `{path}`"));
    }
    Ok(if passes { Exit::Ok } else { Exit::Failed })
}

/// Writes a file that may be large: it appears when it is whole.
fn file(path: &Path, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let failed = |source| Problem::File { action: "write", path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".callcell-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    let mut out = BufWriter::new(temporary);
    write(&mut out)?;
    let temporary = out.into_inner().map_err(|error| failed(error.into_error()))?;
    temporary.persist(path).map_err(|error| failed(error.error))?;
    Ok(path.display().to_string())
}

/// The scores as a table on standard output, and the differences of what did not pass.
fn show(
    head: &Head,
    summary: &Summary,
    runs: impl Iterator<Item = Result<RunResult, StoreError>>,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let rows: Vec<Vec<String>> = summary
        .evaluators
        .iter()
        .map(|it| {
            let weight = head.share(&it.name).map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
            let figures = [number(it.mean), number(it.min), number(it.max)];
            let [mean, min, max] = figures;
            let bar = it.mean.map_or_else(String::new, bar);
            vec![it.name.clone(), kind(&it.kind), weight, bar, mean, min, max, count(it.scored), count(it.errors)]
        })
        .collect();
    let header = ["evaluator", "type", "weight", "", "mean", "min", "max", "scored", "errors"];
    terminal.data(&table(terminal, &header, &[2, 4, 5, 6, 7, 8], &rows))?;
    let mut shown = 0;
    let not_passed = summary.failed + summary.errors;
    for run in runs {
        // Reading on would only find more of them.
        if shown == MAX_RUNS.min(not_passed) {
            break;
        }
        let run = run?;
        if !run.passed {
            shown += 1;
            terminal.data(&explained(head, &run))?;
        }
    }
    let hidden = not_passed.saturating_sub(shown);
    if hidden > 0 {
        terminal.note(&format!("{} more did not pass; `--html` or `--report` shows all", count(hidden)));
    }
    Ok(())
}

fn kind(kind: &impl serde::Serialize) -> String {
    json!(kind).as_str().unwrap_or_default().to_owned()
}

/// A score as a line of ten blocks.
fn bar(score: f64) -> String {
    let full = (score * 10.0).round().clamp(0.0, 10.0) as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(10 - full))
}

/// Why a run did not pass: who is responsible, and what differs.
fn explained(head: &Head, run: &RunResult) -> String {
    let mut name = run.example.clone();
    if head.repeat > 1 {
        name = format!("{name} #{}", run.repetition + 1);
    }
    let what = match (run.status, &run.error, run.value) {
        (Status::Decided, _, Some(value)) => format!("failed with {value:.4}"),
        (Status::Decided, ..) => "failed".to_owned(),
        (_, Some(error), _) => format!("error {}: {}", error.code, error.message),
        _ => "error".to_owned(),
    };
    let mut lines = vec![format!("\n✗ {name}  {what}")];
    for result in responsible(head, run) {
        match (&result.score, &result.error) {
            (_, Some(error)) => lines.push(format!("    {}: {} [{}]", result.name, error.message, error.code)),
            (Some(score), None) => lines.push(format!("    {}: {score:.3}", result.name)),
            (None, None) => {}
        }
        let mismatches = result.details.as_ref().and_then(|details| details["mismatches"].as_array());
        let mismatches = mismatches.map(Vec::as_slice).unwrap_or_default();
        for mismatch in mismatches.iter().take(MAX_DIFFERENCES) {
            let side = |name: &str| {
                mismatch.get(name).map_or_else(|| "nothing".to_owned(), |it| cut(&it.to_string(), MAX_VALUE))
            };
            let path = mismatch["path"].as_str().unwrap_or_default();
            lines.push(format!("      {path}: expected {}, got {}", side("expected"), side("actual")));
        }
        if mismatches.len() > MAX_DIFFERENCES {
            lines.push(format!("      and {} more", mismatches.len() - MAX_DIFFERENCES));
        }
        if let Some(rationale) = result.details.as_ref().and_then(|details| details["rationale"].as_str()) {
            lines.push(format!("      the judge says: {}", Value::from(cut(rationale, MAX_VALUE))));
        }
    }
    lines.iter().map(|line| line.split('\n').map(clean).collect::<Vec<_>>().join("\n")).collect::<Vec<_>>().join("\n")
}

/// The last line, and what decides.
fn verdict(experiment: &Experiment, head: &Head, summary: &Summary, passes: bool, terminal: &Terminal) {
    let rule = match &head.pass {
        PassHead::Weighted { threshold, .. } => format!("a weighted mean of at least {threshold} passes"),
        PassHead::Predicate { .. } => "a function of the scores decides".to_owned(),
    };
    terminal.note(&format!(
        "experiment {}: {} of agent `{}` over `{}` version {}, outputs from {}; {rule}",
        experiment.id,
        plural(summary.total as usize, "run"),
        head.agent,
        head.dataset,
        head.dataset_version,
        head.source,
    ));
    if summary.evaluation.judge_requests + summary.evaluation.judge_cached > 0 {
        terminal.note(&format!(
            "the judge was asked {} times and took {} tokens; {} replies were known already",
            count(summary.evaluation.judge_requests),
            count(summary.evaluation.prompt_tokens.saturating_add(summary.evaluation.completion_tokens)),
            count(summary.evaluation.judge_cached),
        ));
    }
    let text = format!(
        "{} passed, {} failed, {} without a decision: {:.1} %, and {:.1} % must pass",
        count(summary.passed),
        count(summary.failed),
        count(summary.errors),
        summary.pass_rate() * 100.0,
        head.min_pass_rate * 100.0
    );
    match passes {
        true => terminal.note(&text),
        false => terminal.error(&text),
    }
}
