//! Checks end soon, whatever they are given.

use super::*;
use std::time::{Duration, Instant};

/// A value that fits neither branch at any level, which naive validation takes 2^levels steps to find out.
fn explosive(keyword: &str, levels: usize) -> (Value, Value) {
    let branch = |name: &str| json!({ "type": "object", "properties": { "n": { "$ref": "#/$defs/a" }, name: true }, "required": [name] });
    let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { keyword: [branch("x"), branch("y")] } } });
    (schema, nested(levels, json!({}), |inner| json!({ "n": inner })))
}

#[test]
fn explosive_unions_end() {
    for keyword in ["anyOf", "oneOf"] {
        let (schema, value) = explosive(keyword, 100);
        let begin = Instant::now();
        // The required key is checked first here, so nothing explodes.
        let (path, _) = broken(schema.clone(), value.clone());
        assert_eq!(path, "$");
        let mut raw = schema;
        raw["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        assert!(compile(&raw).check(value).is_err());
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }
    // Without required keys the branches differ only deep inside.
    let branch = |name: &str| json!({ "type": "object", "properties": { "n": { "$ref": "#/$defs/a" }, "m": { "type": "array", "items": { "const": name } } } });
    let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [branch("x"), branch("y")] } } });
    let value = nested(100, json!({ "m": ["z"] }), |inner| json!({ "n": inner }));
    let begin = Instant::now();
    assert_eq!(broken(schema, value), ("$".into(), "a value that takes less work to check".into()));
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn explosive_unions_of_partial_schemas_end() {
    // Every branch fits at every level, so normalising tries 2^100 ways.
    let branch = |name: &str| json!({ "type": "object", "properties": { "n": { "$ref": "#/$defs/a" }, name: true }, "x-unknownKeys": "strip" });
    let schema =
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [branch("x"), branch("y")] } }, "x-partial": true });
    let begin = Instant::now();
    let value = |levels| nested(levels, json!({ "x": 1, "y": 2 }), |inner| json!({ "n": inner }));
    assert_eq!(normal(schema.clone(), value(10)), value(10));
    assert_eq!(broken(schema, value(100)), ("$".into(), "a value that takes less work to check".into()));
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn checks_fit_on_a_small_stack() {
    // 128 levels of the value times 6 nodes for each level.
    let inner = nested(
        6,
        json!({ "type": "array", "items": { "$ref": "#/$defs/a" } }),
        |inner| json!({ "anyOf": [{ "type": "null" }, inner] }),
    );
    let mut schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": inner } });
    let value = nested(127, json!(null), |inner| json!([inner]));
    assert_eq!(normal(schema.clone(), value.clone()), value);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    let _ = compile(&schema).check(value.clone());
    let inner =
        nested(50, json!({ "type": "array", "items": { "$ref": "#/$defs/a" } }), |inner| json!({ "allOf": [inner] }));
    let mut schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": inner } });
    assert_eq!(broken(schema.clone(), value.clone()), ("$".into(), "a value that takes less work to check".into()));
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    let _ = compile(&schema).check(value);
}

#[test]
fn catastrophic_patterns_are_violations() {
    let text = json!("a".repeat(100_000) + "!");
    let begin = Instant::now();
    for pattern in ["^(a+)+$", "^(?:(?=(a*))\\1*)*b", "(?<!b)(a+)+$", "(a*)*\\1c"] {
        for extra in [json!({}), json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" })] {
            let mut schema = json!({ "pattern": pattern, "type": "string" });
            schema.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
            let (path, expected) = broken(schema, text.clone());
            assert_eq!(path, "$");
            assert!(
                expected == format!("a string that matches /{pattern}/")
                    || expected == "a value that takes less work to check",
                "{expected}"
            );
        }
    }
    // Hostile size times text.
    let schema = json!({ "pattern": "[ab]*a[ab]{4000}c" });
    assert!(compile(&schema).check(json!("ab".repeat(60_000))).is_err());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn expensive_raw_schemas_end() {
    let newest = "https://json-schema.org/draft/2020-12/schema";
    let begin = Instant::now();
    let many: Vec<Value> = (0..10_000).map(|index| json!({ "minLength": index % 2, "uniqueItems": true })).collect();
    let schema = json!({ "$schema": newest, "allOf": many });
    let value: Value = (0..50_000).map(Value::from).collect();
    assert_eq!(broken(schema, value), ("$".into(), "a value that takes less work to check".into()));
    let mut definitions = Map::new();
    for index in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/d{}", index + 1) });
        definitions.insert(format!("d{index}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("d30".into(), json!({}));
    let schema =
        json!({ "$schema": newest, "$defs": definitions, "$ref": "#/$defs/d0", "unevaluatedProperties": false });
    assert_eq!(
        problem(schema),
        "The schema has `unevaluatedProperties` or `unevaluatedItems` beside too many subschemas."
    );
    let schema = json!({ "$schema": newest, "patternProperties": { "a[ab]{50}c": true } });
    assert!(compile(&schema).check(json!({ "ab".repeat(100_000): 1 })).is_ok());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn shared_definitions_compile_once() {
    let begin = Instant::now();
    let make: [fn(&Value) -> Value; 3] = [
        |next| json!({ "properties": { "a": next, "b": next } }),
        |next| json!({ "anyOf": [next, next] }),
        |next| json!({ "allOf": [next, next], "type": "object" }),
    ];
    for make in make {
        let mut definitions = Map::new();
        for index in 0..30 {
            definitions.insert(format!("d{index}"), make(&json!({ "$ref": format!("#/$defs/d{}", index + 1) })));
        }
        definitions.insert("d30".into(), json!({ "type": "string" }));
        let mut schema = json!({ "$defs": definitions, "$ref": "#/$defs/d0" });
        assert!(compile(&schema).check(json!(1)).is_err() || schema["$defs"]["d0"].get("properties").is_some());
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        assert!(compile(&schema).check(json!(1)).is_err() || schema["$defs"]["d0"].get("properties").is_some());
    }
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

/// Not a test: prints times. `cargo test --lib schema -- --ignored --nocapture timing`
#[test]
#[ignore]
fn timing() {
    let small = json!({ "type": "object", "x-unknownKeys": "strip", "required": ["name", "count", "tags"], "properties": {
        "name": { "type": "string", "minLength": 1 }, "count": { "type": "integer", "minimum": 0 }, "price": { "type": "number" }, "tags": { "type": "array", "items": { "type": "string" } },
        "kind": { "enum": ["a", "b"], "default": "a" },
    } });
    let plain = json!({ "name": "x", "count": 3, "price": 1.5, "tags": ["a", "b"], "kind": "b" });
    let stripped = json!({ "name": "x", "count": 3, "price": 1.5, "tags": ["a", "b"], "z": 1 });
    let mut email = small.clone();
    email["properties"]["name"] = json!({ "type": "string", "pattern": "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$" });
    let mut mail = plain.clone();
    mail["name"] = json!("someone@example.com");
    let mut raw = small.clone();
    raw.as_object_mut().expect("an object").remove("x-unknownKeys");
    raw["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    for (name, schema, value) in [
        ("plain", &small, &plain),
        ("strip and default", &small, &stripped),
        ("email", &email, &mail),
        ("raw", &raw, &plain),
    ] {
        let schema = compile(schema);
        let mut best = f64::MAX;
        for _ in 0..20 {
            let values: Vec<Value> = vec![value.clone(); 2_000];
            let begin = Instant::now();
            let results: Vec<_> = values.into_iter().map(|value| schema.check(value)).collect();
            best = best.min(begin.elapsed().as_nanos() as f64 / 2_000.0);
            assert!(results.iter().all(Result::is_ok));
        }
        println!("{name}: {best:.0} ns");
    }
    let begin = Instant::now();
    for _ in 0..100 {
        compile(&email);
    }
    println!("compile: {} µs", begin.elapsed().as_micros() / 100);
}
