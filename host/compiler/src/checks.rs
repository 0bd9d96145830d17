//! Static checks of callbacks (spec 2.3).
//!
//! Two halves. [`find`] looks at one module and writes down, as plain data, which expressions are callbacks and what they
//! are; a callback that is imported is only a name then. [`report`] runs when the whole project is captured, follows
//! those names through the modules, and reports. What it cannot see, the evaluation finds out from the function itself.

use crate::diagnostics::{self, Diagnostic};
use crate::graph::Graph;
use crate::imports::SDK;
use crate::source::Source;
use callcell_runtime::CallbackKind;
use oxc::ast::AstKind;
use oxc::ast::ast::{
    Argument, CallExpression, Expression, ModuleExportName, ObjectExpression, ObjectPropertyKind, PropertyKind,
};
use oxc::semantic::{NodeId, Semantic, SymbolId};
use oxc::span::{GetSpan, Span};
use std::collections::BTreeSet;

/// The name under which something is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ImportedName {
    Named(String),
    Namespace,
}

/// What an expression is, as far as one module shows.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Function(Function),
    Import { specifier: String, name: ImportedName },
    Unknown,
}

/// A function that was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub is_async: bool,
    pub is_generator: bool,
    /// Where to point: includes the name and `async` of a method.
    pub span: Span,
}

/// Who takes the callback.
#[derive(Clone, Debug)]
enum Taker {
    Known(CallbackKind),
    /// A function that was imported; which one shows when the project is captured.
    Imported {
        specifier: String,
        name: String,
        property: &'static str,
    },
}

/// One place where a callback is handed over.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    taker: Taker,
    value: Value,
}

/// A use of the clock or of the random generator. A warning, if a callback contains it (D-20).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impure {
    what: &'static str,
    span: Span,
}

/// What [`find`] found in a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Callbacks {
    uses: Vec<Use>,
    impure: Vec<Impure>,
}

/// Finds the callbacks of one module, and warns of what can be judged at once.
pub(crate) fn find(source: &Source, semantic: &Semantic<'_>, diagnostics: &mut Vec<Diagnostic>) -> Callbacks {
    let mut callbacks = Callbacks::default();
    for node in semantic.nodes().iter() {
        if let AstKind::CallExpression(call) = node.kind() {
            call_expression(source, semantic, call, &mut callbacks.uses, diagnostics);
        }
    }
    globals(source, semantic, &mut callbacks.impure, diagnostics);
    callbacks
}

fn call_expression(
    source: &Source,
    semantic: &Semantic<'_>,
    call: &CallExpression<'_>,
    uses: &mut Vec<Use>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let callee = call.callee.get_inner_expression();
    let argument = |index: usize| call.arguments.get(index).and_then(Argument::as_expression);
    let method = callee.as_member_expression().and_then(|member| member.static_property_name());
    match method {
        Some("defineEvaluator") => {
            if let Some(name) = argument(0)
                && !is_literal(name)
            {
                diagnostics.push(diagnostics::name_not_literal(&source.at(name.span())));
            }
            if let Some(value) = argument(1) {
                uses.push(Use { taker: Taker::Known(CallbackKind::Evaluator), value: value_of(semantic, value) });
            }
            return;
        }
        Some("defineEvalPass") => {
            if let Some(value) = argument(0) {
                uses.push(Use { taker: Taker::Known(CallbackKind::PassRule), value: value_of(semantic, value) });
            }
            return;
        }
        _ => {}
    }
    let Value::Import { specifier, name: ImportedName::Named(name) } = value_of(semantic, callee) else { return };
    let Some(options) = argument(0).and_then(|options| object_of(semantic, options)) else { return };
    for property in ["execute", "select"] {
        if let Some(value) = property_of(semantic, options, property) {
            let taker = Taker::Imported { specifier: specifier.clone(), name: name.clone(), property };
            uses.push(Use { taker, value });
        }
    }
}

fn is_literal(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::StringLiteral(_) => true,
        Expression::TemplateLiteral(template) => template.expressions.is_empty(),
        _ => false,
    }
}

/// How many names are followed before giving up.
const MAX_ALIASES: usize = 16;

/// What an expression is: a function in place, or a name that is followed within the module.
pub(crate) fn value_of(semantic: &Semantic<'_>, expression: &Expression<'_>) -> Value {
    value_within(semantic, expression, MAX_ALIASES)
}

fn value_within(semantic: &Semantic<'_>, expression: &Expression<'_>, left: usize) -> Value {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(arrow) => {
            Value::Function(Function { is_async: arrow.r#async, is_generator: false, span: arrow.span })
        }
        Expression::FunctionExpression(function) => Value::Function(Function {
            is_async: function.r#async,
            is_generator: function.generator,
            span: function.span,
        }),
        Expression::Identifier(name) => match semantic.scoping().get_reference(name.reference_id()).symbol_id() {
            Some(symbol) if left > 0 => symbol_within(semantic, symbol, left - 1),
            _ => Value::Unknown,
        },
        inner => {
            let Some(member) = inner.as_member_expression() else { return Value::Unknown };
            let Some(property) = member.static_property_name() else { return Value::Unknown };
            if left == 0 {
                return Value::Unknown;
            }
            match value_within(semantic, member.object(), left - 1) {
                Value::Import { specifier, name: ImportedName::Namespace } => {
                    Value::Import { specifier, name: ImportedName::Named(property.to_string()) }
                }
                _ => Value::Unknown,
            }
        }
    }
}

/// What a name of the module stands for.
pub(crate) fn value_of_symbol(semantic: &Semantic<'_>, symbol: SymbolId) -> Value {
    symbol_within(semantic, symbol, MAX_ALIASES)
}

fn symbol_within(semantic: &Semantic<'_>, symbol: SymbolId, left: usize) -> Value {
    let scoping = semantic.scoping();
    if scoping.symbol_is_mutated(symbol) {
        return Value::Unknown;
    }
    // An overloaded function has several declarations, of which one has a body.
    scoping
        .symbol_declarations(symbol)
        .map(|declaration| declared(semantic, declaration, left))
        .find(|value| !matches!(value, Value::Unknown))
        .unwrap_or(Value::Unknown)
}

fn declared(semantic: &Semantic<'_>, declaration: NodeId, left: usize) -> Value {
    let nodes = semantic.nodes();
    let specifier = || match nodes.parent_kind(declaration) {
        AstKind::ImportDeclaration(import) => Some(import.source.value.to_string()),
        _ => None,
    };
    let imported = |name: ImportedName| match specifier() {
        Some(specifier) => Value::Import { specifier, name },
        None => Value::Unknown,
    };
    match nodes.kind(declaration) {
        AstKind::Function(function) if function.body.is_some() => Value::Function(Function {
            is_async: function.r#async,
            is_generator: function.generator,
            span: function.span,
        }),
        AstKind::VariableDeclarator(declarator) if declarator.id.is_binding_identifier() => match &declarator.init {
            Some(init) => value_within(semantic, init, left),
            None => Value::Unknown,
        },
        AstKind::ImportSpecifier(import) => imported(ImportedName::Named(export_name(&import.imported))),
        AstKind::ImportDefaultSpecifier(_) => imported(ImportedName::Named("default".into())),
        AstKind::ImportNamespaceSpecifier(_) => imported(ImportedName::Namespace),
        _ => Value::Unknown,
    }
}

pub(crate) fn export_name(name: &ModuleExportName<'_>) -> String {
    name.name().to_string()
}

fn object_of<'s, 'a>(semantic: &'s Semantic<'a>, expression: &'s Expression<'a>) -> Option<&'s ObjectExpression<'a>> {
    match expression.get_inner_expression() {
        Expression::ObjectExpression(object) => Some(object),
        Expression::Identifier(name) => {
            let symbol = semantic.scoping().get_reference(name.reference_id()).symbol_id()?;
            match semantic.nodes().kind(semantic.scoping().symbol_declaration(symbol)) {
                AstKind::VariableDeclarator(declarator) if declarator.id.is_binding_identifier() => {
                    match declarator.init.as_ref()?.get_inner_expression() {
                        Expression::ObjectExpression(object) => Some(object),
                        _ => None,
                    }
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The value of a property. The last one of its name counts.
fn property_of(semantic: &Semantic<'_>, object: &ObjectExpression<'_>, name: &str) -> Option<Value> {
    object.properties.iter().rev().find_map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property)
            if property.kind == PropertyKind::Init && property.key.static_name().is_some_and(|key| key == name) =>
        {
            let value = value_of(semantic, &property.value);
            Some(match value {
                // A method's `async` and `*` stand before its name, outside of the function's own span.
                Value::Function(function) if property.method => {
                    Value::Function(Function { span: property.span, ..function })
                }
                value => value,
            })
        }
        _ => None,
    })
}

const UNAVAILABLE: [&str; 8] =
    ["fetch", "process", "Buffer", "window", "document", "setTimeout", "setInterval", "queueMicrotask"];

/// Warnings of D-20 about names that are bound nowhere in the module.
fn globals(source: &Source, semantic: &Semantic<'_>, impure: &mut Vec<Impure>, diagnostics: &mut Vec<Diagnostic>) {
    let scoping = semantic.scoping();
    let nodes = semantic.nodes();
    let mut found = Vec::new();
    for (name, references) in scoping.root_unresolved_references() {
        let name: &str = name;
        for reference in references {
            let reference = scoping.get_reference(*reference);
            if !reference.flags().is_value() {
                continue;
            }
            let node = reference.node_id();
            let span = nodes.kind(node).span();
            let parent = nodes.parent_kind(node);
            match (name, parent) {
                // `typeof fetch` asks whether it is there.
                (_, AstKind::UnaryExpression(unary)) if unary.operator.is_typeof() => {}
                ("globalThis", AstKind::ComputedMemberExpression(member)) if member.object.span() == span => {
                    found.push((member.span, "globalThis[…]".to_owned()));
                }
                ("globalThis", AstKind::StaticMemberExpression(member))
                    if UNAVAILABLE.contains(&member.property.name.as_str()) =>
                {
                    found.push((member.span, format!("globalThis.{}", member.property.name)));
                }
                ("Date", AstKind::StaticMemberExpression(member)) if member.property.name == "now" => {
                    impure.push(Impure { what: "Date.now()", span: member.span });
                }
                ("Date", AstKind::NewExpression(new)) if new.arguments.is_empty() && new.callee.span() == span => {
                    impure.push(Impure { what: "new Date()", span: new.span });
                }
                ("Date", AstKind::CallExpression(call)) if call.callee.span() == span => {
                    impure.push(Impure { what: "Date()", span: call.span });
                }
                ("Math", AstKind::StaticMemberExpression(member)) if member.property.name == "random" => {
                    impure.push(Impure { what: "Math.random()", span: member.span });
                }
                (name, _) if UNAVAILABLE.contains(&name) => found.push((span, name.to_owned())),
                _ => {}
            }
        }
    }
    // The table of names is a hash map; its order is nobody's business.
    found.sort_by_key(|(span, _)| (span.start, span.end));
    impure.sort_by_key(|impure| (impure.span.start, impure.span.end));
    for (span, name) in found {
        diagnostics.push(diagnostics::global_unavailable(&source.at(span), &name));
    }
}

/// Follows every callback through the captured modules and reports the ones that cannot run.
pub(crate) fn report(graph: &Graph) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, module) in graph.modules() {
        for callback in &module.facts.callbacks.uses {
            let Some(kind) = kind(graph, name, &callback.taker) else { continue };
            let Some((file, function)) = graph.function(name, &callback.value) else { continue };
            // One function may serve as several callbacks; one word is enough.
            if !seen.insert((file.clone(), function.span.start)) {
                continue;
            }
            let Some(home) = graph.module(&file) else { continue };
            let at = home.source.at(function.span);
            if function.is_async {
                diagnostics.push(diagnostics::callback_async(&at, kind));
            }
            if function.is_generator {
                diagnostics.push(diagnostics::callback_generator(&at, kind));
            }
            for impure in &home.facts.callbacks.impure {
                if function.span.start <= impure.span.start && impure.span.end <= function.span.end {
                    diagnostics.push(diagnostics::not_reproducible(&home.source.at(impure.span), impure.what));
                }
            }
        }
    }
    diagnostics
}

/// Every function that is seen to be a pass rule, with the module it stands in.
pub(crate) fn pass_rules(graph: &Graph) -> Vec<(String, Span)> {
    let uses = graph.modules().flat_map(|(name, module)| module.facts.callbacks.uses.iter().map(move |it| (name, it)));
    uses.filter(|(_, callback)| matches!(callback.taker, Taker::Known(CallbackKind::PassRule)))
        .filter_map(|(name, callback)| graph.function(name, &callback.value))
        .map(|(home, function)| (home, function.span))
        .collect()
}

fn kind(graph: &Graph, module: &str, taker: &Taker) -> Option<CallbackKind> {
    match taker {
        Taker::Known(kind) => Some(*kind),
        Taker::Imported { specifier, name, property } => {
            let (home, name) = graph.origin(module, specifier, name)?;
            match (home.as_str() == SDK, name.as_str(), *property) {
                (true, "createTool", "execute") => Some(CallbackKind::Tool),
                (true, "exactDiff", "select") => Some(CallbackKind::DiffSelector),
                (true, "llmJudge", "select") => Some(CallbackKind::JudgeSelector),
                _ => None,
            }
        }
    }
}
