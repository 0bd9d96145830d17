//! Runs the phases, and remembers between two runs what the sources did not change.

use crate::diagnostics::{self, Diagnostic};
use crate::graph::{self, Graph, Module};
use crate::imports::Target;
use crate::module::{self, Facts};
use crate::project::Project;
use crate::source::{Location, Source};
use crate::transform;
use crate::{Checked, Compilation, CompileError, checks, errors, evaluate, predicate};
use callcell_runtime::{
    Engine, EvaluateError, Evaluation, Manifest, ModuleSet, ModuleSource, PartialSchemaError, Problem, SourceFile,
    partial_schema,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most diagnostics that are reported; the last one says how many there are beyond.
pub const MAX_DIAGNOSTICS: usize = 1_000;

/// Compiles a project: checks it, evaluates its modules without invoking a callback (CB-72), and packs the bundle.
///
/// # Errors
/// [`CompileError::Diagnostics`] with everything that was found, or [`CompileError::Engine`].
pub fn compile(engine: &Engine, project: &Project) -> Result<Compilation, CompileError> {
    Compiler::new(engine.clone()).compile(project)
}

/// Does everything [`compile`] does before the evaluation: no engine needed, no code of the project runs.
///
/// # Errors
/// [`CompileError::Diagnostics`] with everything that was found.
pub fn check(project: &Project) -> Result<Checked, CompileError> {
    let mut memory = Memory::default();
    let graph = memory.capture(project);
    let checked = memory.check(project, &graph)?;
    if errors(&checked.warnings) > 0 {
        return Err(CompileError::Diagnostics(checked.warnings));
    }
    Ok(checked)
}

/// Whether a problem leaves the modules as they are: an asynchronous callback is wrong, and what else is wrong still shows.
fn spares_evaluation(diagnostic: &Diagnostic) -> bool {
    !diagnostic.is_error() || matches!(&*diagnostic.code, "C_CALLBACK_ASYNC" | "C_CALLBACK_GENERATOR")
}

/// Compiles a project again and again, for an editor or a watcher: what did not change is not done again.
///
/// Every run reads the files, since only they tell whether they changed. A module is parsed and transformed again when its text
/// changed, or what its imports mean; the modules are evaluated again when one of them became other JavaScript.
#[derive(Debug)]
pub struct Compiler {
    engine: Engine,
    memory: Memory,
    evaluated: Option<(ModuleSet, Result<Evaluation, EvaluateError>)>,
}

impl Compiler {
    /// A compiler that remembers nothing yet.
    pub fn new(engine: Engine) -> Self {
        Self { engine, memory: Memory::default(), evaluated: None }
    }

    /// The engine that evaluates the projects.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// As [`compile`].
    ///
    /// # Errors
    /// As [`compile`].
    pub fn compile(&mut self, project: &Project) -> Result<Compilation, CompileError> {
        let graph = self.memory.capture(project);
        let Checked { modules, sources, warnings: mut found } = self.memory.check(project, &graph)?;
        let mut evaluation = match self.evaluate(&modules) {
            Ok(evaluation) => evaluation,
            Err(error) => {
                let Some(diagnostic) = evaluate::failure(&graph, &modules, &error) else {
                    return Err(CompileError::Engine(error));
                };
                found.push(diagnostic);
                return Err(CompileError::Diagnostics(sorted(found)));
            }
        };
        forget_seen(&mut evaluation.problems, &found);
        found.extend(evaluate::problems(&graph, &modules, &evaluation));
        let missing = missing_folders(project, &evaluation.manifest);
        let conditional = conditional_outputs(&evaluation.manifest);
        // The SDK has looked at the path already.
        let known = |problem: &&Problem| evaluation.problems.iter().all(|it| it.path != problem.path);
        let more: Vec<Problem> = missing.iter().filter(known).chain(&conditional).cloned().collect();
        found.extend(evaluate::declarations(&graph, &modules, &more));
        let failed = errors(&found) > 0;
        let found = sorted(found);
        if failed {
            return Err(CompileError::Diagnostics(found));
        }
        evaluation.manifest.sources = sources;
        predicate::as_written(&graph, &modules, &mut evaluation.manifest);
        let logs = evaluation.logs.clone();
        Ok(Compilation { bundle: self.engine.bundle_file(evaluation, modules), warnings: found, logs })
    }

    fn evaluate(&mut self, modules: &ModuleSet) -> Result<Evaluation, EvaluateError> {
        if let Some((known, result)) = &self.evaluated
            && known == modules
        {
            return result.clone();
        }
        let result = self.engine.evaluate(modules);
        // Another attempt may find the engine in better health.
        let keep = !matches!(result, Err(EvaluateError::Engine(_)));
        self.evaluated = keep.then(|| (modules.clone(), result.clone()));
        result
    }
}

/// Takes out what the SDK found of asynchronous callbacks and generators, if the static checks, which know the function's place,
/// found as many.
fn forget_seen(problems: &mut Vec<Problem>, found: &[Diagnostic]) {
    for code in ["C_CALLBACK_ASYNC", "C_CALLBACK_GENERATOR"] {
        let here = found.iter().filter(|it| it.code == code).count();
        if here >= problems.iter().filter(|it| it.code == code).count() {
            problems.retain(|it| it.code != code);
        }
    }
}

/// What is known of the modules of the last run, by name.
#[derive(Debug, Default)]
struct Memory {
    modules: BTreeMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    sha256: String,
    facts: Arc<Facts>,
    javascript: Option<(Meaning, ModuleSource)>,
}

/// What a module's JavaScript depends on beside its text.
#[derive(Debug, PartialEq, Eq)]
struct Meaning {
    targets: BTreeMap<String, Target>,
    /// For each imported name, whether it is only a type.
    types: Vec<bool>,
}

impl Memory {
    /// Captures a project and forgets the modules it no longer has.
    fn capture(&mut self, project: &Project) -> Graph {
        let graph = graph::capture(project, |source| self.inspect(source));
        self.modules.retain(|name, _| graph.module(name).is_some());
        graph
    }

    fn inspect(&mut self, source: &Source) -> Arc<Facts> {
        match self.modules.get(&*source.name) {
            Some(known) if known.sha256 == source.sha256 => Arc::clone(&known.facts),
            _ => {
                let facts = Arc::new(module::inspect(source));
                let known = Known { sha256: source.sha256.clone(), facts: Arc::clone(&facts), javascript: None };
                self.modules.insert(source.name.to_string(), known);
                facts
            }
        }
    }

    fn transform(&mut self, graph: &Graph, name: &str, module: &Module) -> Result<ModuleSource, Vec<Diagnostic>> {
        let imports = module.facts.imports.iter();
        let types = imports.map(|import| graph.is_type(name, &import.specifier, &import.name)).collect();
        let meaning = Meaning { targets: module.targets.clone(), types };
        let known = self.modules.get_mut(name);
        if let Some((before, javascript)) = known.as_ref().and_then(|known| known.javascript.as_ref())
            && *before == meaning
        {
            return Ok(javascript.clone());
        }
        let javascript = transform::transform(graph, name, module)?;
        if let Some(known) = known {
            known.javascript = Some((meaning, javascript.clone()));
        }
        Ok(javascript)
    }

    /// Everything up to the evaluation. The warnings may have errors among them that it can bear.
    fn check(&mut self, project: &Project, graph: &Graph) -> Result<Checked, CompileError> {
        let mut found = graph.diagnostics.clone();
        for (_, module) in graph.modules() {
            found.extend(module.facts.diagnostics.iter().chain(&module.diagnostics).cloned());
        }
        found.extend(checks::report(graph));
        if !found.iter().all(spares_evaluation) {
            return Err(CompileError::Diagnostics(sorted(found)));
        }
        let mut modules = BTreeMap::new();
        for (name, module) in graph.modules() {
            match self.transform(graph, name, module) {
                Ok(javascript) => {
                    for helper in javascript.imports.iter().filter_map(|(_, target)| transform::helper(target)) {
                        modules.insert(helper.name.clone(), helper);
                    }
                    modules.insert(name.to_owned(), javascript);
                }
                Err(problems) => found.extend(problems),
            }
        }
        let failed = !found.iter().all(spares_evaluation);
        let found = sorted(found);
        if failed {
            return Err(CompileError::Diagnostics(found));
        }
        let sources = graph.modules().map(|(name, module)| {
            let sha256 = module.source.sha256.clone();
            SourceFile { path: name.to_owned(), sha256 }
        });
        let sources = sources.collect();
        Ok(Checked { modules: reachable(project.entry(), modules), sources, warnings: found })
    }
}

/// The modules that are still imported once types are gone.
fn reachable(entry: &str, mut modules: BTreeMap<String, ModuleSource>) -> ModuleSet {
    let mut needed = BTreeSet::new();
    let mut stack = vec![entry.to_owned()];
    while let Some(name) = stack.pop() {
        if let Some(module) = modules.get(&name)
            && needed.insert(name)
        {
            stack.extend(module.imports.iter().map(|(_, target)| target.clone()));
        }
    }
    modules.retain(|name, _| needed.contains(name));
    ModuleSet { entry: entry.to_owned(), modules: modules.into_values().collect() }
}

/// Folders that agents name and the project does not have (CB-65, D-06). The manifest comes from the guest: what is not of the
/// SDK's shape is passed over.
fn missing_folders(project: &Project, manifest: &Manifest) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut look = |what: &str, path: String, folder: &str| {
        let (code, message, help) = match project.is_folder(folder) {
            Some(true) => return,
            Some(false) => (
                "C_DECLARATION_INVALID",
                format!("The project has no folder `{folder}`."),
                format!("Create it, or correct the path of the {what}; it is relative to the project's root."),
            ),
            None => (
                "C_PATH_ESCAPE",
                format!("The folder `{folder}` leads outside the project."),
                "Move it into the project; a symbolic link may not leave it.".to_owned(),
            ),
        };
        problems.push(Problem { code: code.into(), path, message, help: Some(help) });
    };
    for agent in &manifest.agents {
        let export = agent["export"].as_str().unwrap_or_default();
        for (index, skill) in agent["skills"].as_array().into_iter().flatten().enumerate() {
            if let Some(folder) = skill.as_str() {
                look("skill", format!("{export}.skills[{index}]"), folder);
            }
        }
        if let Some(folder) = agent.get("filesystem").and_then(|it| it.get("cwd")).and_then(Value::as_str) {
            look("working directory", format!("{export}.filesystem.cwd"), folder);
        }
    }
    problems
}

/// Output schemas of agents with evaluators that have no partial form: what a dataset expects of an answer may leave out anything,
/// and such a schema could not tell whether it fits (EV-39 to EV-42).
fn conditional_outputs(manifest: &Manifest) -> Vec<Problem> {
    let mut problems = Vec::new();
    for agent in &manifest.agents {
        let evaluated = agent["evaluators"].as_array().is_some_and(|evaluators| !evaluators.is_empty());
        let Some(schema) = agent.get("outputSchema").filter(|_| evaluated) else { continue };
        let Err(error) = partial_schema(schema) else { continue };
        let export = agent["export"].as_str().unwrap_or_default();
        let problem = |path: String, message: String| Problem {
            code: error.code().to_owned(),
            path,
            message,
            help: Some(
                "Leave the condition out and check it in an evaluator, or take the evaluators off the agent.".into(),
            ),
        };
        match &error {
            PartialSchemaError::Conditional(found) => problems.extend(found.iter().map(|it| {
                let message = format!("The keyword `{}` cannot hold for a partial expectation.", it.keyword);
                problem(format!("{export}.outputSchema.{}", it.path), message)
            })),
            error => problems.push(problem(format!("{export}.outputSchema"), error.to_string())),
        }
    }
    problems
}

/// By file and place; the same problem once; not more than [`MAX_DIAGNOSTICS`].
fn sorted(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |it: &Diagnostic| (it.file.clone(), it.line, it.column, it.severity, it.code.clone(), it.message.clone());
    found.sort_by_cached_key(key);
    found.dedup_by(|a, b| key(a) == key(b));
    if found.len() > MAX_DIAGNOSTICS {
        let rest = found.split_off(MAX_DIAGNOSTICS - 1);
        let at = Location::start_of(&rest[0].file);
        found.push(diagnostics::more(&at, rest.len(), errors(&rest) > 0));
    }
    found
}
