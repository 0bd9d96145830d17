//! The cell: what a callback may do, what it may not, and what the host makes of it. One module per subject.

mod arguments;
mod boundary;
mod environment;
mod fuel;
mod isolation;
mod language;
mod limits;
mod pool;
mod privacy;
mod reports;
mod scores;
