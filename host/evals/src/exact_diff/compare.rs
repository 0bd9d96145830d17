//! The comparison itself: both views, side by side (spec 4.5 to 4.9).

use super::Projection;
use super::error::{ComparisonError, ComparisonLimit};
use super::identity::{IdentityFault, Scalar, identity};
use super::options::{ItemPolicy, Options};
use super::path::{Place, render};
use super::report::{Comparison, Field, MAX_MISMATCHES, Mismatch, MismatchKind, shown};
use super::unordered::{MAX_PAIRS, pair_items};
use super::view::{Item, NodeId, Shape, View};
use std::collections::HashMap;

/// The most steps one comparison may take (spec 4.7): values compared, items indexed, vertices visited. 128 KiB of JSON without
/// unordered arrays hold less than 66,000 values.
pub const MAX_STEPS: u64 = 2_000_000;
/// The relative difference up to which numbers match where no tolerance is set (D-56).
const RELATIVE_TOLERANCE: f64 = 1e-6;
/// How many units in the last place a difference may exceed a tolerance by: 1.01 - 1.00 is 0.010000000000000009 (D-57).
const SLACK_UNITS: f64 = 2.0;
/// How many positions of items with the same identity are listed (spec 4.8).
const MAX_POSITIONS: usize = 20;

/// Compares two projections.
///
/// The result depends on nothing but the arguments. The work is bounded: linear in the projections where arrays are ordered or
/// matched by identity, and by [`MAX_STEPS`], [`MAX_PAIRS`](super::MAX_PAIRS) and
/// [`MAX_UNORDERED_ITEMS`](super::MAX_UNORDERED_ITEMS) otherwise.
///
/// # Errors
/// When the expected projection is missing, empty, does not suit the rules, or a limit is exceeded. What is wrong with the actual
/// projection is a mismatch, never an error, but for the limits.
pub fn compare(
    expected: Projection<'_>,
    actual: Projection<'_>,
    options: &Options,
) -> Result<Comparison, ComparisonError> {
    let expected = View::of_expected(expected, options)?;
    let actual = View::of_actual(actual, options)?;
    Comparer::new(&expected, &actual, options).run()
}

/// D-43, D-56, D-57. Both numbers are finite.
pub(super) fn numbers_match(expected: f64, actual: f64, tolerance: Option<f64>) -> bool {
    if expected == actual {
        return true;
    }
    let difference = (actual - expected).abs();
    let larger = expected.abs().max(actual.abs());
    match tolerance {
        None if expected == 0.0 || actual == 0.0 => difference < RELATIVE_TOLERANCE,
        None => difference / larger < RELATIVE_TOLERANCE,
        Some(0.0) => false,
        // A difference that overflows is larger than any tolerance.
        Some(tolerance) => difference.is_finite() && difference <= tolerance + SLACK_UNITS * f64::EPSILON * larger,
    }
}

pub(super) struct Comparer<'a, 'o> {
    pub expected: &'a View<'a>,
    pub actual: &'a View<'a>,
    pub options: &'o Options,
    steps: u64,
    pairs: u64,
    /// In a quiet comparison the first difference ends it, and none is reported.
    is_quiet: bool,
    path: Vec<Place<'a>>,
    mismatches: Vec<Mismatch>,
    truncated: usize,
}

impl<'a, 'o> Comparer<'a, 'o> {
    fn new(expected: &'a View<'a>, actual: &'a View<'a>, options: &'o Options) -> Self {
        Self {
            expected,
            actual,
            options,
            steps: 0,
            pairs: 0,
            is_quiet: false,
            path: Vec::new(),
            mismatches: Vec::new(),
            truncated: 0,
        }
    }

    fn run(mut self) -> Result<Comparison, ComparisonError> {
        let fields = self.fields()?;
        let matched = fields.iter().filter(|field| field.matched).count();
        let total = fields.len();
        Ok(Comparison {
            score: matched as f64 / total as f64,
            matched,
            total,
            fields,
            mismatches: self.mismatches,
            truncated: self.truncated,
        })
    }

    /// D-61: the members of an object, otherwise the whole. There is at least one, because the expected view is not empty.
    fn fields(&mut self) -> Result<Vec<Field>, ComparisonError> {
        let (expected, actual) = (self.expected.root(), self.actual.root());
        let Shape::Object(expected_object) = self.expected.node(expected).shape else {
            let matched = self.compare(expected, Some(actual))?;
            return Ok(vec![Field { path: "$".to_owned(), matched }]);
        };
        let mut fields = Vec::with_capacity(self.expected.members(expected_object).len());
        let mut add = |key, matched| fields.push(Field { path: render([Place::Key(key)]), matched });
        if let Shape::Object(actual_object) = self.actual.node(actual).shape {
            self.step(1)?;
            self.compare_members(expected, expected_object, actual_object, &mut add)?;
        } else {
            self.compare(expected, Some(actual))?;
            self.expected.members(expected_object).iter().for_each(|member| add(member.key, false));
        }
        Ok(fields)
    }

    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether two values match, without a report.
    pub fn quietly(&mut self, expected: NodeId, actual: NodeId) -> Result<bool, ComparisonError> {
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let matched = self.compare(expected, Some(actual))?;
        self.is_quiet = was_quiet;
        Ok(matched)
    }

    /// Accounts for work.
    pub fn step(&mut self, steps: u64) -> Result<(), ComparisonError> {
        self.steps += steps;
        if self.steps > MAX_STEPS {
            return Err(ComparisonError::Limit { limit: ComparisonLimit::Steps });
        }
        Ok(())
    }

    /// Accounts for a pair of items that is tried.
    pub fn pair(&mut self) -> Result<(), ComparisonError> {
        self.pairs += 1;
        if self.pairs > MAX_PAIRS {
            return Err(ComparisonError::Limit { limit: ComparisonLimit::Pairs });
        }
        Ok(())
    }

    fn compare(&mut self, expected: NodeId, actual: Option<NodeId>) -> Result<bool, ComparisonError> {
        self.step(1)?;
        let Some(actual) = actual else {
            return Ok(self.differ(MismatchKind::Missing, Some(expected), None));
        };
        let kind = match (self.expected.node(expected).shape, self.actual.node(actual).shape) {
            (Shape::Null, Shape::Null) => return Ok(true),
            (Shape::Bool(left), Shape::Bool(right)) if left == right => return Ok(true),
            (Shape::Text(left), Shape::Text(right)) if left == right => return Ok(true),
            (Shape::Bool(_), Shape::Bool(_)) | (Shape::Text(_), Shape::Text(_)) => MismatchKind::Value,
            (Shape::Number(left), Shape::Number(right)) => {
                let tolerance = self.options.settings(self.expected.node(expected).place).tolerance;
                if numbers_match(left, right, tolerance) {
                    return Ok(true);
                }
                MismatchKind::Value
            }
            (Shape::Array(from, to), Shape::Array(actual_from, actual_to)) => {
                let (left, right) = (self.expected.items(from, to), self.actual.items(actual_from, actual_to));
                return self.compare_items(expected, left, right);
            }
            (Shape::Object(left), Shape::Object(right)) => {
                return self.compare_members(expected, left, right, &mut |_, _| {});
            }
            (_, Shape::Undefined) => MismatchKind::Missing,
            _ => MismatchKind::Type,
        };
        Ok(self.differ(kind, Some(expected), Some(actual)))
    }

    /// Reports a difference at the current path. Returns false, as "does not match".
    fn differ(&mut self, kind: MismatchKind, expected: Option<NodeId>, actual: Option<NodeId>) -> bool {
        if self.is_quiet {
            return false;
        }
        if self.mismatches.len() == MAX_MISMATCHES {
            self.truncated += 1;
            return false;
        }
        let actual = actual.map(|node| self.actual.node(node)).filter(|node| !matches!(node.shape, Shape::Undefined));
        self.mismatches.push(Mismatch {
            path: render(self.path.iter().copied()),
            kind,
            expected: expected.map(|node| shown(self.expected.node(node).value)),
            actual: actual.map(|node| shown(node.value)),
            positions: Vec::new(),
        });
        false
    }

    /// [`Self::differ`], one step further.
    fn differ_at(
        &mut self,
        place: Place<'a>,
        kind: MismatchKind,
        expected: Option<NodeId>,
        actual: Option<NodeId>,
    ) -> bool {
        self.path.push(place);
        self.differ(kind, expected, actual);
        self.path.pop();
        false
    }

    fn compare_at(
        &mut self,
        place: Place<'a>,
        expected: NodeId,
        actual: Option<NodeId>,
    ) -> Result<bool, ComparisonError> {
        self.path.push(place);
        let matched = self.compare(expected, actual)?;
        self.path.pop();
        Ok(matched)
    }

    /// Spec 4.6. Calls `each` with every member that counts.
    fn compare_members(
        &mut self,
        expected: NodeId,
        expected_object: usize,
        actual_object: usize,
        each: &mut dyn FnMut(&'a str, bool),
    ) -> Result<bool, ComparisonError> {
        let (expected_view, actual_view) = (self.expected, self.actual);
        let mut matched = true;
        let mut hint = 0;
        for member in expected_view.members(expected_object) {
            let position = actual_view.find(actual_object, member.key, hint);
            hint = position.map_or(hint, |position| position + 1);
            let actual = position.map(|position| actual_view.members(actual_object)[position].node);
            let same = self.compare_at(Place::Key(member.key), member.node, actual)?;
            each(member.key, same);
            matched &= same;
            if self.is_quiet && !matched {
                return Ok(false);
            }
        }
        if self.options.settings(expected_view.node(expected).place).allow_extra_fields {
            return Ok(matched);
        }
        hint = 0;
        for member in actual_view.members(actual_object) {
            self.step(1)?;
            let position = expected_view.find(expected_object, member.key, hint);
            hint = position.map_or(hint, |position| position + 1);
            if position.is_none() {
                matched = self.differ_at(Place::Key(member.key), MismatchKind::ExtraField, None, Some(member.node));
                each(member.key, false);
            }
        }
        Ok(matched)
    }

    /// Spec 4.7.
    fn compare_items(
        &mut self,
        array: NodeId,
        expected: &'a [Item],
        actual: &'a [Item],
    ) -> Result<bool, ComparisonError> {
        let options = self.options;
        let place = self.expected.node(array).place;
        let settings = options.settings(place);
        if let Some(names) = options.rule_at(place).and_then(|(_, rule)| rule.match_by.as_deref()) {
            return self.compare_by_identity(expected, actual, settings.items, names);
        }
        if self.is_quiet && !can_have_partners(expected.len(), actual.len(), settings.items) {
            return Ok(false);
        }
        if !settings.unordered {
            return self.compare_in_order(expected, actual, settings.items);
        }
        let matching = pair_items(self, expected, actual, settings.items)?;
        let lacking = expected.iter().zip(&matching.of_left).filter(|(_, partner)| partner.is_none());
        let extra = actual.iter().zip(&matching.of_right).filter(|(_, partner)| partner.is_none());
        let (lacking, extra): (Vec<_>, Vec<_>) =
            (lacking.map(|(item, _)| *item).collect(), extra.map(|(item, _)| *item).collect());
        Ok(self.report_alone(&lacking, &extra, settings.items))
    }

    fn compare_in_order(
        &mut self,
        expected: &'a [Item],
        actual: &'a [Item],
        policy: ItemPolicy,
    ) -> Result<bool, ComparisonError> {
        let common = expected.len().min(actual.len());
        let mut matched = true;
        for (left, right) in expected.iter().zip(actual) {
            matched &= self.compare_at(Place::Index(left.index), left.node, Some(right.node))?;
            if self.is_quiet && !matched {
                return Ok(false);
            }
        }
        Ok(self.report_alone(&expected[common..], &actual[common..], policy) && matched)
    }

    /// Whether the items without a partner may be without one.
    fn report_alone(&mut self, expected: &[Item], actual: &[Item], policy: ItemPolicy) -> bool {
        let mut matched = true;
        if policy != ItemPolicy::AtMost {
            for item in expected {
                matched = self.differ_at(Place::Index(item.index), MismatchKind::MissingItem, Some(item.node), None);
            }
        }
        if policy != ItemPolicy::AtLeast {
            for item in actual {
                matched = self.differ_at(Place::Index(item.index), MismatchKind::ExtraItem, None, Some(item.node));
            }
        }
        matched
    }

    /// Spec 4.8. Expected items have usable identities where they need them; `View::of_expected` saw to that.
    fn compare_by_identity(
        &mut self,
        expected: &'a [Item],
        actual: &'a [Item],
        policy: ItemPolicy,
        names: &'o [Vec<String>],
    ) -> Result<bool, ComparisonError> {
        self.step((expected.len() + actual.len()) as u64)?;
        let expected_ids: Vec<_> = expected.iter().map(|item| identity(self.expected, item.node, names).ok()).collect();
        let actual_ids: Vec<_> = actual.iter().map(|item| identity(self.actual, item.node, names)).collect();
        let mut matched = policy == ItemPolicy::AtLeast || self.check_actual_identities(actual, &actual_ids);
        let actual_ids: Vec<_> = actual_ids.into_iter().map(Result::ok).collect();
        if self.is_quiet && !matched {
            return Ok(false);
        }
        let by_expected = Groups::of(&expected_ids);
        let by_actual = Groups::of(&actual_ids);

        // Each item on the side that needs partners takes one from the other side's items of its identity.
        let is_at_most = policy == ItemPolicy::AtMost;
        let (seekers, mut candidates) =
            if is_at_most { (&actual_ids, by_expected.clone()) } else { (&expected_ids, by_actual) };
        for (seeker, id) in seekers.iter().enumerate() {
            let Some(id) = id else { continue };
            let group = candidates.of_identity(id);
            let side = |candidate: usize| if is_at_most { (candidate, seeker) } else { (seeker, candidate) };
            let mut chosen = group.first().map(|_| 0);
            // With a choice, the first that matches; without a match, the first, whose differences are then told.
            if group.len() > 1 {
                for (position, candidate) in group.iter().enumerate() {
                    let (left, right) = side(*candidate);
                    if self.quietly(expected[left].node, actual[right].node)? {
                        chosen = Some(position);
                        break;
                    }
                }
            }
            matched &= match chosen {
                Some(position) => {
                    let (left, right) = side(group.remove(position));
                    self.compare_at(Place::Index(expected[left].index), expected[left].node, Some(actual[right].node))?
                }
                None if is_at_most && by_expected.has(id) => false,
                None if is_at_most => self.report_alone(&[], &[actual[seeker]], policy),
                None => self.report_alone(&[expected[seeker]], &[], policy),
            };
            if self.is_quiet && !matched {
                return Ok(false);
            }
        }
        if policy == ItemPolicy::Exactly {
            for (item, id) in actual.iter().zip(&actual_ids) {
                if id.as_ref().is_some_and(|id| !by_expected.has(id)) {
                    matched = self.report_alone(&[], &[*item], policy);
                }
            }
        }
        Ok(matched)
    }

    /// Whether every actual item has an identity of its own.
    fn check_actual_identities(&mut self, items: &[Item], ids: &[Result<Vec<Scalar<'a>>, IdentityFault<'o>>]) -> bool {
        let mut matched = true;
        for (item, id) in items.iter().zip(ids) {
            let Err(fault) = id else { continue };
            matched = false;
            // Reported where the identity should be; those keys belong to the options, so they cannot be pushed on the path.
            if !self.is_quiet {
                let path = self.path.iter().copied().chain([Place::Index(item.index)]);
                let path = render(path.chain(fault.keys.iter().map(|key| Place::Key(key))));
                self.report(Mismatch {
                    path,
                    kind: fault.kind,
                    expected: None,
                    actual: fault.keys.is_empty().then(|| shown(self.actual.node(item.node).value)),
                    positions: Vec::new(),
                });
            }
        }
        let known: Vec<_> = ids.iter().map(|id| id.as_ref().ok()).collect();
        let mut groups: HashMap<&[Scalar<'a>], Vec<usize>> = HashMap::new();
        for (item, id) in items.iter().zip(&known) {
            if let Some(id) = id {
                groups.entry(id.as_slice()).or_default().push(item.index);
            }
        }
        for (item, id) in items.iter().zip(&known) {
            let Some(mut positions) = id.and_then(|id| groups.remove(id.as_slice())) else { continue };
            if positions.len() > 1 {
                matched = false;
                if !self.is_quiet {
                    positions.truncate(MAX_POSITIONS);
                    let path = render(self.path.iter().copied());
                    let actual = Some(shown(self.actual.node(item.node).value));
                    self.report(Mismatch {
                        path,
                        kind: MismatchKind::IdentityDuplicate,
                        expected: None,
                        actual,
                        positions,
                    });
                }
            }
        }
        matched
    }

    fn report(&mut self, mismatch: Mismatch) {
        if self.mismatches.len() < MAX_MISMATCHES {
            self.mismatches.push(mismatch);
        } else {
            self.truncated += 1;
        }
    }
}

/// Whether there are enough items on the other side.
fn can_have_partners(expected: usize, actual: usize, policy: ItemPolicy) -> bool {
    match policy {
        ItemPolicy::AtLeast => expected <= actual,
        ItemPolicy::AtMost => actual <= expected,
        ItemPolicy::Exactly => expected == actual,
    }
}

/// Positions of items by identity, in ascending order.
#[derive(Clone)]
struct Groups<'a>(HashMap<Vec<Scalar<'a>>, Vec<usize>>);

impl<'a> Groups<'a> {
    fn of(ids: &[Option<Vec<Scalar<'a>>>]) -> Self {
        let mut groups: HashMap<_, Vec<usize>> = HashMap::new();
        for (position, id) in ids.iter().enumerate() {
            if let Some(id) = id {
                groups.entry(id.clone()).or_default().push(position);
            }
        }
        Self(groups)
    }

    fn has(&self, id: &[Scalar<'a>]) -> bool {
        self.0.contains_key(id)
    }

    fn of_identity(&mut self, id: &[Scalar<'a>]) -> &mut Vec<usize> {
        self.0.entry(id.to_vec()).or_default()
    }
}
