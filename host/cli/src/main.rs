//! The program `callcell`: parse, decide, run, and end with one documented exit code.

mod cli;

use clap::Parser;
use cli::args::{Arguments, Command};
use cli::environment::Environment;
use cli::exit::Exit;
use cli::failure::Failure;
use cli::render::Terminal;
use cli::{build, call, check, dataset, engine, eval, experiment, init, inspect, test};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(shown) => {
            let _ = shown.print();
            return if shown.use_stderr() { Exit::Usage } else { Exit::Ok }.into();
        }
    };
    let terminal = Terminal::new();
    match run(&arguments.command, &terminal) {
        Ok(exit) => exit,
        Err(error) => report(&Failure::from(error), arguments.command.wants_json(), &terminal),
    }
    .into()
}

fn run(command: &Command, terminal: &Terminal) -> anyhow::Result<Exit> {
    let environment = Environment::read()?;
    match command {
        Command::Call(arguments) => call::run(arguments, &environment, terminal)?,
        Command::Init(arguments) => init::run(arguments, terminal)?,
        Command::Check(arguments) => return check::run(arguments, &environment, terminal),
        Command::Test(arguments) => return test::run(arguments, &environment, terminal),
        Command::Build(arguments) => build::run(arguments, &environment, terminal)?,
        Command::Inspect(arguments) => inspect::run(arguments, &environment, terminal)?,
        Command::Eval(arguments) => return eval::run(arguments, &environment, terminal),
        Command::Dataset(arguments) => dataset::run(arguments, &environment, terminal)?,
        Command::Experiment(arguments) => return experiment::run(arguments, &environment, terminal),
        Command::Engine(arguments) => engine::run(arguments, &environment, terminal)?,
    }
    Ok(Exit::Ok)
}

fn report(failure: &Failure, json: bool, terminal: &Terminal) -> Exit {
    if json && failure.exit != Exit::Ok {
        // Whoever closed standard output still gets the exit code.
        let _ = terminal.json(&failure.to_json());
    } else {
        terminal.failure(failure);
    }
    failure.exit
}
