//! Evaluations of agent outputs: scores, the comparator behind `exactDiff`, and the decision whether an example passed.
//!
//! [`definition::Definition`] reads an agent's evaluators and its pass rule from a bundle's manifest, [`model`] holds examples and results as
//! plain data, and [`Score`] is a number from 0 to 1, checked and never clamped. All of it is pure: no I/O, no clock, no randomness.
#![deny(missing_docs)]

pub mod dataset;
pub mod definition;
pub mod judge;
pub mod model;
pub mod report;
mod score;

pub use score::{Score, ScoreInvalid};
