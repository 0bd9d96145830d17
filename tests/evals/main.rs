//! Evaluations end to end: an agent compiled from TypeScript, its callbacks in cells, a judge, one verdict.

mod endpoint_http;
mod evaluate;
mod judge_http;
mod loopback;
