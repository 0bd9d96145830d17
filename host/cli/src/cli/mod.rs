//! The parts of the program: one file per command, and what commands share.

pub mod args;
pub mod build;
pub mod call;
pub mod check;
pub mod dataset;
pub mod engine;
pub mod environment;
pub mod eval;
pub mod exit;
pub mod experiment;
pub mod failure;
pub mod files;
pub mod init;
pub mod input;
pub mod inspect;
pub mod judge;
pub mod open;
pub mod render;
pub mod report;
pub mod run;
pub mod store;
pub mod table;
pub mod test;
pub mod watch;
