//! What an experiment is to do, written down before it starts.

use super::Source;
use crate::definition::{Definition, DefinitionError};
use crate::evaluate::{Evaluations, JudgeMissing};
use crate::judge::{ModelConnection, Patience};
use crate::store::{Dataset, Experiment, NewExperiment, Store, StoreError};
use callcell_runtime::{BundleError, BundleFile, CallbackKind, Engine};
use serde_json::{Value, json};
use std::sync::Arc;
use thiserror::Error;

/// How many examples run at once where nobody says otherwise (D-77).
pub const DEFAULT_CONCURRENCY: u32 = 4;
/// The most examples that run at once. More than a machine has cells for only wait.
pub const MAX_CONCURRENCY: u32 = 1_024;
/// The most repetitions of an example.
pub const MAX_REPEAT: u32 = 10_000;

/// What an experiment is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The examples. What is imported later is not among them.
    pub dataset: Dataset,
    /// The names of those to run; none for all.
    pub examples: Option<Vec<String>>,
    /// How often each is run, at least once.
    pub repeat: u32,
    /// How many run at once, at least one.
    pub concurrency: u32,
    /// Where outputs come from.
    pub source: Source,
    /// The agent, by export or name; none for the default one.
    pub agent: Option<String>,
}

impl Plan {
    /// All examples once, four at a time (D-77).
    pub fn new(dataset: Dataset, source: Source) -> Self {
        Self { dataset, examples: None, repeat: 1, concurrency: DEFAULT_CONCURRENCY, source, agent: None }
    }

    /// The outputs of an experiment, scored again without running anything (D-79). Examples and repetitions are those of that experiment,
    /// whatever the plan says of them later.
    pub fn rescore(experiment: &Experiment) -> Self {
        Self {
            dataset: experiment.dataset.clone(),
            examples: None,
            repeat: experiment.repeat,
            concurrency: experiment.concurrency,
            source: Source::Stored { experiment: experiment.id.clone() },
            agent: Some(experiment.agent.clone()),
        }
    }
}

/// An experiment that cannot be made or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bundle has no such evaluations.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The bundle cannot be loaded.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A judge is missing (D-65).
    #[error(transparent)]
    Judge(#[from] JudgeMissing),
    /// A number is out of range.
    #[error("the {what} must be from 1 to {most}")]
    Range {
        /// `repetitions` or `concurrency`.
        what: &'static str,
        /// The most.
        most: u32,
    },
    /// The bundle has no such tool.
    #[error("the bundle declares no tool `{callback}`")]
    UnknownTool {
        /// What was asked for.
        callback: String,
    },
    /// The experiment's outputs come from somebody whom the host has not brought.
    #[error("the experiment's outputs come from `{address}`, and there is no way to ask there")]
    SourceMissing {
        /// Who.
        address: String,
    },
    /// A part of the program that runs the experiment has ended early. What was reported as finished is kept.
    #[error("the experiment was broken off by a mistake in the program: {what}")]
    Broken {
        /// Which part.
        what: &'static str,
    },
}

impl ExperimentError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Definition(error) => error.code(),
            Self::Bundle(error) => error.code(),
            Self::Judge(error) => error.code(),
            Self::Range { .. } => "X_PLAN_INVALID",
            Self::UnknownTool { .. } => "X_UNKNOWN_TOOL",
            Self::SourceMissing { .. } => "X_SOURCE_MISSING",
            Self::Broken { .. } => "X_BROKEN",
        }
    }
}

/// Writes an experiment down. Nothing of it is run yet. The bundle is kept with it, so that resuming and scoring again use the same one,
/// whatever becomes of the project.
///
/// # Errors
/// When the plan does not fit the bundle or the dataset, or the store cannot be written.
pub fn create(store: &Store, bundle: &BundleFile, plan: &Plan) -> Result<Experiment, ExperimentError> {
    for (what, number, most) in
        [("repetitions", plan.repeat, MAX_REPEAT), ("concurrency", plan.concurrency, MAX_CONCURRENCY)]
    {
        if !(1..=most).contains(&number) {
            return Err(ExperimentError::Range { what, most });
        }
    }
    let definition = Definition::of(&bundle.manifest, plan.agent.as_deref())?;
    if let Source::Tool { callback } = &plan.source {
        let tools = bundle.manifest.callbacks.iter().filter(|declared| declared.kind == CallbackKind::Tool);
        if !tools.into_iter().any(|tool| tool.name == *callback) {
            return Err(ExperimentError::UnknownTool { callback: callback.chars().take(200).collect() });
        }
    }
    let (dataset, selection, repeat) = match &plan.source {
        Source::Stored { experiment } => {
            let old = store.experiment(experiment)?;
            let selection = store.selection(&old)?;
            (old.dataset, selection, old.repeat)
        }
        _ => {
            let names = plan.examples.as_ref();
            let selection = names.map(|names| store.numbers(&plan.dataset, names)).transpose()?;
            (plan.dataset.clone(), selection, plan.repeat)
        }
    };
    let digest = store.put_bundle(&bundle.to_bytes()?)?;
    Ok(store.create(&NewExperiment {
        dataset: &dataset,
        selection: selection.as_deref(),
        repeat,
        concurrency: plan.concurrency,
        source: &plan.source,
        bundle: &digest,
        agent: &definition.export,
        definition: &shown(bundle, &definition),
    })?)
}

/// What the manifest says of the evaluations, without schemas and instructions.
fn shown(bundle: &BundleFile, definition: &Definition) -> Value {
    let agent = bundle.manifest.agents.iter().find(|agent| agent["export"] == definition.export.as_str());
    let part = |name: &str| agent.and_then(|agent| agent.get(name)).cloned().unwrap_or_default();
    json!({ "name": definition.agent, "evaluators": part("evaluators"), "pass": part("pass") })
}

/// Gets an experiment's evaluations ready, from the bundle it was made with.
///
/// # Errors
/// When the bundle is damaged or a judge is missing.
pub fn open(
    store: &Store,
    experiment: &Experiment,
    engine: &Engine,
    judge: Option<Arc<dyn ModelConnection>>,
    patience: Patience,
) -> Result<Evaluations, ExperimentError> {
    let file = BundleFile::from_bytes(&store.bundle(experiment)?)?;
    let definition = Definition::of(&file.manifest, Some(&experiment.agent))?;
    Ok(Evaluations::new(engine.load(file)?, definition, judge, patience)?)
}
