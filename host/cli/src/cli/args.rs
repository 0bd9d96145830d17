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
    /// Evaluate an agent's outputs over a dataset, and say whether they pass.
    #[command(after_help = format!("{EVAL_HELP}\n\n{}", after_help()))]
    Eval(EvalArguments),
    /// Import, list and export datasets.
    #[command(after_help = format!("{DATASET_HELP}\n\n{}", after_help()))]
    Dataset(DatasetArguments),
    /// Look at experiments, go on with them, score them again, compare them.
    #[command(after_help = after_help())]
    Experiment(ExperimentArguments),
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
            Self::Eval(arguments) => arguments.run.report.json,
            Self::Dataset(arguments) => match &arguments.command {
                DatasetCommand::Import(arguments) => arguments.json,
                DatasetCommand::List(arguments) => arguments.json,
                DatasetCommand::Export(_) => false,
            },
            Self::Experiment(arguments) => match &arguments.command {
                ExperimentCommand::List(arguments) => arguments.json,
                ExperimentCommand::Show(arguments) => arguments.report.json,
                ExperimentCommand::Resume(arguments) => arguments.run.report.json,
                ExperimentCommand::Rescore(arguments) => arguments.run.report.json,
                ExperimentCommand::Compare(arguments) => arguments.json,
            },
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

#[derive(Debug, Args)]
pub struct StoreArguments {
    /// The file of datasets and experiments. Documents and bundles lie in a folder beside it.
    #[arg(long, value_name = "FILE", env = environment::STORE.name, default_value = "callcell.db", hide_env = true)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct EvalArguments {
    /// The project's folder or entry module, or a bundle.
    #[arg(value_name = "PROJECT_OR_BUNDLE", default_value = ".")]
    pub source: PathBuf,
    /// The examples: the name of a dataset in the store, or a folder or `.jsonl` file, which is imported first.
    #[arg(long, value_name = "DATASET")]
    pub data: String,
    /// The agent, by export or name. By default the default export, or the only agent with evaluators.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Run this tool of the bundle on each example's input, instead of taking the output that the example has.
    #[arg(long, value_name = "CALLBACK", conflicts_with = "endpoint")]
    pub tool: Option<String>,
    /// Send each example's input, and nothing else of it, to this address, and take the JSON that comes back.
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// Run only these examples.
    #[arg(long, value_name = "EXAMPLE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Run each example so often.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub repeat: u32,
    /// Run so many examples at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub concurrency: u32,
    #[command(flatten)]
    pub run: RunArguments,
}

/// How an experiment is run, and what is written about it.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub report: ReportArguments,
    /// Print each finished run as a line of JSON on standard output while the experiment runs.
    #[arg(long, conflicts_with = "json")]
    pub events: bool,
    /// Stop after this time. What is finished is kept, and `experiment resume` goes on.
    #[arg(long, value_name = "DURATION", value_parser = timeout)]
    pub deadline: Option<Duration>,
    /// How long an endpoint may take for one output.
    #[arg(long, value_name = "DURATION", value_parser = timeout, default_value = "120s")]
    pub endpoint_timeout: Duration,
    /// The judge's service: what stands before `/chat/completions`.
    #[arg(long, value_name = "URL", env = environment::JUDGE_URL.name, hide_env = true)]
    pub judge_url: Option<String>,
    /// The judge's models; the first is taken where an evaluator names none.
    #[arg(long, value_name = "MODEL", value_delimiter = ',', env = environment::JUDGE_MODELS.name, hide_env = true)]
    pub judge_model: Vec<String>,
    /// Ask the judge again where its reply to an equal request is known.
    #[arg(long)]
    pub fresh_judge: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

/// What is said about an experiment.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The share of runs that must pass.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "1")]
    pub min_pass_rate: f64,
    /// Write a page for people to this file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write everything as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write a row for each run and evaluator to this file.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write JUnit XML for a CI system to this file.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print one JSON object on standard output: the summary, or the failure.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DatasetArguments {
    #[command(subcommand)]
    pub command: DatasetCommand,
}

#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// Import a folder of examples or a file of JSON lines: all of it, or nothing.
    #[command(after_help = DATASET_HELP)]
    Import(DatasetImportArguments),
    /// List the datasets.
    List(DatasetListArguments),
    /// Write a dataset's examples as JSON lines, or as a folder with their documents.
    Export(DatasetExportArguments),
}

#[derive(Debug, Args)]
pub struct DatasetImportArguments {
    /// A folder with `examples/NAME/input.json`, or a file of JSON lines; `-` reads lines from standard input.
    pub path: PathBuf,
    /// The dataset's name. By default the folder's or the file's.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Put the examples behind those that are there, instead of making a new version.
    #[arg(long)]
    pub append: bool,
    /// Check the examples against the schemas of this project's or bundle's agent.
    #[arg(long, value_name = "PROJECT_OR_BUNDLE")]
    pub r#for: Option<PathBuf>,
    /// The agent, by export or name.
    #[arg(long, value_name = "NAME", requires = "for")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Print one JSON object on standard output, whether it works or fails.
    #[arg(long)]
    pub json: bool,
    /// Compile the engine in memory; neither read nor write the cache.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Debug, Args)]
pub struct DatasetListArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DatasetExportArguments {
    /// The dataset's name.
    pub name: String,
    /// An older version.
    #[arg(long, value_name = "NUMBER")]
    pub version: Option<u64>,
    /// Write a folder, with the documents, instead of lines to standard output. It must not exist, or be empty.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Args)]
pub struct ExperimentArguments {
    #[command(subcommand)]
    pub command: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// List the experiments, the newest first.
    List(ExperimentListArguments),
    /// Show what came of an experiment.
    Show(ExperimentShowArguments),
    /// Go on with an experiment that was stopped: what is finished is not run again.
    Resume(ExperimentResumeArguments),
    /// Score an experiment's outputs again, with its own evaluations or a project's. Nothing is run again.
    Rescore(ExperimentRescoreArguments),
    /// Compare the scores of two experiments.
    Compare(ExperimentCompareArguments),
}

#[derive(Debug, Args)]
pub struct ExperimentListArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// How many at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub limit: u32,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExperimentShowArguments {
    /// The experiment's id; `last` for the newest one.
    pub experiment: String,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub report: ReportArguments,
}

#[derive(Debug, Args)]
pub struct ExperimentResumeArguments {
    /// The experiment's id; `last` for the newest one.
    pub experiment: String,
    /// Run those again too that ended without a decision.
    #[arg(long)]
    pub errors: bool,
    #[command(flatten)]
    pub run: RunArguments,
}

#[derive(Debug, Args)]
pub struct ExperimentRescoreArguments {
    /// The experiment's id; `last` for the newest one.
    pub experiment: String,
    /// A project or a bundle with other evaluations. By default the experiment's own.
    #[arg(long, value_name = "PROJECT_OR_BUNDLE")]
    pub with: Option<PathBuf>,
    /// The agent, by export or name. By default the experiment's.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub run: RunArguments,
}

#[derive(Debug, Args)]
pub struct ExperimentCompareArguments {
    /// The experiment to start from.
    pub before: String,
    /// The experiment to compare it with.
    pub after: String,
    /// A difference of more than this is a change.
    #[arg(long, value_name = "NUMBER", value_parser = share, default_value = "0.05")]
    pub threshold: f64,
    /// The order of the scores.
    #[arg(long, value_enum, default_value_t)]
    pub sort: Sort,
    /// Write a page for people to this file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// The order of a comparison.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub enum Sort {
    /// The largest change first.
    #[default]
    Change,
    /// The worst regression first.
    Worst,
    /// The best improvement first.
    Best,
    /// By example and evaluator.
    Name,
}

/// The files of `callcell eval`.
const EVAL_HELP: &str = "\
Examples as JSON lines, one object each:
  {\"name\": \"first\", \"input\": {…}, \"actual\": {…}, \"expected\": {…}}
  `actual` is an output that exists already; without --tool and --endpoint that is what is evaluated.

It ends with 0 if enough runs pass (--min-pass-rate), with 1 if not, with 2 if --deadline was reached.
Ctrl-C stops it cleanly, with 130: what is finished is kept, and `callcell experiment resume last` goes on.";

/// The formats of `callcell dataset`.
const DATASET_HELP: &str = "\
A folder of examples:
  examples/NAME/input.json      an object
  examples/NAME/input/…         documents that it names as {\"$file\": \"input/…\"}
  examples/NAME/expected.json   a part of the right answer; may be missing
  examples/NAME/meta.json       {\"rowOrder\": 3, \"annotation\": \"…\"}; may be missing

Or a file of JSON lines:
  {\"name\": \"first\", \"input\": {…}, \"actual\": {…}, \"expected\": {…}}";

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

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it must be a number from 0 to 1".into()),
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
