//! Regular expressions that the parser knows and the engine does not, or reads wrongly (CB-09).
//!
//! The engine would refuse most of them without a place; the flag `v` it takes, and answers wrongly. Expressions made from text at run
//! time are the guest's to refuse (`guest/src/environment.js`).

use crate::diagnostics::{self, Diagnostic};
use crate::source::Source;
use oxc::ast::ast::{RegExpFlags, RegExpLiteral};
use oxc::regular_expression::ast::{CapturingGroup, IgnoreGroup};
use oxc::regular_expression::visit::{Visit, walk};
use oxc::span::Span;
use std::collections::BTreeSet;

/// What the engine lacks of a literal.
pub(crate) fn unsupported(source: &Source, literal: &RegExpLiteral<'_>) -> Vec<Diagnostic> {
    if literal.regex.flags.contains(RegExpFlags::V) {
        return vec![diagnostics::regular_expression_sets(&source.at(literal.span))];
    }
    let Some(pattern) = &literal.regex.pattern.pattern else { return Vec::new() };
    let mut found = Found { source, names: BTreeSet::new(), diagnostics: Vec::new() };
    found.visit_pattern(pattern);
    found.diagnostics
}

struct Found<'s> {
    source: &'s Source,
    names: BTreeSet<String>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Visit<'a> for Found<'_> {
    fn visit_ignore_group(&mut self, group: &IgnoreGroup<'a>) {
        if let Some(modifiers) = &group.modifiers {
            self.diagnostics.push(diagnostics::regular_expression_modifiers(&self.at(modifiers.span)));
        }
        walk::walk_ignore_group(self, group);
    }

    fn visit_capturing_group(&mut self, group: &CapturingGroup<'a>) {
        if let Some(name) = &group.name
            && !self.names.insert(name.to_string())
        {
            self.diagnostics.push(diagnostics::regular_expression_names(&self.at(group.span), name));
        }
        walk::walk_capturing_group(self, group);
    }
}

impl Found<'_> {
    fn at(&self, span: Span) -> crate::source::Location {
        self.source.at(span)
    }
}
