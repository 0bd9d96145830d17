//! Exit codes. They are part of the program's contract: a number never changes its meaning.

use std::process::ExitCode;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Ok = 0,
    /// The call failed, with a code that starts with `R_` or `E_`; or `check` found errors, or a case of `test` failed, or too few runs
    /// of an experiment passed.
    Failed = 1,
    /// The command line, the arguments or the environment cannot be understood; or an experiment's deadline was reached (D-82).
    Usage = 2,
    /// The project does not compile, with a code that starts with `C_`.
    DoesNotCompile = 3,
    /// The engine or a file could not be used.
    Unusable = 4,
    /// Ctrl-C, as shells number it.
    Interrupted = 130,
}

/// The codes, for `--help`.
pub const HELP: &str = "\
Exit codes:
  0  it worked
  1  the call failed (codes R_… and E_…), `check` found errors, a case of `test` failed, too few runs passed
  2  the command line, the arguments or the environment cannot be understood; a deadline was reached
  3  the project does not compile (codes C_…)
  4  the engine or a file could not be used
  130  Ctrl-C";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
