//! Experiments: where the outputs of a dataset's examples come from, and what is made of them (7.2).

pub mod endpoint;
