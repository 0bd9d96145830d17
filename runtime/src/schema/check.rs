//! Checks a value against compiled IR, then normalises it.
//!
//! Checking and normalising are the two steps of SCHEMA-IR.md. The second runs only when the first met something to strip or
//! to fill in.

use super::ir::{Array, Filling, Id, Items, Kind, Node, Numbers, Object, Schema, Text, Unknown, copy_cost, fits_depth};
use super::violation::{Step, counted, one_of, type_name};
use super::{Fuel, MAX_DEPTH, Violation};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Bytes of JSON that defaults may add to a value.
const MAX_FILLED: usize = 1 << 20;
/// Calls inside each other. They bound the stack.
const MAX_CALLS: usize = 1_000;

impl Schema {
    pub fn check<'v>(&self, mut value: Cow<'v, Value>) -> Result<Cow<'v, Value>, Violation> {
        let mut check = Check { schema: self, fuel: Fuel::new(), filled: 0, settling: false };
        let mut walk = Walk::default();
        let valid = check.valid(0, &value, &mut walk, 0);
        if valid
            && walk.changes
            && !check.fuel.is_empty()
            && !check.normalise(0, value.to_mut(), 0, 0)
            && !check.fuel.is_empty()
        {
            return Err(Violation::new([], "a value that stays small when its defaults are filled in"));
        }
        // Without fuel every answer is in doubt.
        if check.fuel.is_empty() {
            return Err(Violation::exhausted());
        }
        if valid { Ok(value) } else { Err(check.violation(&walk)) }
    }
}

/// One check of a value.
pub(super) struct Check<'s> {
    schema: &'s Schema,
    fuel: Fuel,
    /// Bytes that defaults have added.
    filled: usize,
    /// Defaults are not normalised yet.
    settling: bool,
}

/// What a walk through a value found.
#[derive(Default)]
struct Walk<'s> {
    /// Whether normalising would change something; in doubt, it says so.
    changes: bool,
    fault: Option<Fault>,
    /// From the fault up to where the walk began.
    path: Vec<Step<'s>>,
}

/// A rule that a value breaks.
#[derive(Clone, Copy)]
struct Fault {
    node: Id,
    rule: Rule,
    /// The value is the name of a property.
    name: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Never,
    Kind,
    Values,
    MinLength,
    MaxLength,
    Pattern(usize),
    Format,
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MultipleOf,
    MinItems,
    MaxItems,
    NoMoreItems,
    Property(usize),
    RequiredKey(usize),
    NoUnknownKey,
    AnyOf,
    /// Every branch of a union fails already by its type.
    Kinds,
    /// No branch of a union has this tag.
    Tags,
    OneOf,
}

/// `Some` names the rule that breaks here; `None`: a rule further inside, which has been noted.
type Outcome = Result<(), Option<Rule>>;

fn ensure(holds: bool, rule: Rule) -> Outcome {
    if holds { Ok(()) } else { Err(Some(rule)) }
}

impl Kind {
    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Boolean => value.is_boolean(),
            Self::Null => value.is_null(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    fn name(self) -> &'static str {
        type_name(match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Array => "array",
            Self::Object => "object",
        })
    }
}

impl<'s> Check<'s> {
    /// For the defaults of a schema that is being compiled.
    pub fn settling(schema: &'s Schema, fuel: Fuel) -> Self {
        Self { schema, fuel, filled: 0, settling: true }
    }

    pub fn accepts(&mut self, id: Id, value: &Value) -> bool {
        self.valid(id, value, &mut Walk::default(), 0) && !self.fuel.is_empty()
    }

    fn valid(&mut self, id: Id, value: &Value, walk: &mut Walk<'s>, calls: usize) -> bool {
        let outcome = self.rules(id, value, walk, calls);
        if let Err(Some(rule)) = outcome {
            walk.fault = Some(Fault { node: id, rule, name: false });
        }
        outcome.is_ok()
    }

    /// Begins every call: an error when the fuel or the stack is used up.
    fn enter(&mut self, calls: usize) -> Outcome {
        if self.fuel.spend(if calls > MAX_CALLS { u64::MAX } else { 1 }) { Ok(()) } else { Err(None) }
    }

    fn rules(&mut self, id: Id, value: &Value, walk: &mut Walk<'s>, calls: usize) -> Outcome {
        self.enter(calls)?;
        let node = &self.schema.nodes[id];
        ensure(!node.never, Rule::Never)?;
        ensure(node.kind.is_none_or(|kind| kind.accepts(value)), Rule::Kind)?;
        ensure(node.values.as_ref().is_none_or(|values| values.contains(value)), Rule::Values)?;
        match value {
            Value::String(text) => {
                if let Some(rules) = &node.text {
                    self.text_rules(rules, text)?;
                }
            }
            Value::Number(number) => {
                if let (Some(rules), Some(number)) = (&node.number, number.as_f64()) {
                    number_rules(rules, number)?;
                }
            }
            Value::Array(items) => {
                if let Some(rules) = &node.array {
                    self.array_rules(rules, items, walk, calls)?;
                }
            }
            Value::Object(map) => {
                if let Some(rules) = &node.object {
                    self.object_rules(rules, map, walk, calls)?;
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
        for &branch in &node.all_of {
            if !self.valid(branch, value, walk, calls + 1) {
                return Err(None);
            }
        }
        if !node.any_of.is_empty() {
            self.any_of(node, value, walk, calls)?;
        }
        if !node.one_of.is_empty() {
            self.one_of(node, value, walk, calls)?;
        }
        Ok(())
    }

    fn text_rules(&mut self, rules: &Text, text: &str) -> Outcome {
        // A code point takes one to four bytes, so most lengths need no counting.
        let bytes = text.len() as u64;
        let count = if bytes / 4 >= rules.min && rules.max.is_none_or(|max| bytes <= max) {
            None
        } else {
            self.fuel.spend(1 + bytes / 64);
            Some(text.chars().count() as u64)
        };
        ensure(count.is_none_or(|count| count >= rules.min), Rule::MinLength)?;
        ensure(count.is_none_or(|count| rules.max.is_none_or(|max| count <= max)), Rule::MaxLength)?;
        for (index, pattern) in rules.patterns.iter().enumerate() {
            ensure(pattern.is_match(text, &mut self.fuel), Rule::Pattern(index))?;
        }
        ensure(rules.format.as_ref().is_none_or(|format| format.accepts(text, &mut self.fuel)), Rule::Format)
    }

    fn array_rules(&mut self, rules: &'s Array, items: &[Value], walk: &mut Walk<'s>, calls: usize) -> Outcome {
        let count = items.len() as u64;
        ensure(count >= rules.min, Rule::MinItems)?;
        ensure(rules.max.is_none_or(|max| count <= max), Rule::MaxItems)?;
        for (index, item) in items.iter().enumerate() {
            let id = match (rules.prefix.get(index), rules.items) {
                (Some(&id), _) | (None, Items::Each(id)) => id,
                (None, Items::Any) => break,
                (None, Items::None) => return Err(Some(Rule::NoMoreItems)),
            };
            if !self.valid(id, item, walk, calls + 1) {
                walk.path.push(Step::Index(index));
                return Err(None);
            }
        }
        Ok(())
    }

    fn object_rules(
        &mut self,
        rules: &'s Object,
        map: &Map<String, Value>,
        walk: &mut Walk<'s>,
        calls: usize,
    ) -> Outcome {
        self.fuel.spend(rules.properties.len() as u64);
        let mut known = 0;
        for &index in &rules.order {
            let property = &rules.properties[index];
            let Some(value) = map.get(&property.name) else {
                ensure(!property.required, Rule::Property(index))?;
                walk.changes |= property.default.is_some();
                continue;
            };
            known += 1;
            if !self.valid(property.node, value, walk, calls + 1) {
                walk.path.push(Step::Key(&property.name));
                return Err(None);
            }
        }
        for (index, name) in rules.required.iter().enumerate() {
            ensure(map.contains_key(name), Rule::RequiredKey(index))?;
        }
        if let Some(id) = rules.names {
            for name in map.keys() {
                if !self.valid_name(id, name, walk, calls + 1) {
                    return Err(None);
                }
            }
        }
        for (pattern, id) in &rules.patterns {
            for (name, value) in map {
                if pattern.is_match(name, &mut self.fuel) && !self.valid(*id, value, walk, calls + 1) {
                    walk.path.push(
                        rules.property(name).map_or(Step::Anything, |index| Step::Key(&rules.properties[index].name)),
                    );
                    return Err(None);
                }
            }
        }
        if known == map.len() {
            return Ok(());
        }
        match rules.unknown {
            Unknown::Keep => {}
            Unknown::Strip => walk.changes = true,
            Unknown::Refuse => return Err(Some(Rule::NoUnknownKey)),
            Unknown::Each(id) => {
                self.fuel.spend(map.len() as u64);
                for (name, value) in map {
                    if rules.property(name).is_none() && !self.valid(id, value, walk, calls + 1) {
                        // Required keys are named by the schema too.
                        walk.path.push(
                            rules
                                .required
                                .iter()
                                .find(|required| *required == name)
                                .map_or(Step::Anything, |name| Step::Key(name)),
                        );
                        return Err(None);
                    }
                }
            }
        }
        Ok(())
    }

    /// A name is checked like a text, without making one.
    fn valid_name(&mut self, id: Id, name: &str, walk: &mut Walk<'s>, calls: usize) -> bool {
        let outcome = self.name_rules(id, name, walk, calls);
        if let Err(Some(rule)) = outcome {
            walk.fault = Some(Fault { node: id, rule, name: true });
        }
        outcome.is_ok()
    }

    fn name_rules(&mut self, id: Id, name: &str, walk: &mut Walk<'s>, calls: usize) -> Outcome {
        self.enter(calls)?;
        let node = &self.schema.nodes[id];
        ensure(!node.never, Rule::Never)?;
        ensure(node.kind.is_none_or(|kind| kind == Kind::String), Rule::Kind)?;
        ensure(node.values.as_ref().is_none_or(|values| values.contains_text(name)), Rule::Values)?;
        if let Some(rules) = &node.text {
            self.text_rules(rules, name)?;
        }
        for &branch in &node.all_of {
            if !self.valid_name(branch, name, walk, calls + 1) {
                return Err(None);
            }
        }
        let mut matching = |check: &mut Self, branches: &[Id]| {
            branches.iter().filter(|&&branch| check.valid_name(branch, name, walk, calls + 1)).take(2).count()
        };
        ensure(node.any_of.is_empty() || matching(self, &node.any_of) > 0, Rule::AnyOf)?;
        ensure(node.one_of.is_empty() || matching(self, &node.one_of) == 1, Rule::OneOf)
    }

    /// When no branch fits, the fault of one of them is told if it is clear which one was meant: the only one of the right
    /// type or tag, or the one that fits most deeply.
    fn any_of(&mut self, node: &'s Node, value: &Value, walk: &mut Walk<'s>, calls: usize) -> Outcome {
        let (mut wrong_kinds, mut wrong_tags, mut others, mut tied) = (0, 0, 0, false);
        let mut best: Option<(Fault, Vec<Step<'s>>)> = None;
        for &branch in &node.any_of {
            if self.valid(branch, value, walk, calls + 1) {
                return Ok(());
            }
            let (Some(fault), path) = (walk.fault.take(), std::mem::take(&mut walk.path)) else { return Err(None) };
            match (path.as_slice(), fault.rule, &node.discriminator) {
                ([], Rule::Kind | Rule::Kinds, _) => wrong_kinds += 1,
                ([Step::Key(key)], Rule::Values, Some(tag)) if key == tag => wrong_tags += 1,
                _ => {
                    others += 1;
                    let depth = best.as_ref().map_or(0, |(_, path)| path.len());
                    tied = best.is_some() && (path.len() == depth || tied && path.len() < depth);
                    if best.is_none() || path.len() > depth {
                        best = Some((fault, path));
                    }
                }
            }
        }
        match best {
            Some((fault, path)) if others == 1 || !tied => {
                walk.fault = Some(fault);
                walk.path = path;
                Err(None)
            }
            None if wrong_kinds == node.any_of.len() => Err(Some(Rule::Kinds)),
            None if wrong_tags > 0 => Err(Some(Rule::Tags)),
            _ => Err(Some(Rule::AnyOf)),
        }
    }

    fn one_of(&mut self, node: &'s Node, value: &Value, walk: &mut Walk<'s>, calls: usize) -> Outcome {
        let mut fitting = 0;
        for &branch in &node.one_of {
            if self.valid(branch, value, walk, calls + 1) {
                fitting += 1;
            } else {
                walk.fault = None;
                walk.path.clear();
            }
        }
        ensure(fitting == 1, Rule::OneOf)
    }

    /// Gives a valid value the shape of the schema. `level` counts levels of the value, `calls` calls.
    /// `false` when the value grows too large, or when the fuel is used up.
    pub fn normalise(&mut self, id: Id, value: &mut Value, level: usize, calls: usize) -> bool {
        let node = &self.schema.nodes[id];
        if !node.changes {
            return true;
        }
        if level > MAX_DEPTH || self.enter(calls).is_err() {
            return false;
        }
        for branches in [&node.any_of, &node.one_of] {
            if branches.is_empty() {
                continue;
            }
            let partial = self.schema.partial;
            let fits = |branch: &&Id| self.valid(**branch, value, &mut Walk::default(), calls + 1);
            if partial {
                // A part of a value tells little about which branch was meant: what any of them knows stays.
                let fitting: Vec<Id> = branches.iter().filter(fits).copied().collect();
                return !fitting.is_empty() && self.merged(&fitting, value, level, calls);
            }
            return branches.iter().find(fits).is_some_and(|&branch| self.normalise(branch, value, level, calls + 1));
        }
        match (value, &node.array, &node.object) {
            (Value::Array(items), Some(rules), _) if !rules.prefix.is_empty() || !matches!(rules.items, Items::Any) => {
                items.iter_mut().enumerate().all(|(index, item)| match (rules.prefix.get(index), rules.items) {
                    (Some(&id), _) | (None, Items::Each(id)) => self.normalise(id, item, level + 1, calls + 1),
                    _ => true,
                })
            }
            (value, ..) if !node.all_of.is_empty() => self.merged(&node.all_of, value, level, calls),
            (Value::Object(map), _, Some(rules)) => self.normalise_object(rules, map, level, calls),
            _ => true,
        }
    }

    fn normalise_object(
        &mut self,
        rules: &'s Object,
        map: &mut Map<String, Value>,
        level: usize,
        calls: usize,
    ) -> bool {
        self.fuel.spend((map.len() + rules.properties.len()) as u64);
        if rules.unknown == Unknown::Strip {
            map.retain(|name, _| rules.property(name).is_some());
        }
        for property in &rules.properties {
            if let Some(value) = map.get_mut(&property.name)
                && !self.normalise(property.node, value, level + 1, calls + 1)
            {
                return false;
            }
        }
        if let Unknown::Each(id) = rules.unknown
            && !map
                .iter_mut()
                .all(|(name, value)| rules.property(name).is_some() || self.normalise(id, value, level + 1, calls + 1))
        {
            return false;
        }
        for property in &rules.properties {
            if let Some(default) = &property.default
                && !map.contains_key(&property.name)
            {
                let Some(mut value) = self.filling(default, level) else { return false };
                if self.settling && !self.normalise(property.node, &mut value, level + 1, calls + 1) {
                    return false;
                }
                map.insert(property.name.clone(), value);
            }
        }
        true
    }

    fn filling(&mut self, default: &Filling, level: usize) -> Option<Value> {
        self.filled += default.size;
        let fits =
            self.filled <= MAX_FILLED && fits_depth(level + 1, default) && self.fuel.spend(copy_cost(&default.value));
        fits.then(|| default.value.clone())
    }

    /// The value normalised under each branch, merged.
    fn merged(&mut self, branches: &[Id], value: &mut Value, level: usize, calls: usize) -> bool {
        let [first, rest @ ..] = branches else { return true };
        let mut results = Vec::with_capacity(rest.len());
        for &branch in rest {
            if !self.fuel.spend(copy_cost(value)) {
                return false;
            }
            let mut copy = value.clone();
            if !self.normalise(branch, &mut copy, level, calls + 1) {
                return false;
            }
            results.push(copy);
        }
        if !self.normalise(*first, value, level, calls + 1) {
            return false;
        }
        for result in results {
            merge(value, result);
        }
        true
    }

    fn violation(&self, walk: &Walk<'s>) -> Violation {
        let Some(fault) = walk.fault else { return Violation::exhausted() };
        let node = &self.schema.nodes[fault.node];
        // The tag stands one step further inside than the union.
        let tag = node.discriminator.as_deref().filter(|_| fault.rule == Rule::Tags).map(Step::Key);
        let expected = self.expected(node, fault.rule);
        Violation::new(
            walk.path.iter().rev().copied().chain(tag),
            if fault.name { format!("keys, each {expected}") } else { expected },
        )
    }

    fn expected(&self, node: &Node, rule: Rule) -> String {
        let text = node.text.as_deref();
        let array = node.array.as_deref();
        let number = |bound: fn(&Numbers) -> Option<f64>| {
            json_number(node.number.as_deref().and_then(bound).unwrap_or_default())
        };
        let noun = if node.kind == Some(Kind::Integer) { "an integer" } else { "a number" };
        match rule {
            Rule::Never => "no value".into(),
            Rule::Kind => node.kind.map_or("no value", Kind::name).into(),
            Rule::Values => one_of(node.values.iter().flat_map(|values| &values.list)),
            Rule::MinLength => {
                format!("a string of at least {}", counted(text.map_or(0, |text| text.min), "character"))
            }
            Rule::MaxLength => {
                format!("a string of at most {}", counted(text.and_then(|text| text.max).unwrap_or(0), "character"))
            }
            Rule::Pattern(index) => match text {
                Some(Text { named: Some(name), .. }) if index == 0 => format!("a string in the format `{name}`"),
                Some(text) => format!("a string that matches {}", text.patterns[index]),
                None => String::new(),
            },
            Rule::Format => text.and_then(|text| text.format.as_ref()).map_or_else(String::new, ToString::to_string),
            Rule::Minimum => format!("{noun} of at least {}", number(|rules| rules.min)),
            Rule::Maximum => format!("{noun} of at most {}", number(|rules| rules.max)),
            Rule::ExclusiveMinimum => format!("{noun} above {}", number(|rules| rules.above)),
            Rule::ExclusiveMaximum => format!("{noun} below {}", number(|rules| rules.below)),
            Rule::MultipleOf => format!("a multiple of {}", number(|rules| rules.multiple)),
            Rule::MinItems => format!("an array of at least {}", counted(array.map_or(0, |array| array.min), "item")),
            Rule::MaxItems => {
                format!("an array of at most {}", counted(array.and_then(|array| array.max).unwrap_or(0), "item"))
            }
            Rule::NoMoreItems => {
                format!("an array of at most {}", counted(array.map_or(0, |array| array.prefix.len()) as u64, "item"))
            }
            Rule::Property(index) => node
                .object
                .as_ref()
                .map_or_else(String::new, |object| format!("the property `{}`", object.properties[index].name)),
            Rule::RequiredKey(index) => node
                .object
                .as_ref()
                .map_or_else(String::new, |object| format!("the property `{}`", object.required[index])),
            Rule::NoUnknownKey => "no unknown key".into(),
            Rule::AnyOf => format!("a value that fits one of {} alternatives", node.any_of.len()),
            Rule::Kinds => {
                let mut names: Vec<&str> = Vec::new();
                self.kinds(node, &mut names, 0);
                names.join(" or ")
            }
            Rule::Tags => {
                let tag = node.discriminator.as_deref().unwrap_or_default();
                one_of(node.any_of.iter().filter_map(|&branch| self.tag(branch, tag, 0)).flatten())
            }
            Rule::OneOf => format!("a value that fits exactly one of {} alternatives", node.one_of.len()),
        }
    }

    /// The types that the branches of a union ask for, through unions inside.
    fn kinds(&self, node: &Node, names: &mut Vec<&'static str>, calls: usize) {
        if calls > 8 {
            return;
        }
        if let Some(kind) = node.kind
            && !names.contains(&kind.name())
        {
            names.push(kind.name());
        }
        for &branch in node.any_of.iter().chain(&node.all_of) {
            if names.len() < 7 {
                self.kinds(&self.schema.nodes[branch], names, calls + 1);
            }
        }
    }

    /// The values that a branch of a tagged union wants for the tag.
    fn tag(&self, id: Id, tag: &str, calls: usize) -> Option<&'s [Value]> {
        let node = &self.schema.nodes[id];
        if let Some(object) = &node.object
            && let Some(index) = object.property(tag)
            && let Some(values) = &self.schema.nodes[object.properties[index].node].values
        {
            return Some(&values.list);
        }
        if calls > 8 { None } else { node.all_of.iter().find_map(|&branch| self.tag(branch, tag, calls + 1)) }
    }
}

fn number_rules(rules: &Numbers, number: f64) -> Outcome {
    ensure(rules.min.is_none_or(|bound| number >= bound), Rule::Minimum)?;
    ensure(rules.max.is_none_or(|bound| number <= bound), Rule::Maximum)?;
    ensure(rules.above.is_none_or(|bound| number > bound), Rule::ExclusiveMinimum)?;
    ensure(rules.below.is_none_or(|bound| number < bound), Rule::ExclusiveMaximum)?;
    let multiple = |step: f64| {
        let quotient = number / step;
        (quotient - quotient.round()).abs() < 4.0 * f64::EPSILON * quotient.abs().max(1.0)
    };
    ensure(rules.multiple.is_none_or(multiple), Rule::MultipleOf)
}

fn json_number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e21 { format!("{number:.0}") } else { Value::from(number).to_string() }
}

/// A key stays when either side keeps it.
fn merge(left: &mut Value, right: Value) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in right {
                match left.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => drop(left.insert(name, value)),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            left.iter_mut().zip(right).for_each(|(left, right)| merge(left, right))
        }
        _ => {}
    }
}
