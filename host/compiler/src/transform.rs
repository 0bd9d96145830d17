//! TypeScript to JavaScript: types stripped, ES2022, a source map beside it.
//!
//! Imports that only types come through disappear, as TypeScript's own default (`verbatimModuleSyntax: false`) has it. Where
//! one file alone does not show that a re-exported name is a type, the captured graph does.

use crate::diagnostics::{self, Diagnostic};
use crate::graph::{Graph, Module};
use crate::module::{self, on_deep_stack};
use crate::namespaces;
use callcell_runtime::ModuleSource;
use oxc::allocator::Allocator;
use oxc::ast::ast::{
    BindingIdentifier, ImportDeclarationSpecifier, ImportOrExportKind, ModuleExportName, Program, Statement,
};
use oxc::codegen::{Codegen, CodegenOptions, CommentOptions, IndentChar};
use oxc::semantic::SemanticBuilder;
use oxc::transformer::{TransformOptions, Transformer};
use std::collections::BTreeSet;
use std::path::Path;

/// Compiles one module of a project that has no errors.
pub(crate) fn transform(graph: &Graph, name: &str, module: &Module) -> Result<ModuleSource, Vec<Diagnostic>> {
    on_deep_stack(&module.source, || transform_here(graph, name, module)).unwrap_or_else(|failed| Err(vec![failed]))
}

fn transform_here(graph: &Graph, name: &str, module: &Module) -> Result<ModuleSource, Vec<Diagnostic>> {
    let source = &module.source;
    let allocator = Allocator::default();
    let parsed = module::parse(&allocator, &source.text);
    if parsed.panicked {
        return Err(parsed.diagnostics.iter().map(|problem| module::syntax(source, problem)).collect());
    }
    let mut program = parsed.program;
    program.hashbang = None;
    mark_types(graph, name, &mut program);
    if let Err(hidden) = namespaces::qualify(&allocator, &mut program) {
        return Err(hidden.iter().map(|span| diagnostics::namespace_hidden(&source.at(*span))).collect());
    }

    let scoping = SemanticBuilder::new().with_enum_eval(true).build(&program).semantic.into_scoping();
    let mut options = TransformOptions::from_target("es2022")
        .map_err(|reason| vec![diagnostics::transform_failed(&source.locate(0, 0), &reason, None)])?;
    options.helper_loader.module_name = HELPERS.into();
    let done = Transformer::new(&allocator, Path::new(name), &options).build_with_scoping(scoping, &mut program);
    if !done.diagnostics.is_empty() {
        return Err(done
            .diagnostics
            .iter()
            .map(|problem| {
                diagnostics::transform_failed(
                    &module::place(source, problem),
                    &problem.message,
                    problem.help.as_deref(),
                )
            })
            .collect());
    }

    let imports = imports(module, &program)?;
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            comments: CommentOptions::disabled(),
            source_map_path: Some(name.into()),
            indent_char: IndentChar::Space,
            indent_width: 2,
            ..CodegenOptions::default()
        })
        .build(&program);
    let source_map = printed.map.map(|mut map| {
        map.set_source_contents(Vec::new());
        map.to_json_string()
    });
    Ok(ModuleSource {
        name: name.to_owned(),
        source: printed.code,
        source_map: Some(source_map.unwrap_or_default()),
        imports,
    })
}

/// Marks imports and re-exports of names that are types in the module they come from.
fn mark_types(graph: &Graph, name: &str, program: &mut Program<'_>) {
    let mut types = BTreeSet::new();
    for statement in &mut program.body {
        match statement {
            Statement::ImportDeclaration(import) => {
                let specifier = import.source.value;
                for imported in import.specifiers.iter_mut().flatten() {
                    let (exported, local): (String, &BindingIdentifier<'_>) = match &*imported {
                        ImportDeclarationSpecifier::ImportSpecifier(it) => (it.imported.name().to_string(), &it.local),
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => ("default".into(), &it.local),
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => continue,
                    };
                    if graph.is_type(name, &specifier, &exported) {
                        types.insert(local.name.to_string());
                        if let ImportDeclarationSpecifier::ImportSpecifier(it) = imported {
                            it.import_kind = ImportOrExportKind::Type;
                        }
                    }
                }
            }
            Statement::ExportFromDeclaration(export) => {
                let specifier = export.source.value;
                for exported in &mut export.specifiers {
                    if graph.is_type(name, &specifier, &exported.local.name()) {
                        exported.export_kind = ImportOrExportKind::Type;
                    }
                }
            }
            _ => {}
        }
    }
    for statement in &mut program.body {
        if let Statement::ExportNamedDeclaration(export) = statement {
            for exported in &mut export.specifiers {
                if let ModuleExportName::IdentifierReference(local) = &exported.local
                    && types.contains(local.name.as_str())
                {
                    exported.export_kind = ImportOrExportKind::Type;
                }
            }
        }
    }
}

/// Where the transformer imports its helpers from. No file of a project has a name that begins with `/`.
const HELPERS: &str = "/callcell";

/// The one helper that ES2022 needs: what `using` declarations are lowered to calls of.
const USING: &str = "/callcell/helpers/usingCtx";

/// The module a helper of the transformer is.
pub(crate) fn helper(name: &str) -> Option<ModuleSource> {
    (name == USING).then(|| ModuleSource {
        name: USING.to_owned(),
        source: include_str!("using.js").to_owned(),
        source_map: None,
        imports: Vec::new(),
    })
}

/// The imports that are left, in the order of their appearance.
fn imports(module: &Module, program: &Program<'_>) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let mut imports: Vec<(String, String)> = Vec::new();
    for statement in &program.body {
        let literal = match statement {
            Statement::ImportDeclaration(import) => &import.source,
            Statement::ExportFromDeclaration(export) => &export.source,
            Statement::ExportAllDeclaration(export) => &export.source,
            _ => continue,
        };
        let specifier = literal.value.as_str();
        let target = match module.targets.get(specifier) {
            Some(target) => target.name(),
            None if specifier == USING => USING,
            None => {
                let at = module.source.at(literal.span);
                let reason = format!("it needs the helper `{specifier}`");
                return Err(vec![diagnostics::transform_failed(&at, &reason, Some("write it in ES2022"))]);
            }
        };
        if imports.iter().all(|(known, _)| known != specifier) {
            imports.push((specifier.to_owned(), target.to_owned()));
        }
    }
    Ok(imports)
}
