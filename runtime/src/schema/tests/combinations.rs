//! Unions, intersections, recursion.

use super::*;

#[test]
fn unions_normalise_under_the_first_branch_that_fits() {
    let branch = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" }, "d": { "type": "string", "default": name } }, "required": [name], "x-unknownKeys": "strip" });
    let schema = json!({ "anyOf": [branch("a"), branch("b"), { "type": "null" }] });
    assert_eq!(normal(schema.clone(), json!({ "b": "x", "z": 1 })), json!({ "b": "x", "d": "b" }));
    assert_eq!(normal(schema.clone(), json!({ "b": "x", "a": "y", "z": 1 })), json!({ "a": "y", "d": "a" }));
    assert_eq!(normal(schema.clone(), json!(null)), json!(null));
    assert_eq!(broken(schema.clone(), json!(5)), ("$".into(), "an object or null".into()));
    assert_eq!(broken(schema.clone(), json!({})), ("$".into(), "a value that fits one of 3 alternatives".into()));
    assert_eq!(broken(schema, json!({ "a": 1 })), ("$.a".into(), "a string".into()));
    // The only branch of the right type is the one that was meant.
    let nullable = json!({ "properties": { "p": { "anyOf": [{ "type": "object", "properties": { "q": { "minimum": 1 } } }, { "type": "null" }] } } });
    assert_eq!(broken(nullable, json!({ "p": { "q": 0 } })), ("$.p.q".into(), "a number of at least 1".into()));
}

#[test]
fn tagged_unions() {
    let branch = |tag: &str, name: &str| json!({ "type": "object", "properties": { name: { "type": "number" }, "k": { "const": tag } }, "required": ["k", name], "x-unknownKeys": "strip" });
    let schema = json!({ "anyOf": [branch("a", "n"), branch("b", "m")], "x-discriminator": "k" });
    assert_eq!(normal(schema.clone(), json!({ "k": "b", "m": 1, "z": 1 })), json!({ "k": "b", "m": 1 }));
    assert_eq!(broken(schema.clone(), json!({ "k": "b", "m": "x" })), ("$.m".into(), "a number".into()));
    assert_eq!(broken(schema.clone(), json!({ "k": "b" })), ("$".into(), "the property `m`".into()));
    assert_eq!(broken(schema.clone(), json!({ "k": "c" })), ("$.k".into(), "one of \"a\", \"b\"".into()));
    assert_eq!(broken(schema, json!([])), ("$".into(), "an object".into()));
}

#[test]
fn exclusive_unions() {
    let branch = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name], "x-unknownKeys": "strip" });
    let schema = json!({ "oneOf": [branch("a"), branch("b")] });
    assert_eq!(normal(schema.clone(), json!({ "b": "x", "z": 1 })), json!({ "b": "x" }));
    for value in [json!({ "a": "x", "b": "y" }), json!({}), json!(1)] {
        assert_eq!(
            broken(schema.clone(), value),
            ("$".into(), "a value that fits exactly one of 2 alternatives".into())
        );
    }
}

#[test]
fn intersections_keep_what_a_side_keeps() {
    let side = |names: &[&str]| {
        let properties: Map = names.iter().map(|&name| (name.to_owned(), json!({ "type": "number" }))).collect();
        json!({ "type": "object", "properties": properties, "required": names, "x-unknownKeys": "strip" })
    };
    assert_eq!(
        normal(json!({ "allOf": [side(&["a"]), side(&["b"])] }), json!({ "a": 1, "z": 3, "b": 2 })),
        json!({ "a": 1, "b": 2 })
    );
    assert_eq!(
        normal(json!({ "allOf": [side(&["a"]), { "type": "object" }] }), json!({ "a": 1, "z": 3 })),
        json!({ "a": 1, "z": 3 })
    );
    assert_eq!(
        broken(json!({ "allOf": [side(&["a"]), side(&["b"])] }), json!({ "a": 1 })),
        ("$".into(), "the property `b`".into())
    );
    // All sides strict.
    let strict = json!({ "type": "object", "properties": { "a": true, "b": true }, "additionalProperties": false, "allOf": [side(&["a"]), side(&["b"])] });
    assert_eq!(normal(strict.clone(), json!({ "b": 2, "a": 1 })), json!({ "a": 1, "b": 2 }));
    assert_eq!(broken(strict, json!({ "a": 1, "b": 2, "c": 3 })), ("$".into(), "no unknown key".into()));
    // Deep, in objects and arrays, with defaults.
    let nested = |name: &str| json!({ "type": "object", "x-unknownKeys": "strip", "properties": { "o": { "type": "object", "x-unknownKeys": "strip", "properties": { name: {}, format!("{name}{name}"): { "default": name } } } } });
    let both = json!({ "allOf": [nested("x"), nested("y")] });
    assert_eq!(
        normal(both, json!({ "o": { "x": 1, "y": 2, "z": 3 } })),
        json!({ "o": { "x": 1, "xx": "x", "y": 2, "yy": "y" } })
    );
    let list = |name: &str| json!({ "type": "array", "items": side(&[name]) });
    assert_eq!(
        normal(json!({ "allOf": [list("a"), list("b")] }), json!([{ "a": 1, "b": 2, "c": 3 }])),
        json!([{ "a": 1, "b": 2 }])
    );
    // A further value of a keyword keeps nothing by itself.
    let limited = json!({ "type": "array", "items": side(&["a"]), "minItems": 1 });
    assert_eq!(normal(limited, json!([{ "a": 1, "z": 2 }])), json!([{ "a": 1 }]));
}

#[test]
fn recursion() {
    let schema = json!({ "$ref": "#/$defs/s1", "$defs": { "s1": { "type": "object", "required": ["v"], "x-unknownKeys": "strip", "properties": {
        "v": { "type": "number" }, "next": { "anyOf": [{ "$ref": "#/$defs/s1" }, { "type": "null" }] }, "children": { "type": "array", "items": { "$ref": "#/$defs/s1" } },
    } } } });
    assert_eq!(
        normal(
            schema.clone(),
            json!({ "v": 1, "z": 0, "next": { "v": 2, "z": 0, "next": null }, "children": [{ "v": 3, "z": 0 }] })
        ),
        json!({ "v": 1, "next": { "v": 2, "next": null }, "children": [{ "v": 3 }] })
    );
    assert_eq!(
        broken(schema.clone(), json!({ "v": 1, "next": { "v": 2, "next": { "v": "x" } } })),
        ("$.next.next.v".into(), "a number".into())
    );
    assert_eq!(
        broken(schema.clone(), json!({ "v": 1, "children": [{ "v": 1 }, { "v": 1, "children": [{}] }] })),
        ("$.children[1].children[0]".into(), "the property `v`".into())
    );
    let mut deep = json!({ "v": 0 });
    for level in 1..127 {
        deep = json!({ "v": level, "next": deep });
    }
    assert_eq!(normal(schema, deep.clone()), deep);
}
