//! Objects: unknown keys, records, defaults.

use super::*;

#[test]
fn unknown_keys() {
    let object = |policy: Value| {
        let mut schema = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        schema.as_object_mut().expect("an object").extend(policy.as_object().expect("an object").clone());
        schema
    };
    let value = json!({ "z": 1, "a": "x", "y": 2 });
    assert_eq!(normal(object(json!({ "x-unknownKeys": "strip" })), value.clone()), json!({ "a": "x" }));
    assert_eq!(
        broken(object(json!({ "additionalProperties": false })), value.clone()),
        ("$".into(), "no unknown key".into())
    );
    assert_eq!(normal(object(json!({ "additionalProperties": false })), json!({ "a": "x" })), json!({ "a": "x" }));
    assert_eq!(normal(object(json!({ "additionalProperties": true })), value.clone()), value);
    assert_eq!(normal(object(json!({})), value.clone()), value);
    assert_eq!(normal(object(json!({ "additionalProperties": { "type": "number" } })), value.clone()), value);
    // An undeclared key is data, so the path does not tell it.
    assert_eq!(
        broken(object(json!({ "additionalProperties": { "type": "null" } })), value),
        ("$.*".into(), "null".into())
    );
    assert_eq!(broken(object(json!({})), json!({})), ("$".into(), "the property `a`".into()));
    assert_eq!(broken(object(json!({})), json!({ "a": 1 })), ("$.a".into(), "a string".into()));
    assert_eq!(normal(json!({ "type": "object", "required": ["b"] }), json!({ "b": 1 })), json!({ "b": 1 }));
    assert_eq!(
        broken(json!({ "type": "object", "required": ["b"] }), json!({ "a": 1 })),
        ("$".into(), "the property `b`".into())
    );
    for name in ["__proto__", "constructor", "a b"] {
        assert_eq!(
            broken(object(json!({ "additionalProperties": false })), json!({ "a": "x", name: 1 })).1,
            "no unknown key"
        );
    }
}

#[test]
fn many_properties() {
    let properties: Map = (0..100).map(|index| (format!("p{index}"), json!({ "type": "number" }))).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": ["p99"], "x-unknownKeys": "strip" });
    assert_eq!(normal(schema.clone(), json!({ "p99": 1, "p100": 2, "p0": 3 })), json!({ "p99": 1, "p0": 3 }));
    assert_eq!(broken(schema, json!({ "p0": 1 })).1, "the property `p99`");
}

#[test]
fn records() {
    let record = json!({ "type": "object", "propertyNames": { "enum": ["a", "b"] }, "additionalProperties": { "type": "object", "x-unknownKeys": "strip" }, "required": ["a"] });
    assert_eq!(normal(record.clone(), json!({ "a": { "q": 1 }, "b": {} })), json!({ "a": {}, "b": {} }));
    assert_eq!(
        broken(record.clone(), json!({ "a": {}, "c": {} })),
        ("$".into(), "keys, each one of \"a\", \"b\"".into())
    );
    assert_eq!(broken(record.clone(), json!({ "a": {}, "b": 1 })), ("$.*".into(), "an object".into()));
    assert_eq!(broken(record, json!({ "a": 1 })), ("$.a".into(), "an object".into()));
    let keys = json!({ "propertyNames": { "anyOf": [{ "pattern": "^a" }, { "type": "string", "minLength": 3 }] } });
    assert_eq!(normal(keys.clone(), json!({ "a": 1, "xyz": 2 })), json!({ "a": 1, "xyz": 2 }));
    assert_eq!(
        broken(keys, json!({ "b": 1 })),
        ("$".into(), "keys, each a value that fits one of 2 alternatives".into())
    );
    let loose = json!({ "type": "object", "patternProperties": { "^a": { "type": "number" } } });
    assert_eq!(normal(loose.clone(), json!({ "a1": 1, "b": "x" })), json!({ "a1": 1, "b": "x" }));
    assert_eq!(broken(loose, json!({ "b": "x", "a1": "x" })), ("$.*".into(), "a number".into()));
}

#[test]
fn defaults() {
    let schema = json!({ "type": "object", "x-unknownKeys": "strip", "properties": {
        "a": { "type": "number", "default": 7 },
        "b": { "type": "object", "default": {}, "x-unknownKeys": "strip", "properties": { "c": { "type": "string", "default": "d" }, "e": { "type": "null" } } },
    } });
    assert_eq!(normal(schema.clone(), json!({})).to_string(), r#"{"a":7,"b":{"c":"d"}}"#);
    assert_eq!(
        normal(schema.clone(), json!({ "b": { "x": 1, "e": null }, "y": 2 })).to_string(),
        r#"{"b":{"e":null,"c":"d"},"a":7}"#
    );
    assert_eq!(broken(schema.clone(), json!({ "a": null })), ("$.a".into(), "a number".into()));
    assert_eq!(normal(schema, json!({ "a": 1, "b": { "c": "x" } })), json!({ "a": 1, "b": { "c": "x" } }));
    // Beside a reference.
    let schema = json!({ "properties": { "n": { "$ref": "#/$defs/n", "default": { "v": 1 }, "description": "n" } }, "$defs": { "n": { "type": "object", "properties": { "v": {}, "w": { "type": "number", "default": 2 } } } } });
    assert_eq!(normal(schema, json!({})), json!({ "n": { "v": 1, "w": 2 } }));
    assert_eq!(
        problem(json!({ "properties": { "a": { "type": "number", "default": "x" } } })),
        "The default of the property \"a\" does not fit its own schema."
    );
    assert_eq!(
        problem(json!({ "properties": { "a": { "x-format": "ipv6", "default": "x" } } })),
        "The default of the property \"a\" does not fit its own schema."
    );
    assert_eq!(problem(json!({ "default": 1 })), "The schema has `default`, which does not belong to a property.");
}
