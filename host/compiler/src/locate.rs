//! Where a problem of a declaration stands in the TypeScript.
//!
//! The SDK names a problem's place by a path through the declaration, `reviewed.evaluators.fields.options.rules.total`. This
//! follows the path through the syntax: from the export to the calls that made it, into their options, through constants and
//! into other modules. It goes as far as the text shows and answers with the deepest place it reached, at worst the export.

use crate::checks::{self, ImportedName, Value};
use crate::graph::Graph;
use crate::module::{self, on_deep_stack};
use crate::source::{Location, Source};
use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{
    Argument, ArrayExpressionElement, CallExpression, ExportDefaultDeclarationKind, Expression, ObjectPropertyKind,
    Program, Statement,
};
use oxc::semantic::{Semantic, SemanticBuilder, SymbolId};
use oxc::span::{GetSpan, Span};
use std::collections::BTreeMap;

/// How many modules are looked into for one problem.
const MAX_MODULES: usize = 8;
/// How many calls, options and names are looked into in one module.
const MAX_STEPS: usize = 500;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `.name` or `["a name"]`; a part of a schema, such as `.anyOf`, is written the same way.
    Name(String),
    /// `[3]`
    Index(usize),
    /// `[]`, the items of an array.
    Items,
    /// `.*`, the values of a record, or `.*(key)`, its keys.
    Values { keys: bool },
}

/// The places of problems, each given by its path, in the modules that show them best. A module is parsed once for all of them, or
/// once more where a path comes back to it.
pub(crate) fn locate(graph: &Graph, entry: &str, paths: &[&str]) -> Vec<Option<Location>> {
    let mut best: Vec<Option<Location>> = vec![None; paths.len()];
    let Some(module) = graph.module(entry) else { return best };
    let mut open = BTreeMap::new();
    for (number, path) in paths.iter().enumerate() {
        let Some((export, steps)) = parse(path) else { continue };
        best[number] = module.facts.export_spans.get(&export).map(|span| module.source.at(*span));
        if let Some((home, name)) = graph.definition(entry, &export) {
            open.entry(home).or_insert_with(Vec::new).push(Question { number, name, steps });
        }
    }
    for _ in 0..MAX_MODULES {
        for (home, questions) in std::mem::take(&mut open) {
            let Some(module) = graph.module(&home) else { continue };
            let Ok(answers) = on_deep_stack(&module.source, || look(&module.source, &questions)) else { continue };
            for (question, found) in questions.into_iter().zip(answers) {
                if let Some(span) = found.place {
                    best[question.number] = Some(module.source.at(span));
                }
                let Some(next) = found.elsewhere else { continue };
                // Within a built-in module there is nothing to show.
                let definition = graph.origin(&home, &next.specifier, &next.name);
                if let Some((home, name)) = definition.filter(|(home, _)| graph.module(home).is_some()) {
                    let question = Question { number: question.number, name, steps: next.steps };
                    open.entry(home).or_insert_with(Vec::new).push(question);
                }
            }
        }
    }
    best
}

/// What is asked of one module: where the problem of that number stands.
struct Question {
    number: usize,
    /// The export to begin with.
    name: String,
    steps: Vec<Step>,
}

/// The export's name and the steps behind it.
fn parse(path: &str) -> Option<(String, Vec<Step>)> {
    let mut rest = path;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("[\"") {
            // A JSON string: it ends at the first quote that no backslash stands before.
            let mut escaped = false;
            let end = inner.find(|character| match character {
                _ if escaped => {
                    escaped = false;
                    false
                }
                '\\' => {
                    escaped = true;
                    false
                }
                character => character == '"',
            })?;
            steps.push(Step::Name(serde_json::from_str(&rest[1..end + 3]).ok()?));
            rest = inner[end + 1..].strip_prefix(']')?;
        } else if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']')?;
            steps.push(if index.is_empty() { Step::Items } else { Step::Index(index.parse().ok()?) });
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(match &rest[..end] {
                "" => return None,
                "*" => Step::Values { keys: false },
                "*(key)" => Step::Values { keys: true },
                name => Step::Name(name.to_owned()),
            });
            rest = &rest[end..];
        }
    }
    if steps.is_empty() {
        return None;
    }
    match steps.remove(0) {
        Step::Name(export) => Some((export, steps)),
        _ => None,
    }
}

/// Links of an agent's chain: what they take concerns nothing but their own part of the path.
const CHAIN: [&str; 3] = ["defineEvaluator", "defineEvalPass", "withFilesystem"];

/// What one module shows of a path.
#[derive(Default)]
struct Found {
    place: Option<Span>,
    elsewhere: Option<Elsewhere>,
}

/// The path goes on in another module.
struct Elsewhere {
    specifier: String,
    name: String,
    steps: Vec<Step>,
}

fn look(source: &Source, questions: &[Question]) -> Vec<Found> {
    let allocator = Allocator::default();
    let parsed = module::parse(&allocator, &source.text);
    let built = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program);
    let answers = questions.iter().map(|question| {
        let mut walk = Walk { source, semantic: &built.semantic, found: Found::default(), left: MAX_STEPS };
        walk.export(&parsed.program, &question.name, &question.steps);
        walk.found
    });
    answers.collect()
}

struct Walk<'s, 'a> {
    source: &'s Source,
    semantic: &'s Semantic<'a>,
    found: Found,
    left: usize,
}

impl<'s, 'a> Walk<'s, 'a> {
    /// What the module exports under a name: the place to begin with.
    fn export(&mut self, program: &'s Program<'a>, export: &str, steps: &[Step]) {
        for statement in &program.body {
            match statement {
                Statement::ExportDefaultDeclaration(default) if export == "default" => {
                    if let Some(value) = ExportDefaultDeclarationKind::as_expression(&default.declaration) {
                        self.expression(value, steps);
                    }
                    return;
                }
                Statement::ExportNamedDeclaration(list) => {
                    let mut specifiers = list.specifiers.iter();
                    if let Some(specifier) = specifiers.find(|it| checks::export_name(&it.exported) == export) {
                        return self.root(&checks::export_name(&specifier.local), steps);
                    }
                }
                _ => {}
            }
        }
        self.root(export, steps);
    }

    /// A name at the top level: the place to begin with.
    fn root(&mut self, name: &str, steps: &[Step]) {
        let scoping = self.semantic.scoping();
        if let Some(symbol) = scoping.get_root_binding(name.into()) {
            if let AstKind::VariableDeclarator(declarator) =
                self.semantic.nodes().kind(scoping.symbol_declaration(symbol))
            {
                self.found.place = Some(declarator.id.span());
            }
            self.symbol(symbol, steps);
        }
    }

    fn symbol(&mut self, symbol: SymbolId, steps: &[Step]) -> bool {
        let declaration = self.semantic.scoping().symbol_declaration(symbol);
        if let AstKind::VariableDeclarator(declarator) = self.semantic.nodes().kind(declaration) {
            let init = declarator.init.as_ref().filter(|_| declarator.id.is_binding_identifier());
            return init.is_some_and(|init| self.expression(init, steps));
        }
        match checks::value_of_symbol(self.semantic, symbol) {
            Value::Import { specifier, name: ImportedName::Named(name) } => {
                self.found.elsewhere = Some(Elsewhere { specifier, name, steps: steps.to_vec() });
                true
            }
            _ => false,
        }
    }

    /// Follows `steps` into an expression and says whether the first of them led anywhere.
    fn expression(&mut self, expression: &'s Expression<'a>, steps: &[Step]) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        match expression.get_inner_expression() {
            Expression::Identifier(name) => {
                let symbol = self.semantic.scoping().get_reference(name.reference_id()).symbol_id();
                symbol.is_some_and(|symbol| self.symbol(symbol, steps))
            }
            Expression::CallExpression(call) => self.call(call, steps),
            Expression::ObjectExpression(object) => {
                let Some((Step::Name(name), rest)) = steps.split_first() else { return false };
                for property in object.properties.iter().rev() {
                    match property {
                        ObjectPropertyKind::ObjectProperty(property)
                            if property.key.static_name().is_some_and(|key| key == name.as_str()) =>
                        {
                            self.found.place = Some(self.short(property.span, property.key.span()));
                            self.expression(&property.value, rest);
                            return true;
                        }
                        ObjectPropertyKind::SpreadProperty(spread) if self.expression(&spread.argument, steps) => {
                            return true;
                        }
                        _ => {}
                    }
                }
                false
            }
            Expression::ArrayExpression(array) => {
                let Some((Step::Index(index), rest)) = steps.split_first() else { return false };
                if array.elements.iter().take(index + 1).any(ArrayExpressionElement::is_spread) {
                    return false;
                }
                let Some(element) = array.elements.get(*index).and_then(|element| element.as_expression()) else {
                    return false;
                };
                self.found.place = Some(element.span());
                self.expression(element, rest);
                true
            }
            _ => false,
        }
    }

    fn call(&mut self, call: &'s CallExpression<'a>, steps: &[Step]) -> bool {
        let Some((first, rest)) = steps.split_first() else { return false };
        let argument = |index: usize| call.arguments.get(index).and_then(Argument::as_expression);
        let callee = call.callee.get_inner_expression();
        let member = callee.as_member_expression();
        let method = member.and_then(|member| member.static_property_name());
        let name = |step: &Step| match step {
            Step::Name(name) => Some(name.clone()),
            _ => None,
        };
        // One link of an agent's chain.
        let link = match (method, name(first).as_deref()) {
            (Some("defineEvaluator"), Some("evaluators")) => {
                let wanted = rest.first().and_then(name);
                let given = argument(0).and_then(|it| match it.get_inner_expression() {
                    Expression::StringLiteral(text) => Some(text.value.to_string()),
                    _ => None,
                });
                match (wanted, given) {
                    (Some(wanted), Some(given)) if wanted == given => Some((argument(0), argument(1), 2)),
                    // A name that is no text shows in the path as its position.
                    (None, None) => Some((argument(0), None, 1)),
                    _ => None,
                }
            }
            (Some("defineEvalPass"), Some("pass")) => Some((argument(0), argument(0), 1)),
            (Some("withFilesystem"), Some("filesystem")) => Some((argument(0), argument(0), 1)),
            (Some(method), Some(name)) if method == name && rest.is_empty() => Some((None, None, 1)),
            _ => None,
        };
        if let Some((place, value, taken)) = link {
            let property = member.map_or(call.span, |member| Span::new(member.object().span().end, callee.span().end));
            self.found.place = Some(place.map_or(property, |place| self.short(place.span(), property)));
            if let Some(value) = value {
                self.expression(value, &steps[taken.min(steps.len())..]);
            }
            return true;
        }
        if method.is_some_and(|method| CHAIN.contains(&method)) {
            return member.is_some_and(|member| self.expression(member.object(), steps));
        }
        // A schema's parts, by position.
        let part = match (first, rest.first()) {
            (Step::Items, _) => argument(0).map(|part| (part, rest)),
            (Step::Values { keys }, _) => {
                let index = if *keys { 0 } else { call.arguments.len().saturating_sub(1) };
                argument(index).map(|part| (part, rest))
            }
            (Step::Name(keyword), Some(Step::Index(_))) if matches!(keyword.as_str(), "anyOf" | "oneOf") => {
                call.arguments.last().and_then(Argument::as_expression).map(|options| (options, rest))
            }
            (Step::Name(keyword), Some(Step::Index(index))) if keyword == "allOf" => {
                argument(*index).map(|part| (part, &rest[1..]))
            }
            _ => None,
        };
        if let Some((part, steps)) = part {
            self.found.place = Some(part.span());
            self.expression(part, steps);
            return true;
        }
        // Options, and for a chain of calls what came before.
        let into = call.arguments.iter().filter_map(Argument::as_expression).any(|it| self.expression(it, steps));
        into || member.is_some_and(|member| self.expression(member.object(), steps))
    }

    /// A span that stays on one line, else the one that stands for it.
    fn short(&self, span: Span, instead: Span) -> Span {
        let text = self.source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if text.contains(['\n', '\r']) { instead } else { span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_steps() {
        let name = |name: &str| Step::Name(name.into());
        assert_eq!(parse("a"), Some(("a".into(), vec![])));
        assert_eq!(
            parse(r#"a.b["c.\"d]"][0].e[].*.*(key)"#),
            Some((
                "a".into(),
                vec![
                    name("b"),
                    name("c.\"d]"),
                    Step::Index(0),
                    name("e"),
                    Step::Items,
                    Step::Values { keys: false },
                    Step::Values { keys: true }
                ]
            ))
        );
        for wrong in ["", "[0]", "a[", "a[\"b", "a[x]", "a..b", "a."] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
