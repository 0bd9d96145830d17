//! Runs what an experiment has no results of yet.
//!
//! Three parts, each of which waits for the next, so that memory does not grow with the number of examples: a thread reads examples, tasks
//! run and evaluate them, a thread writes results. A result is told of when it is on the disk, not before.

use super::{ExperimentError, OutputSource, Source, ToolSource};
use crate::evaluate::Evaluations;
use crate::model::{EvaluationUsage, Example, Failure, RunResult, Status};
use crate::store::{Experiment, ExperimentStatus, Lease, RunRow, Store, StoreError};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// Jobs that wait for a task.
const WAITING_JOBS: usize = 64;
/// Results that wait to be written.
const WAITING_RESULTS: usize = 256;
/// Results of one transaction at most, and their bytes beyond which it ends early.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Which runs are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Those without a result: all of them at first, the rest after a cancellation or a kill.
    #[default]
    Missing,
    /// Those too whose result is no decision (D-79). Such a result stays until there is a new one.
    Errors,
}

/// How an experiment is run and stopped.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Which runs are made.
    pub mode: Mode,
    /// Stops the experiment: what has ended is kept, what is in flight is dropped.
    pub cancel: CancellationToken,
    /// How many examples run at once, instead of what the plan said.
    pub concurrency: Option<u32>,
}

/// What happens while an experiment runs; one line each of the progress stream (7.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub enum Event {
    /// The first one.
    #[serde(rename_all = "camelCase")]
    Started {
        /// The experiment.
        id: String,
        /// Runs it has when it is complete.
        total: u64,
        /// Runs that have a result already.
        finished: u64,
    },
    /// A run has a result, and it is on the disk.
    Finished(RunSummary),
    /// The last one.
    Ended(Ended),
}

/// A run's result in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// The example's name.
    pub example: String,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Whether it passes.
    pub passed: bool,
    /// Whether that was decided.
    pub status: Status,
    /// The weighted mean, where there is one.
    pub value: Option<f64>,
    /// Why nothing is decided.
    pub error: Option<Failure>,
    /// Milliseconds from the run's start to the verdict.
    pub duration_millis: u64,
}

/// How an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Completed or cancelled.
    pub status: ExperimentStatus,
    /// Runs that were made now.
    pub ran: u64,
}

/// What one task does.
struct Job {
    seq: u64,
    repetition: u32,
    example: Arc<Example>,
    /// For an experiment that scores again: the output there was, or why there was none.
    stored: Option<Result<Value, Failure>>,
}

/// What tasks need to know beside their job.
struct Context {
    evaluations: Arc<Evaluations>,
    /// None where the output is there already.
    made: Option<Arc<dyn OutputSource>>,
}

/// Runs an experiment until it is complete or cancelled. The evaluations are those of [`open`](super::open). `made` is needed for
/// [`Source::Endpoint`]; for a tool the bundle is asked if there is none. On a runtime of several threads examples run side by side. If the
/// future is dropped, what has ended is kept, and the experiment can be resumed.
///
/// # Errors
/// When somebody else runs the experiment, an output's source is missing, or the store fails. What was told of as finished is kept, and the
/// experiment can be resumed. Failures of examples are results, and no errors.
pub async fn run(
    store: &Arc<Store>,
    id: &str,
    evaluations: Arc<Evaluations>,
    made: Option<Arc<dyn OutputSource>>,
    control: &Control,
    mut on_event: impl FnMut(Event) + Send + 'static,
) -> Result<Ended, ExperimentError> {
    let lease = store.lease(&store.experiment(id)?)?;
    // Read again: whoever held the lease before may have gone on.
    let experiment = Arc::new(store.experiment(id)?);
    let made = match &experiment.source {
        Source::Actual | Source::Stored { .. } => None,
        Source::Endpoint { address } => {
            Some(made.ok_or_else(|| ExperimentError::SourceMissing { address: address.clone() })?)
        }
        Source::Tool { callback } => Some(made.unwrap_or_else(|| {
            Arc::new(ToolSource { bundle: evaluations.bundle().clone(), callback: callback.clone() })
        })),
    };
    let context = Arc::new(Context { evaluations, made });
    let finished = store.counts(&experiment)?.total;
    store.set_status(&experiment, ExperimentStatus::Running)?;
    on_event(Event::Started { id: experiment.id.clone(), total: experiment.total(), finished });

    let (job_sender, jobs) = mpsc::channel(WAITING_JOBS);
    let (results, result_receiver) = mpsc::channel(WAITING_RESULTS);
    let reader = {
        let (store, experiment, mode) = (store.clone(), experiment.clone(), control.mode);
        tokio::task::spawn_blocking(move || read(&store, &experiment, mode, finished == 0, &job_sender))
    };
    let writer = {
        let (store, experiment) = (store.clone(), experiment.clone());
        tokio::task::spawn_blocking(move || {
            let written = write(&store, &experiment, result_receiver, &mut on_event);
            (written, lease, on_event)
        })
    };
    let concurrency = control.concurrency.unwrap_or(experiment.concurrency).clamp(1, super::MAX_CONCURRENCY);
    let cancelled = work(&context, jobs, results, concurrency as usize, &control.cancel).await;

    // The channels are closed, so both threads come to an end.
    let read = reader.await.map_err(|_| ExperimentError::Broken { what: "the reader of examples failed" })?;
    let (written, lease, mut on_event): (_, Lease, _) =
        writer.await.map_err(|_| ExperimentError::Broken { what: "the writer of results failed" })?;
    let ran = written?;
    read?;
    let complete = store.counts(&experiment)?.total == experiment.total();
    let status = match (complete, cancelled) {
        (true, _) => ExperimentStatus::Completed,
        (false, true) => ExperimentStatus::Cancelled,
        (false, false) => return Err(ExperimentError::Broken { what: "runs are missing at the end" }),
    };
    store.set_status(&experiment, status)?;
    drop(lease);
    let ended = Ended { status, ran };
    on_event(Event::Ended(ended));
    Ok(ended)
}

/// Marks an experiment that nobody runs as cancelled, unless it is complete. Doing so twice does no harm. One that is running here is
/// cancelled through its [`Control`].
///
/// # Errors
/// When somebody runs it, or the store fails.
pub fn cancel(store: &Store, id: &str) -> Result<ExperimentStatus, ExperimentError> {
    let _lease = store.lease(&store.experiment(id)?)?;
    let experiment = store.experiment(id)?;
    match experiment.status {
        status @ (ExperimentStatus::Completed | ExperimentStatus::Cancelled) => Ok(status),
        ExperimentStatus::Queued | ExperimentStatus::Running => {
            store.set_status(&experiment, ExperimentStatus::Cancelled)?;
            Ok(ExperimentStatus::Cancelled)
        }
    }
}

/// Reads examples and hands out what is to be run, until nobody wants more.
fn read(
    store: &Store,
    experiment: &Experiment,
    mode: Mode,
    fresh: bool,
    jobs: &mpsc::Sender<Job>,
) -> Result<(), StoreError> {
    let old = experiment.rescores().map(|id| store.experiment(id)).transpose()?;
    for stored in store.examples_of(experiment) {
        let stored = stored?;
        let (seq, example) = (stored.seq, Arc::new(stored.example));
        let finished = if fresh { HashMap::new() } else { store.finished(experiment, seq)? };
        for repetition in 0..experiment.repeat {
            let wanted = match (finished.get(&repetition), mode) {
                (None, _) => true,
                (Some(decided), Mode::Errors) => !decided,
                (Some(_), Mode::Missing) => false,
            };
            if !wanted {
                continue;
            }
            let stored = match &old {
                None => None,
                Some(old) => Some(output_of(store.run_of(old, seq, repetition)?)),
            };
            if jobs.blocking_send(Job { seq, repetition, example: example.clone(), stored }).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The output of an earlier run.
fn output_of(run: Option<RunResult>) -> Result<Value, Failure> {
    let run = run.ok_or_else(|| failed("the earlier experiment did not come to this run"))?;
    let error = run.error;
    run.output.ok_or_else(|| error.unwrap_or_else(|| failed("the earlier run has no output")))
}

/// Writes results as they come, many at once where they come fast, and tells of them.
fn write(
    store: &Store,
    experiment: &Experiment,
    mut results: mpsc::Receiver<(RunRow, RunSummary)>,
    on_event: &mut impl FnMut(Event),
) -> Result<u64, StoreError> {
    let (mut rows, mut summaries, mut ran) = (Vec::new(), Vec::new(), 0);
    while let Some(first) = results.blocking_recv() {
        let mut bytes = 0;
        let mut next = Some(first);
        while let Some((row, summary)) = next {
            bytes += row.bytes();
            rows.push(row);
            summaries.push(summary);
            let full = rows.len() >= BATCH || bytes >= BATCH_BYTES;
            next = if full { None } else { results.try_recv().ok() };
        }
        store.write_runs(experiment, &rows)?;
        ran += rows.len() as u64;
        rows.clear();
        summaries.drain(..).for_each(|summary| on_event(Event::Finished(summary)));
    }
    Ok(ran)
}

/// Runs jobs side by side. Returns whether it was cancelled.
async fn work(
    context: &Arc<Context>,
    mut jobs: mpsc::Receiver<Job>,
    results: mpsc::Sender<(RunRow, RunSummary)>,
    concurrency: usize,
    cancel: &CancellationToken,
) -> bool {
    let mut tasks = JoinSet::new();
    let mut running: HashMap<Id, Arc<Job>> = HashMap::new();
    let mut more = true;
    loop {
        if !more && tasks.is_empty() {
            return false;
        }
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                tasks.shutdown().await;
                return true;
            }
            Some(joined) = tasks.join_next_with_id(), if !tasks.is_empty() => ended(joined, &mut running),
            job = jobs.recv(), if more && tasks.len() < concurrency => {
                match job {
                    None => more = false,
                    Some(job) => {
                        let job = Arc::new(job);
                        let (context, own) = (context.clone(), job.clone());
                        let task = tasks.spawn(async move { written(&own, one(&context, &own).await) });
                        running.insert(task.id(), job);
                    }
                }
                None
            }
        };
        // If the writer has gone, its error is the answer.
        if let Some(result) = result
            && results.send(result).await.is_err()
        {
            tasks.shutdown().await;
            return false;
        }
    }
}

/// The result of a task, even of one that ended in a panic: such an example has failed, and the others go on.
fn ended(
    joined: Result<(Id, (RunRow, RunSummary)), JoinError>,
    running: &mut HashMap<Id, Arc<Job>>,
) -> Option<(RunRow, RunSummary)> {
    match joined {
        Ok((id, result)) => {
            running.remove(&id);
            Some(result)
        }
        Err(error) => {
            let job = running.remove(&error.id())?;
            let result = failure(&job.example, failed("the program failed while it ran the example"));
            Some(written(&job, result))
        }
    }
}

/// A result as it is written, made by the task so that the writer need not.
fn written(job: &Job, mut result: RunResult) -> (RunRow, RunSummary) {
    result.repetition = job.repetition;
    let row = RunRow::new(job.seq, &mut result);
    let summary = RunSummary {
        example: result.example,
        repetition: result.repetition,
        passed: result.passed,
        status: result.status,
        value: result.value,
        error: result.error,
        duration_millis: result.duration_millis,
    };
    (row, summary)
}

/// Runs one example and evaluates it.
async fn one(context: &Context, job: &Job) -> RunResult {
    let start = Instant::now();
    let (output, fuel) = output(context, job).await;
    let mut result = match output {
        Ok(output) => context.evaluations.evaluate(&job.example, &output).await,
        Err(error) => failure(&job.example, error),
    };
    result.run_fuel = fuel;
    result.duration_millis = start.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
    result
}

/// The output to evaluate, and what making it cost.
async fn output<'a>(context: &Context, job: &'a Job) -> (Result<Cow<'a, Value>, Failure>, u64) {
    let Some(source) = &context.made else {
        let there = match &job.stored {
            Some(stored) => stored.as_ref().map(Cow::Borrowed).map_err(Clone::clone),
            None => job.example.actual.as_ref().map(Cow::Borrowed).ok_or_else(|| failed("the example has no output")),
        };
        return (there, 0);
    };
    let definition = context.evaluations.definition();
    let misfit = |what: &str, violation: callcell_runtime::SchemaViolation| Failure {
        path: Some(violation.path),
        ..failed(format!("{what} must have {}", violation.expected))
    };
    // What the schema makes of the input is what an agent gets: without the keys that it strips.
    let input = match &definition.input {
        None => Cow::Borrowed(&job.example.input),
        Some(schema) => match schema.check(&job.example.input) {
            Ok(input) => input,
            Err(violation) => return (Err(misfit("the input", violation)), 0),
        },
    };
    let produced = source.output(&input).await;
    let output = match (produced.output, &definition.output) {
        (Ok(output), None) => Ok(Cow::Owned(output)),
        (Ok(output), Some(schema)) => match schema.check(&output) {
            Ok(output) => Ok(Cow::Owned(output.into_owned())),
            Err(violation) => Err(misfit("the output", violation)),
        },
        (Err(failure), _) => Err(run_failed(failure)),
    };
    (output, produced.fuel)
}

fn failed(message: impl Into<String>) -> Failure {
    Failure { code: "X_RUN_FAILED".into(), message: message.into(), path: None }
}

/// A run's failure under the one code that a result has for it (7.2), with the code it came with.
fn run_failed(failure: Failure) -> Failure {
    match failure.code.as_str() {
        "X_RUN_FAILED" => failure,
        code => Failure { message: format!("{} ({code})", failure.message), path: failure.path, ..failed("") },
    }
}

/// The result of an example that has no output: evaluators are not called (7.2).
fn failure(example: &Example, error: Failure) -> RunResult {
    RunResult {
        example: example.name.clone(),
        repetition: 0,
        passed: false,
        status: Status::RunFailed,
        value: None,
        error: Some(error),
        output: None,
        evaluators: Vec::new(),
        run_fuel: 0,
        evaluation: EvaluationUsage::default(),
        duration_millis: 0,
    }
}
