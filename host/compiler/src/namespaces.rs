//! Namespaces and enums that are written in several blocks.
//!
//! In TypeScript a block of a namespace sees what the other blocks of that namespace export, and what an enum of its name has as
//! members: `namespace M { export const a = 1; } namespace M { export const b = () => a; }`. Each block becomes a function of its own in
//! JavaScript, where such a name stands for nothing, or for something else outside. The transformer leaves it as it is; so it is
//! written out before, as TypeScript itself does it: `M.a`.

use oxc::allocator::{Allocator, GetAllocator};
use oxc::ast::AstKind;
use oxc::ast::ast::{
    Declaration, Expression, IdentifierName, ObjectProperty, Program, Statement, TSNamespaceDeclarationBody,
};
use oxc::ast::builder::AstBuilder;
use oxc::ast_visit::{VisitMut, walk_mut};
use oxc::semantic::{NodeId, ScopeId, Semantic, SemanticBuilder};
use oxc::span::{GetSpan, Span};
use std::collections::{BTreeMap, BTreeSet};

/// One block of a namespace or an enum.
struct Block {
    /// The names of the namespaces around it, and its own.
    path: Vec<String>,
    scope: ScopeId,
    exports: BTreeSet<String>,
}

/// Puts the namespace's name before every name that another of its blocks exports. The error is where that cannot be, because the
/// namespace's name means something else there.
pub(crate) fn qualify<'a>(allocator: &'a Allocator, program: &mut Program<'a>) -> Result<(), Vec<Span>> {
    // Most modules have no namespace, and their enums in one piece.
    if !may_have_blocks(program) {
        return Ok(());
    }
    let places = places(&SemanticBuilder::new().with_build_nodes(true).build(program).semantic)?;
    if !places.is_empty() {
        Qualify { builder: AstBuilder::new(allocator), places }.visit_program(program);
    }
    Ok(())
}

fn may_have_blocks(program: &Program<'_>) -> bool {
    let mut enums = 0;
    for statement in &program.body {
        match statement {
            Statement::TSNamespaceDeclaration(_) => return true,
            Statement::TSEnumDeclaration(_) => enums += 1,
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::TSNamespaceDeclaration(_) => return true,
                Declaration::TSEnumDeclaration(_) => enums += 1,
                _ => {}
            },
            _ => {}
        }
    }
    enums > 1
}

/// Where names stand that mean an export of another block, by the place they begin at, with the namespace's name.
fn places(semantic: &Semantic<'_>) -> Result<BTreeMap<u32, String>, Vec<Span>> {
    let nodes = semantic.nodes();
    let blocks: BTreeMap<NodeId, Block> =
        nodes.iter().filter_map(|node| Some((node.id(), block(semantic, node.id())?))).collect();
    let mut exports: BTreeMap<&[String], BTreeSet<&str>> = BTreeMap::new();
    let mut apart = false;
    for block in blocks.values() {
        apart |= exports.contains_key(&*block.path);
        exports.entry(&block.path).or_default().extend(block.exports.iter().map(String::as_str));
    }
    let (mut places, mut hidden) = (BTreeMap::new(), Vec::new());
    if !apart {
        return Ok(places);
    }
    let scoping = semantic.scoping();
    for node in nodes.iter() {
        let AstKind::IdentifierReference(name) = node.kind() else { continue };
        let reference = scoping.get_reference(name.reference_id());
        if !reference.flags().is_value() {
            continue;
        }
        let bound_in = reference.symbol_id().map(|symbol| scoping.symbol_scope_id(symbol));
        for (id, block) in nodes.ancestor_ids(node.id()).filter_map(|ancestor| blocks.get_key_value(&ancestor)) {
            // Whatever is nearer than the namespace counts: its own parameters, constants, exports.
            if bound_in.is_some_and(|scope| scoping.scope_ancestors(scope).any(|around| around == block.scope)) {
                break;
            }
            if let Some(own) = block.path.last()
                && exports.get(&*block.path).is_some_and(|exports| exports.contains(name.name.as_str()))
                && !block.exports.contains(name.name.as_str())
            {
                let meant = scoping.find_binding(reference.scope_id(), own.as_str().into());
                let reaches = |symbol| scoping.symbol_declarations(symbol).any(|declaration| declaration == *id);
                match meant.is_some_and(reaches) {
                    true => drop(places.insert(name.span.start, own.clone())),
                    false => hidden.push(name.span),
                }
                break;
            }
        }
    }
    if hidden.is_empty() { Ok(places) } else { Err(hidden) }
}

/// A node as a block, if it is one that runs and stands at the top level or in such a block.
fn block(semantic: &Semantic<'_>, id: NodeId) -> Option<Block> {
    let nodes = semantic.nodes();
    let (name, scope, exports) = match nodes.kind(id) {
        AstKind::TSNamespaceDeclaration(namespace) if !namespace.declare => {
            let exports = match &namespace.body {
                TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                    BTreeSet::from([inner.id.name.to_string()])
                }
                TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().flat_map(exported).collect(),
            };
            (&namespace.id.name, namespace.scope_id.get()?, exports)
        }
        AstKind::TSEnumDeclaration(declaration) if !declaration.declare => {
            let members = declaration.body.members.iter().map(|member| member.id.static_name().to_string());
            (&declaration.id.name, declaration.body.scope_id.get()?, members.collect())
        }
        _ => return None,
    };
    let mut path = vec![name.to_string()];
    for kind in nodes.ancestor_kinds(id) {
        match kind {
            AstKind::TSNamespaceDeclaration(around) => path.push(around.id.name.to_string()),
            AstKind::Program(_) | AstKind::TSModuleBlock(_) | AstKind::ExportDeclaration(_) => {}
            _ => return None,
        }
    }
    path.reverse();
    Some(Block { path, scope, exports })
}

/// The names that a statement of a namespace exports.
fn exported(statement: &Statement<'_>) -> Vec<String> {
    let Statement::ExportDeclaration(export) = statement else { return Vec::new() };
    match &export.declaration {
        Declaration::VariableDeclaration(variables) => {
            let ids = variables.declarations.iter().flat_map(|declarator| declarator.id.get_binding_identifiers());
            ids.map(|id| id.name.to_string()).collect()
        }
        declaration => declaration.id().map(|id| id.name.to_string()).into_iter().collect(),
    }
}

struct Qualify<'a> {
    builder: AstBuilder<'a>,
    places: BTreeMap<u32, String>,
}

impl<'a> VisitMut<'a> for Qualify<'a> {
    fn visit_expression(&mut self, expression: &mut Expression<'a>) {
        walk_mut::walk_expression(self, expression);
        if let Expression::Identifier(name) = &*expression
            && let Some(namespace) = self.places.get(&name.span.start)
        {
            let span = name.span();
            let property = IdentifierName::new(span, name.name, &self.builder);
            let object = Expression::new_identifier(span, self.builder.allocator().alloc_str(namespace), &self.builder);
            *expression = Expression::new_static_member_expression(span, object, property, false, &self.builder);
        }
    }

    fn visit_object_property(&mut self, property: &mut ObjectProperty<'a>) {
        walk_mut::walk_object_property(self, property);
        if property.shorthand && !matches!(property.value, Expression::Identifier(_)) {
            property.shorthand = false;
        }
    }
}
