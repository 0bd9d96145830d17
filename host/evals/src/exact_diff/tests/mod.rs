//! Tests of the whole comparison.

mod hostile;
mod properties;
mod reference;
mod rules;
mod vectors;

use super::{Comparison, ComparisonError, MismatchKind, Options, Projection, compare};
use serde_json::{Value, json};

/// Compares with no `undefined` anywhere. Options that are null are left out.
fn compared(expected: &Value, actual: &Value, options: &Value) -> Result<Comparison, ComparisonError> {
    let options = if options.is_null() { Options::default() } else { Options::parse(options).expect("valid options") };
    compare(Projection::new(expected, &[]), Projection::new(actual, &[]), &options)
}

/// The paths and kinds of the mismatches.
fn differences(comparison: &Comparison) -> Vec<(&str, MismatchKind)> {
    comparison.mismatches.iter().map(|mismatch| (mismatch.path.as_str(), mismatch.kind)).collect()
}

fn rules(rules: Value) -> Value {
    json!({ "rules": rules })
}
