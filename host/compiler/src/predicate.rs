//! A predicate is shown as its author wrote it, types and comments included (spec 6.4, EV-103).
//!
//! The guest knows the predicate's JavaScript. Where that stands in a module, the module's source map leads to the TypeScript, and
//! the static checks know which functions there are pass rules. Where none of them fits, the JavaScript stays.

use crate::checks;
use crate::graph::Graph;
use crate::trace::Sources;
use callcell_runtime::{Manifest, ModuleSet};
use oxc::span::Span;
use serde_json::Value;

/// Bytes of a predicate that is shown; the SDK cuts at as many UTF-16 units.
const MAX_BYTES: usize = 16 * 1024;

/// Replaces the predicates' JavaScript in a manifest.
pub(crate) fn as_written(graph: &Graph, modules: &ModuleSet, manifest: &mut Manifest) {
    let rules = checks::pass_rules(graph);
    if rules.is_empty() {
        return;
    }
    let sources = Sources::new(modules);
    for agent in &mut manifest.agents {
        let Some(Value::String(source)) = agent.get_mut("pass").and_then(|pass| pass.get_mut("source")) else {
            continue;
        };
        if let Some(written) = find(graph, modules, &sources, &rules, source) {
            *source = written;
        }
    }
}

fn find(
    graph: &Graph,
    modules: &ModuleSet,
    sources: &Sources<'_>,
    rules: &[(String, Span)],
    javascript: &str,
) -> Option<String> {
    for module in modules.modules.iter().filter(|module| !javascript.is_empty() && module.source.contains(javascript)) {
        let Some(captured) = graph.module(&module.name) else { continue };
        for (offset, _) in module.source.match_indices(javascript) {
            let before = &module.source[..offset];
            let line = before.matches('\n').count() + 1;
            let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].encode_utf16().count() + 1;
            let Some(place) = sources.at(&module.name, line as u32, column as u32) else { continue };
            // The map's nearest mark may lie a little before the function.
            let from = captured.source.place(place.line, place.column).offset;
            let text =
                |span: &Span| captured.source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
            let fits = |span: &Span| {
                span.start as usize >= from
                    && captured.source.at(*span).line == place.line
                    && says(text(span), javascript)
            };
            let here = rules.iter().filter(|(home, _)| *home == module.name).map(|(_, span)| span);
            if let Some(span) = here.filter(|span| fits(span)).min_by_key(|span| span.start) {
                let written = text(span);
                let end = written.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_BYTES).last();
                let whole = written.len() <= MAX_BYTES;
                return Some(if whole { written } else { &written[..end.unwrap_or_default()] }.to_owned());
            }
        }
    }
    None
}

/// Whether TypeScript has every letter and digit of the JavaScript, in the same order; stripping types only takes away.
fn says(typescript: &str, javascript: &str) -> bool {
    let mut written = typescript.chars();
    javascript.chars().filter(|letter| letter.is_alphanumeric()).all(|letter| written.any(|it| it == letter))
}
