//! `callcell call`: one callback, one argument, one result.

use super::args::CallArguments;
use super::environment::Environment;
use super::failure::{Hint, Problem, UsageView, list};
use super::render::Terminal;
use super::{input, open};
use callcell::compiler::Sources;
use callcell::runtime::{CallError, CallErrorKind, CallOptions, Limits, Manifest, ModuleSet};
use serde::Serialize;
use serde_json::Value;

/// `{"ok":true,"value":…,"usage":{…}}`.
#[derive(Serialize)]
struct Success<'a> {
    ok: bool,
    value: &'a Value,
    /// A selector's undefined members, which JSON cannot carry.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    undefined: &'a [String],
    usage: UsageView,
}

pub fn run(arguments: &CallArguments, environment: &Environment, terminal: &Terminal) -> anyhow::Result<()> {
    open::require_scripts(environment)?;
    let argument = input::read(&arguments.argument)?;
    let limits = limits(arguments, terminal);
    let engine = open::engine(environment, arguments.no_cache, terminal)?;
    let (bundle, modules) = open::load(&engine, open::file(&engine, &arguments.source, terminal)?, &arguments.source)?;
    let callback = resolve(bundle.manifest(), &arguments.callback)?;
    let options = CallOptions {
        limits: Some(limits),
        clock: arguments.clock,
        seed: arguments.seed,
        reveal: arguments.reveal,
        ..CallOptions::default()
    };
    let called = bundle.call_blocking(callback, &argument, &options);
    let (logs, usage) = match &called {
        Ok(outcome) => (&outcome.logs, Some(outcome.usage)),
        Err(error) => (&error.logs, error.usage),
    };
    terminal.logs(logs);
    if let Some(usage) = usage.filter(|_| arguments.report) {
        terminal.usage(&usage, &limits);
    }
    let outcome = called.map_err(|error| with_names(in_typescript(error, &modules).into(), bundle.manifest()))?;
    if arguments.json {
        let (value, undefined) = (&outcome.value, outcome.undefined.as_slice());
        terminal.json(&Success { ok: true, value, undefined, usage: outcome.usage.into() })?;
    } else {
        if !outcome.undefined.is_empty() {
            terminal.note(&format!("undefined, and null in the result: {}", list(&outcome.undefined)));
        }
        terminal.json(&outcome.value)?;
    }
    Ok(())
}

/// What was thrown, with its stack in the places of the author's files.
pub fn in_typescript(mut error: CallError, modules: &ModuleSet) -> CallError {
    if let CallErrorKind::Threw { detail: Some(thrown) } = &mut error.kind {
        thrown.stack = Sources::new(modules).stack(&thrown.stack);
    }
    error
}

/// The limits in force: the platform's, lowered.
fn limits(arguments: &CallArguments, terminal: &Terminal) -> Limits {
    let platform = Limits::default();
    let asked = Limits {
        time: arguments.timeout.unwrap_or(platform.time),
        fuel: arguments.fuel.unwrap_or(platform.fuel),
        ..platform
    };
    if asked != asked.lowered_to(platform) {
        terminal.warning("a limit can be lowered, not raised; the platform's holds");
    }
    asked.lowered_to(platform)
}

/// The callback a name means: the one with that name, else the only one whose last segment it is. A name that means
/// none is left to the runtime, which knows the nearest.
pub fn resolve<'a>(manifest: &'a Manifest, name: &'a str) -> Result<&'a str, Problem> {
    let names = || manifest.callbacks.iter().map(|callback| callback.name.as_str());
    if names().any(|declared| declared == name) {
        return Ok(name);
    }
    let matches: Vec<_> = names().filter(|declared| declared.rsplit('.').next() == Some(name)).collect();
    match matches[..] {
        [] => Ok(name),
        [only] => Ok(only),
        _ => Err(Problem::AmbiguousCallback {
            name: name.to_owned(),
            matches: matches.into_iter().map(str::to_owned).collect(),
        }),
    }
}

/// Tells which callbacks there are, where no name is like the one asked for.
pub fn with_names(error: anyhow::Error, manifest: &Manifest) -> anyhow::Error {
    let kind = error.downcast_ref::<CallError>().map(|error| &error.kind);
    if !matches!(kind, Some(CallErrorKind::UnknownCallback { nearest: None, .. })) {
        return error;
    }
    let names: Vec<_> = manifest.callbacks.iter().map(|callback| &callback.name).collect();
    error.context(Hint(match names.len() {
        0 => "it declares none".into(),
        _ => format!("it declares {}", list(&names)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest(names: &[&str]) -> Manifest {
        let callbacks: Vec<_> = names.iter().map(|name| json!({ "name": name, "kind": "tool" })).collect();
        serde_json::from_value(json!({ "format": 1, "callbacks": callbacks })).unwrap()
    }

    #[test]
    fn a_last_segment_is_enough_where_it_is_unambiguous() {
        let manifest = manifest(&["a.evaluators.fields", "b.evaluators.fields", "b.evaluators.meaning", "fields2"]);
        let found = |name| resolve(&manifest, name).map(str::to_owned);
        assert_eq!(found("meaning").unwrap(), "b.evaluators.meaning");
        assert_eq!(found("fields2").unwrap(), "fields2");
        assert_eq!(found("a.evaluators.fields").unwrap(), "a.evaluators.fields");
        assert_eq!(found("none").unwrap(), "none");
        assert_eq!(found("").unwrap(), "");
        assert!(matches!(found("fields"), Err(Problem::AmbiguousCallback { matches, .. }) if matches.len() == 2));
    }

    #[test]
    fn a_whole_name_wins_over_a_last_segment() {
        assert_eq!(resolve(&manifest(&["a.fields", "fields"]), "fields").unwrap(), "fields");
    }
}
