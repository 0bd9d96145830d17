//! Evaluations end to end: an agent compiled from TypeScript, its callbacks in cells, a judge, one verdict.

mod agents;
mod endpoint_http;
mod evaluate;
mod experiment;
mod judge_http;
mod loopback;
mod store;
