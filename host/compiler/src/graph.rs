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

/// The most bytes all modules of a project may have together; what the compile cell takes of their JavaScript.
pub const MAX_TOTAL_BYTES: usize = 16 << 20;

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
    stars: Stars,
    /// Problems of files that are no module, because they could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the entry and, transitively, every relative source module it imports. Nothing else is read. `inspect` gives the
/// facts of a module.
pub(crate) fn capture(project: &Project, mut inspect: impl FnMut(&Source) -> Arc<Facts>) -> Graph {
    let mut graph = Graph { modules: BTreeMap::new(), stars: Stars::default(), diagnostics: Vec::new() };
    let mut bytes = 0;
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
        bytes += source.text.len();
        if bytes > MAX_TOTAL_BYTES {
            graph.diagnostics.push(diagnostics::too_much_source(&Location::start_of(&name), MAX_TOTAL_BYTES));
            break;
        }
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
    graph.stars = Stars::of(&graph.modules);
    graph.missing_exports();
    graph
}

/// Which modules re-export which with `export *`, as sets of bits: stars may lead from each of a thousand modules to every other, and
/// a name that is looked up through them may be in none.
#[derive(Debug, Default)]
struct Stars {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// For each module, the modules that its stars name.
    direct: Vec<Bits>,
    /// Modules that have exports nobody knows: a star of theirs, or behind theirs, leads to a built-in or unread module.
    open: Vec<bool>,
    /// For each name, the modules that export it themselves.
    exporters: BTreeMap<String, Bits>,
}

impl Stars {
    fn of(modules: &BTreeMap<String, Module>) -> Self {
        if modules.values().all(|module| module.facts.stars.is_empty()) {
            return Self::default();
        }
        let count = modules.len();
        let names: Vec<String> = modules.keys().cloned().collect();
        let numbers: BTreeMap<String, usize> = names.iter().cloned().zip(0..).collect();
        let mut stars = Self { names, numbers, direct: Vec::new(), open: Vec::new(), exporters: BTreeMap::new() };
        let mut unknown = Bits::new(count);
        for (number, module) in modules.values().enumerate() {
            let mut direct = Bits::new(count);
            for specifier in &module.facts.stars {
                match module.targets.get(specifier) {
                    Some(Target::Module(name)) if stars.numbers.contains_key(name) => direct.set(stars.numbers[name]),
                    _ => unknown.set(number),
                }
            }
            if !module.facts.parsed {
                unknown.set(number);
            }
            stars.direct.push(direct);
            for export in module.facts.exports.keys() {
                stars.exporters.entry(export.clone()).or_insert_with(|| Bits::new(count)).set(number);
            }
        }
        let none = Bits::new(count);
        stars.open = (0..count).map(|from| stars.walk(from, &none).any(|to| unknown.has(to))).collect();
        stars
    }

    /// The modules that a module's stars lead to. Behind those of `ends` nothing is looked for.
    fn walk(&self, from: usize, ends: &Bits) -> impl Iterator<Item = usize> + use<> {
        let mut found = Bits::new(self.names.len());
        found.set(from);
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            let new = found.add(&self.direct[at]);
            waiting.extend(new.into_iter().filter(|number| !ends.has(*number)));
        }
        found.iter().collect::<Vec<_>>().into_iter()
    }

    /// The exporters of `name` that the stars of `module` lead to, none of them behind another.
    fn exporters(&self, module: &str, name: &str) -> Vec<&str> {
        let (Some(from), Some(exporters)) = (self.numbers.get(module), self.exporters.get(name)) else {
            return Vec::new();
        };
        let found = self.walk(*from, exporters).filter(|number| exporters.has(*number));
        found.map(|number| self.names[number].as_str()).collect()
    }

    fn is_open(&self, module: &str) -> bool {
        self.numbers.get(module).is_some_and(|number| self.open[*number])
    }
}

/// A set of small numbers.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn has(&self, number: usize) -> bool {
        (self.0[number / 64] >> (number % 64)) & 1 == 1
    }

    fn set(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, bits)| **bits != 0)
            .flat_map(|(word, bits)| (0..64).filter(move |bit| (bits >> bit) & 1 == 1).map(move |bit| word * 64 + bit))
    }

    /// Adds another set, and gives what is new.
    fn add(&mut self, other: &Self) -> Vec<usize> {
        let new = Self(self.0.iter().zip(&other.0).map(|(here, there)| there & !here).collect());
        self.0.iter_mut().zip(&other.0).for_each(|(here, there)| *here |= there);
        new.iter().collect()
    }
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
    /// Two stars give different things of that name, so the module has none of it (ResolveExport).
    Ambiguous {
        first: String,
        second: String,
    },
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
                let mut result = match self.stars.is_open(name) {
                    true => Origin::Unknown,
                    false => Origin::Absent,
                };
                let mut through = "";
                for exporter in self.stars.exporters(name, export) {
                    match self.look_up(exporter, export, seen) {
                        Origin::Absent | Origin::Unknown => {}
                        found @ (Origin::Ambiguous { .. } | Origin::Type) => return found,
                        found if matches!(result, Origin::Absent | Origin::Unknown) => {
                            (result, through) = (found, exporter);
                        }
                        found if found != result => {
                            return Origin::Ambiguous { first: through.to_owned(), second: exporter.to_owned() };
                        }
                        _ => {}
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
                let at = || module.source.at(import.span);
                let target = || module.targets.get(&import.specifier).map_or("", Target::name);
                match self.follow(name, &import.specifier, Some(&import.name), &mut BTreeSet::new()) {
                    Origin::Absent => found.push(diagnostics::missing_export(&at(), target(), &import.name)),
                    Origin::Ambiguous { first, second } => {
                        found.push(diagnostics::ambiguous_export(&at(), target(), &import.name, &first, &second));
                    }
                    _ => {}
                }
            }
        }
        self.diagnostics.extend(found);
    }
}
