//! The import table (spec 2.2): which specifiers a module may name, and where they lead.
//!
//! Imports are found in the syntax tree, so the words `require` and `import` inside strings and comments mean nothing
//! (D-19). Only relative specifiers touch the disk, through the project's directory handle.

use crate::diagnostics::{self, Diagnostic};
use crate::project::{Lookup, Project, is_source};
use crate::source::Source;
use oxc::ast::AstKind;
use oxc::ast::ast::{
    CallExpression, Expression, ImportDeclarationSpecifier, ImportOrExportKind, StringLiteral, TSModuleReference,
    WithClause,
};
use oxc::semantic::Semantic;
use oxc::span::Span;

/// The SDK's specifier.
pub(crate) const SDK: &str = "@eigenpal/automations";
/// Zod's canonical name; `zod/v4` means the same module (D-15).
pub(crate) const ZOD: &str = "zod";

/// A static import or re-export that survives into the JavaScript, unless only types come through it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub specifier: String,
    pub span: Span,
}

/// Where a specifier leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module the guest brings: [`SDK`] or [`ZOD`].
    Builtin(&'static str),
    /// A module of the project, by canonical path.
    Module(String),
}

impl Target {
    /// The canonical name.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin(name) => name,
            Self::Module(name) => name,
        }
    }
}

/// Finds every import of a module. Forms that are refused whatever they name become diagnostics at once.
pub(crate) fn find(source: &Source, semantic: &Semantic<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Site> {
    let mut found = Found { source, sites: Vec::new(), diagnostics };
    for node in semantic.nodes().iter() {
        match node.kind() {
            AstKind::ImportDeclaration(import) => {
                let all_types = import.specifiers.as_ref().is_some_and(|specifiers| {
                    !specifiers.is_empty()
                        && specifiers.iter().all(|specifier| {
                            matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(it) if it.import_kind.is_type())
                        })
                });
                if import.phase.is_some() {
                    found.diagnostics.push(diagnostics::cannot_be_lowered(
                        &source.at(import.span),
                        "an import phase",
                        "write a plain `import`",
                    ));
                }
                if import.import_kind.is_value() && !all_types {
                    found.site(&import.source, import.with_clause.as_deref());
                }
            }
            AstKind::ExportFromDeclaration(export) => {
                let all_types = !export.specifiers.is_empty()
                    && export.specifiers.iter().all(|specifier| specifier.export_kind.is_type());
                if export.export_kind.is_value() && !all_types {
                    found.site(&export.source, export.with_clause.as_deref());
                }
            }
            AstKind::ExportAllDeclaration(export) if export.export_kind.is_value() => {
                found.site(&export.source, export.with_clause.as_deref());
            }
            AstKind::ImportExpression(import) => {
                found.diagnostics.push(diagnostics::dynamic_import(&source.at(import.span)));
            }
            AstKind::ImportMeta(meta) => {
                found.diagnostics.push(diagnostics::import_meta(&source.at(meta.span)));
            }
            AstKind::CallExpression(call) => {
                if let Some(what) = require_call(semantic, call) {
                    found.diagnostics.push(diagnostics::require(&source.at(call.span), what));
                }
            }
            AstKind::TSImportEqualsDeclaration(import)
                if import.import_kind == ImportOrExportKind::Value
                    && matches!(import.module_reference, TSModuleReference::ExternalModuleReference(_)) =>
            {
                found.diagnostics.push(diagnostics::require(&source.at(import.span), "import … = require(…)"));
            }
            _ => {}
        }
    }
    references(source, semantic, found.diagnostics);
    found.sites
}

/// What is found on the way through a module.
struct Found<'s> {
    source: &'s Source,
    sites: Vec<Site>,
    diagnostics: &'s mut Vec<Diagnostic>,
}

impl Found<'_> {
    fn site(&mut self, specifier: &StringLiteral<'_>, attributes: Option<&WithClause<'_>>) {
        let (text, span) = (specifier.value.as_str(), specifier.span);
        if attributes.is_some_and(|clause| !clause.with_entries.is_empty()) {
            self.diagnostics.push(diagnostics::import_attributes(&self.source.at(span), &diagnostics::quote(text)));
        } else {
            self.sites.push(Site { specifier: text.to_owned(), span });
        }
    }
}

/// `require(…)`, `require.resolve(…)`, `createRequire(…)`, `anything.createRequire(…)`; not a function of the module's own that happens
/// to be called `require`.
fn require_call(semantic: &Semantic<'_>, call: &CallExpression<'_>) -> Option<&'static str> {
    match call.callee.get_inner_expression() {
        Expression::Identifier(name) if name.name == "require" => {
            semantic.is_reference_to_global_variable(name).then_some("require(…)")
        }
        Expression::Identifier(name) if name.name == "createRequire" => {
            let symbol = semantic.scoping().get_reference(name.reference_id()).symbol_id();
            let own = symbol.is_some_and(|symbol| !semantic.scoping().symbol_flags(symbol).is_import());
            (!own).then_some("createRequire(…)")
        }
        callee => {
            let member = callee.as_member_expression()?;
            if member.static_property_name().is_some_and(|name| name == "createRequire") {
                return Some("createRequire(…)");
            }
            match member.object().get_inner_expression() {
                Expression::Identifier(name)
                    if name.name == "require" && semantic.is_reference_to_global_variable(name) =>
                {
                    Some("require(…)")
                }
                _ => None,
            }
        }
    }
}

/// `/// <reference path="…" />` is erased like every type, but may not name a file outside of the project. `types` and `lib`
/// come from anywhere (CB-110, D-17).
fn references(source: &Source, semantic: &Semantic<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for comment in semantic.comments() {
        let text = comment.span.source_text(&source.text);
        let Some(tag) = text.strip_prefix("///").map(str::trim_start).filter(|tag| tag.starts_with("<reference"))
        else {
            continue;
        };
        let Some(path) = attribute(tag, "path") else { continue };
        let outside = match classify(path) {
            Class::Absolute | Class::Url => true,
            // A reference without `./` is relative all the same.
            _ => join(&source.name, path).is_none(),
        };
        if outside {
            diagnostics.push(diagnostics::outside_project(&source.at(comment.span), &diagnostics::quote(path)));
        }
    }
}

/// The value of `name="…"` or `name='…'` in a tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let rest = tag.split_once(name)?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(value, _)| value)
}

/// What a specifier looks like, before any file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Builtin(&'static str),
    /// Below a package that is allowed only by its own name.
    Subpath(&'static str),
    Relative,
    Absolute,
    Url,
    NodeBuiltin,
    Package,
}

fn classify(specifier: &str) -> Class {
    let first = specifier.split('/').next().unwrap_or_default();
    if matches!(first, "." | "..") {
        return Class::Relative;
    }
    let drive = matches!(specifier.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    if specifier.starts_with(['/', '\\']) || drive {
        return Class::Absolute;
    }
    if specifier.starts_with(".\\") || specifier.starts_with("..\\") {
        return Class::Relative;
    }
    match specifier {
        SDK => return Class::Builtin(SDK),
        ZOD | "zod/v4" => return Class::Builtin(ZOD),
        _ => {}
    }
    if let Some((scheme, _)) = specifier.split_once(':') {
        return match scheme {
            "node" | "bun" | "deno" => Class::NodeBuiltin,
            "npm" | "jsr" => Class::Package,
            _ => Class::Url,
        };
    }
    if first == ZOD {
        return Class::Subpath(ZOD);
    }
    if specifier.starts_with("@eigenpal/automations/") {
        return Class::Subpath(SDK);
    }
    if BUILTINS.contains(&first) { Class::NodeBuiltin } else { Class::Package }
}

/// Resolves one site, or says why not.
pub(crate) fn resolve(project: &Project, source: &Source, site: &Site) -> Result<Target, Diagnostic> {
    let at = source.at(site.span);
    let specifier = site.specifier.as_str();
    let shown = &*diagnostics::quote(specifier);
    match classify(specifier) {
        Class::Builtin(name) => Ok(Target::Builtin(name)),
        Class::Subpath(package) => Err(diagnostics::package_subpath(&at, shown, package)),
        Class::Absolute => Err(diagnostics::outside_project(&at, shown)),
        Class::Url => Err(diagnostics::url(&at, shown)),
        Class::NodeBuiltin => Err(diagnostics::node_builtin(&at, shown)),
        Class::Package => Err(diagnostics::npm_package(&at, shown)),
        Class::Relative if specifier.contains('\\') => Err(diagnostics::backslash_in_specifier(&at, shown)),
        Class::Relative => {
            let Some(path) = join(&source.name, specifier) else {
                return Err(diagnostics::outside_project(&at, shown));
            };
            let folder = specifier.ends_with('/') || matches!(specifier.rsplit('/').next(), Some("." | ".."));
            match candidates(&path, folder) {
                None => Err(diagnostics::non_source_module(&at, shown)),
                Some(candidates) => choose(project, &candidates, &path).map_err(|problem| match problem {
                    Problem::Missing => diagnostics::missing_module(&at, shown, &diagnostics::quote(&candidates[0])),
                    Problem::Outside => diagnostics::outside_project(&at, shown),
                    Problem::NotSource => diagnostics::non_source_module(&at, shown),
                    Problem::Ambiguous => diagnostics::ambiguous_module(&at, shown, &candidates[0], &candidates[1]),
                }),
            }
        }
    }
}

/// The project-relative path of a relative specifier; none if it leaves the project. Purely textual, as for URLs.
fn join(importer: &str, specifier: &str) -> Option<String> {
    let mut parts: Vec<&str> = importer.split('/').collect();
    parts.pop();
    for part in specifier.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The files a path may mean (D-16), most likely first; none if its extension rules out a source module.
fn candidates(path: &str, folder: bool) -> Option<Vec<String>> {
    let index = || if path.is_empty() { "index.ts".to_owned() } else { format!("{path}/index.ts") };
    if folder {
        return Some(vec![index()]);
    }
    if is_source(path) {
        return Some(vec![path.to_owned()]);
    }
    if let Some(stem) = path.strip_suffix(".js") {
        return Some(vec![format!("{stem}.ts")]);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    if path.ends_with(".d.ts") || extension.is_some_and(|extension| ASSETS.contains(&extension.as_str())) {
        return None;
    }
    Some(vec![format!("{path}.ts"), index()])
}

enum Problem {
    Missing,
    Outside,
    NotSource,
    Ambiguous,
}

fn choose(project: &Project, candidates: &[String], path: &str) -> Result<Target, Problem> {
    let mut found = Vec::new();
    for candidate in candidates {
        match project.lookup(candidate) {
            Lookup::File(name) if is_source(&name) => found.push(name),
            Lookup::File(_) => return Err(Problem::NotSource),
            Lookup::Outside => return Err(Problem::Outside),
            Lookup::Missing => {}
        }
    }
    match found.len() {
        1 => found.pop().map(Target::Module).ok_or(Problem::Missing),
        0 => match project.lookup(path) {
            // The file is there, but it is no source module: `x.js` without an `x.ts`, or a name with an unknown extension.
            Lookup::File(_) => Err(Problem::NotSource),
            Lookup::Outside => Err(Problem::Outside),
            Lookup::Missing => Err(Problem::Missing),
        },
        _ => Err(Problem::Ambiguous),
    }
}

/// Extensions that never name a source module, whatever is on the disk.
const ASSETS: &[&str] = &[
    "avif", "cjs", "css", "csv", "cts", "gif", "html", "ico", "jpeg", "jpg", "json", "json5", "jsonc", "jsx", "less",
    "md", "mdx", "mjs", "mts", "node", "pdf", "png", "sass", "scss", "sql", "svelte", "svg", "toml", "tsx", "ttf",
    "txt", "vue", "wasm", "webp", "woff", "woff2", "xml", "yaml", "yml",
];

/// The bare names of Node's built-in modules (`node:module`'s `builtinModules`, Node 24), and Bun's.
const BUILTINS: &[&str] = &[
    "_http_agent",
    "_http_client",
    "_http_common",
    "_http_incoming",
    "_http_outgoing",
    "_http_server",
    "_stream_duplex",
    "_stream_passthrough",
    "_stream_readable",
    "_stream_transform",
    "_stream_wrap",
    "_stream_writable",
    "_tls_common",
    "_tls_wrap",
    "assert",
    "async_hooks",
    "buffer",
    "bun",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];
