//! Helpers of the integration tests: one engine for a whole test binary, and callbacks made from a line of JavaScript.
//!
//! A helper fails loudly: what a test does not expect is a panic with the error in it.

use callcell_runtime::{
    Bundle, BundleFile, CallError, CallErrorKind, CallOptions, CallbackKind, Engine, EngineConfig, EvaluateError,
    Evaluation, ModuleSet, ModuleSource, Outcome,
};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The variable that tells a child process which test to run (see [`alone`]).
const ALONE: &str = "CALLCELL_TEST_ALONE";

/// A configuration that finds the compiled guest in the target folder, with a pool that suits a test.
pub fn config() -> EngineConfig {
    let cache_dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tmp/callcell-engine"));
    EngineConfig { cells: 64, warm_memories: 64, cache_dir: Some(cache_dir), ..EngineConfig::default() }
}

/// An engine of the test's own.
pub fn engine_with(config: EngineConfig) -> Engine {
    Engine::new(config).expect("the engine starts")
}

/// The engine that the tests of a binary share.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| engine_with(config()))
}

/// A project of one module, which may import the SDK and, where its text says so, Zod.
pub fn module(source: &str) -> ModuleSet {
    modules(&[("main.js", source)])
}

/// A project of several modules; the first is the entry. They may import each other as `./name`, the SDK and Zod.
pub fn modules(sources: &[(&str, &str)]) -> ModuleSet {
    let modules = sources.iter().map(|(name, source)| {
        let local = sources.iter().map(|(other, _)| (format!("./{other}"), (*other).to_owned()));
        let packages = ["@eigenpal/automations", "zod"].into_iter().map(|name| (name.to_owned(), name.to_owned()));
        let imports = local.chain(packages).filter(|(specifier, _)| {
            [format!("'{specifier}'"), format!("\"{specifier}\"")].iter().any(|quoted| source.contains(quoted))
        });
        let imports = imports.collect();
        ModuleSource { name: (*name).into(), source: (*source).into(), source_map: None, imports }
    });
    ModuleSet { entry: sources[0].0.into(), modules: modules.collect() }
}

/// Evaluates a project of one module.
pub fn evaluate(source: &str) -> Result<Evaluation, EvaluateError> {
    engine().evaluate(&module(source))
}

/// Evaluates modules into a bundle's data and refuses declarations with problems.
pub fn bundle_file(engine: &Engine, modules: ModuleSet) -> BundleFile {
    let evaluation = engine.evaluate(&modules).unwrap_or_else(|error| panic!("{} {error}", error.code()));
    assert_eq!(evaluation.problems, [], "the declarations have problems");
    engine.bundle_file(evaluation, modules)
}

/// A bundle of one module on the shared engine.
pub fn bundle(source: &str) -> Bundle {
    bundle_on(engine(), source)
}

/// A bundle of one module on another engine.
pub fn bundle_on(engine: &Engine, source: &str) -> Bundle {
    let file = bundle_file(engine, module(source));
    engine.load(file).unwrap_or_else(|error| panic!("{} {error}", error.code()))
}

/// Calls a callback of a bundle with default options.
pub fn call(bundle: &Bundle, name: &str, argument: &Value) -> Result<Outcome, CallError> {
    bundle.call_blocking(name, argument, &CallOptions::default())
}

/// One callback of a bundle.
#[derive(Clone, Debug)]
pub struct Callback {
    /// The bundle that declares it.
    pub bundle: Bundle,
    /// Its name there.
    pub name: String,
}

impl Callback {
    /// Calls it with default options.
    pub fn call(&self, argument: Value) -> Result<Outcome, CallError> {
        self.call_with(argument, &CallOptions::default())
    }

    /// Calls it.
    pub fn call_with(&self, argument: Value, options: &CallOptions) -> Result<Outcome, CallError> {
        self.bundle.call_blocking(&self.name, &argument, options)
    }

    /// What a call that must work returns.
    pub fn value(&self, argument: Value) -> Value {
        self.outcome(argument).value
    }

    /// What a call that must work gives.
    pub fn outcome(&self, argument: Value) -> Outcome {
        self.call(argument).unwrap_or_else(|error| panic!("{} {error}", error.code()))
    }

    /// Why a call that must fail fails.
    pub fn refusal(&self, argument: Value) -> CallErrorKind {
        match self.call(argument) {
            Ok(outcome) => panic!("the call gave {}", outcome.value),
            Err(error) => error.kind,
        }
    }
}

/// The source of a module with one callback of each name in `declarations` of [`declare`].
const IMPORTS: &str =
    "import { createTool, createAgent, exactDiff, llmJudge, weightedScore } from '@eigenpal/automations';";

/// All five kinds of callbacks, in the order of the spec's table (3.2).
pub const KINDS: [CallbackKind; 5] = [
    CallbackKind::Tool,
    CallbackKind::Evaluator,
    CallbackKind::DiffSelector,
    CallbackKind::JudgeSelector,
    CallbackKind::PassRule,
];

/// The source of a module that declares a callback `function (input) { body }` of this kind, and the callback's name.
pub fn source(kind: CallbackKind, top_level: &str, body: &str) -> (String, &'static str) {
    let agent = "createAgent({ name: 'agent', instructions: 'Work.' })";
    let function = format!("function (input) {{ {body} }}");
    let weighted = ".defineEvalPass(weightedScore({ weights: { probe: 1 }, threshold: 0.5 }))";
    let (declaration, name) = match kind {
        CallbackKind::Tool => (
            format!(
                "createTool({{ description: 'A probe.', inputSchema: {{ type: 'object' }}, \
                 outputSchema: {{ type: 'object' }}, execute: {function} }})"
            ),
            "probe",
        ),
        CallbackKind::Evaluator => {
            (format!("{agent}.defineEvaluator('probe', {function}){weighted}"), "agent.evaluators.probe")
        }
        CallbackKind::DiffSelector => (
            format!("{agent}.defineEvaluator('probe', exactDiff({{ select: {function} }})){weighted}"),
            "agent.evaluators.probe",
        ),
        CallbackKind::JudgeSelector => (
            format!(
                "{agent}.defineEvaluator('probe', \
                 llmJudge({{ prompt: 'Judge this answer.', select: {function} }})){weighted}"
            ),
            "agent.evaluators.probe",
        ),
        CallbackKind::PassRule => {
            (format!("{agent}.defineEvaluator('one', () => 1).defineEvalPass({function})"), "agent.pass")
        }
    };
    (format!("{IMPORTS}\n{top_level}\nexport const probe = {declaration};\n"), name)
}

/// A callback of this kind on the shared engine, in a module with `top_level` before it.
pub fn callback(kind: CallbackKind, top_level: &str, body: &str) -> Callback {
    callback_on(engine(), kind, top_level, body)
}

/// A callback of this kind on another engine.
pub fn callback_on(engine: &Engine, kind: CallbackKind, top_level: &str, body: &str) -> Callback {
    let (source, name) = source(kind, top_level, body);
    Callback { bundle: bundle_on(engine, &source), name: name.into() }
}

/// A tool whose `execute` is `function (input) { body }`. Both its schemas are `{ type: 'object' }`.
pub fn tool(body: &str) -> Callback {
    callback(CallbackKind::Tool, "", body)
}

/// An evaluator.
pub fn evaluator(body: &str) -> Callback {
    callback(CallbackKind::Evaluator, "", body)
}

/// A selector of `exactDiff`. It may return any JSON data.
pub fn diff_selector(body: &str) -> Callback {
    callback(CallbackKind::DiffSelector, "", body)
}

/// A selector of `llmJudge`.
pub fn judge_selector(body: &str) -> Callback {
    callback(CallbackKind::JudgeSelector, "", body)
}

/// A pass rule that is a predicate.
pub fn pass_rule(body: &str) -> Callback {
    callback(CallbackKind::PassRule, "", body)
}

/// What an expression is worth inside a callback.
pub fn evaluated(expression: &str) -> Value {
    diff_selector(&format!("return ({expression});")).value(Value::Null)
}

/// A tool that always works, to show that the engine still does.
pub fn assert_alive(engine: &Engine) {
    let next = callback_on(engine, CallbackKind::Tool, "", "return { echo: input.value };");
    assert_eq!(next.value(serde_json::json!({ "value": 1 })), serde_json::json!({ "echo": 1 }));
}

/// Runs a test in a process of its own: there it has the memory and the clock to itself. `name` is the test's full
/// name. What the body prints is returned.
pub fn alone(name: &str, body: impl FnOnce()) -> String {
    if std::env::var_os(ALONE).is_some_and(|test| test == name) {
        body();
        return String::new();
    }
    let program = std::env::current_exe().expect("a test knows its binary");
    let child = Command::new(program).args([name, "--exact", "--nocapture"]).env(ALONE, name).output();
    let child = child.expect("the test binary starts");
    let printed = String::from_utf8_lossy(&child.stdout).into_owned();
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "in a process of its own:\n{printed}\n{errors}");
    assert!(printed.contains("1 passed"), "there is no test `{name}`");
    printed
}

/// Bytes of memory this process holds.
pub fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: usize = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second is a number");
    pages * 4096
}
