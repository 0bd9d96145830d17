//! One module: parsed, and everything the compiler wants to know about it written down as plain data.
//!
//! The parser and the passes after it are recursive, so they run on a thread of their own with a deep stack
//! ([`on_deep_stack`]). Syntax trees never leave that thread.

use crate::checks::{self, Callbacks, Value};
use crate::diagnostics::{self, Diagnostic};
use crate::imports::{self, Site};
use crate::nesting;
use crate::regular_expressions;
use crate::source::Source;
use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{
    BindingIdentifier, Declaration, ExportDefaultDeclarationKind, ImportDeclarationSpecifier, Program, Statement,
    VariableDeclarationKind,
};
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::{ParseOptions, Parser, ParserReturn};
use oxc::semantic::{Semantic, SemanticBuilder};
use oxc::span::{GetSpan, SourceType, Span};
use std::collections::BTreeMap;

/// What one name of a module exports.
#[derive(Clone, Debug)]
pub(crate) enum Export {
    /// A value; what it is, if that shows.
    Value(Value),
    /// A type alone, erased from the JavaScript.
    Type,
    /// Something of another module, or that module's whole namespace if `name` is none.
    From { specifier: String, name: Option<String> },
}

/// A name that a module takes from another as a value.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub specifier: String,
    pub name: String,
    pub span: Span,
}

/// What the compiler knows about a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Whether there was a syntax tree to look at. Without one everything but the diagnostics is empty.
    pub parsed: bool,
    pub diagnostics: Vec<Diagnostic>,
    pub sites: Vec<Site>,
    pub exports: BTreeMap<String, Export>,
    /// Where each exported name stands.
    pub export_spans: BTreeMap<String, Span>,
    /// Specifiers of `export * from`.
    pub stars: Vec<String>,
    pub imports: Vec<Import>,
    /// Where names are read as values that the module does not bind, in order.
    pub unbound: BTreeMap<String, Vec<Span>>,
    pub callbacks: Callbacks,
}

/// Runs a recursive pass over a module on a stack that the deepest module let through cannot exhaust.
pub(crate) fn on_deep_stack<T: Send>(source: &Source, pass: impl FnOnce() -> T + Send) -> Result<T, Diagnostic> {
    let failed = || diagnostics::parser_failed(&source.locate(0, 0));
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("callcell-parser".into())
            .stack_size(nesting::stack_bytes(source.text.len()))
            .spawn_scoped(scope, pass)
            .map_err(|_| failed())?
            .join()
            .map_err(|_| failed())
    })
}

/// Parses a module as TypeScript.
pub(crate) fn parse<'a>(allocator: &'a Allocator, text: &'a str) -> ParserReturn<'a> {
    let options = ParseOptions { parse_regular_expression: true, ..ParseOptions::default() };
    Parser::new(allocator, text, SourceType::ts()).with_options(options).parse()
}

/// Parses and inspects a module.
pub(crate) fn inspect(source: &Source) -> Facts {
    if let Err(offset) = nesting::check(&source.text) {
        return only(diagnostics::too_deep(&source.locate(offset, 1), nesting::MAX_DEPTH));
    }
    on_deep_stack(source, || inspect_here(source)).unwrap_or_else(only)
}

fn only(diagnostic: Diagnostic) -> Facts {
    Facts { diagnostics: vec![diagnostic], ..Facts::default() }
}

pub(crate) fn inspect_here(source: &Source) -> Facts {
    let mut facts = Facts::default();
    let allocator = Allocator::default();
    let parsed = parse(&allocator, &source.text);
    if !parsed.diagnostics.is_empty()
        && let Some(span) = jsx(&source.text)
    {
        let help = "callbacks have no JSX; build the value with functions and objects";
        facts.diagnostics.push(diagnostics::cannot_be_lowered(&source.at(span), "JSX", help));
        return facts;
    }
    // The parser's plainest word says nothing beside another about the same place.
    let is_said = |problem: &OxcDiagnostic| {
        let mut others = parsed.diagnostics.iter().filter(|other| other.message != problem.message);
        problem.message == "Unexpected token" && others.any(|other| other.labels.first() == problem.labels.first())
    };
    let problems = parsed.diagnostics.iter().filter(|problem| !is_said(problem));
    facts.diagnostics.extend(problems.map(|problem| syntax(source, problem)));
    if parsed.panicked {
        return facts;
    }
    facts.parsed = true;
    let program = parsed.program;
    let built = SemanticBuilder::new().with_build_nodes(true).with_check_syntax_error(true).build(&program);
    // After a parse error the scopes are not worth complaining about.
    if facts.diagnostics.is_empty() {
        facts.diagnostics.extend(built.diagnostics.iter().map(|problem| syntax(source, problem)));
    }
    let semantic = built.semantic;
    unsupported(source, &semantic, &mut facts.diagnostics);
    facts.sites = imports::find(source, &semantic, &mut facts.diagnostics);
    facts.callbacks = checks::find(source, &semantic, &mut facts.diagnostics);
    facts.unbound = unbound(&semantic);
    exports(source, &program, &semantic, &mut facts);
    facts
}

fn unbound(semantic: &Semantic<'_>) -> BTreeMap<String, Vec<Span>> {
    let scoping = semantic.scoping();
    let names = scoping.root_unresolved_references().iter().map(|(name, references)| {
        let references = references.iter().map(|reference| scoping.get_reference(*reference));
        let values = references.filter(|reference| reference.is_value());
        let mut spans: Vec<Span> = values.map(|it| semantic.nodes().kind(it.node_id()).span()).collect();
        spans.sort_by_key(|span| span.start);
        (name.to_string(), spans)
    });
    names.collect()
}

/// The first JSX of a text that is right as `.tsx` and wrong as `.ts`.
fn jsx(text: &str) -> Option<Span> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::tsx()).parse();
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    semantic.nodes().iter().find_map(|node| match node.kind() {
        AstKind::JSXElement(element) => Some(element.span),
        AstKind::JSXFragment(fragment) => Some(fragment.span),
        _ => None,
    })
}

/// A problem that oxc found, in our words.
pub(crate) fn syntax(source: &Source, problem: &OxcDiagnostic) -> Diagnostic {
    diagnostics::syntax(&place(source, problem), &problem.message, problem.help.as_deref())
}

/// Where oxc points.
pub(crate) fn place(source: &Source, problem: &OxcDiagnostic) -> crate::source::Location {
    problem
        .labels
        .first()
        .map_or_else(|| source.locate(0, 0), |label| source.locate(label.offset() as usize, label.len() as usize))
}

/// Syntax that parses but cannot become a module of this engine.
fn unsupported(source: &Source, semantic: &Semantic<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let nodes = semantic.nodes();
    let at_top_level = |node| {
        !nodes.ancestor_kinds(node).any(|kind| {
            matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::StaticBlock(_))
        })
    };
    for node in nodes.iter() {
        let lowered = |span, what, help| diagnostics::cannot_be_lowered(&source.at(span), what, help);
        let diagnostic = match node.kind() {
            AstKind::AwaitExpression(expression) if at_top_level(node.id()) => {
                diagnostics::top_level_await(&source.at(expression.span))
            }
            AstKind::ForOfStatement(statement) if statement.r#await && at_top_level(node.id()) => {
                // The parser complains of the same word in its own way.
                let head = statement.span.start as usize..statement.left.span().start as usize;
                diagnostics.retain(|it| it.code != "C_SYNTAX" || it.offset().is_none_or(|at| !head.contains(&at)));
                diagnostics::top_level_await(&source.at(statement.span))
            }
            AstKind::Decorator(decorator) => lowered(decorator.span, "a decorator", "call a function instead"),
            AstKind::AccessorProperty(property) => {
                lowered(property.span, "an `accessor` field", "write a getter and a setter")
            }
            AstKind::VariableDeclaration(declaration) if declaration.kind == VariableDeclarationKind::AwaitUsing => {
                lowered(declaration.span, "an `await using` declaration", "callbacks run synchronously: write `using`")
            }
            AstKind::RegExpLiteral(literal) => {
                diagnostics.extend(regular_expressions::unsupported(source, literal));
                continue;
            }
            AstKind::TSExportAssignment(export) => lowered(export.span, "`export =`", "use `export default`"),
            AstKind::TSNamespaceExportDeclaration(export) => {
                lowered(export.span, "`export as namespace`", "export the names themselves")
            }
            _ => continue,
        };
        diagnostics.push(diagnostic);
    }
}

/// The module's export table, and the names it takes from others.
fn exports<'a>(source: &Source, program: &Program<'a>, semantic: &Semantic<'a>, facts: &mut Facts) {
    for statement in &program.body {
        match statement {
            Statement::ImportDeclaration(import) if import.import_kind.is_value() => {
                for specifier in import.specifiers.iter().flatten() {
                    let (name, local, span) = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(it) if it.import_kind.is_value() => {
                            (checks::export_name(&it.imported), &it.local, it.span)
                        }
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                            ("default".to_owned(), &it.local, it.span)
                        }
                        _ => continue,
                    };
                    if used_as_value(semantic, local) {
                        facts.imports.push(Import { specifier: import.source.value.to_string(), name, span });
                    }
                }
            }
            Statement::ExportDeclaration(export) => declaration(&export.declaration, semantic, facts),
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let exported = checks::export_name(&specifier.exported);
                    let local = checks::export_name(&specifier.local);
                    let is_type = export.export_kind.is_type() || specifier.export_kind.is_type();
                    if !is_type && semantic.scoping().get_root_binding(local.as_str().into()).is_none() {
                        facts.diagnostics.push(diagnostics::nothing_to_export(&source.at(specifier.span), &local));
                    }
                    let value = if is_type { Export::Type } else { local_export(semantic, &local) };
                    insert(facts, exported, specifier.span, value);
                }
            }
            Statement::ExportFromDeclaration(export) => {
                for specifier in &export.specifiers {
                    let exported = checks::export_name(&specifier.exported);
                    let name = checks::export_name(&specifier.local);
                    if export.export_kind.is_type() || specifier.export_kind.is_type() {
                        insert(facts, exported, specifier.span, Export::Type);
                        continue;
                    }
                    let specifier_text = export.source.value.to_string();
                    facts.imports.push(Import {
                        specifier: specifier_text.clone(),
                        name: name.clone(),
                        span: specifier.span,
                    });
                    insert(
                        facts,
                        exported,
                        specifier.span,
                        Export::From { specifier: specifier_text, name: Some(name) },
                    );
                }
            }
            Statement::ExportAllDeclaration(export) => {
                let specifier = export.source.value.to_string();
                match (&export.exported, export.export_kind.is_type()) {
                    (Some(name), true) => insert(facts, checks::export_name(name), export.span, Export::Type),
                    (Some(name), false) => {
                        insert(facts, checks::export_name(name), export.span, Export::From { specifier, name: None });
                    }
                    // What comes through `export type *` is a type, whatever it is; names are looked up where they come from.
                    (None, true) => {}
                    (None, false) => facts.stars.push(specifier),
                }
            }
            Statement::ExportDefaultDeclaration(export) => {
                let value = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                        Export::Value(Value::Function(checks::Function {
                            is_async: function.r#async,
                            is_generator: function.generator,
                            span: function.span,
                        }))
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(_) => Export::Value(Value::Unknown),
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Export::Type,
                    other => Export::Value(
                        other.as_expression().map_or(Value::Unknown, |value| checks::value_of(semantic, value)),
                    ),
                };
                insert(facts, "default".into(), export.span, value);
            }
            _ => {}
        }
    }
}

/// A name may be exported both as a type and as a value; the value is what remains.
fn insert(facts: &mut Facts, name: String, span: Span, export: Export) {
    match facts.exports.get(&name) {
        Some(Export::Value(_) | Export::From { .. }) => {}
        _ => {
            facts.export_spans.insert(name.clone(), span);
            facts.exports.insert(name, export);
        }
    }
}

fn declaration<'a>(declaration: &Declaration<'a>, semantic: &Semantic<'a>, facts: &mut Facts) {
    let ids = match declaration {
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().flat_map(|declarator| declarator.id.get_binding_identifiers()).collect()
        }
        _ => declaration.id().into_iter().collect::<Vec<_>>(),
    };
    for id in ids {
        insert(facts, id.name.to_string(), id.span, local_export(semantic, &id.name));
    }
}

/// What a name bound at the top level exports.
fn local_export(semantic: &Semantic<'_>, name: &str) -> Export {
    let scoping = semantic.scoping();
    let Some(symbol) = scoping.get_root_binding(name.into()) else { return Export::Value(Value::Unknown) };
    let flags = scoping.symbol_flags(symbol);
    match checks::value_of_symbol(semantic, symbol) {
        Value::Import { specifier, name } => Export::From {
            specifier,
            name: match name {
                checks::ImportedName::Named(name) => Some(name),
                checks::ImportedName::Namespace => None,
            },
        },
        _ if flags.is_type_import() || !flags.can_be_referenced_by_value() => Export::Type,
        value => Export::Value(value),
    }
}

/// Whether an import survives into the JavaScript.
fn used_as_value(semantic: &Semantic<'_>, local: &BindingIdentifier<'_>) -> bool {
    local
        .symbol_id
        .get()
        .is_some_and(|symbol| semantic.scoping().get_resolved_references(symbol).any(|reference| reference.is_value()))
}
