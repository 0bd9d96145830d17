//! Evaluations end to end: an agent compiled from TypeScript, its callbacks in cells, a judge, one verdict.

mod agents;
mod evaluate;
mod experiment;
mod store;
