//! Checks a value against a schema, and gives it the shape the schema asks for.
//!
//! Schemas and values both come from strangers, and this runs in the host. So a schema is bounded when it is compiled, and
//! every check has a fixed amount of [`Fuel`]: a check ends within about a second whatever it is given.
//!
//! A root with `$schema` is raw JSON Schema, which the `jsonschema` crate validates ([`raw`]). A root without is the schema
//! IR of `guest/sdk/SCHEMA-IR.md`, a small language of its own ([`ir`]). [`partial`] derives the schema of a partial value
//! from either.

mod check;
mod format;
mod ir;
mod partial;
mod pattern;
mod raw;
mod violation;

pub use partial::{ConditionalKeyword, PartialSchemaError, partial_schema};
use serde_json::Value;
use std::borrow::Cow;
use thiserror::Error;
pub use violation::SchemaViolation;
pub(crate) use violation::SchemaViolation as Violation;

/// Levels of JSON in a schema and in a value.
const MAX_DEPTH: usize = 128;
/// JSON values in a schema.
const MAX_NODES: usize = 100_000;
/// Different patterns in a schema; each keeps a cache while it is in use.
const MAX_PATTERNS: usize = 300;
/// Bytes of all automata together.
const MAX_PATTERN_MEMORY: usize = 16 << 20;
/// Subschemas that may stand inside each other without going deeper into the value.
const MAX_CHAIN: usize = 64;

/// A compiled schema.
pub(crate) struct Schema(Kind);

enum Kind {
    Ir(ir::Schema),
    Raw(Box<raw::Schema>),
}

impl Schema {
    /// The error is a sentence.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        bounded(schema)?;
        Ok(Self(if schema.get("$schema").is_some() {
            Kind::Raw(Box::new(raw::Schema::compile(schema)?))
        } else {
            Kind::Ir(ir::Schema::compile(schema)?)
        }))
    }

    /// The normalised value, or where it does not match.
    pub fn check(&self, value: Value) -> Result<Value, Violation> {
        self.check_cow(Cow::Owned(value)).map(Cow::into_owned)
    }

    /// The same for a value that is copied only if normalising changes it.
    pub fn check_cow<'v>(&self, value: Cow<'v, Value>) -> Result<Cow<'v, Value>, Violation> {
        match &self.0 {
            Kind::Ir(schema) => schema.check(value),
            Kind::Raw(schema) => schema.check(&value).map(|()| value),
        }
    }
}

/// A compiled schema, for hosts that check data without a bundle.
///
/// It is one of a [`Manifest`](crate::Manifest), or the partial one that [`partial_schema`] derives: with `$schema` a raw JSON
/// Schema (draft 2020-12 or draft-07), without it the schema IR of `guest/sdk/SCHEMA-IR.md`. Schema and values may come
/// from strangers: both are bounded, and so is the work of a check.
///
/// ```
/// # use callcell_runtime::DataSchema;
/// # use serde_json::json;
/// let schema = DataSchema::compile(&json!({
///     "type": "object", "properties": { "total": { "type": "number" } }, "x-unknownKeys": "strip"
/// }))?;
/// assert_eq!(*schema.check(&json!({ "total": 1, "note": "x" }))?, json!({ "total": 1 }));
/// let violation = schema.check(&json!({ "total": "1" })).unwrap_err();
/// assert_eq!((violation.path.as_str(), violation.expected.as_str()), ("$.total", "a number"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DataSchema(Schema);

impl DataSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// When it is not a schema of either kind, or too large.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Schema::compile(schema).map(Self).map_err(SchemaError)
    }

    /// The value as the schema gives it back: an IR drops the keys it strips and fills in its defaults, a raw schema
    /// changes nothing. It is a copy only if something changed.
    ///
    /// # Errors
    /// The first place where the value does not match.
    pub fn check<'v>(&self, value: &'v Value) -> Result<Cow<'v, Value>, SchemaViolation> {
        if !is_shallow(value, MAX_DEPTH) {
            return Err(Violation::new([], format!("a value of at most {MAX_DEPTH} levels")));
        }
        self.0.check_cow(Cow::Borrowed(value))
    }
}

impl std::fmt::Debug for DataSchema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DataSchema").finish_non_exhaustive()
    }
}

/// A schema that cannot be compiled. The message is a sentence about the schema.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SchemaError(String);

impl SchemaError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "C_SCHEMA_UNSUPPORTED"
    }
}

/// Refuses what would be too deep or too large to look at. The error is a sentence.
fn bounded(schema: &Value) -> Result<(), String> {
    if !is_shallow(schema, MAX_DEPTH) {
        return Err(format!("The schema has more than {MAX_DEPTH} levels."));
    }
    if size(schema) > MAX_NODES {
        return Err(format!("The schema has more than {MAX_NODES} parts."));
    }
    Ok(())
}

/// Work that is left. One unit takes 50 ns at most, and usually far less.
#[derive(Clone, Copy, Debug)]
struct Fuel(u64);

impl Fuel {
    /// What one check may use.
    const fn new() -> Self {
        Self(20_000_000)
    }

    fn left(&self) -> u64 {
        self.0
    }

    /// `false` when there was not enough; then nothing is left.
    fn spend(&mut self, units: u64) -> bool {
        let enough = self.0 > units;
        self.0 = if enough { self.0 - units } else { 0 };
        enough
    }

    fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

/// The number of values in a value.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// About the bytes of a value as JSON.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| 1 + bytes(item)).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(name, item)| 4 + name.len() + bytes(item)).sum::<usize>(),
        _ => 8,
    }
}

/// Levels of arrays and objects.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Whether `value` has at most `levels` levels of arrays and objects.
fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_shallow(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|item| is_shallow(item, levels - 1)),
        _ => true,
    }
}

fn endless() -> String {
    format!(
        "The schema contains itself without a property or item in between, or has more than {MAX_CHAIN} unions and intersections inside each other."
    )
}

#[cfg(test)]
mod tests;
