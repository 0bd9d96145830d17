//! Runs an experiment for `eval`, `experiment resume` and `experiment rescore`: progress, Ctrl-C, deadline, and what is said at the end.

use super::args::RunArguments;
use super::exit::Exit;
use super::failure::Hint;
use super::judge::{self, Judge};
use super::render::Terminal;
use super::report;
use callcell::evals::definition::{Definition, Method};
use callcell::evals::evaluate::JudgeMissing;
use callcell::evals::experiment::endpoint::Endpoint;
use callcell::evals::experiment::{self, Control, Event, ExperimentError, Mode, OutputSource, Produced, Source};
use callcell::evals::judge::{BoxFuture, ConnectionError};
use callcell::evals::store::{Experiment, ExperimentStatus, Store};
use callcell::runtime::{CancellationToken, Engine};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Everything that an experiment needs beside itself.
pub struct Evaluator<'a> {
    arguments: &'a RunArguments,
    store: &'a Arc<Store>,
    engine: Engine,
    judge: Judge,
    terminal: &'a Terminal,
}

/// An agent behind HTTP as a source of outputs.
struct Agent {
    endpoint: Endpoint,
    within: Duration,
}

impl OutputSource for Agent {
    fn output<'a>(&'a self, input: &'a Value) -> BoxFuture<'a, Produced> {
        Box::pin(async move { Produced { output: self.endpoint.run(input, self.within).await, fuel: 0 } })
    }
}

/// Why an experiment was stopped.
const NOT: u8 = 0;
const INTERRUPT: u8 = 1;
const DEADLINE: u8 = 2;

impl<'a> Evaluator<'a> {
    pub fn new(
        arguments: &'a RunArguments,
        store: &'a Arc<Store>,
        engine: Engine,
        terminal: &'a Terminal,
    ) -> anyhow::Result<Self> {
        Ok(Self { arguments, store, engine, judge: Judge::configured(arguments, store)?, terminal })
    }

    /// Whether every judge of a definition can be asked (D-65).
    pub fn require_judge(&self, definition: &Definition) -> anyhow::Result<()> {
        for evaluator in &definition.evaluators {
            let Method::LlmJudge { model, .. } = &evaluator.method else { continue };
            let available = match &self.judge.connection {
                Some(connection) => connection.available(model.as_deref()).map(drop),
                None => Err(ConnectionError::Unavailable { what: "no connection to a model is configured" }),
            };
            if let Err(source) = available {
                let missing = JudgeMissing { evaluator: evaluator.name.clone(), source };
                return Err(anyhow::Error::from(missing).context(Hint(judge::hint())));
            }
        }
        Ok(())
    }

    /// Runs what is missing of an experiment, and tells what came of all of it.
    pub fn run(&self, experiment: &Experiment, mode: Mode) -> anyhow::Result<Exit> {
        let made: Option<Arc<dyn OutputSource>> = match &experiment.source {
            Source::Endpoint { address } => {
                let key = judge::endpoint_key()?;
                let endpoint = Endpoint::new(judge::url(address, "--endpoint")?, key.as_ref())?;
                Some(Arc::new(Agent { endpoint, within: self.arguments.endpoint_timeout }))
            }
            _ => None,
        };
        let connection = self.judge.connection.clone();
        let evaluations = experiment::open(self.store, experiment, &self.engine, connection, judge::patience())
            .map_err(|error| match error {
                ExperimentError::Judge(_) => anyhow::Error::from(error).context(Hint(judge::hint())),
                error => error.into(),
            })?;
        let stopped = Arc::new(AtomicU8::new(NOT));
        let control = Control { mode, ..Control::default() };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let ended = runtime.block_on(async {
            let _watch = Watch::start(&control.cancel, self.arguments.deadline, &stopped);
            let on_event = self.on_event();
            experiment::run(self.store, &experiment.id, Arc::new(evaluations), made, &control, on_event).await
        });
        // An answer that is still on its way would be waited for.
        runtime.shutdown_background();
        let ended = ended?;
        self.judge.tell(self.terminal);
        let experiment = self.store.experiment(&experiment.id)?;
        let exit = report::tell(self.store, &experiment, &self.arguments.report, self.terminal)?;
        if ended.status == ExperimentStatus::Completed {
            return Ok(exit);
        }
        let (why, exit) = match stopped.load(Ordering::Relaxed) {
            DEADLINE => ("the deadline was reached", Exit::Usage),
            _ => ("it was stopped", Exit::Interrupted),
        };
        let id = &experiment.id;
        self.terminal.warning(&format!("{why}; `callcell experiment resume {id}` goes on where it ended"));
        Ok(exit)
    }

    /// A progress bar for people, lines of JSON for machines.
    fn on_event(&self) -> impl FnMut(Event) + Send + 'static {
        let bar = self.terminal.progress(0);
        let lines = self.arguments.events;
        let (mut failed, mut errors) = (0_u64, 0_u64);
        move |event| {
            if lines && let Ok(line) = serde_json::to_string(&event) {
                // Whoever closed standard output does not stop the experiment.
                use std::io::Write;
                let _ = writeln!(std::io::stdout().lock(), "{line}");
            }
            match event {
                Event::Started { total, finished, .. } => {
                    bar.set_length(total);
                    bar.set_position(finished);
                }
                Event::Finished(run) => {
                    bar.inc(1);
                    errors += u64::from(run.error.is_some());
                    failed += u64::from(run.error.is_none() && !run.passed);
                    if failed + errors > 0 {
                        bar.set_message(format!("{failed} failed, {errors} errors"));
                    }
                }
                Event::Ended(_) => bar.finish_and_clear(),
            }
        }
    }
}

/// Listens for Ctrl-C and the deadline while an experiment runs.
struct Watch(tokio::task::JoinHandle<()>);

impl Watch {
    fn start(cancel: &CancellationToken, deadline: Option<Duration>, stopped: &Arc<AtomicU8>) -> Self {
        let (cancel, stopped) = (cancel.clone(), stopped.clone());
        Self(tokio::spawn(async move {
            let late = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep(deadline).await,
                    None => std::future::pending().await,
                }
            };
            let why = tokio::select! {
                pressed = tokio::signal::ctrl_c() => match pressed {
                    Ok(()) => INTERRUPT,
                    // Nobody can be listened to; the experiment runs to its end.
                    Err(_) => return,
                },
                () = late => DEADLINE,
            };
            stopped.store(why, Ordering::Relaxed);
            cancel.cancel();
            // Somebody who presses it again does not want to wait. What is finished is in the store already.
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(Exit::Interrupted as i32);
            }
        }))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}
