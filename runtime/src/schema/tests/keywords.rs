//! One keyword at a time, on both sides of its boundary.

use super::*;

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

/// A format's pattern is for machines; a message names the format.
#[test]
fn a_pattern_with_a_format_is_called_by_its_name() {
    let expected = |schema: Value| DataSchema::compile(&schema).unwrap().check(&json!("x")).unwrap_err().expected;
    assert_eq!(
        expected(json!({ "type": "string", "pattern": "^\\d$", "format": "date" })),
        "a string in the format `date`"
    );
    assert_eq!(
        expected(json!({ "type": "string", "format": "date-time", "pattern": "^\\d$" })),
        "a string in the format `date-time`"
    );
    // Only names that are known: a schema may come from anybody.
    assert_eq!(
        expected(json!({ "type": "string", "pattern": "^\\d$", "format": "\u{1b}[31m" })),
        "a string that matches /^\\d$/"
    );
    let second = json!({ "type": "string", "pattern": "x", "x-pattern": { "source": "^\\d$", "flags": "i" }, "format": "email" });
    assert_eq!(expected(second), "a string that matches /^\\d$/i");
}
