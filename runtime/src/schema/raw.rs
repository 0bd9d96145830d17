//! Raw JSON Schema, draft 2020-12 or draft-07, validated by the `jsonschema` crate. Values stay as they are.
//!
//! The crate trusts its schemas, so three things are done for it. The schema is rewritten to what matters for validation and
//! bounded. Every subschema with subschemas of its own becomes `if: { METER }, then: subschema, else: false`: [`METER`] spends
//! fuel, and so ends what would take too long. (Beside other keywords it would come last, when the work is done.) And
//! `pattern` is checked by [`Pattern`], whose cost is bounded.

use super::pattern::Pattern;
use super::violation::{Step, counted, one_of, quoted, type_name};
use super::{Fuel, MAX_CHAIN, MAX_PATTERN_MEMORY, MAX_PATTERNS, Violation, bytes, depth, endless, size};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, Keyword, PatternOptions, ValidationError};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Its value: what each visit of the subschema costs, see [`Meter`].
const METER: &str = "x-callcell-meter";
/// Subschemas inside each other along references, for the stack of the crate's compiler.
const MAX_REFERENCE_DEPTH: usize = 256;
/// Bytes of stack that a check may use.
const MAX_STACK: usize = 512 << 10;
/// Visits of subschemas, about, up to which the crate may collect its errors. That runs without fuel.
const MAX_EXPLAINED: usize = 200_000;
/// Visits times bytes of the value: an error can hold a copy of a value.
const MAX_EXPLAINED_BYTES: usize = 64 << 20;

/// Subschemas for one value, references written out, where the schema asks what is unevaluated.
const MAX_UNEVALUATED: usize = 10_000;

pub(super) struct Schema {
    validator: jsonschema::Validator,
    /// As given to the crate, for the words of a violation.
    schema: Value,
    /// Names of properties in the schema. Other keys are data.
    names: HashSet<String>,
    nodes: Vec<Subschema>,
}

thread_local! {
    static FUEL: Cell<Fuel> = const { Cell::new(Fuel::new()) };
    /// Where the stack was when the check began.
    static STACK: Cell<usize> = const { Cell::new(0) };
}

fn stack_position() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(&local).addr()
}

impl Schema {
    /// The error is a sentence.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let draft = draft(schema)?;
        let mut rewriter = Rewriter {
            draft,
            nodes: Vec::new(),
            positions: HashMap::new(),
            patterns: HashMap::new(),
            pattern_memory: 0,
            names: HashSet::new(),
        };
        let mut rewritten = rewriter.rewrite(schema, "#", "")?;
        rewriter.follow_references(&mut rewritten)?;
        let Rewriter { nodes, patterns, names, .. } = rewriter;
        let patterns = Arc::new(patterns);
        let options = jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(PatternOptions::regex().size_limit(1 << 20).dfa_size_limit(256 << 10))
            .with_keyword(METER, |_, value, _| Ok(Box::new(Meter::read(value))))
            .with_keyword("pattern", move |_, value, _| {
                let pattern = value.as_str().and_then(|source| patterns.get(source)).cloned();
                pattern
                    .map(|pattern| Box::new(Checked(pattern)) as Box<dyn for<'i> Keyword<'i>>)
                    .ok_or_else(|| ValidationError::schema("unknown pattern"))
            });
        let validator =
            options.build(&rewritten).map_err(|error| format!("The raw JSON Schema is not valid: {error}."))?;
        Ok(Self { validator, schema: rewritten, names, nodes })
    }

    pub fn check(&self, value: &Value) -> Result<(), Violation> {
        FUEL.set(Fuel::new());
        STACK.set(stack_position());
        let valid = self.validator.is_valid(value);
        if FUEL.get().is_empty() {
            return Err(Violation::exhausted());
        }
        if valid {
            return Ok(());
        }
        let error = if self.may_explain(value) { self.validator.validate(value).err() } else { None };
        Err(match error {
            Some(error) if !FUEL.get().is_empty() => self.violation(&error, value),
            _ => Violation::new([], "a value that matches the schema"),
        })
    }

    /// Whether collecting errors stays cheap: the schema, with its references written out as deep as the value goes, times
    /// the value.
    fn may_explain(&self, value: &Value) -> bool {
        let levels = depth(value) + 1;
        if self.nodes.len() * levels > MAX_EXPLAINED {
            return false;
        }
        // By level from the innermost outwards; in place, chains are short and without cycles.
        let mut inner = vec![0_usize; self.nodes.len()];
        for _ in 0..levels {
            let mut outer = vec![0; self.nodes.len()];
            for id in 0..self.nodes.len() {
                self.written_out(id, &inner, &mut outer);
            }
            inner = outer;
        }
        inner[0].saturating_mul(size(value)) <= MAX_EXPLAINED
            && inner[0].saturating_mul(bytes(value)) <= MAX_EXPLAINED_BYTES
    }

    fn written_out(&self, id: usize, inner: &[usize], outer: &mut [usize]) -> usize {
        if outer[id] == 0 {
            let inside = self.nodes[id].inside.iter().fold(1_usize, |sum, &child| sum.saturating_add(inner[child]));
            outer[id] = self.nodes[id]
                .in_place
                .iter()
                .fold(inside, |sum, &child| sum.saturating_add(self.written_out(child, inner, outer)));
        }
        outer[id]
    }

    fn violation(&self, error: &ValidationError<'_>, value: &Value) -> Violation {
        let mut place = Some(value);
        let parts =
            error.instance_path().as_str().split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
        let steps: Vec<Step<'_>> = parts
            .map(|part| match place {
                Some(Value::Array(items)) => {
                    let index = part.parse().unwrap_or_default();
                    place = items.get(index);
                    Step::Index(index)
                }
                _ => {
                    place = place.and_then(|value| value.get(&part));
                    self.names.get(&part).map_or(Step::Anything, |name| Step::Key(name))
                }
            })
            .collect();
        Violation::new(steps, self.expected(error))
    }

    fn expected(&self, error: &ValidationError<'_>) -> String {
        if let ValidationErrorKind::Required { property: Value::String(name) } = error.kind() {
            return format!("the property `{name}`");
        }
        let pointer = error.schema_path().as_str();
        let keyword = pointer.rsplit('/').next().unwrap_or_default();
        let value = self.schema.pointer(pointer).unwrap_or(&Value::Null);
        let list = || value.as_array().map_or(&[][..], Vec::as_slice);
        let count = |unit| counted(value.as_u64().unwrap_or_default(), unit);
        match keyword {
            "type" => match value {
                Value::String(name) => type_name(name).into(),
                _ => list().iter().filter_map(Value::as_str).map(type_name).collect::<Vec<_>>().join(" or "),
            },
            "const" => one_of([value]),
            "enum" => one_of(list()),
            "minLength" => format!("a string of at least {}", count("character")),
            "maxLength" => format!("a string of at most {}", count("character")),
            "pattern" => format!("a string that matches /{}/", value.as_str().unwrap_or_default()),
            "format" => format!("a string in the format {value}"),
            "minimum" => format!("a number of at least {value}"),
            "maximum" => format!("a number of at most {value}"),
            "exclusiveMinimum" => format!("a number above {value}"),
            "exclusiveMaximum" => format!("a number below {value}"),
            "multipleOf" => format!("a multiple of {value}"),
            "minItems" => format!("an array of at least {}", count("item")),
            "maxItems" => format!("an array of at most {}", count("item")),
            "uniqueItems" => "an array of different items".into(),
            "contains" | "minContains" | "maxContains" => "an array that contains what the schema asks for".into(),
            "minProperties" => format!("an object of at least {}", count("key")),
            "maxProperties" => format!("an object of at most {}", count("key")),
            "additionalProperties" | "unevaluatedProperties" => "no unknown key".into(),
            "items" | "additionalItems" | "unevaluatedItems" => "no further items".into(),
            "anyOf" => format!("a value that fits one of {} alternatives", list().len()),
            "oneOf" => format!("a value that fits exactly one of {} alternatives", list().len()),
            "not" => "a value that does not fit what the schema excludes".into(),
            _ => "a value that matches the schema".into(),
        }
    }
}

fn draft(schema: &Value) -> Result<Draft, String> {
    let name = schema["$schema"].as_str().unwrap_or_default();
    match name.strip_suffix('#').unwrap_or(name) {
        "https://json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        "http://json-schema.org/draft-07/schema" | "https://json-schema.org/draft-07/schema" => Ok(Draft::Draft7),
        _ => Err("The raw JSON Schema has a `$schema` that is neither draft 2020-12 nor draft-07.".into()),
    }
}

/// Spends fuel at every visit of a subschema.
struct Meter {
    base: u64,
    /// For each item, each property, and every 16 bytes of a text.
    each: u64,
    /// For every 16 bytes of keys: the weight of the patterns they are matched with.
    names: u64,
    /// The whole value may be read, not only its first level.
    deep: bool,
}

impl Meter {
    fn read(value: &Value) -> Self {
        let part = |name: &str| value[name].as_u64().unwrap_or_default();
        Self { base: part("base"), each: part("each"), names: part("names"), deep: part("deep") == 1 }
    }

    fn spend(&self, value: &Value) -> bool {
        let mut fuel = FUEL.get();
        let mut cost = self.base;
        cost += self.each
            * match value {
                _ if self.deep => size(value) as u64,
                Value::Array(items) => items.len() as u64,
                Value::Object(map) => map.len() as u64,
                Value::String(text) => text.len() as u64 / 16,
                _ => 0,
            };
        if let (1.., Value::Object(map)) = (self.names, value) {
            cost = cost.saturating_add(self.names * (map.keys().map(String::len).sum::<usize>() as u64 / 16 + 1));
        }
        if stack_position().abs_diff(STACK.get()) > MAX_STACK {
            cost = u64::MAX;
        }
        let enough = fuel.spend(cost);
        FUEL.set(fuel);
        enough
    }
}

impl<'i> Keyword<'i> for Meter {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.spend(value) { Ok(()) } else { Err(ValidationError::custom("too much work")) }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        self.spend(value)
    }
}

/// `pattern`.
struct Checked(Arc<Pattern>);

impl<'i> Keyword<'i> for Checked {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(value) { Ok(()) } else { Err(ValidationError::custom("no match")) }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        let Value::String(text) = value else { return true };
        let mut fuel = FUEL.get();
        let matches = self.0.is_match(text, &mut fuel);
        FUEL.set(fuel);
        matches
    }
}

/// What a keyword holds.
pub(super) enum Holds {
    /// A schema or a list of schemas for the value itself.
    InPlace,
    /// The same by name.
    InPlaceByName,
    /// A schema or a list of schemas for values inside.
    Inside,
    InsideByName,
    /// Schemas that only references reach.
    Definitions,
    Data,
    /// No effect on validation.
    Nothing,
}

pub(super) fn holds(keyword: &str) -> Holds {
    match keyword {
        "not" | "if" | "then" | "else" | "allOf" | "anyOf" | "oneOf" => Holds::InPlace,
        "dependentSchemas" | "dependencies" => Holds::InPlaceByName,
        "items"
        | "additionalItems"
        | "prefixItems"
        | "contains"
        | "unevaluatedItems"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedProperties" => Holds::Inside,
        "properties" | "patternProperties" => Holds::InsideByName,
        "$defs" | "definitions" => Holds::Definitions,
        "type" | "const" | "enum" | "minLength" | "maxLength" | "pattern" | "format" | "minimum" | "maximum"
        | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minItems" | "maxItems" | "uniqueItems"
        | "minContains" | "maxContains" | "minProperties" | "maxProperties" | "required" | "dependentRequired"
        | "contentEncoding" | "contentMediaType" => Holds::Data,
        _ => Holds::Nothing,
    }
}

struct Rewriter {
    draft: Draft,
    nodes: Vec<Subschema>,
    /// Subschemas by JSON pointer.
    positions: HashMap<String, usize>,
    patterns: HashMap<String, Arc<Pattern>>,
    pattern_memory: usize,
    names: HashSet<String>,
}

#[derive(Default)]
struct Subschema {
    in_place: Vec<usize>,
    inside: Vec<usize>,
    reference: Option<String>,
    /// The JSON pointer after rewriting.
    place: String,
    unevaluated: bool,
}

impl Rewriter {
    /// `place` is the JSON pointer of the schema, `target` the one after rewriting.
    fn rewrite(&mut self, schema: &Value, place: &str, target: &str) -> Result<Value, String> {
        let id = self.nodes.len();
        self.nodes.push(Subschema { place: target.to_owned(), ..Subschema::default() });
        self.positions.insert(place.to_owned(), id);
        let map = match schema {
            Value::Bool(_) => return Ok(schema.clone()),
            Value::Object(map) => map,
            _ => return Err(format!("The schema at `{place}` is neither an object nor `true` or `false`.")),
        };
        let wrapped =
            map.keys().any(|keyword| keyword == "$ref" || !matches!(holds(keyword), Holds::Data | Holds::Nothing));
        let target = if wrapped { format!("{target}/then") } else { target.to_owned() };
        let mut result = Map::new();
        let (mut base, mut each, mut names, mut deep) = (1, 1, 0, false);
        for (keyword, value) in map {
            let here = format!("{place}/{}", escaped(keyword));
            let there = format!("{target}/{}", escaped(keyword));
            let refused = |why: &str| Err(format!("The schema at `{place}` has `{keyword}`, {why}."));
            match keyword.as_str() {
                "$schema" | "$id" if place == "#" => continue,
                "$schema" | "$id" | "id" if value.is_string() && keyword != "id" => {
                    return refused("which only the root may have");
                }
                "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveAnchor" | "$recursiveRef" => {
                    return refused("which is not supported; refer to `#/$defs/name`");
                }
                "x-unknownKeys" | "x-pattern" | "x-multipleOf" | "x-format" | "x-hostname" | "x-protocol"
                | "x-algorithm" | "x-discriminator" | METER => {
                    return refused("which is reserved");
                }
                "$ref" => {
                    let Some(reference) = value.as_str().filter(|reference| reference.starts_with('#')) else {
                        return refused("which refers to something outside the schema");
                    };
                    self.nodes[id].reference = Some(reference.to_owned());
                    result.insert(keyword.clone(), value.clone());
                    continue;
                }
                "pattern" => self
                    .pattern(
                        value
                            .as_str()
                            .ok_or_else(|| format!("The schema at `{place}` has a `pattern` that is not text."))?,
                        &here,
                    )
                    .map(drop)?,
                "patternProperties" => {
                    for source in value.as_object().into_iter().flat_map(Map::keys) {
                        names += self.pattern(source, &here)?;
                    }
                }
                "properties" => self.names.extend(value.as_object().into_iter().flat_map(Map::keys).cloned()),
                "required" => self
                    .names
                    .extend(value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)),
                _ => {}
            }
            deep |= matches!(
                keyword.as_str(),
                "const" | "enum" | "uniqueItems" | "unevaluatedItems" | "unevaluatedProperties" | "contentMediaType"
            );
            if keyword.starts_with("unevaluated") {
                self.nodes[id].unevaluated = true;
                each += size(schema) as u64;
            }
            let first = self.nodes.len();
            let rewritten = match holds(keyword) {
                Holds::Nothing => continue,
                Holds::Data => {
                    base += size(value) as u64;
                    value.clone()
                }
                Holds::InPlace | Holds::Inside => match value {
                    Value::Array(list) => {
                        base += list.len() as u64;
                        list.iter()
                            .enumerate()
                            .map(|(index, schema)| {
                                self.listed(
                                    id,
                                    keyword,
                                    schema,
                                    &format!("{here}/{index}"),
                                    &format!("{there}/{index}"),
                                )
                            })
                            .collect::<Result<_, _>>()?
                    }
                    schema => self.listed(id, keyword, schema, &here, &there)?,
                },
                Holds::InPlaceByName | Holds::InsideByName | Holds::Definitions => {
                    let Value::Object(map) = value else {
                        return Err(format!("The schema at `{place}` has `{keyword}` that is not an object."));
                    };
                    let mut result = Map::new();
                    for (name, schema) in map {
                        base += 1;
                        let is_list = schema.is_array() && keyword == "dependencies";
                        let name_here = escaped(name);
                        let rewritten = if is_list {
                            schema.clone()
                        } else {
                            self.listed(
                                id,
                                keyword,
                                schema,
                                &format!("{here}/{name_here}"),
                                &format!("{there}/{name_here}"),
                            )?
                        };
                        result.insert(name.clone(), rewritten);
                    }
                    Value::Object(result)
                }
            };
            if self.nodes.len() > first {
                each += 1;
            }
            result.insert(keyword.clone(), rewritten);
        }
        let meter = json!({ "base": base, "each": each, "names": names, "deep": u64::from(deep) });
        if wrapped {
            return Ok(json!({ "if": { METER: meter }, "then": result, "else": false }));
        }
        result.insert(METER.into(), meter);
        Ok(Value::Object(result))
    }

    /// A subschema of `parent` under `keyword`.
    fn listed(
        &mut self,
        parent: usize,
        keyword: &str,
        schema: &Value,
        place: &str,
        target: &str,
    ) -> Result<Value, String> {
        let child = self.nodes.len();
        let rewritten = self.rewrite(schema, place, target)?;
        match holds(keyword) {
            Holds::InPlace | Holds::InPlaceByName => self.nodes[parent].in_place.push(child),
            Holds::Inside | Holds::InsideByName => self.nodes[parent].inside.push(child),
            _ => {}
        }
        Ok(rewritten)
    }

    /// Its weight.
    fn pattern(&mut self, source: &str, place: &str) -> Result<u64, String> {
        if let Some(known) = self.patterns.get(source) {
            return Ok(known.weight());
        }
        let pattern = Pattern::new(source, "")
            .map_err(|problem| format!("The schema at `{place}` has the pattern `/{source}/`, which {problem}."))?;
        let weight = pattern.weight();
        self.pattern_memory += pattern.memory();
        if self.patterns.len() >= MAX_PATTERNS || self.pattern_memory > MAX_PATTERN_MEMORY {
            return Err("The schema has too many or too large patterns.".into());
        }
        self.patterns.insert(source.to_owned(), Arc::new(pattern));
        Ok(weight)
    }

    /// Refuses references to nowhere, endless chains and depths that the crate's compiler
    /// could not take.
    fn follow_references(&mut self, rewritten: &mut Value) -> Result<(), String> {
        for id in 0..self.nodes.len() {
            let Some(reference) = self.nodes[id].reference.take() else { continue };
            let target = decoded(&reference).and_then(|pointer| self.positions.get(&pointer).copied());
            let Some(target) = target else {
                return Err(format!("The schema refers to {}, where it has no schema.", quoted(&reference)));
            };
            // In draft-07, keywords beside a reference have no effect.
            if self.draft == Draft::Draft7 {
                self.nodes[id].in_place.clear();
                self.nodes[id].inside.clear();
            }
            self.nodes[id].in_place.push(target);
            let place = rewritten
                .pointer_mut(&format!("{}/then/$ref", self.nodes[id].place))
                .ok_or("The schema has a reference that cannot be rewritten.")?;
            *place = Value::from(format!("#{}", encoded(&self.nodes[target].place)));
        }
        let mut visited = vec![false; self.nodes.len()];
        for id in 0..self.nodes.len() {
            self.descend(id, 0, &mut visited)?;
        }
        let mut heights = vec![None; self.nodes.len()];
        (0..self.nodes.len()).try_for_each(|id| self.height(id, 0, &mut heights).map(drop))?;
        // What is unevaluated, the crate finds out without the meter.
        let mut written_out = vec![0; self.nodes.len()];
        let too_many =
            |id: usize| self.nodes[id].unevaluated && self.written_out(id, &mut written_out) > MAX_UNEVALUATED;
        match (0..self.nodes.len()).any(too_many) {
            true => {
                Err("The schema has `unevaluatedProperties` or `unevaluatedItems` beside too many subschemas.".into())
            }
            false => Ok(()),
        }
    }

    /// Subschemas for the same value, references written out.
    fn written_out(&self, id: usize, known: &mut [usize]) -> usize {
        if known[id] == 0 {
            known[id] = self.nodes[id]
                .in_place
                .iter()
                .fold(1_usize, |sum, &child| sum.saturating_add(self.written_out(child, known)));
        }
        known[id]
    }

    /// The way the crate's compiler takes, which visits every subschema once.
    fn descend(&self, id: usize, depth: usize, visited: &mut [bool]) -> Result<(), String> {
        if depth > MAX_REFERENCE_DEPTH {
            return Err(format!(
                "The schema has more than {MAX_REFERENCE_DEPTH} subschemas inside each other, references included."
            ));
        }
        if !std::mem::replace(&mut visited[id], true) {
            for &child in self.nodes[id].in_place.iter().chain(&self.nodes[id].inside) {
                self.descend(child, depth + 1, visited)?;
            }
        }
        Ok(())
    }

    fn height(&self, id: usize, level: usize, heights: &mut [Option<usize>]) -> Result<usize, String> {
        let mut tallest = heights[id].unwrap_or(0);
        if level + tallest <= MAX_CHAIN && heights[id].is_none() {
            for &child in &self.nodes[id].in_place {
                tallest = tallest.max(1 + self.height(child, level + 1, heights)?);
            }
            heights[id] = Some(tallest);
        }
        if level + tallest > MAX_CHAIN {
            return Err(endless());
        }
        Ok(tallest)
    }
}

/// A name in a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A JSON pointer in a reference.
pub(super) fn encoded(pointer: &str) -> String {
    let mut result = String::new();
    for byte in pointer.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'~' | b'-' | b'_' | b'.' | b'$' => {
                result.push(byte.into())
            }
            _ => result.push_str(&format!("%{byte:02X}")),
        }
    }
    result
}

/// A reference with its percent escapes resolved.
pub(super) fn decoded(reference: &str) -> Option<String> {
    if !reference.contains('%') {
        return Some(reference.to_owned());
    }
    let bytes = reference.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        if bytes[index] == b'%' {
            let digits = std::str::from_utf8(bytes.get(index + 1..index + 3)?).ok()?;
            result.push(u8::from_str_radix(digits, 16).ok()?);
            index += 3;
        } else {
            result.push(bytes[index]);
            index += 1;
        }
    }
    String::from_utf8(result).ok()
}
