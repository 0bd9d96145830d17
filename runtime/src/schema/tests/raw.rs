//! Raw JSON Schemas.

use super::*;

#[test]
fn raw_schemas_leave_values_as_they_are() {
    let draft07 = "http://json-schema.org/draft-07/schema#";
    let schema = json!({
        "$schema": draft07, "$id": "https://example.com/x", "type": "object", "definitions": { "a": { "type": "string", "minLength": 2 } }, "x-vendor": 1,
        "properties": { "a": { "$ref": "#/definitions/a", "type": "number" }, "d": { "default": 1 }, "t": { "items": [{ "type": "string" }], "additionalItems": false } },
        "required": ["a"], "dependencies": { "d": ["a"], "t": { "required": ["d"] } }, "if": { "required": ["d"] }, "then": { "properties": { "d": { "multipleOf": 2 } } },
    });
    assert_eq!(normal(schema.clone(), json!({ "a": "xx", "z": 1 })), json!({ "a": "xx", "z": 1 }));
    assert_eq!(broken(schema.clone(), json!({ "a": "x" })), ("$.a".into(), "a string of at least 2 characters".into()));
    assert_eq!(broken(schema.clone(), json!({})), ("$".into(), "the property `a`".into()));
    assert_eq!(broken(schema.clone(), json!({ "a": "xx", "d": 3 })), ("$.d".into(), "a multiple of 2".into()));
    assert_eq!(broken(schema.clone(), json!({ "a": "xx", "t": [] })), ("$".into(), "the property `d`".into()));
    assert_eq!(broken(schema, json!({ "a": "xx", "d": 2, "t": ["x", 1] })), ("$.t".into(), "no further items".into()));
    let newest = "https://json-schema.org/draft/2020-12/schema";
    let schema = json!({ "$schema": newest, "type": "object", "properties": { "a": { "pattern": "^\\w+$" }, "b": { "type": ["string", "null"] }, "c": { "uniqueItems": true, "contains": { "const": 1 } } }, "unevaluatedProperties": false });
    assert_eq!(
        normal(schema.clone(), json!({ "a": "x", "b": null, "c": [1, 2] })),
        json!({ "a": "x", "b": null, "c": [1, 2] })
    );
    assert_eq!(broken(schema.clone(), json!({ "a": "é" })), ("$.a".into(), "a string that matches /^\\w+$/".into()));
    assert_eq!(broken(schema.clone(), json!({ "b": 1 })), ("$.b".into(), "a string or null".into()));
    assert_eq!(broken(schema.clone(), json!({ "c": [1, 1] })), ("$.c".into(), "an array of different items".into()));
    assert_eq!(
        broken(schema.clone(), json!({ "c": [2] })),
        ("$.c".into(), "an array that contains what the schema asks for".into())
    );
    assert_eq!(broken(schema, json!({ "z": 1 })), ("$".into(), "no unknown key".into()));
    // A name that needs escapes in a reference.
    let schema = json!({ "$schema": newest, "items": { "$ref": "#/$defs/%22a~1b%20c~0%C3%A9%22" }, "$defs": { "\"a/b c~é\"": { "allOf": [{ "type": "string" }] } } });
    assert_eq!(broken(schema, json!(["x", 1])), ("$[1]".into(), "a string".into()));
    let schema = json!({ "$schema": newest, "properties": { "a": { "$ref": "#" }, "b": { "$ref": "#/properties/a" } }, "required": ["c"] });
    assert_eq!(broken(schema, json!({ "c": 1, "b": {} })), ("$.b".into(), "the property `c`".into()));
    // Recursive.
    let schema = json!({ "$schema": newest, "$ref": "#/$defs/n", "$defs": { "n": { "properties": { "v": { "type": "number" }, "next": { "$ref": "#/%24defs/n" } } } } });
    assert_eq!(
        broken(schema, json!({ "next": { "next": { "v": "x" } } })),
        ("$.next.next.v".into(), "a number".into())
    );
}

#[test]
fn raw_schemas_reach_nothing_outside() {
    let raw = |mut schema: Value| {
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        problem(schema)
    };
    assert_eq!(
        raw(json!({ "$ref": "https://example.com/a" })),
        "The schema at `#` has `$ref`, which refers to something outside the schema."
    );
    assert_eq!(
        raw(json!({ "items": { "$ref": "file:///etc/passwd" } })),
        "The schema at `#/items` has `$ref`, which refers to something outside the schema."
    );
    assert_eq!(raw(json!({ "$ref": "#/$defs/a" })), "The schema refers to \"#/$defs/a\", where it has no schema.");
    assert_eq!(
        raw(json!({ "$ref": "#/const", "const": {} })),
        "The schema refers to \"#/const\", where it has no schema."
    );
    assert_eq!(
        raw(json!({ "items": { "$id": "x" } })),
        "The schema at `#/items` has `$id`, which only the root may have."
    );
    assert_eq!(
        raw(json!({ "$dynamicRef": "#a" })),
        "The schema at `#` has `$dynamicRef`, which is not supported; refer to `#/$defs/name`."
    );
    assert_eq!(raw(json!({ "x-format": "url" })), "The schema at `#` has `x-format`, which is reserved.");
    assert!(raw(json!({ "type": "text" })).starts_with("The raw JSON Schema is not valid: "));
    assert_eq!(
        problem(json!({ "$schema": "https://example.com" })),
        "The raw JSON Schema has a `$schema` that is neither draft 2020-12 nor draft-07."
    );
}
