//! The parts of the program: one file per command, and what commands share.

pub mod args;
pub mod build;
pub mod call;
pub mod check;
pub mod engine;
pub mod environment;
pub mod exit;
pub mod failure;
pub mod files;
pub mod init;
pub mod input;
pub mod inspect;
pub mod open;
pub mod render;
pub mod table;
pub mod test;
pub mod watch;
