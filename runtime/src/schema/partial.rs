//! Derives the schema of a partial value: what an evaluation expects of an answer may leave out anything (EV-33).
//!
//! What asks for the presence of something goes: `required`, `minProperties`, `minItems`, `contains`. What limits that
//! which is there stays. A value that fits the schema then fits the partial one too, and goes on fitting it when
//! members, and items from the end, are taken away. Keywords that could not be kept without breaking that rule, because
//! they accept a value for what it lacks, make the derivation fail (EV-39 to EV-42).
//!
//! Three things follow from the same rule:
//! - `oneOf` becomes `anyOf`, because a partial value may fit several branches. In the IR, a root with [`PARTIAL`] also
//!   normalises under every branch that fits: without its tag, a value may have been meant for any of them, and a
//!   branch must not strip what another one knows.
//! - `uniqueItems` stays only where items cannot be partial; two that differ in full may be the same in part.
//! - A `default` of the IR goes: what the author left out stays left out.
//!
//! `const` and `enum` stay as they are: an object in them is matched as a whole.

use super::ir::PARTIAL;
use super::raw::{Holds, decoded, encoded, holds};
use super::violation::{MAX_PATH, cut, quoted};
use super::{SchemaError, bounded};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use thiserror::Error;

/// Keywords that a partial value could fit or break by what it lacks.
const CONDITIONAL: [&str; 9] = [
    "if",
    "then",
    "else",
    "not",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
];
/// Keywords of one schema that are reported.
const MAX_REPORTED: usize = 1_000;

/// A schema that has no partial one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartialSchemaError {
    /// It has keywords whose meaning depends on what a value lacks. All of them are listed, in the order of the schema, up
    /// to 1,000.
    #[error("the schema has no partial form because of {}", listed(.0))]
    Conditional(Vec<ConditionalKeyword>),
    /// It is too deep or too large to look at.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl PartialSchemaError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conditional(_) => "C_EXPECTED_SCHEMA_CONDITIONAL",
            Self::Schema(error) => error.code(),
        }
    }
}

/// A keyword that a partial schema cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalKeyword {
    /// The keyword, such as `not`.
    pub keyword: &'static str,
    /// Where it stands in the schema: `properties.total.anyOf[0].not`. Long paths are cut.
    pub path: String,
}

fn listed(keywords: &[ConditionalKeyword]) -> String {
    let shown: Vec<String> = keywords.iter().take(3).map(|found| format!("`{}`", found.path)).collect();
    match keywords.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Derives the schema that a partial value has to fit, for example the expected part of an answer in a dataset.
///
/// `schema` is a raw JSON Schema or an IR, as for [`DataSchema::compile`](crate::DataSchema::compile), and so is the result.
/// Every value that fits `schema` fits the result too, and so does what is left of it when members are taken away at any
/// depth, or items from the end of arrays. Only objects and arrays in `const` and `enum` are matched as a whole.
///
/// Whether the schema is valid otherwise is not looked at: what does not compile will not compile afterwards.
///
/// # Errors
/// When it contains `if`, `then`, `else`, `not`, `dependentSchemas`, `dependentRequired`, `dependencies`,
/// `unevaluatedProperties` or `unevaluatedItems`, or is too deep or too large.
///
/// ```
/// # use callcell_runtime::{DataSchema, partial_schema};
/// # use serde_json::json;
/// let full = json!({
///     "type": "object", "properties": { "total": { "type": "number" } }, "required": ["total"], "additionalProperties": false
/// });
/// let partial = DataSchema::compile(&partial_schema(&full)?)?;
/// assert!(partial.check(&json!({})).is_ok());
/// assert!(partial.check(&json!({ "total": "1" })).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn partial_schema(schema: &Value) -> Result<Value, PartialSchemaError> {
    bounded(schema).map_err(SchemaError)?;
    let mut found = Vec::new();
    search(schema, &mut String::new(), &mut found);
    if !found.is_empty() {
        return Err(PartialSchemaError::Conditional(found));
    }
    let raw = schema.get("$schema").is_some();
    let mut derivation = Derivation { root: schema, raw, names: HashMap::new(), kept: Vec::new(), last_number: 0 };
    let mut partial = derivation.derive(schema);
    derivation.add_kept(&mut partial);
    if let (false, Value::Object(map)) = (raw, &mut partial) {
        map.insert(PARTIAL.into(), true.into());
    }
    Ok(partial)
}

/// Finds the conditional keywords in a schema. Names of properties and values of `const` and the like are no keywords.
fn search(schema: &Value, path: &mut String, found: &mut Vec<ConditionalKeyword>) {
    let Value::Object(map) = schema else { return };
    for (keyword, value) in map {
        let length = path.len();
        push_name(path, keyword);
        let conditional = CONDITIONAL.into_iter().find(|conditional| conditional == keyword);
        if let (Some(keyword), true) = (conditional, found.len() < MAX_REPORTED) {
            let end = path.floor_char_boundary(MAX_PATH + 4);
            found.push(ConditionalKeyword { keyword, path: cut(path[..end].to_owned(), MAX_PATH) });
        }
        match (holds(keyword), value) {
            (Holds::InPlace | Holds::Inside, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    let length = path.len();
                    path.push_str(&format!("[{index}]"));
                    search(schema, path, found);
                    path.truncate(length);
                }
            }
            (Holds::InPlace | Holds::Inside, schema) => search(schema, path, found),
            (Holds::InPlaceByName | Holds::InsideByName | Holds::Definitions, Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    let length = path.len();
                    push_name(path, name);
                    search(schema, path, found);
                    path.truncate(length);
                }
            }
            _ => {}
        }
        path.truncate(length);
    }
}

/// `.name`, or `["a name"]`, as the SDK writes the paths of problems.
fn push_name(path: &mut String, name: &str) {
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || "_$".contains(first))
        && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"_$-".contains(&letter));
    if !plain {
        path.push_str(&format!("[{}]", quoted(name)));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

struct Derivation<'a> {
    root: &'a Value,
    raw: bool,
    /// Schemas of `contains` that something refers to, by their JSON pointers: the names of their definitions.
    names: HashMap<String, String>,
    /// Those that are not derived yet.
    kept: Vec<(String, &'a Value)>,
    last_number: usize,
}

impl<'a> Derivation<'a> {
    fn derive(&mut self, schema: &Value) -> Value {
        let Value::Object(map) = schema else { return schema.clone() };
        let mut partial = Map::new();
        let mut second_union = None;
        for (keyword, value) in map {
            match keyword.as_str() {
                "required" | "minProperties" | "minItems" | "contains" | "minContains" | "maxContains" => {}
                "uniqueItems" if !has_whole_items(map) => {}
                "default" if !self.raw => {}
                "oneOf" if map.contains_key("anyOf") => second_union = Some(self.derive_inside(keyword, value)),
                "oneOf" => drop(partial.insert("anyOf".into(), self.derive_inside(keyword, value))),
                "$ref" => drop(partial.insert(keyword.clone(), self.reference(value))),
                _ => drop(partial.insert(keyword.clone(), self.derive_inside(keyword, value))),
            }
        }
        if let Some(branches) = second_union
            && let Value::Array(all) = partial.entry("allOf").or_insert_with(|| json!([]))
        {
            all.push(json!({ "anyOf": branches }));
        }
        partial.into()
    }

    /// What stands under a keyword.
    fn derive_inside(&mut self, keyword: &str, value: &Value) -> Value {
        match (holds(keyword), value) {
            (Holds::InPlace | Holds::Inside, Value::Array(schemas)) => {
                schemas.iter().map(|schema| self.derive(schema)).collect()
            }
            (Holds::InPlace | Holds::Inside, schema) => self.derive(schema),
            (Holds::InPlaceByName | Holds::InsideByName | Holds::Definitions, Value::Object(schemas)) => {
                schemas.iter().map(|(name, schema)| (name.clone(), self.derive(schema))).collect::<Map<_, _>>().into()
            }
            _ => value.clone(),
        }
    }

    /// A reference to the place where its target is now. One that leads nowhere stays, for the compiler to refuse.
    fn reference(&mut self, reference: &Value) -> Value {
        let pointer = reference.as_str().and_then(decoded).and_then(|text| text.strip_prefix('#').map(str::to_owned));
        let target = pointer.as_ref().and_then(|pointer| self.target(pointer));
        match target {
            Some(target) if Some(&target) != pointer.as_ref() => format!("#{}", encoded(&target)).into(),
            _ => reference.clone(),
        }
    }

    /// Where the schema at a JSON pointer is now.
    fn target(&mut self, pointer: &str) -> Option<String> {
        let unescaped = |part: &str| part.replace("~1", "/").replace("~0", "~");
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        let mut schema = self.root;
        let (mut place, mut target) = (String::new(), String::new());
        let mut parts = pointer.split('/').skip(1);
        while let Some(part) = parts.next() {
            let map = schema.as_object()?;
            let keyword = unescaped(part);
            let value = map.get(&keyword)?;
            place.push_str(&format!("/{part}"));
            match keyword.as_str() {
                "oneOf" if map.contains_key("anyOf") => {
                    let index = map.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
                    target.push_str(&format!("/allOf/{index}/anyOf"));
                }
                "oneOf" => target.push_str("/anyOf"),
                "contains" => target = self.keep(&place, value),
                _ => target.push_str(&format!("/{part}")),
            }
            schema = match (holds(&keyword), value) {
                (Holds::InPlace | Holds::Inside, Value::Object(_) | Value::Bool(_)) => value,
                (
                    Holds::InPlace | Holds::Inside | Holds::InPlaceByName | Holds::InsideByName | Holds::Definitions,
                    list,
                ) => {
                    let part = parts.next()?;
                    place.push_str(&format!("/{part}"));
                    target.push_str(&format!("/{part}"));
                    match list {
                        Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
                        map => map.get(unescaped(part))?,
                    }
                }
                _ => return None,
            };
        }
        Some(target)
    }

    /// Where the root has its definitions.
    fn definitions(&self) -> &'static str {
        if self.root.get("definitions").is_some() { "definitions" } else { "$defs" }
    }

    /// Keeps a schema of `contains` as a definition. The result is its JSON pointer.
    fn keep(&mut self, place: &str, schema: &'a Value) -> String {
        let definitions = self.definitions();
        if let Some(name) = self.names.get(place) {
            return format!("/{definitions}/{name}");
        }
        let taken = |name: &str| self.root.get(definitions).and_then(|map| map.get(name)).is_some();
        let name = loop {
            self.last_number += 1;
            let name = format!("contains-{}", self.last_number);
            if !taken(&name) {
                break name;
            }
        };
        self.names.insert(place.to_owned(), name.clone());
        self.kept.push((name.clone(), schema));
        format!("/{definitions}/{name}")
    }

    fn add_kept(&mut self, partial: &mut Value) {
        while let Some((name, schema)) = self.kept.pop() {
            let derived = self.derive(schema);
            if let Value::Object(root) = partial
                && let Value::Object(map) = root.entry(self.definitions()).or_insert_with(|| json!({}))
            {
                map.insert(name, derived);
            }
        }
    }
}

/// Whether all items of an array are texts, numbers and the like, which are there in full or not at all.
fn has_whole_items(schema: &Map<String, Value>) -> bool {
    let whole = |name: &Value| matches!(name.as_str(), Some("string" | "number" | "integer" | "boolean" | "null"));
    let Some(Value::Object(items)) = schema.get("items") else { return false };
    // Draft-07 ignores what stands beside a reference.
    if schema.contains_key("prefixItems") || items.contains_key("$ref") {
        return false;
    }
    match items.get("type") {
        Some(Value::Array(names)) => names.iter().all(whole),
        Some(name) => whole(name),
        None => false,
    }
}
