//! Compiles the schema IR of `guest/sdk/SCHEMA-IR.md` into nodes that [`super::check`] walks.
//!
//! The IR comes with a bundle, so nothing about it is taken for granted: a keyword, a value or a combination that the
//! contract does not describe is an error, never ignored.

use super::check::Check;
use super::format::Format;
use super::pattern::Pattern;
use super::violation::quoted;
use super::{Fuel, MAX_CHAIN, MAX_DEPTH, MAX_PATTERN_MEMORY, MAX_PATTERNS, bytes, depth, endless, size};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// An index into [`Schema::nodes`].
pub(super) type Id = usize;

/// Marks the root of a schema that [`super::partial`] derived. Its unions keep what any fitting branch knows.
pub(super) const PARTIAL: &str = "x-partial";

/// A compiled schema; the root is node 0.
pub(super) struct Schema {
    pub nodes: Vec<Node>,
    pub partial: bool,
}

/// One schema. All parts must hold.
#[derive(Default)]
pub(super) struct Node {
    /// `false` as a schema.
    pub never: bool,
    pub kind: Option<Kind>,
    pub values: Option<Box<Values>>,
    pub text: Option<Box<Text>>,
    pub number: Option<Box<Numbers>>,
    pub array: Option<Box<Array>>,
    pub object: Option<Box<Object>>,
    pub any_of: Vec<Id>,
    pub one_of: Vec<Id>,
    pub all_of: Vec<Id>,
    pub discriminator: Option<String>,
    /// Whether normalising can change a value.
    pub changes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Number,
    Integer,
    Boolean,
    Null,
    Array,
    Object,
}

/// `const`, `enum`.
pub(super) struct Values {
    pub list: Vec<Value>,
    strings: Vec<String>,
    numbers: Vec<f64>,
}

#[derive(Default)]
pub(super) struct Text {
    pub min: u64,
    pub max: Option<u64>,
    pub patterns: Vec<Arc<Pattern>>,
    /// What people call the first pattern, for messages: its text says little to them.
    pub named: Option<&'static str>,
    pub format: Option<Format>,
}

#[derive(Default)]
pub(super) struct Numbers {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub multiple: Option<f64>,
}

#[derive(Default)]
pub(super) struct Array {
    pub min: u64,
    pub max: Option<u64>,
    pub prefix: Vec<Id>,
    pub items: Items,
}

#[derive(Default, Clone, Copy)]
pub(super) enum Items {
    #[default]
    Any,
    /// No items after the prefix.
    None,
    Each(Id),
}

#[derive(Default)]
pub(super) struct Object {
    pub properties: Vec<Property>,
    /// Indices of `properties` in the order of checking: constants before other scalars before the rest. It finds the
    /// right branch of a union before it descends into the wrong one.
    pub order: Vec<usize>,
    /// Indices of `properties` by name, when there are many.
    index: HashMap<String, usize>,
    /// Required keys that are not in `properties`.
    pub required: Vec<String>,
    pub unknown: Unknown,
    pub names: Option<Id>,
    pub patterns: Vec<(Arc<Pattern>, Id)>,
}

pub(super) struct Property {
    pub name: String,
    pub node: Id,
    pub required: bool,
    pub default: Option<Filling>,
}

/// A default, normalised.
pub(super) struct Filling {
    pub value: Value,
    pub size: usize,
    pub depth: usize,
}

/// What happens to keys that are not declared.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Unknown {
    #[default]
    Keep,
    Strip,
    Refuse,
    Each(Id),
}

const MANY: usize = 8;

impl Object {
    pub fn property(&self, name: &str) -> Option<usize> {
        if self.properties.len() > MANY {
            self.index.get(name).copied()
        } else {
            self.properties.iter().position(|property| property.name == name)
        }
    }
}

impl Values {
    fn new(list: Vec<Value>) -> Self {
        let mut strings: Vec<String> = list.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        let mut numbers: Vec<f64> = list.iter().filter_map(Value::as_f64).map(|number| number + 0.0).collect();
        strings.sort_unstable();
        numbers.sort_unstable_by(f64::total_cmp);
        Self { list, strings, numbers }
    }

    pub fn contains(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.contains_text(text),
            // Adding zero makes -0 the same as 0.
            Value::Number(number) => number
                .as_f64()
                .is_some_and(|number| self.numbers.binary_search_by(|other| other.total_cmp(&(number + 0.0))).is_ok()),
            Value::Bool(_) | Value::Null => self.list.contains(value),
            _ => false,
        }
    }

    pub fn contains_text(&self, text: &str) -> bool {
        self.strings.binary_search_by(|other| other.as_str().cmp(text)).is_ok()
    }
}

impl Node {
    /// Checked without looking into the value.
    fn is_scalar(&self) -> bool {
        self.array.is_none()
            && self.object.is_none()
            && self.any_of.is_empty()
            && self.one_of.is_empty()
            && self.all_of.is_empty()
    }

    /// Nodes for the same value.
    fn in_place(&self) -> impl Iterator<Item = Id> {
        self.any_of.iter().chain(&self.one_of).chain(&self.all_of).copied()
    }

    /// Nodes for values inside the value. Names are never changed, so they do not count.
    fn inside(&self) -> Vec<Id> {
        let mut inside = Vec::new();
        if let Some(array) = &self.array {
            inside.extend(&array.prefix);
            if let Items::Each(items) = array.items {
                inside.push(items);
            }
        }
        if let Some(object) = &self.object {
            inside.extend(object.properties.iter().map(|property| property.node));
            if let Unknown::Each(values) = object.unknown {
                inside.push(values);
            }
        }
        inside
    }
}

impl Schema {
    /// The error is a sentence.
    pub fn compile(ir: &Value) -> Result<Self, String> {
        let mut compiler = Compiler {
            nodes: vec![Node::default()],
            definitions: HashMap::new(),
            patterns: HashMap::new(),
            pattern_memory: 0,
            place: Vec::new(),
        };
        let mut definitions = Vec::new();
        if let Some(map) = ir.get("$defs") {
            for (name, schema) in map.as_object().ok_or("`$defs` is not an object.")? {
                compiler.nodes.push(Node::default());
                compiler.definitions.insert(name, compiler.nodes.len() - 1);
                definitions.push((compiler.nodes.len() - 1, name, schema));
            }
        }
        compiler.fill(0, ir, Position::Root)?;
        for (id, name, schema) in definitions {
            compiler.place = vec!["$defs".into(), name.clone()];
            compiler.fill(id, schema, Position::Inner)?;
        }
        let partial = match ir.get(PARTIAL) {
            None => false,
            Some(Value::Bool(true)) => true,
            Some(_) => return Err(format!("The schema has `{PARTIAL}`, which is not `true`.")),
        };
        let mut schema = Self { nodes: compiler.nodes, partial };
        schema.refuse_endless_chains()?;
        schema.order_properties();
        schema.mark_changes();
        schema.settle_defaults()?;
        Ok(schema)
    }

    /// A schema that contains itself without going deeper into the value would be checked for ever.
    fn refuse_endless_chains(&self) -> Result<(), String> {
        let mut heights = vec![None; self.nodes.len()];
        (0..self.nodes.len()).try_for_each(|id| self.height(id, 0, &mut heights).map(drop))
    }

    /// The most nodes inside each other for the same value, below a node at `level` of such a chain.
    fn height(&self, id: Id, level: usize, heights: &mut [Option<usize>]) -> Result<usize, String> {
        let mut tallest = heights[id].unwrap_or(0);
        if level + tallest <= MAX_CHAIN && heights[id].is_none() {
            for child in self.nodes[id].in_place() {
                tallest = tallest.max(1 + self.height(child, level + 1, heights)?);
            }
            heights[id] = Some(tallest);
        }
        if level + tallest > MAX_CHAIN {
            return Err(endless());
        }
        Ok(tallest)
    }

    fn order_properties(&mut self) {
        let ranks: Vec<u8> =
            self.nodes.iter().map(|node| if !node.is_scalar() { 2 } else { u8::from(node.values.is_none()) }).collect();
        for node in &mut self.nodes {
            if let Some(object) = &mut node.object {
                object.order = (0..object.properties.len()).collect();
                object.order.sort_by_key(|&index| ranks[object.properties[index].node]);
            }
        }
    }

    /// A node changes values if it strips or fills in, or if a node inside does.
    fn mark_changes(&mut self) {
        let mut parents = vec![Vec::new(); self.nodes.len()];
        let mut marked = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            for child in node.in_place().chain(node.inside()) {
                parents[child].push(id);
            }
            let strips = |object: &Object| {
                object.unknown == Unknown::Strip || object.properties.iter().any(|property| property.default.is_some())
            };
            if node.object.as_deref().is_some_and(strips) {
                marked.push(id);
            }
        }
        while let Some(id) = marked.pop() {
            if !std::mem::replace(&mut self.nodes[id].changes, true) {
                marked.extend(&parents[id]);
            }
        }
    }

    /// Checks and normalises the defaults, so that filling one in is a copy.
    fn settle_defaults(&mut self) -> Result<(), String> {
        let mut settled = Vec::new();
        let mut check = Check::settling(self, Fuel::new());
        for (id, node) in self.nodes.iter().enumerate() {
            let properties = node.object.iter().flat_map(|object| object.properties.iter().enumerate());
            for (index, property) in properties {
                let Some(default) = &property.default else { continue };
                let mut value = default.value.clone();
                if !check.accepts(property.node, &value) {
                    return Err(format!(
                        "The default of the property {} does not fit its own schema.",
                        quoted(&property.name)
                    ));
                }
                if !check.normalise(property.node, &mut value, 0, 0) {
                    return Err(format!(
                        "The default of the property {} grows too large when inner defaults are filled in.",
                        quoted(&property.name)
                    ));
                }
                settled.push((id, index, value));
            }
        }
        for (id, index, value) in settled {
            let object = self.nodes[id].object.as_mut().expect("only objects have properties");
            object.properties[index].default = Some(Filling::new(value));
        }
        Ok(())
    }
}

impl Filling {
    fn new(value: Value) -> Self {
        Self { size: bytes(&value), depth: depth(&value), value }
    }
}

/// Where a schema stands, because `$defs` and `default` have their places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Property,
    Inner,
}

struct Compiler<'a> {
    nodes: Vec<Node>,
    definitions: HashMap<&'a str, Id>,
    /// By source and flags.
    patterns: HashMap<(String, String), Arc<Pattern>>,
    pattern_memory: usize,
    /// The keys and indices from the root to the schema at hand.
    place: Vec<String>,
}

/// What a schema object holds, while its keywords are read one by one.
struct Draft<'a> {
    map: &'a Map<String, Value>,
    node: Node,
    text: Text,
    number: Numbers,
    array: Array,
    object: Object,
}

impl<'a> Compiler<'a> {
    fn fill(&mut self, id: Id, schema: &'a Value, position: Position) -> Result<(), String> {
        self.nodes[id] = self.node(schema, position).map_err(|problem| self.sentence(&problem))?;
        Ok(())
    }

    /// A problem with its place.
    fn sentence(&self, problem: &str) -> String {
        let place: String = self.place.iter().map(|part| format!("/{part}")).collect();
        if place.is_empty() { format!("The schema {problem}.") } else { format!("The schema at `{place}` {problem}.") }
    }

    fn child(&mut self, schema: &'a Value, position: Position, place: &[&str]) -> Result<Id, String> {
        // A reference is its target.
        if let Some(target) = self.reference(schema, position)? {
            return Ok(target);
        }
        let depth = self.place.len();
        self.place.extend(place.iter().map(|&part| part.to_owned()));
        let node = self.node(schema, position)?;
        self.place.truncate(depth);
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn children(&mut self, list: &'a Value, keyword: &str) -> Result<Vec<Id>, String> {
        let list = list
            .as_array()
            .filter(|list| !list.is_empty())
            .ok_or_else(|| format!("has `{keyword}`, which is not a list of schemas"))?;
        list.iter()
            .enumerate()
            .map(|(index, schema)| self.child(schema, Position::Inner, &[keyword, &index.to_string()]))
            .collect()
    }

    fn reference(&self, schema: &Value, position: Position) -> Result<Option<Id>, String> {
        let Some(map) = schema.as_object() else { return Ok(None) };
        let Some(reference) = map.get("$ref") else { return Ok(None) };
        if let Some(keyword) = map.keys().find(|keyword| {
            !(matches!(keyword.as_str(), "$ref" | "description" | "default")
                || matches!(keyword.as_str(), "$defs" | PARTIAL) && position == Position::Root)
        }) {
            return Err(format!("has `{keyword}` beside `$ref`"));
        }
        self.allows_annotations(map, position)?;
        let name = reference.as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
        let target = name
            .and_then(|name| self.definitions.get(name))
            .ok_or("has `$ref`, which is not the name of one of its `$defs`")?;
        Ok(Some(*target))
    }

    fn allows_annotations(&self, map: &Map<String, Value>, position: Position) -> Result<(), String> {
        if map.contains_key("default") && position != Position::Property {
            return Err("has `default`, which does not belong to a property".into());
        }
        if map.get("description").is_some_and(|description| !description.is_string()) {
            return Err("has `description`, which is not text".into());
        }
        Ok(())
    }

    fn node(&mut self, schema: &'a Value, position: Position) -> Result<Node, String> {
        if let Some(target) = self.reference(schema, position)? {
            return Ok(Node { all_of: vec![target], ..Node::default() });
        }
        let map = match schema {
            Value::Bool(accepts) => return Ok(Node { never: !accepts, ..Node::default() }),
            Value::Object(map) => map,
            _ => return Err("is neither an object nor `true` or `false`".into()),
        };
        self.allows_annotations(map, position)?;
        let mut draft = Draft {
            map,
            node: Node::default(),
            text: Text::default(),
            number: Numbers::default(),
            array: Array::default(),
            object: Object::default(),
        };
        for (keyword, value) in map {
            self.keyword(&mut draft, keyword, value, position)?;
        }
        draft.finish()
    }

    fn keyword(
        &mut self,
        draft: &mut Draft<'a>,
        keyword: &'a str,
        value: &'a Value,
        position: Position,
    ) -> Result<(), String> {
        let Draft { map, node, text, number, array, object } = draft;
        match keyword {
            "description" | "default" => {}
            "$defs" if position == Position::Root => {}
            PARTIAL if position == Position::Root => {}
            "type" => node.kind = Some(kind(value)?),
            "const" => node.values = Some(values(std::slice::from_ref(value), keyword)?),
            "enum" if !map.contains_key("const") => {
                node.values = Some(values(value.as_array().map_or(&[], Vec::as_slice), keyword)?)
            }

            "minLength" => text.min = count(value, keyword)?,
            "maxLength" => text.max = Some(count(value, keyword)?),
            "pattern" => {
                text.patterns.push(self.pattern(value.as_str().ok_or("has `pattern`, which is not text")?, "")?)
            }
            "x-pattern" => text.patterns.push(self.flagged_pattern(value, keyword)?),
            "x-format" => text.format = Some(self.format(map, value)?),
            "format" if value.is_string() => text.named = NAMED.into_iter().find(|name| value == name),
            "x-hostname" | "x-protocol" if map.get("x-format").is_some_and(|format| format == "url") => {}
            "x-algorithm" if map.get("x-format").is_some_and(|format| format == "jwt") => {}

            "minimum" => number.min = Some(bound(value, keyword)?),
            "maximum" => number.max = Some(bound(value, keyword)?),
            "exclusiveMinimum" => number.above = Some(bound(value, keyword)?),
            "exclusiveMaximum" => number.below = Some(bound(value, keyword)?),
            "x-multipleOf" => match bound(value, keyword)? {
                0.0 => return Err("has `x-multipleOf`, which is 0".into()),
                step => number.multiple = Some(step),
            },

            "minItems" => array.min = count(value, keyword)?,
            "maxItems" => array.max = Some(count(value, keyword)?),
            "prefixItems" => array.prefix = self.children(value, keyword)?,
            "items" => {
                array.items = match value {
                    Value::Bool(false) => Items::None,
                    Value::Bool(true) => Items::Any,
                    schema => Items::Each(self.child(schema, Position::Inner, &[keyword])?),
                }
            }

            "properties" => {
                for (name, schema) in value.as_object().ok_or("has `properties` that are not an object")? {
                    let node = self.child(schema, Position::Property, &[keyword, name])?;
                    let default = schema.get("default").map(|value| Filling::new(value.clone()));
                    object.index.insert(name.clone(), object.properties.len());
                    object.properties.push(Property { name: name.clone(), node, required: false, default });
                }
            }
            "required" => {}
            "additionalProperties" => {
                object.unknown = match value {
                    Value::Bool(false) => Unknown::Refuse,
                    Value::Bool(true) => Unknown::Keep,
                    schema => Unknown::Each(self.child(schema, Position::Inner, &[keyword])?),
                }
            }
            "x-unknownKeys" if value == "strip" && !map.contains_key("additionalProperties") => {
                object.unknown = Unknown::Strip
            }
            "x-unknownKeys" if value == "strip" => {
                return Err("has `x-unknownKeys` beside `additionalProperties`".into());
            }
            "propertyNames" => object.names = Some(self.child(value, Position::Inner, &[keyword])?),
            "patternProperties" => {
                if map.contains_key("additionalProperties") || map.contains_key("x-unknownKeys") {
                    return Err("has `patternProperties` beside `additionalProperties` or `x-unknownKeys`".into());
                }
                for (source, schema) in value.as_object().ok_or("has `patternProperties` that are not an object")? {
                    object
                        .patterns
                        .push((self.pattern(source, "")?, self.child(schema, Position::Inner, &[keyword, source])?));
                }
            }

            "anyOf" => node.any_of = self.children(value, keyword)?,
            "oneOf" => node.one_of = self.children(value, keyword)?,
            "allOf" => node.all_of = self.children(value, keyword)?,
            "x-discriminator" if map.contains_key("anyOf") => {
                node.discriminator = Some(value.as_str().ok_or("has `x-discriminator`, which is not text")?.into())
            }

            _ if is_known(keyword) => {
                return Err(format!(
                    "has the keyword `{keyword}` with a value or at a place that the schema IR does not have"
                ));
            }
            _ => return Err(format!("has the keyword `{keyword}`, which the schema IR does not have")),
        }
        Ok(())
    }

    fn pattern(&mut self, source: &str, flags: &str) -> Result<Arc<Pattern>, String> {
        let key = (source.to_owned(), flags.to_owned());
        if let Some(known) = self.patterns.get(&key) {
            return Ok(known.clone());
        }
        if self.patterns.len() >= MAX_PATTERNS {
            return Err(format!("has more than {MAX_PATTERNS} different patterns"));
        }
        let pattern = Arc::new(
            Pattern::new(source, flags)
                .map_err(|problem| format!("has the pattern `/{source}/{flags}`, which {problem}"))?,
        );
        self.pattern_memory += pattern.memory();
        if self.pattern_memory > MAX_PATTERN_MEMORY {
            return Err("has patterns that are too large together".into());
        }
        self.patterns.insert(key, pattern.clone());
        Ok(pattern)
    }

    /// `{ "source", "flags" }`.
    fn flagged_pattern(&mut self, value: &Value, keyword: &str) -> Result<Arc<Pattern>, String> {
        let part = |name| value.get(name).and_then(Value::as_str);
        match (value.as_object().map(Map::len), part("source"), part("flags")) {
            (Some(2), Some(source), Some(flags)) => self.pattern(source, flags),
            _ => Err(format!("has `{keyword}`, which is not a source with flags")),
        }
    }

    fn format(&mut self, map: &Map<String, Value>, name: &Value) -> Result<Format, String> {
        let mut parameter = |keyword| map.get(keyword).map(|value| self.flagged_pattern(value, keyword)).transpose();
        Ok(match name.as_str().unwrap_or_default() {
            "url" => {
                let hostname = parameter("x-hostname")?;
                let protocol = parameter("x-protocol")?;
                let web = map.get("x-protocol").is_some_and(|protocol| protocol["source"] == "^https?$");
                Format::Url { hostname, protocol, web }
            }
            "ipv6" => Format::Ipv6,
            "cidrv6" => Format::CidrV6,
            "credit_card" => Format::CreditCard,
            "iban" => Format::Iban,
            "jwt" => {
                let algorithm = map
                    .get("x-algorithm")
                    .map(|value| value.as_str().map(str::to_owned).ok_or("has `x-algorithm`, which is not text"))
                    .transpose()?;
                Format::Jwt { algorithm }
            }
            _ => return Err(format!("has the unknown `x-format` {name}")),
        })
    }
}

/// Formats that a pattern stands for; only messages use the name.
const NAMED: [&str; 7] = ["email", "uuid", "date", "time", "date-time", "duration", "ipv4"];

fn is_known(keyword: &str) -> bool {
    matches!(
        keyword,
        "$defs"
            | "enum"
            | "format"
            | "x-hostname"
            | "x-protocol"
            | "x-algorithm"
            | "x-unknownKeys"
            | "x-discriminator"
            | PARTIAL
    )
}

fn kind(value: &Value) -> Result<Kind, String> {
    Ok(match value.as_str() {
        Some("string") => Kind::String,
        Some("number") => Kind::Number,
        Some("integer") => Kind::Integer,
        Some("boolean") => Kind::Boolean,
        Some("null") => Kind::Null,
        Some("array") => Kind::Array,
        Some("object") => Kind::Object,
        _ => return Err("has `type`, which is not the name of one type".into()),
    })
}

fn values(list: &[Value], keyword: &str) -> Result<Box<Values>, String> {
    if list.is_empty() || list.iter().any(|value| value.is_array() || value.is_object()) {
        return Err(format!("has `{keyword}`, which is not made of text, numbers, booleans and null"));
    }
    Ok(Box::new(Values::new(list.to_vec())))
}

fn count(value: &Value, keyword: &str) -> Result<u64, String> {
    let count = value.as_u64().or_else(|| {
        value
            .as_f64()
            .filter(|number| *number >= 0.0 && number.fract() == 0.0 && *number < 9e15)
            .map(|number| number as u64)
    });
    count.ok_or_else(|| format!("has `{keyword}`, which is not a count"))
}

fn bound(value: &Value, keyword: &str) -> Result<f64, String> {
    value.as_f64().filter(|number| number.is_finite()).ok_or_else(|| format!("has `{keyword}`, which is not a number"))
}

impl Draft<'_> {
    fn finish(self) -> Result<Node, String> {
        let Draft { map, mut node, text, number, array, mut object } = self;
        let has = |keywords: &[&str]| keywords.iter().any(|&keyword| map.contains_key(keyword));
        if let Some(names) = map.get("required") {
            let names = names.as_array().ok_or("has `required`, which is not a list")?;
            for name in names {
                let name = name.as_str().ok_or("has `required`, which is not a list of names")?;
                match object.property(name) {
                    Some(index) => object.properties[index].required = true,
                    None => object.required.push(name.to_owned()),
                }
            }
        }
        // Normalising would have to choose between these; the contract says nothing, and the SDK writes none of them.
        let shapes =
            ["items", "prefixItems", "properties", "additionalProperties", "x-unknownKeys", "patternProperties"];
        if has(&["anyOf", "oneOf"]) && (has(&shapes) || has(&["anyOf"]) && has(&["oneOf"])) {
            return Err("describes a union and a shape in one node".into());
        }
        let only_validates = map
            .get("properties")
            .and_then(Value::as_object)
            .is_none_or(|map| map.values().all(|schema| *schema == Value::Bool(true)))
            && map.get("additionalProperties").is_none_or(|schema| *schema == Value::Bool(false))
            && !has(&["x-unknownKeys", "patternProperties"]);
        if has(&["allOf"]) && !only_validates {
            return Err("describes an intersection and a shape in one node".into());
        }
        if has(&["minLength", "maxLength", "pattern", "x-pattern", "x-format"]) {
            node.text = Some(Box::new(text));
        }
        if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "x-multipleOf"]) {
            node.number = Some(Box::new(number));
        }
        if has(&["minItems", "maxItems", "prefixItems", "items"]) {
            node.array = Some(Box::new(array));
        }
        if has(&[
            "properties",
            "required",
            "additionalProperties",
            "x-unknownKeys",
            "propertyNames",
            "patternProperties",
        ]) {
            node.object = Some(Box::new(object));
        }
        Ok(node)
    }
}

/// The deepest value a filled-in default may make.
pub(super) fn fits_depth(level: usize, default: &Filling) -> bool {
    level + default.depth <= MAX_DEPTH
}

/// Units of fuel for a copy of a value.
pub(super) fn copy_cost(value: &Value) -> u64 {
    4 * size(value) as u64
}
