//! The identity of an item by `matchBy`: a tuple of scalars, equal by type and value (spec 4.8).

use super::MismatchKind;
use super::view::{NodeId, Shape, View};

/// One value of an identity. Numbers by their bits: `1` is `1.0`, and no tolerance applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(u64),
    Text(&'a str),
}

/// Why an item has no identity.
#[derive(Debug)]
pub(super) struct IdentityFault<'r> {
    pub kind: MismatchKind,
    /// The path of `matchBy` that leads nowhere; empty if the item is no object.
    pub keys: &'r [String],
}

/// The identity of an item by the paths of `matchBy`.
pub(super) fn identity<'a, 'r>(
    view: &View<'a>,
    item: NodeId,
    names: &'r [Vec<String>],
) -> Result<Vec<Scalar<'a>>, IdentityFault<'r>> {
    if !matches!(view.node(item).shape, Shape::Object(_)) {
        return Err(IdentityFault { kind: MismatchKind::Type, keys: &[] });
    }
    names.iter().map(|keys| scalar(view, item, keys).map_err(|kind| IdentityFault { kind, keys })).collect()
}

fn scalar<'a>(view: &View<'a>, item: NodeId, keys: &[String]) -> Result<Scalar<'a>, MismatchKind> {
    let mut node = item;
    for key in keys {
        let Shape::Object(object) = view.node(node).shape else { return Err(MismatchKind::IdentityMissing) };
        let position = view.find(object, key, 0).ok_or(MismatchKind::IdentityMissing)?;
        node = view.members(object)[position].node;
    }
    match view.node(node).shape {
        Shape::Null => Ok(Scalar::Null),
        Shape::Bool(value) => Ok(Scalar::Bool(value)),
        Shape::Number(number) => Ok(Scalar::Number(number.to_bits())),
        Shape::Text(text) => Ok(Scalar::Text(text)),
        Shape::Array(..) | Shape::Object(_) => Err(MismatchKind::IdentityNotScalar),
        Shape::Undefined => Err(MismatchKind::IdentityMissing),
    }
}
