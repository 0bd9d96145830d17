//! The contract of SCHEMA-IR.md keyword by keyword, on both sides of each boundary, and hostile schemas.

use super::*;
use serde_json::json;
use std::time::{Duration, Instant};

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|problem| panic!("{problem} {schema}"))
}

fn problem(schema: Value) -> String {
    Schema::compile(&schema).err().unwrap_or_else(|| panic!("{schema} compiles"))
}

/// The normalised value.
fn normal(schema: Value, value: Value) -> Value {
    compile(&schema).check(value).unwrap_or_else(|violation| panic!("{violation:?} {schema}"))
}

/// Path and expectation.
fn broken(schema: Value, value: Value) -> (String, String) {
    let violation = compile(&schema).check(value.clone()).expect_err(&format!("{value} fits {schema}"));
    (violation.path, violation.expected)
}

/// `good` values stay as they are, `bad` ones are refused with `expected`.
fn keyword(schema: Value, good: &[Value], bad: &[Value], expected: &str) {
    let compiled = compile(&schema);
    for value in good {
        assert_eq!(compiled.check(value.clone()), Ok(value.clone()), "{schema}");
    }
    for value in bad {
        assert_eq!(compiled.check(value.clone()), Err(Violation::new([], expected)), "{value} under {schema}");
    }
}

#[test]
fn types() {
    let all = [json!("a"), json!(1.5), json!(true), json!(null), json!([]), json!({})];
    for (index, (name, expected)) in [
        ("string", "a string"),
        ("number", "a number"),
        ("boolean", "a boolean"),
        ("null", "null"),
        ("array", "an array"),
        ("object", "an object"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut others = all.to_vec();
        let own = others.remove(index);
        keyword(json!({ "type": name }), &[own], &others, expected);
    }
    keyword(
        json!({ "type": "integer" }),
        &[json!(1), json!(-3), json!(1.0), json!(1e300), json!(u64::MAX)],
        &[json!(1.5), json!("1"), json!(true)],
        "an integer",
    );
    keyword(json!({}), &all, &[], "");
    keyword(json!({ "allOf": [false] }), &[], &all, "no value");
    keyword(json!(true), &all, &[], "");
    assert_eq!(compile(&json!({ "properties": { "a": { "allOf": [false] } } })).check(json!({})), Ok(json!({})));
}

#[test]
fn constants() {
    keyword(
        json!({ "const": "a" }),
        &[json!("a")],
        &[json!("b"), json!(1), json!(null), json!([]), json!({})],
        "exactly \"a\"",
    );
    keyword(json!({ "const": 1 }), &[json!(1), json!(1.0)], &[json!(2), json!("1"), json!(true)], "exactly 1");
    keyword(json!({ "const": 0 }), &[json!(0), json!(-0.0)], &[json!(false), json!(null)], "exactly 0");
    keyword(json!({ "const": null }), &[json!(null)], &[json!(0), json!("null")], "exactly null");
    keyword(
        json!({ "enum": ["a", 1.5, true, null] }),
        &[json!("a"), json!(1.5), json!(true), json!(null)],
        &[json!("b"), json!(1), json!(false), json!([])],
        "one of \"a\", 1.5, true, null",
    );
}

#[test]
fn lengths_count_code_points() {
    keyword(
        json!({ "minLength": 2 }),
        &[json!("ab"), json!("😀😀"), json!(1)],
        &[json!("a"), json!("😀"), json!("")],
        "a string of at least 2 characters",
    );
    keyword(json!({ "minLength": 1 }), &[json!("a")], &[json!("")], "a string of at least 1 character");
    keyword(
        json!({ "maxLength": 2 }),
        &[json!("ab"), json!("😀😀"), json!(""), json!([1, 2, 3])],
        &[json!("abc"), json!("😀😀😀")],
        "a string of at most 2 characters",
    );
}

#[test]
fn patterns() {
    keyword(
        json!({ "pattern": "^a" }),
        &[json!("ab"), json!(1), json!(["b"])],
        &[json!("ba"), json!("")],
        "a string that matches /^a/",
    );
    keyword(
        json!({ "pattern": "a", "allOf": [{ "pattern": "c" }] }),
        &[json!("ca")],
        &[json!("c")],
        "a string that matches /a/",
    );
    keyword(
        json!({ "x-pattern": { "source": "^A", "flags": "i" } }),
        &[json!("ab")],
        &[json!("ba")],
        "a string that matches /^A/i",
    );
    assert_eq!(
        broken(json!({ "pattern": "a", "allOf": [{ "pattern": "c" }] }), json!("a")),
        ("$".into(), "a string that matches /c/".into())
    );
}

#[test]
fn ranges() {
    keyword(
        json!({ "minimum": 0 }),
        &[json!(0), json!(0.5), json!("x")],
        &[json!(-0.5), json!(-1)],
        "a number of at least 0",
    );
    keyword(json!({ "maximum": 5.5 }), &[json!(5.5), json!(-7)], &[json!(5.6), json!(6)], "a number of at most 5.5");
    keyword(json!({ "exclusiveMinimum": 0 }), &[json!(0.1)], &[json!(0), json!(-1)], "a number above 0");
    keyword(json!({ "exclusiveMaximum": 1e39 }), &[json!(1e38)], &[json!(1e39)], "a number below 1e+39");
    keyword(
        json!({ "type": "integer", "minimum": -9007199254740991_i64 }),
        &[json!(-9007199254740991_i64)],
        &[json!(-9007199254740992_i64)],
        "an integer of at least -9007199254740991",
    );
    keyword(
        json!({ "x-multipleOf": 0.07 }),
        &[json!(0.07), json!(2.03), json!(0), json!(-0.14), json!("x")],
        &[json!(0.08), json!(1)],
        "a multiple of 0.07",
    );
    keyword(json!({ "x-multipleOf": -2 }), &[json!(4), json!(-4)], &[json!(3), json!(0.5)], "a multiple of -2");
}

#[test]
fn arrays() {
    keyword(
        json!({ "minItems": 2 }),
        &[json!([1, 2]), json!("x")],
        &[json!([1]), json!([])],
        "an array of at least 2 items",
    );
    keyword(json!({ "maxItems": 1 }), &[json!([1]), json!([])], &[json!([1, 2])], "an array of at most 1 item");
    keyword(
        json!({ "prefixItems": [true, true], "items": false }),
        &[json!([]), json!([1, 2])],
        &[json!([1, 2, 3])],
        "an array of at most 2 items",
    );
    let tuple = json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": { "type": "number" } });
    assert_eq!(normal(tuple.clone(), json!(["a", 1, 2])), json!(["a", 1, 2]));
    assert_eq!(broken(tuple.clone(), json!([1])), ("$[0]".into(), "a string".into()));
    assert_eq!(broken(tuple, json!(["a", 1, "b"])), ("$[2]".into(), "a number".into()));
}

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

type Map = serde_json::Map<String, Value>;

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

#[test]
fn formats_and_their_parameters() {
    let url = json!({ "x-format": "url", "format": "uri", "x-hostname": { "source": "^a", "flags": "" } });
    keyword(
        url,
        &[json!("http://ab/"), json!(1)],
        &[json!("http://b/"), json!("ab")],
        "an absolute URL with a host name that matches /^a/",
    );
    let both = json!({ "x-format": "ipv6", "allOf": [{ "x-format": "url", "format": "uri" }] });
    keyword(both, &[], &[json!("x")], "an IPv6 address");
    keyword(
        json!({ "x-format": "jwt", "x-algorithm": "HS256" }),
        &[json!("eyJhbGciOiJIUzI1NiJ9.e30.x")],
        &[json!("eyJhbGciOiJub25lIn0.e30.x")],
        "a JSON Web Token with the algorithm `HS256`",
    );
    for (format, good, expected) in [
        ("cidrv6", "::/1", "an IPv6 address range"),
        ("credit_card", "4111111111111111", "a credit card number"),
        ("iban", "DE89370400440532013000", "an IBAN"),
    ] {
        keyword(json!({ "x-format": format }), &[json!(good)], &[json!("x")], expected);
    }
}

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

fn nested(levels: usize, inner: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(inner, |schema, _| wrap(schema))
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

// D-42
#[test]
fn violations_tell_nothing_about_the_value() {
    let secret = "s3cret";
    let leaf = [json!(secret), json!(41_412_413), json!([secret]), json!({ secret: secret }), json!(null)];
    let schemas = [
        json!({ "type": "boolean" }),
        json!({ "const": "a" }),
        json!({ "type": "string", "maxLength": 3, "pattern": "^b" }),
        json!({ "maximum": 5 }),
        json!({ "maxItems": 0 }),
        json!({ "items": { "type": "boolean" } }),
        json!({ "additionalProperties": false }),
        json!({ "additionalProperties": { "type": "boolean" } }),
        json!({ "propertyNames": { "maxLength": 2 } }),
        json!({ "anyOf": [{ "type": "boolean" }, { "additionalProperties": { "minimum": 7, "type": "number" }, "type": "object" }] }),
        json!({ "oneOf": [{ "type": "boolean" }] }),
        json!({ "x-format": "url" }),
    ];
    let numeric = json!({ "additionalProperties": { "type": "null" } });
    assert_eq!(broken(numeric.clone(), json!({ "41412413": 1 })), ("$.*".into(), "null".into()));
    let mut raw = numeric;
    raw["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    assert_eq!(broken(raw, json!({ "41412413": [1] })), ("$.*".into(), "null".into()));
    let mut seen = 0;
    for schema in schemas {
        for raw in [false, true] {
            let mut schema = json!({ "type": "object", "properties": { "p": schema }, "required": ["q"] });
            if raw {
                if schema["properties"]["p"].get("x-format").is_some() {
                    continue;
                }
                schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
            }
            for value in &leaf {
                for value in [json!({ "p": value, "q": secret }), json!({ "p": value })] {
                    if let Err(violation) = compile(&schema).check(value) {
                        let text = format!("{violation:?}");
                        assert!(!text.contains(secret) && !text.contains("41412413"), "{text}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

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

fn random_value(random: &mut fastrand::Rng, levels: u32) -> Value {
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

fn random_schema(random: &mut fastrand::Rng, levels: u32) -> Value {
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
