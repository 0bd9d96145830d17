//! The command line, as plain data.

use super::{environment, exit};
use clap::{Args, Parser, Subcommand};
use jiff::{SignedDuration, Timestamp};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The latest time a cell's clock can show, in milliseconds from 1970: it counts nanoseconds in 64 bits.
const MAX_CLOCK_MILLIS: u64 = u64::MAX / 1_000_000;

/// Runs small pieces of TypeScript somebody else wrote, without trusting a line of it.
#[derive(Debug, Parser)]
#[command(name = "callcell", version, after_help = after_help(), subcommand_required = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Call one callback of a project or a bundle and print its result as JSON.
    #[command(after_help = after_help())]
    Call(CallArguments),
    /// Write a new project: types, a working example, inputs to test it with.
    #[command(after_help = after_help())]
    Init(InitArguments),
    /// Compile a project and report everything that is wrong with it.
    #[command(after_help = after_help())]
    Check(CheckArguments),
    /// Run callbacks on example inputs from JSON files, and compare with what is expected.
    #[command(after_help = format!("{TEST_HELP}\n\n{}", after_help()))]
    Test(TestArguments),
    /// Compile a project to a bundle.
    #[command(after_help = after_help())]
    Build(BuildArguments),
    /// Show what a bundle or a project declares.
    #[command(after_help = after_help())]
    Inspect(InspectArguments),
    /// Precompile the engine for hosts without a compiler and print its digest.
    #[command(after_help = after_help())]
    Engine(EngineArguments),
}

impl Command {
    /// Whether standard output must be one JSON object, whatever happens.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Call(arguments) => arguments.json,
            Self::Init(_) => false,
            Self::Check(arguments) => arguments.json,
            Self::Test(arguments) => arguments.json,
            Self::Build(arguments) => arguments.json,
            Self::Inspect(arguments) => arguments.json,
            Self::Engine(arguments) => arguments.json,
        }
    }
}

#[derive(Debug, Args)]
pub struct CallArguments {
    /// The project's folder or entry module (`tools.ts`), or a bundle (`tools.cell`).
    #[arg(value_name = "PROJECT_OR_BUNDLE")]
    pub source: PathBuf,
    /// The callback's name. Its last segment is enough where only one callback ends with it.
    pub callback: String,
    /// The argument as JSON; `@FILE` reads it from a file, `-` from standard input.
    #[arg(value_name = "ARGUMENTS", allow_negative_numbers = true)]
    pub argument: String,
    /// Print what the call cost, each figure beside its limit, on standard error.
    #[arg(long)]
    pub report: bool,
    /// Print one JSON object on standard output, whether the call works or fails.
    #[arg(long)]
    pub json: bool,
    /// Seed of `Math.random`. Without one every call has another.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The clock the callback sees: RFC 3339, or milliseconds from 1970.
    #[arg(long, value_name = "TIME", value_parser = clock, allow_negative_numbers = true)]
    pub clock: Option<SystemTime>,
    /// A shorter time limit, such as `500ms`.
    #[arg(long, value_name = "DURATION", value_parser = timeout)]
    pub timeout: Option<Duration>,
    /// A lower fuel limit.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub fuel: Option<u64>,
    /// Show what the callback threw. The text may hold data of the argument.
    #[arg(long)]
    pub reveal: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct InitArguments {
    /// The project's folder. It is made if it does not exist; nothing in it is overwritten.
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The project's folder or entry module.
    #[arg(default_value = ".")]
    pub project: PathBuf,
    /// Check again whenever a source changes.
    #[arg(long)]
    pub watch: bool,
    /// Print one JSON object on standard output for each check.
    #[arg(long)]
    pub json: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct TestArguments {
    /// The project's folder or entry module, or a bundle.
    #[arg(value_name = "PROJECT_OR_BUNDLE", default_value = ".")]
    pub source: PathBuf,
    /// Folder of the inputs. By default `inputs` in the project's root, or beside the bundle.
    #[arg(long, value_name = "FOLDER")]
    pub inputs: Option<PathBuf>,
    /// Run only cases whose name contains this text, such as `calculateTotal/` or `rounding`.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Print one JSON object on standard output, whether the cases pass or fail.
    #[arg(long)]
    pub json: bool,
    /// Show what callbacks threw. The text may hold data of the inputs.
    #[arg(long)]
    pub reveal: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct InspectArguments {
    /// A bundle, or a project's folder or entry module.
    #[arg(value_name = "BUNDLE_OR_PROJECT", default_value = ".")]
    pub source: PathBuf,
    /// Print one JSON object on standard output: the whole manifest.
    #[arg(long)]
    pub json: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct BuildArguments {
    /// The project's folder or entry module, such as `tools.ts`.
    #[arg(default_value = ".")]
    pub project: PathBuf,
    /// The bundle's file; its name ends with `.cell`. By default the entry's name, in the working folder.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print one JSON object on standard output, whether it works or fails.
    #[arg(long)]
    pub json: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct EngineArguments {
    /// Write the precompiled engine to this file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print how the engine is set up on this machine instead of the digest alone.
    #[arg(long)]
    pub report: bool,
    /// Print one JSON object on standard output, whether it works or fails.
    #[arg(long)]
    pub json: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

/// The files of `callcell test`.
const TEST_HELP: &str = "\
Inputs:
  inputs/CALLBACK/CASE.json           the argument
  inputs/CALLBACK/CASE.expected.json  the result it must give; members that are undefined count as absent
  inputs/CALLBACK/CASE.error.json     or the failure: {\"code\":\"R_INPUT_SCHEMA\",\"path\":\"$.subtotal\"}; the path may be left out

  A case with neither passes if the call works.";

fn after_help() -> String {
    format!("{}\n\n{}", exit::HELP, environment::help())
}

fn clock(text: &str) -> Result<SystemTime, String> {
    let millis = match text.parse::<i64>() {
        Ok(millis) => millis,
        Err(_) => text
            .parse::<Timestamp>()
            .map_err(|error| format!("{error}; give a time such as `2026-01-31T12:00:00Z`, or milliseconds"))?
            .as_millisecond(),
    };
    match u64::try_from(millis) {
        Ok(millis) if millis <= MAX_CLOCK_MILLIS => SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_millis(millis))
            .ok_or_else(|| "this machine's clock cannot hold that time".into()),
        Ok(_) => Err("a cell's clock ends in July 2554".into()),
        Err(_) => Err("a cell's clock begins in 1970".into()),
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    let duration = text
        .parse::<SignedDuration>()
        .map_err(|error| format!("{error}; give a number and a unit, such as `500ms`"))?;
    match Duration::try_from(duration) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("it must be longer than zero".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn clocks_are_rfc_3339_or_milliseconds() {
        let millis = |text| clock(text).ok()?.duration_since(SystemTime::UNIX_EPOCH).ok().map(|it| it.as_millis());
        assert_eq!(millis("1500"), Some(1500));
        assert_eq!(millis("1970-01-01T02:00:01.5+02:00"), Some(1500));
        assert_eq!(millis("18446744073709"), Some(18_446_744_073_709));
        for wrong in ["", "now", "1970-01-01", "18446744073710", "-1", "1e3"] {
            assert!(clock(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn timeouts_have_units_and_are_positive() {
        assert_eq!(timeout("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(timeout("1.5s"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "500", "0ms", "-1s", "soon"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }
}
