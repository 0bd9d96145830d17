//! Experiments: an agent's evaluations over the examples of a dataset (7.2).
//!
//! [`create`] writes down what is to be run, [`open`] gets the evaluations ready from the bundle that was written down, and [`run`] runs what
//! has no result yet. So resuming is running again, and a process that is killed loses the runs in flight and nothing else.
//!
//! Where an output comes from is a [`Source`]: it is there already, a tool of the bundle makes it, or the host asks somebody through an
//! [`OutputSource`]. Whoever makes it gets an example's input and nothing else of it (EV-86).

pub mod endpoint;
mod plan;
mod run;
mod source;

pub use plan::{DEFAULT_CONCURRENCY, ExperimentError, MAX_CONCURRENCY, MAX_REPEAT, Plan, create, open};
pub use run::{Control, Ended, Event, Mode, RunSummary, cancel, run};
pub use source::{OutputSource, Produced, Source, ToolSource};
