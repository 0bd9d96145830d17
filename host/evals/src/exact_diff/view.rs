//! A projection as the comparison sees it: without what rules ignore and `paths` leaves out, checked, with a hash per value.
//!
//! One pass makes it; nothing is cloned, everything borrows from the projection. So the comparison itself knows neither pruning
//! nor `undefined` members, and meets each value with the rule that holds for it.

use super::error::{ComparisonError, ComparisonLimit};
use super::identity::identity;
use super::options::{ItemPolicy, Options, RulePlace};
use super::path::{PathId, PathTree, Place, render, resolve_marker};
use super::{MismatchKind, Projection};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The deepest nesting of objects and arrays that is compared, in levels: what a callback can return (D-34).
pub const MAX_DEPTH: usize = 128;
/// The guest lists no more `undefined` places than this.
const MAX_MARKERS: usize = 1_000;
/// Objects with more members are searched through a sorted index.
const LINEAR_SEARCH: usize = 8;

pub(super) type NodeId = usize;

/// A value of the projection.
pub(super) struct Node<'a> {
    /// As it stands in the projection, with everything that is pruned.
    pub value: &'a Value,
    pub shape: Shape<'a>,
    pub place: RulePlace,
    /// Equal for equal pruned values, whatever the order of members. 0 where no array is compared without order.
    pub hash: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    /// An item that is `undefined`, or the whole projection. Members that are `undefined` count as absent.
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(&'a str),
    /// A range of `View::items`.
    Array(usize, usize),
    /// A position in `View::objects`.
    Object(usize),
}

/// An item of an array.
#[derive(Clone, Copy)]
pub(super) struct Item {
    /// Its index in the projection; `paths` may have left out items before it.
    pub index: usize,
    pub node: NodeId,
}

/// A member of an object.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub key: &'a str,
    pub key_hash: u64,
    pub node: NodeId,
}

struct Object {
    start: usize,
    end: usize,
    /// Positions of the members by key. Made when members do not come in the order in which they are asked for.
    sorted: OnceCell<Box<[usize]>>,
}

/// A pruned projection.
#[derive(Default)]
pub(super) struct View<'a> {
    nodes: Vec<Node<'a>>,
    items: Vec<Item>,
    members: Vec<Member<'a>>,
    objects: Vec<Object>,
    root: NodeId,
}

impl<'a> View<'a> {
    /// The actual projection. What is missing in it is a wrong answer, no error (D-46).
    pub fn of_actual(projection: Projection<'a>, options: &Options) -> Result<Self, ComparisonError> {
        Builder::run(projection, options, false).map(|builder| builder.view)
    }

    /// The expected projection, checked as spec 4.3, 4.8 and 4.11 say.
    pub fn of_expected(projection: Projection<'a>, options: &Options) -> Result<Self, ComparisonError> {
        let builder = Builder::run(projection, options, true)?;
        if let Some(path) = builder.missing {
            return Err(ComparisonError::SelectionMissing { path });
        }
        let view = builder.view;
        let is_empty = match view.node(view.root).shape {
            Shape::Array(start, end) => start == end,
            Shape::Object(object) => view.members(object).is_empty(),
            _ => false,
        };
        if is_empty {
            return Err(ComparisonError::SelectionEmpty);
        }
        check_rules(options, &builder.found)?;
        builder.identity_fault.map_or(Ok(view), Err)
    }

    pub fn root(&self) -> NodeId {
        self.root
    }

    pub fn node(&self, node: NodeId) -> &Node<'a> {
        &self.nodes[node]
    }

    pub fn items(&self, start: usize, end: usize) -> &[Item] {
        &self.items[start..end]
    }

    /// The members of an object, in their order.
    pub fn members(&self, object: usize) -> &[Member<'a>] {
        let Object { start, end, .. } = self.objects[object];
        &self.members[start..end]
    }

    /// The position of a member among the members of its object. `hint` is where it probably is.
    pub fn find(&self, object: usize, key: &str, hint: usize) -> Option<usize> {
        let members = self.members(object);
        if members.get(hint).is_some_and(|member| member.key == key) {
            return Some(hint);
        }
        if members.len() <= LINEAR_SEARCH {
            return members.iter().position(|member| member.key == key);
        }
        let sorted = self.objects[object].sorted.get_or_init(|| {
            let mut positions: Box<[usize]> = (0..members.len()).collect();
            positions.sort_unstable_by_key(|position| members[*position].key);
            positions
        });
        let found = sorted.binary_search_by_key(&key, |position| members[*position].key);
        found.ok().map(|found| sorted[found])
    }
}

/// D-62: a rule whose path leads to scalars only cannot say anything about arrays or objects. Null says nothing about what
/// else may stand there, so it is no evidence against a rule (EV-54).
fn check_rules(options: &Options, found: &[Found]) -> Result<(), ComparisonError> {
    for (rule, found) in options.rules().iter().zip(found) {
        let refuse = |field, reason| Err(ComparisonError::RuleNotApplicable { path: rule.path.clone(), field, reason });
        let is_container = found.array || found.object;
        if let Some(field) = rule.needs_container
            && found.scalar
            && !is_container
        {
            return refuse(field, "there are only scalars");
        }
        if rule.match_by.is_some() && !found.array && (found.scalar || found.object) {
            return refuse("matchBy", "there is no array");
        }
    }
    Ok(())
}

/// What stands at the path of a rule.
#[derive(Clone, Copy, Default)]
struct Found {
    scalar: bool,
    array: bool,
    object: bool,
}

/// What the global `paths` keeps of a value.
struct Kept {
    /// All of it.
    whole: bool,
    /// Listed paths that lead on from here.
    nodes: Vec<PathId>,
}

struct Builder<'a, 'o> {
    options: &'o Options,
    is_expected: bool,
    has_hashes: bool,
    undefined: HashSet<*const Value>,
    view: View<'a>,
    path: Vec<Place<'a>>,
    /// Children of the containers that are open, the innermost last.
    open_items: Vec<Item>,
    open_members: Vec<Member<'a>>,
    /// The first place without a value that there should be.
    missing: Option<String>,
    identity_fault: Option<ComparisonError>,
    /// Per rule.
    found: Vec<Found>,
}

impl<'a, 'o> Builder<'a, 'o> {
    fn run(projection: Projection<'a>, options: &'o Options, is_expected: bool) -> Result<Self, ComparisonError> {
        let mut builder = Self {
            options,
            is_expected,
            has_hashes: options.has_unordered(),
            undefined: undefined_places(projection),
            view: View::default(),
            path: Vec::new(),
            open_items: Vec::new(),
            open_members: Vec::new(),
            missing: None,
            identity_fault: None,
            found: vec![Found::default(); options.rules().len()],
        };
        let kept = options.selection().map(|paths| Kept { whole: paths.nodes()[0].named, nodes: vec![0] });
        builder.view.root = builder.value(projection.value, RulePlace::ROOT, kept.as_ref())?;
        Ok(builder)
    }

    fn is_undefined(&self, value: &Value) -> bool {
        value.is_null() && self.undefined.contains(&std::ptr::from_ref(value))
    }

    fn value(&mut self, value: &'a Value, place: RulePlace, kept: Option<&Kept>) -> Result<NodeId, ComparisonError> {
        if self.path.len() >= MAX_DEPTH && (value.is_array() || value.is_object()) {
            return Err(ComparisonError::Limit { limit: ComparisonLimit::Depth });
        }
        let shape = match value {
            Value::Null if self.is_undefined(value) => {
                self.miss(None);
                Shape::Undefined
            }
            Value::Null => Shape::Null,
            Value::Bool(value) => Shape::Bool(*value),
            // Every number is a double (D-58), and -0 is 0 (spec 3.1).
            Value::Number(number) => Shape::Number(number.as_f64().unwrap_or(f64::MAX) + 0.0),
            Value::String(text) => Shape::Text(text),
            Value::Array(items) => self.array(items, place, kept)?,
            Value::Object(members) => self.object(members, place, kept)?,
        };
        if let Some(kept) = kept
            && self.is_expected
        {
            self.check_listed(value, kept);
        }
        if let Some((rule, _)) = self.options.rule_at(place) {
            let found = &mut self.found[rule];
            match shape {
                Shape::Undefined | Shape::Null => {}
                Shape::Bool(_) | Shape::Number(_) | Shape::Text(_) => found.scalar = true,
                Shape::Array(..) => found.array = true,
                Shape::Object(_) => found.object = true,
            }
        }
        let hash = if self.has_hashes { self.hash(shape) } else { 0 };
        self.view.nodes.push(Node { value, shape, place, hash });
        Ok(self.view.nodes.len() - 1)
    }

    fn array(
        &mut self,
        items: &'a [Value],
        place: RulePlace,
        kept: Option<&Kept>,
    ) -> Result<Shape<'a>, ComparisonError> {
        let item_place = self.options.item_place(place);
        let is_ignored = self.options.rule_at(item_place).is_some_and(|(_, rule)| rule.ignore);
        let base = self.open_items.len();
        for (index, item) in items.iter().enumerate().take(if is_ignored { 0 } else { items.len() }) {
            let kept = kept.map(|kept| kept.item(self.options, index));
            if kept.as_ref().is_some_and(Kept::is_nothing) {
                continue;
            }
            self.path.push(Place::Index(index));
            let node = self.value(item, item_place, kept.as_ref())?;
            self.path.pop();
            self.open_items.push(Item { index, node });
        }
        let start = self.view.items.len();
        self.view.items.extend(self.open_items.drain(base..));
        let end = self.view.items.len();
        if self.is_expected && self.identity_fault.is_none() {
            self.identity_fault = self.check_identities(start, end, place);
        }
        Ok(Shape::Array(start, end))
    }

    fn object(
        &mut self,
        members: &'a Map<String, Value>,
        place: RulePlace,
        kept: Option<&Kept>,
    ) -> Result<Shape<'a>, ComparisonError> {
        let base = self.open_members.len();
        for (key, member) in members {
            let member_place = self.options.member_place(place, key);
            if self.options.rule_at(member_place).is_some_and(|(_, rule)| rule.ignore) {
                continue;
            }
            let kept = kept.map(|kept| kept.member(self.options, key));
            if kept.as_ref().is_some_and(Kept::is_nothing) {
                continue;
            }
            if self.is_undefined(member) {
                self.miss(Some(Place::Key(key)));
                continue;
            }
            self.path.push(Place::Key(key));
            let node = self.value(member, member_place, kept.as_ref())?;
            self.path.pop();
            let key_hash = if self.has_hashes { hash_of(key) } else { 0 };
            self.open_members.push(Member { key, key_hash, node });
        }
        let start = self.view.members.len();
        self.view.members.extend(self.open_members.drain(base..));
        let end = self.view.members.len();
        self.view.objects.push(Object { start, end, sorted: OnceCell::new() });
        Ok(Shape::Object(self.view.objects.len() - 1))
    }

    /// D-54: every listed path has a value in the expected projection; behind `[]`, in every item.
    fn check_listed(&mut self, value: &'a Value, kept: &Kept) {
        let Some(paths) = self.options.selection() else { return };
        for node in kept.nodes.iter().map(|node| &paths.nodes()[*node]) {
            let has_items = node.items.is_some() || !node.indexes.is_empty();
            let (is_lost, further) = match value {
                Value::Object(members) => (has_items, node.keys.keys().find(|key| !members.contains_key(*key))),
                Value::Array(items) => {
                    if let Some((index, _)) = node.indexes.range(items.len()..).next() {
                        self.miss(Some(Place::Index(*index)));
                    }
                    (!node.keys.is_empty(), None)
                }
                _ => (has_items, node.keys.keys().next()),
            };
            if let Some(key) = further {
                self.miss(Some(Place::Key(key)));
            }
            if is_lost {
                self.miss(None);
            }
        }
    }

    /// Notes that there is no value here, or one step further.
    fn miss(&mut self, further: Option<Place<'_>>) {
        if self.is_expected && self.missing.is_none() {
            self.missing = Some(render(self.path.iter().copied().chain(further)));
        }
    }

    /// D-60: identities that the dataset itself makes unusable.
    fn check_identities(&self, start: usize, end: usize, place: RulePlace) -> Option<ComparisonError> {
        let (_, rule) = self.options.rule_at(place)?;
        let names = rule.match_by.as_ref()?;
        if rule.settings.items == ItemPolicy::AtMost {
            return None;
        }
        let refuse = |item: &Item, keys: &[String], reason| {
            let keys = keys.iter().map(|key| Place::Key(key));
            let path = render(self.path.iter().copied().chain([Place::Index(item.index)]).chain(keys));
            Some(ComparisonError::RuleNotApplicable { path, field: "matchBy", reason })
        };
        let mut known = HashSet::new();
        for item in self.view.items(start, end) {
            match identity(&self.view, item.node, names) {
                Ok(identity) if known.insert(identity.clone()) => {}
                Ok(_) => return refuse(item, &[], "an item before it has the same identity"),
                Err(fault) => {
                    let reason = match fault.kind {
                        MismatchKind::IdentityMissing => "the identity is missing",
                        MismatchKind::IdentityNotScalar => "the identity is not a scalar",
                        _ => "the item is not an object",
                    };
                    return refuse(item, fault.keys, reason);
                }
            }
        }
        None
    }

    fn hash(&self, shape: Shape<'_>) -> u64 {
        match shape {
            Shape::Undefined => hash_of(&0u8),
            Shape::Null => hash_of(&1u8),
            Shape::Bool(value) => hash_of(&(2u8, value)),
            Shape::Number(number) => hash_of(&(3u8, number.to_bits())),
            Shape::Text(text) => hash_of(&(4u8, text)),
            Shape::Array(start, end) => {
                let items = self.view.items(start, end).iter();
                items.fold(hash_of(&5u8), |hash, item| hash_of(&(hash, self.view.node(item.node).hash)))
            }
            Shape::Object(object) => {
                let members = self.view.members(object).iter();
                let hash = |member: &Member<'_>| hash_of(&(member.key_hash, self.view.node(member.node).hash));
                // A sum, because members have no order.
                members.fold(hash_of(&6u8), |sum, member| sum.wrapping_add(hash(member)))
            }
        }
    }
}

impl Kept {
    fn is_nothing(&self) -> bool {
        !self.whole && self.nodes.is_empty()
    }

    fn member(&self, options: &Options, key: &str) -> Self {
        self.below(options, |paths, node| [paths.nodes()[node].keys.get(key).copied(), None])
    }

    fn item(&self, options: &Options, index: usize) -> Self {
        self.below(options, |paths, node| {
            let node = &paths.nodes()[node];
            [node.items, node.indexes.get(&index).copied()]
        })
    }

    fn below(&self, options: &Options, children: impl Fn(&PathTree, PathId) -> [Option<PathId>; 2]) -> Self {
        let mut below = Self { whole: self.whole, nodes: Vec::new() };
        if let Some(paths) = options.selection() {
            below.nodes.extend(self.nodes.iter().flat_map(|node| children(paths, *node)).flatten());
            below.whole |= below.nodes.iter().any(|node| paths.nodes()[*node].named);
        }
        below
    }
}

/// The nulls that stand for `undefined`. Values do not move while they are borrowed, so their addresses identify them.
fn undefined_places(projection: Projection<'_>) -> HashSet<*const Value> {
    let mut places = HashSet::new();
    let mut add_below = |place: &Value| {
        let mut open = vec![place];
        while let Some(value) = open.pop() {
            match value {
                Value::Null => _ = places.insert(std::ptr::from_ref(value)),
                Value::Array(items) => open.extend(items),
                Value::Object(members) => open.extend(members.values()),
                _ => {}
            }
        }
    };
    if projection.undefined.len() >= MAX_MARKERS {
        // A full list may have left places out.
        add_below(projection.value);
        return places;
    }
    for marker in projection.undefined {
        // A marker that was cut, or leads nowhere, stands for what is below the place that it reaches.
        add_below(resolve_marker(marker, projection.value));
    }
    places
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
