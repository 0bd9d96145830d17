//! Schemas that do not compile.

use super::*;

#[test]
fn what_the_contract_does_not_have_is_refused() {
    let known = |keyword: &str| {
        format!("The schema has the keyword `{keyword}` with a value or at a place that the schema IR does not have.")
    };
    for (schema, expected) in [
        (json!({ "not": {} }), "The schema has the keyword `not`, which the schema IR does not have.".to_owned()),
        (json!({ "x-new": 1 }), "The schema has the keyword `x-new`, which the schema IR does not have.".into()),
        (json!({ "x-unknownKeys": "keep" }), known("x-unknownKeys")),
        (json!({ "x-unknownKeys": "strip", "additionalProperties": true }), "The schema has `x-unknownKeys` beside `additionalProperties`.".into()),
        (json!({ "x-format": "aura" }), "The schema has the unknown `x-format` \"aura\".".into()),
        (json!({ "x-format": 1 }), "The schema has the unknown `x-format` 1.".into()),
        (json!({ "x-hostname": { "source": "", "flags": "" } }), known("x-hostname")),
        (json!({ "x-format": "ipv6", "x-protocol": { "source": "", "flags": "" } }), known("x-protocol")),
        (json!({ "x-format": "url", "x-protocol": "a" }), "The schema has `x-protocol`, which is not a source with flags.".into()),
        (json!({ "x-format": "jwt", "x-algorithm": 1 }), "The schema has `x-algorithm`, which is not text.".into()),
        (json!({ "x-algorithm": "a" }), known("x-algorithm")),
        (json!({ "x-discriminator": "a" }), known("x-discriminator")),
        (json!({ "x-pattern": { "source": "a" } }), "The schema has `x-pattern`, which is not a source with flags.".into()),
        (json!({ "x-pattern": { "source": "a", "flags": "g" } }), "The schema has the pattern `/a/g`, which has the flag `g`, which is not supported.".into()),
        (json!({ "x-multipleOf": 0 }), "The schema has `x-multipleOf`, which is 0.".into()),
        (json!({ "x-multipleOf": "1" }), "The schema has `x-multipleOf`, which is not a number.".into()),
        (json!({ "pattern": "(" }), "The schema has the pattern `/(/`, which has a `(` without `)`.".into()),
        (json!({ "type": ["string"] }), "The schema has `type`, which is not the name of one type.".into()),
        (json!({ "type": "text" }), "The schema has `type`, which is not the name of one type.".into()),
        (json!({ "const": [] }), "The schema has `const`, which is not made of text, numbers, booleans and null.".into()),
        (json!({ "enum": [] }), "The schema has `enum`, which is not made of text, numbers, booleans and null.".into()),
        (json!({ "minLength": -1 }), "The schema has `minLength`, which is not a count.".into()),
        (json!({ "minimum": "0" }), "The schema has `minimum`, which is not a number.".into()),
        (json!({ "required": [1] }), "The schema has `required`, which is not a list of names.".into()),
        (json!({ "anyOf": [] }), "The schema has `anyOf`, which is not a list of schemas.".into()),
        (json!({ "items": 1 }), "The schema at `/items` is neither an object nor `true` or `false`.".into()),
        (json!({ "properties": { "a": { "items": { "x-new": 1 } } } }), "The schema at `/properties/a/items` has the keyword `x-new`, which the schema IR does not have.".into()),
        (json!({ "items": { "default": 1 } }), "The schema at `/items` has `default`, which does not belong to a property.".into()),
        (json!({ "items": { "$defs": {} } }), "The schema at `/items` has the keyword `$defs` with a value or at a place that the schema IR does not have.".into()),
        (json!({ "description": 1 }), "The schema has `description`, which is not text.".into()),
        (json!({ "$ref": "#/$defs/a" }), "The schema has `$ref`, which is not the name of one of its `$defs`.".into()),
        (json!({ "$ref": "https://example.com/a" }), "The schema has `$ref`, which is not the name of one of its `$defs`.".into()),
        (json!({ "$ref": "#/$defs/a", "type": "string", "$defs": { "a": {} } }), "The schema has `type` beside `$ref`.".into()),
        (json!({ "patternProperties": { "a": true }, "additionalProperties": false }), "The schema has `patternProperties` beside `additionalProperties` or `x-unknownKeys`.".into()),
        (json!({ "anyOf": [true], "properties": {} }), "The schema describes a union and a shape in one node.".into()),
        (json!({ "allOf": [true], "x-unknownKeys": "strip" }), "The schema describes an intersection and a shape in one node.".into()),
        (json!(5), "The schema is neither an object nor `true` or `false`.".into()),
    ] {
        assert_eq!(problem(schema), expected);
    }
}

#[test]
fn hostile_schemas_are_refused() {
    let endless = "The schema contains itself without a property or item in between, or has more than 64 unions and intersections inside each other.";
    for cycle in [
        json!({ "$ref": "#/$defs/a" }),
        json!({ "anyOf": [{ "$ref": "#/$defs/a" }] }),
        json!({ "allOf": [true, { "oneOf": [{ "$ref": "#/$defs/b" }] }] }),
    ] {
        let schema = json!({ "properties": { "p": { "$ref": "#/$defs/a" } }, "$defs": { "a": cycle, "b": { "$ref": "#/$defs/a" } } });
        assert_eq!(problem(schema.clone()), endless);
        let mut raw = schema;
        raw["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        assert_eq!(problem(raw), endless);
    }
    assert_eq!(
        problem(nested(130, json!({}), |inner| json!({ "items": inner }))),
        "The schema has more than 128 levels."
    );
    let wide = nested(60, json!({ "type": "null" }), |inner| json!({ "anyOf": [inner] }));
    assert_eq!(normal(wide, json!(null)), json!(null));
}

#[test]
fn long_chains_of_definitions_are_refused() {
    let mut definitions = Map::new();
    for index in 0..20_000 {
        definitions.insert(format!("d{index}"), json!({ "anyOf": [{ "$ref": format!("#/$defs/d{}", index + 1) }] }));
    }
    definitions.insert("d20000".into(), json!({}));
    assert!(problem(json!({ "$defs": definitions, "$ref": "#/$defs/d0" })).contains("more than 64"));
    definitions.clear();
    for index in 0..20_000 {
        definitions.insert(format!("d{index}"), json!({ "items": { "$ref": format!("#/$defs/d{}", index + 1) } }));
    }
    definitions.insert("d20000".into(), json!({}));
    let schema = json!({ "$defs": definitions, "$ref": "#/$defs/d0" });
    assert_eq!(normal(schema.clone(), json!([[[]]])), json!([[[]]]));
    let mut raw = schema;
    raw["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    assert_eq!(problem(raw.clone()), "The schema has more than 256 subschemas inside each other, references included.");
    // The crate's compiler has stack enough for the deepest schema that is left.
    let definitions = raw["$defs"].as_object_mut().expect("an object");
    definitions.retain(|name, _| name[1..].parse::<u32>().is_ok_and(|index| index <= 126));
    definitions.insert("d127".into(), json!({}));
    assert!(compile(&raw).check(json!([[[1]]])).is_ok());
}

#[test]
fn large_schemas_are_refused() {
    let list: Vec<Value> = (0..100_000).map(Value::from).collect();
    assert_eq!(problem(json!({ "enum": list })), "The schema has more than 100000 parts.");
    let patterns: Vec<Value> = (0..301).map(|index| json!({ "pattern": format!("a{index}") })).collect();
    assert!(problem(json!({ "allOf": patterns })).contains("has more than 300 different patterns"));
    let patterns: Vec<Value> =
        (0..20).map(|index| json!({ "pattern": format!("{index}(?:abc\\p{{L}}){{80}}") })).collect();
    assert!(problem(json!({ "allOf": patterns })).contains("has patterns that are too large together"));
}

#[test]
fn defaults_that_grow_without_end_are_refused() {
    let expected = "The default of the property \"n\" grows too large when inner defaults are filled in.";
    assert_eq!(
        problem(
            json!({ "properties": { "n": { "$ref": "#/$defs/a", "default": {} } }, "$defs": { "a": { "properties": { "n": { "$ref": "#/$defs/a", "default": {} } } } } })
        ),
        expected
    );
    let mut definitions = Map::new();
    for index in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/d{}", index + 1), "default": {} });
        definitions.insert(format!("d{index}"), json!({ "properties": { "n": next, "m": next } }));
    }
    definitions.insert("d60".into(), json!({}));
    assert_eq!(problem(json!({ "$defs": definitions, "$ref": "#/$defs/d0" })), expected);
    // Large defaults in many places.
    let schema = json!({ "items": { "type": "object", "properties": { "d": { "default": "x".repeat(100_000) } } } });
    assert_eq!(
        broken(schema, Value::Array(vec![json!({}); 20])),
        ("$".into(), "a value that stays small when its defaults are filled in".into())
    );
}
