//! Arrays without order and without `matchBy`: every item needs a partner of its own (spec 4.7).
//!
//! Items that are equal are paired first, by hash. That is only a beginning: with numeric tolerances "matches" is not transitive,
//! so a maximum matching may have to separate equal items again. Whoever is left looks for partners among the items that agree in its
//! most telling scalar.

use super::compare::{Comparer, numbers_match};
use super::error::{ComparisonError, ComparisonLimit};
use super::matching::{Bits, Graph, Matching};
use super::options::{ItemPolicy, Options, Settings};
use super::view::{Item, NodeId, Shape, View};
use std::collections::HashMap;

/// The most items, on either side, of an array that is compared without order and without `matchBy` (spec 4.7).
pub const MAX_UNORDERED_ITEMS: usize = 1_000;
/// The most pairs of items that one comparison may try in arrays without order (spec 4.7). Pairs that cannot match because a
/// scalar differs are not tried.
pub const MAX_PAIRS: u64 = 1_000_000;
/// Arrays with fewer actual items are searched without an index.
const INDEX_FROM: usize = 16;

/// Pairs the items. In a quiet comparison the matching may be incomplete, but then an item that needs a partner has none.
pub(super) fn pair_items(
    comparer: &mut Comparer<'_, '_>,
    expected: &[Item],
    actual: &[Item],
    policy: ItemPolicy,
) -> Result<Matching, ComparisonError> {
    if expected.len().max(actual.len()) > MAX_UNORDERED_ITEMS {
        return Err(ComparisonError::Limit { limit: ComparisonLimit::UnorderedItems });
    }
    comparer.step((expected.len() + actual.len()) as u64)?;
    let mut matching = Matching::empty(expected.len(), actual.len());
    pair_equal_items(comparer, expected, actual, &mut matching)?;
    let allowed = match policy {
        _ if !comparer.is_quiet() => usize::MAX,
        ItemPolicy::AtMost => expected.len().saturating_sub(actual.len()),
        ItemPolicy::AtLeast | ItemPolicy::Exactly => 0,
    };
    if matching.unmatched > 0 {
        let index = if actual.len() < INDEX_FROM { None } else { Some(Index::of(comparer, actual)?) };
        matching.grow(&mut Items { comparer, expected, actual, index }, allowed)?;
    }
    Ok(matching)
}

fn pair_equal_items(
    comparer: &mut Comparer<'_, '_>,
    expected: &[Item],
    actual: &[Item],
    matching: &mut Matching,
) -> Result<(), ComparisonError> {
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::with_capacity(actual.len());
    for (position, item) in actual.iter().enumerate().rev() {
        by_hash.entry(comparer.actual.node(item.node).hash).or_default().push(position);
    }
    for (left, item) in expected.iter().enumerate() {
        let equal = by_hash.get_mut(&comparer.expected.node(item.node).hash).and_then(Vec::pop);
        // Compared all the same: hashes collide, and `matchBy` further down may refuse even what is equal.
        if let Some(right) = equal
            && comparer.quietly(item.node, actual[right].node)?
        {
            matching.pair(left, right);
        }
    }
    Ok(())
}

/// The graph of the items that match.
struct Items<'c, 'a, 'o> {
    comparer: &'c mut Comparer<'a, 'o>,
    expected: &'c [Item],
    actual: &'c [Item],
    index: Option<Index>,
}

impl Graph for Items<'_, '_, '_> {
    type Error = ComparisonError;

    fn neighbours(&mut self, left: usize) -> Result<Bits, ComparisonError> {
        let mut bits = Bits::empty(self.actual.len());
        let item = self.expected[left].node;
        let candidates = match &self.index {
            Some(index) => index.candidates(self.comparer, item)?,
            None => None,
        };
        let all = 0..candidates.as_ref().map_or(self.actual.len(), Vec::len);
        for right in all.map(|position| candidates.as_ref().map_or(position, |candidates| candidates[position])) {
            self.comparer.pair()?;
            if self.comparer.quietly(item, self.actual[right].node)? {
                bits.insert(right);
            }
        }
        Ok(bits)
    }

    fn visit(&mut self) -> Result<(), ComparisonError> {
        self.comparer.step(1)
    }
}

/// The actual items by their scalars. An expected item matches none that has nothing like one of its scalars in that place; where
/// the place is in an array, nothing like it in any item.
struct Index {
    /// Positions of items by the hash of place and value, for what must be equal.
    equal: HashMap<(u64, u64), Vec<usize>>,
    /// Numbers at a place, in ascending order.
    numbers: HashMap<u64, Vec<(f64, usize)>>,
}

impl Index {
    fn of(comparer: &mut Comparer<'_, '_>, items: &[Item]) -> Result<Self, ComparisonError> {
        let mut index = Self { equal: HashMap::new(), numbers: HashMap::new() };
        let (view, options) = (comparer.actual, comparer.options);
        let mut leaves = 0;
        for (position, item) in items.iter().enumerate() {
            each_leaf(view, options, item.node, 0, &mut |place, leaf| {
                leaves += 1;
                if let Shape::Number(number) = view.node(leaf).shape {
                    index.numbers.entry(place).or_default().push((number, position));
                    return;
                }
                let positions = index.equal.entry((place, view.node(leaf).hash)).or_default();
                if positions.last() != Some(&position) {
                    positions.push(position);
                }
            });
        }
        comparer.step(leaves)?;
        index.numbers.values_mut().for_each(|numbers| numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0)));
        Ok(index)
    }

    /// The items that agree with an expected one in that scalar in which the fewest do, in ascending order; nothing if it has none.
    fn candidates(&self, comparer: &mut Comparer<'_, '_>, item: NodeId) -> Result<Option<Vec<usize>>, ComparisonError> {
        let view = comparer.expected;
        let options: &Options = comparer.options;
        let mut best: Option<Narrowed<'_>> = None;
        let mut leaves = 0;
        each_leaf(view, options, item, 0, &mut |place, leaf| {
            leaves += 1;
            let node = view.node(leaf);
            let narrowed = match node.shape {
                Shape::Number(number) => {
                    let numbers = self.numbers.get(&place).map_or(&[][..], Vec::as_slice);
                    Narrowed::Near(near(numbers, number, options.settings(node.place)))
                }
                _ => Narrowed::Equal(self.equal.get(&(place, node.hash)).map_or(&[][..], Vec::as_slice)),
            };
            if best.as_ref().is_none_or(|best| narrowed.len() < best.len()) {
                best = Some(narrowed);
            }
        });
        comparer.step(leaves)?;
        Ok(best.map(|best| match best {
            Narrowed::Equal(positions) => positions.to_vec(),
            Narrowed::Near(numbers) => {
                let mut positions: Vec<usize> = numbers.iter().map(|(_, position)| *position).collect();
                positions.sort_unstable();
                positions.dedup();
                positions
            }
        }))
    }
}

enum Narrowed<'i> {
    Equal(&'i [usize]),
    Near(&'i [(f64, usize)]),
}

impl Narrowed<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Equal(positions) => positions.len(),
            Self::Near(numbers) => numbers.len(),
        }
    }
}

/// The numbers that can match: those within a distance that is surely large enough.
fn near<'i>(numbers: &'i [(f64, usize)], number: f64, settings: &Settings) -> &'i [(f64, usize)] {
    let distance = match settings.tolerance {
        None => 1e-6 + number.abs() * 2e-6,
        Some(tolerance) => tolerance + (number.abs() + tolerance) * 16.0 * f64::EPSILON,
    };
    let start = numbers.partition_point(|(other, _)| *other < number - distance);
    let end = start + numbers[start..].partition_point(|(other, _)| *other <= number + distance);
    debug_assert!(numbers[..start].iter().chain(&numbers[end..]).all(|(other, _)| !numbers_match(
        number,
        *other,
        settings.tolerance
    )));
    &numbers[start..end]
}

/// Calls `each` for every scalar that a match of this value depends on, with a hash of its place. Items of an array share a place,
/// because their order may mean nothing. Where expected items may be more than the actual ones, no match depends on them.
fn each_leaf(view: &View<'_>, options: &Options, node: NodeId, place: u64, each: &mut impl FnMut(u64, NodeId)) {
    // Not symmetric, so that `a.b` is not `b.a`.
    let below = |step: u64| place.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ step;
    match view.node(node).shape {
        Shape::Object(object) => {
            for member in view.members(object) {
                each_leaf(view, options, member.node, below(member.key_hash), each);
            }
        }
        Shape::Array(start, end) => {
            if options.settings(view.node(node).place).items != ItemPolicy::AtMost {
                view.items(start, end).iter().for_each(|item| each_leaf(view, options, item.node, below(1), each));
            }
        }
        _ => each(place, node),
    }
}
