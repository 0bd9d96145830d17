//! The captured modules of a project, and questions that cross module borders.

use crate::checks::{Function, ImportedName, Value};
use crate::diagnostics::{self, Diagnostic};
use crate::imports::{self, Target};
use crate::module::{Export, Facts};
use crate::project::Project;
use crate::source::{Location, Source};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The most modules a project may have.
pub const MAX_MODULES: usize = 1024;

/// A captured module.
#[derive(Debug)]
pub(crate) struct Module {
    pub source: Source,
    pub facts: Arc<Facts>,
    /// Imports that lead nowhere.
    pub diagnostics: Vec<Diagnostic>,
    /// Where each specifier leads that may be imported.
    pub targets: BTreeMap<String, Target>,
}

/// Every module that can be reached from the entry.
#[derive(Debug)]
pub(crate) struct Graph {
    modules: BTreeMap<String, Module>,
    /// Problems of files that are no module, because they could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the entry and, transitively, every relative source module it imports. Nothing else is read. `inspect` gives the
/// facts of a module.
pub(crate) fn capture(project: &Project, mut inspect: impl FnMut(&Source) -> Arc<Facts>) -> Graph {
    let mut graph = Graph { modules: BTreeMap::new(), diagnostics: Vec::new() };
    let mut known = BTreeSet::from([project.entry().to_owned()]);
    let mut queue = VecDeque::from([project.entry().to_owned()]);
    while let Some(name) = queue.pop_front() {
        if graph.modules.len() == MAX_MODULES {
            graph.diagnostics.push(diagnostics::too_many_modules(&Location::start_of(&name), MAX_MODULES));
            break;
        }
        let source = match project.read(&name) {
            Ok(source) => source,
            Err(diagnostic) => {
                graph.diagnostics.push(diagnostic);
                continue;
            }
        };
        let facts = inspect(&source);
        let mut problems = Vec::new();
        let mut targets = BTreeMap::new();
        for site in &facts.sites {
            match imports::resolve(project, &source, site) {
                Ok(target) => {
                    if let Target::Module(next) = &target
                        && known.insert(next.clone())
                    {
                        queue.push_back(next.clone());
                    }
                    targets.insert(site.specifier.clone(), target);
                }
                Err(diagnostic) => problems.push(diagnostic),
            }
        }
        graph.modules.insert(name, Module { source, facts, diagnostics: problems, targets });
    }
    graph.missing_exports();
    graph
}

/// Where a name comes from in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// This export of this module, built-in or captured.
    Export {
        module: String,
        name: String,
    },
    Type,
    /// A whole namespace.
    Namespace,
    /// The module is captured and has no such export.
    Absent,
    /// Not to be known: a module that was not captured or not parsed.
    Unknown,
}

impl Graph {
    pub fn modules(&self) -> impl Iterator<Item = (&str, &Module)> {
        self.modules.iter().map(|(name, module)| (name.as_str(), module))
    }

    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.get(name)
    }

    /// The module and the name that `specifier`'s `name`, imported by `module`, comes from.
    pub fn origin(&self, module: &str, specifier: &str, name: &str) -> Option<(String, String)> {
        match self.follow(module, specifier, Some(name), &mut BTreeSet::new()) {
            Origin::Export { module, name } => Some((module, name)),
            _ => None,
        }
    }

    /// The captured module, and the name there, that an export of `module` is defined as.
    pub fn definition(&self, module: &str, export: &str) -> Option<(String, String)> {
        match self.look_up(module, export, &mut BTreeSet::new()) {
            Origin::Export { module, name } if self.module(&module).is_some() => Some((module, name)),
            _ => None,
        }
    }

    /// Whether `specifier`'s `name`, imported by `module`, is surely nothing but a type.
    pub fn is_type(&self, module: &str, specifier: &str, name: &str) -> bool {
        self.follow(module, specifier, Some(name), &mut BTreeSet::new()) == Origin::Type
    }

    /// The function that a value of `module` is, and the module it stands in.
    pub fn function(&self, module: &str, value: &Value) -> Option<(String, Function)> {
        match value {
            Value::Function(function) => Some((module.to_owned(), *function)),
            Value::Import { specifier, name: ImportedName::Named(name) } => {
                let (home, name) = self.origin(module, specifier, name)?;
                match self.module(&home)?.facts.exports.get(&name)? {
                    Export::Value(Value::Function(function)) => Some((home, *function)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn follow(
        &self,
        module: &str,
        specifier: &str,
        name: Option<&str>,
        seen: &mut BTreeSet<(String, String)>,
    ) -> Origin {
        match self.module(module).and_then(|module| module.targets.get(specifier)) {
            None => Origin::Unknown,
            Some(target) => match (target, name) {
                (_, None) => Origin::Namespace,
                (Target::Builtin(module), Some(name)) => {
                    Origin::Export { module: (*module).to_owned(), name: name.to_owned() }
                }
                (Target::Module(module), Some(name)) => self.look_up(module, name, seen),
            },
        }
    }

    fn look_up(&self, name: &str, export: &str, seen: &mut BTreeSet<(String, String)>) -> Origin {
        let Some(module) = self.module(name).filter(|module| module.facts.parsed) else { return Origin::Unknown };
        // In a circle nothing is found, as the standard has it (ResolveExport).
        if !seen.insert((name.to_owned(), export.to_owned())) {
            return Origin::Absent;
        }
        match module.facts.exports.get(export) {
            Some(Export::Value(_)) => Origin::Export { module: name.to_owned(), name: export.to_owned() },
            Some(Export::Type) => Origin::Type,
            Some(Export::From { specifier, name: from }) => self.follow(name, specifier, from.as_deref(), seen),
            None if export == "default" => Origin::Absent,
            None => {
                let mut result = Origin::Absent;
                for specifier in &module.facts.stars {
                    match self.follow(name, specifier, Some(export), seen) {
                        Origin::Absent => {}
                        // A built-in module's exports are not known here.
                        Origin::Export { module, .. } if self.module(&module).is_none() => result = Origin::Unknown,
                        Origin::Unknown => result = Origin::Unknown,
                        found => return found,
                    }
                }
                result
            }
        }
    }

    /// Reports names that are imported from a captured module and not exported there.
    fn missing_exports(&mut self) {
        let mut found = Vec::new();
        for (name, module) in &self.modules {
            for import in &module.facts.imports {
                if self.follow(name, &import.specifier, Some(&import.name), &mut BTreeSet::new()) == Origin::Absent {
                    let target = module.targets.get(&import.specifier).map_or("", Target::name);
                    found.push(diagnostics::missing_export(&module.source.at(import.span), target, &import.name));
                }
            }
        }
        self.diagnostics.extend(found);
    }
}
