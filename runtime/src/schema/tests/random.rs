//! Random schemas and values, against the `jsonschema` crate.

use super::*;

/// Our validation of the standard keywords against the `jsonschema` crate.
#[test]
fn agrees_with_the_crate() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut outcomes = [0, 0];
    for _ in 0..3_000 {
        let schema = random_schema(&mut random, 4);
        let ours = compile(&schema);
        let theirs = jsonschema::draft202012::new(&schema).expect("a valid schema");
        for _ in 0..10 {
            let value = random_value(&mut random, 4);
            let valid = ours.check(value.clone()).is_ok();
            assert_eq!(valid, theirs.is_valid(&value), "{value} under {schema}");
            outcomes[usize::from(valid)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 2_000), "{outcomes:?}");
}

/// Rewriting a raw schema does not change what it accepts.
#[test]
fn rewritten_schemas_agree_with_the_crate() {
    let mut random = fastrand::Rng::with_seed(8);
    let mut outcomes = [0, 0];
    for _ in 0..2_000 {
        let mut schema = random_schema(&mut random, 3);
        let more = [
            "not",
            "if",
            "then",
            "else",
            "contains",
            "unevaluatedProperties",
            "unevaluatedItems",
            "dependentSchemas",
            "$ref",
        ];
        for keyword in random.choose_multiple(&more, 3) {
            schema[*keyword] = match *keyword {
                "dependentSchemas" => json!({ "a": random_schema(&mut random, 2) }),
                "$ref" => json!("#/$defs/d"),
                _ => random_schema(&mut random, 2),
            };
        }
        schema["$defs"] = json!({ "d": random_schema(&mut random, 2) });
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        let ours = compile(&schema);
        let theirs = jsonschema::draft202012::new(&schema).expect("a valid schema");
        for _ in 0..10 {
            let value = random_value(&mut random, 4);
            let valid = ours.check(value.clone()).is_ok();
            assert_eq!(valid, theirs.is_valid(&value), "{value} under {schema}");
            outcomes[usize::from(valid)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 2_000), "{outcomes:?}");
}

pub(super) fn random_value(random: &mut fastrand::Rng, levels: u32) -> Value {
    match random.u32(0..if levels == 0 { 4 } else { 8 }) {
        0 => json!(null),
        1 => json!(random.bool()),
        2 => [json!(0), json!(1), json!(2), json!(1.0), json!(2.5), json!(-1)][random.usize(0..6)].clone(),
        3 => json!(["", "a", "ab", "b", "😀"][random.usize(0..5)]),
        4 | 5 => (0..random.usize(0..4)).map(|_| random_value(random, levels - 1)).collect(),
        _ => (0..random.usize(0..4))
            .map(|_| (["a", "b", "c", "ab"][random.usize(0..4)].to_owned(), random_value(random, levels - 1)))
            .collect::<Map>()
            .into(),
    }
}

pub(super) fn random_schema(random: &mut fastrand::Rng, levels: u32) -> Value {
    let mut schema = Map::new();
    let inner = |random: &mut fastrand::Rng| if levels == 0 { json!({}) } else { random_schema(random, levels - 1) };
    for _ in 0..random.usize(0..3) {
        let kinds = ["string", "number", "integer", "boolean", "null", "array", "object"];
        let (keyword, value) = match random.u32(0..22) {
            0 | 1 => ("type", json!(kinds[random.usize(0..7)])),
            2 => ("const", random_value(random, 0)),
            3 => ("enum", json!([random_value(random, 0), "zz"])),
            4 => ("minLength", json!(random.u32(0..3))),
            5 => ("maxLength", json!(random.u32(0..3))),
            6 => ("pattern", json!(["a", "^a", "b$", "^.$"][random.usize(0..4)])),
            7 => ("minimum", json!(random.i32(-1..3))),
            8 => ("exclusiveMaximum", json!(random.i32(-1..3))),
            9 => ("minItems", json!(random.u32(0..3))),
            10 => ("maxItems", json!(random.u32(0..3))),
            11 => ("items", inner(random)),
            12 => ("prefixItems", json!([inner(random), inner(random)])),
            13 | 14 => ("properties", json!({ "a": inner(random), "b": inner(random) })),
            15 => ("required", json!([(["a", "b", "c"][random.usize(0..3)])])),
            16 => ("additionalProperties", inner(random)),
            17 => ("propertyNames", json!({ "pattern": "a" })),
            18 => ("anyOf", json!([inner(random), inner(random)])),
            19 => ("oneOf", json!([inner(random), inner(random)])),
            20 => ("allOf", json!([inner(random), inner(random)])),
            _ => ("maximum", json!(random.i32(-1..3))),
        };
        schema.insert(keyword.into(), value);
    }
    // Combinations the IR does not have.
    let shapes = ["items", "prefixItems", "properties", "additionalProperties"];
    if schema.contains_key("anyOf") {
        schema.remove("oneOf");
    }
    if ["anyOf", "oneOf", "allOf"].iter().any(|&keyword| schema.contains_key(keyword)) {
        schema.retain(|keyword, _| !shapes.contains(&keyword.as_str()));
    }
    if schema.contains_key("const") {
        schema.remove("enum");
    }
    schema.into()
}
