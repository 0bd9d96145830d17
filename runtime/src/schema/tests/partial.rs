//! Schemas of partial values (2.4, EV-32 to EV-42).

use super::random::{random_schema, random_value};
use super::*;

const NEWEST: &str = "https://json-schema.org/draft/2020-12/schema";
const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

fn partial(schema: &Value) -> Value {
    partial_schema(schema).unwrap_or_else(|error| panic!("{error} {schema}"))
}

fn conditional(schema: &Value) -> Vec<(&'static str, String)> {
    match partial_schema(schema) {
        Err(PartialSchemaError::Conditional(found)) => {
            found.into_iter().map(|found| (found.keyword, found.path)).collect()
        }
        other => panic!("{other:?} {schema}"),
    }
}

/// The value as a partial schema gives it back.
fn expected(schema: &Value, value: Value) -> Value {
    normal(partial(schema), value)
}

/// Whether `large` has everything that `small` has.
fn has_all_of(large: &Value, small: &Value) -> bool {
    match (large, small) {
        (Value::Object(large), Value::Object(small)) => {
            small.iter().all(|(name, value)| large.get(name).is_some_and(|other| has_all_of(other, value)))
        }
        (Value::Array(large), Value::Array(small)) => {
            large.len() == small.len() && large.iter().zip(small).all(|(large, small)| has_all_of(large, small))
        }
        _ => large == small,
    }
}

/// A part of a value: without some members at any depth, and without some items at the end.
fn part(value: &Value, random: &mut fastrand::Rng) -> Value {
    match value {
        Value::Array(items) => {
            items.iter().take(random.usize(0..=items.len())).map(|item| part(item, random)).collect()
        }
        Value::Object(map) => {
            let mut rest = Map::new();
            for (name, value) in map {
                if random.u8(0..3) > 0 {
                    rest.insert(name.clone(), part(value, random));
                }
            }
            rest.into()
        }
        _ => value.clone(),
    }
}

// EV-33, EV-34
#[test]
fn a_partial_value_may_leave_out_anything_at_any_depth() {
    let schema = json!({
        "type": "object", "required": ["total", "vendor", "items"], "x-unknownKeys": "strip",
        "properties": {
            "total": { "type": "number", "minimum": 0 },
            "vendor": {
                "type": "object", "required": ["name"], "additionalProperties": false,
                "properties": { "name": { "type": "string", "minLength": 2 }, "address": { "type": "string" } },
            },
            "items": {
                "type": "array", "minItems": 2, "maxItems": 3,
                "items": { "type": "object", "required": ["sku"], "properties": { "sku": { "enum": ["a", "b"] } } },
            },
        },
    });
    for value in [
        json!({}),
        json!({ "total": 1 }),
        json!({ "vendor": {} }),
        json!({ "vendor": { "address": "x" }, "items": [] }),
        json!({ "items": [{}, { "sku": "b" }, {}] }),
    ] {
        assert_eq!(expected(&schema, value.clone()), value);
    }
    // What is there still has to fit.
    for (value, path, reason) in [
        (json!({ "total": -1 }), "$.total", "a number of at least 0"),
        (json!({ "total": null }), "$.total", "a number"),
        (json!({ "vendor": { "name": "x" } }), "$.vendor.name", "a string of at least 2 characters"),
        (json!({ "vendor": { "nmae": "xy" } }), "$.vendor", "no unknown key"),
        (json!({ "items": [{}, {}, {}, {}] }), "$.items", "an array of at most 3 items"),
        (json!({ "items": [{ "sku": "c" }] }), "$.items[0].sku", "one of \"a\", \"b\""),
        (json!([]), "$", "an object"),
    ] {
        assert_eq!(broken(partial(&schema), value), (path.into(), reason.into()));
    }
}

// 2.4
#[test]
fn what_asks_for_presence_goes_and_everything_else_stays() {
    let inner = json!({ "type": "object", "required": ["r"], "minProperties": 1, "maxProperties": 4 });
    let left = json!({ "type": "object", "maxProperties": 4 });
    let schema = |inner: &Value, more: Value| {
        let mut schema = json!({
            "$schema": NEWEST, "$id": "https://example.com/x", "title": "t", "description": "d", "$comment": "c",
            "default": { "required": ["data"] }, "examples": [{ "required": ["data"] }], "x-vendor": { "required": ["data"] },
            "type": ["object", "array"],
            "properties": { "a": inner, "b": true, "c": { "const": { "required": ["data"] } }, "d": { "enum": [{ "minItems": 1 }] },
                "required": inner, "oneOf": inner, "$ref": inner },
            "patternProperties": { "^p": inner }, "additionalProperties": inner,
            "propertyNames": { "minLength": 1, "maxLength": 9, "pattern": "^[a-z]" },
            "prefixItems": [inner, false], "items": inner, "maxItems": 9,
            "allOf": [inner, { "minimum": 0, "maximum": 1, "multipleOf": 0.5, "format": "date" }],
            "$defs": { "e": inner, "if": inner },
        });
        schema.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        schema
    };
    let full = schema(
        &inner,
        json!({ "required": ["a"], "minProperties": 2, "minItems": 1, "contains": inner, "minContains": 2, "maxContains": 3, "uniqueItems": true, "oneOf": [inner, false] }),
    );
    assert_eq!(partial(&full), schema(&left, json!({ "anyOf": [left, false] })));
    let full = schema(&inner, json!({ "anyOf": [inner, false], "uniqueItems": false }));
    assert_eq!(partial(&full), schema(&left, json!({ "anyOf": [left, false] })));
    // Both unions have to hold.
    let full = json!({ "$schema": NEWEST, "anyOf": [inner], "oneOf": [inner, true], "allOf": [true] });
    assert_eq!(
        partial(&full),
        json!({ "$schema": NEWEST, "anyOf": [left], "allOf": [true, { "anyOf": [left, true] }] })
    );
    // Draft-07.
    let schema = |inner: &Value| {
        json!({
            "$schema": DRAFT_07, "definitions": { "a": inner }, "properties": { "a": { "$ref": "#/definitions/a" } },
            "items": [inner, { "items": inner }], "additionalItems": inner,
        })
    };
    assert_eq!(partial(&schema(&inner)), schema(&left));
    for same in [json!(true), json!(false)] {
        assert_eq!(partial(&same), same);
    }
}

// 2.4
#[test]
fn the_schema_ir_keeps_its_own_keywords_and_loses_defaults() {
    let schema = json!({
        "type": "object", "required": ["a"], "x-unknownKeys": "strip", "description": "d",
        "properties": {
            "a": { "type": "string", "x-format": "url", "format": "uri", "x-hostname": { "source": "a", "flags": "i" } },
            "b": { "type": "number", "x-multipleOf": 2, "default": 4 },
            "c": { "$ref": "#/$defs/s1", "default": null },
            "default": { "x-pattern": { "source": "a", "flags": "i" } },
            "t": { "anyOf": [{ "type": "object", "properties": { "k": { "const": 1 } }, "required": ["k"] }], "x-discriminator": "k" },
        },
        "$defs": { "s1": { "type": "array", "minItems": 1, "prefixItems": [{ "type": "null" }], "items": false } },
    });
    assert_eq!(
        partial(&schema),
        json!({
            "type": "object", "x-unknownKeys": "strip", "description": "d",
            "properties": {
                "a": { "type": "string", "x-format": "url", "format": "uri", "x-hostname": { "source": "a", "flags": "i" } },
                "b": { "type": "number", "x-multipleOf": 2 },
                "c": { "$ref": "#/$defs/s1" },
                "default": { "x-pattern": { "source": "a", "flags": "i" } },
                "t": { "anyOf": [{ "type": "object", "properties": { "k": { "const": 1 } } }], "x-discriminator": "k" },
            },
            "$defs": { "s1": { "type": "array", "prefixItems": [{ "type": "null" }], "items": false } },
            "x-partial": true,
        })
    );
    assert_eq!(expected(&schema, json!({ "c": [], "z": 1 })), json!({ "c": [] }));
    // A partial schema is its own partial schema.
    assert_eq!(partial(&partial(&schema)), partial(&schema));
}

#[test]
fn only_the_root_can_be_marked_as_partial() {
    assert_eq!(normal(json!({ "x-partial": true }), json!(1)), json!(1));
    assert_eq!(
        normal(json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "null" } }, "x-partial": true }), json!(null)),
        json!(null)
    );
    for schema in [
        json!({ "x-partial": 1 }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "null" } }, "x-partial": false }),
    ] {
        assert_eq!(problem(schema), "The schema has `x-partial`, which is not `true`.");
    }
    assert_eq!(
        problem(json!({ "items": { "x-partial": true } })),
        "The schema at `/items` has the keyword `x-partial` with a value or at a place that the schema IR does not have."
    );
}

// EV-33
#[test]
fn a_union_keeps_what_any_fitting_branch_knows() {
    let branch = |tag: &str, name: &str| {
        json!({
            "type": "object", "required": ["k", name, "o"], "x-unknownKeys": "strip",
            "properties": {
                "k": { "const": tag }, name: { "type": "number" },
                "o": { "type": "object", "x-unknownKeys": "strip", "properties": { name: { "type": "string" } } },
            },
        })
    };
    let tagged = json!({ "anyOf": [branch("a", "n"), branch("b", "m")], "x-discriminator": "k" });
    let exclusive = json!({ "oneOf": [branch("a", "n"), branch("b", "m"), { "type": "null" }] });
    for schema in [tagged, exclusive] {
        // Without a tag the second branch may be meant; under the first alone, `m` would be lost.
        assert_eq!(expected(&schema, json!({ "m": 1 })), json!({ "m": 1 }));
        assert_eq!(expected(&schema, json!({ "o": { "m": "x", "z": 1 }, "z": 2 })), json!({ "o": { "m": "x" } }));
        assert_eq!(expected(&schema, json!({ "m": 1, "n": 2, "z": 3 })), json!({ "m": 1, "n": 2 }));
        // With a tag only its own branch fits.
        assert_eq!(expected(&schema, json!({ "k": "b", "m": 1, "n": 2 })), json!({ "k": "b", "m": 1 }));
        assert_eq!(expected(&schema, json!({ "k": "a", "o": { "m": "x" } })), json!({ "k": "a", "o": {} }));
        assert_eq!(expected(&schema, json!({})), json!({}));
    }
    let tagged = json!({ "anyOf": [branch("a", "n"), branch("b", "m")], "x-discriminator": "k" });
    assert_eq!(broken(partial(&tagged), json!({ "k": "c" })), ("$.k".into(), "one of \"a\", \"b\"".into()));
    assert_eq!(broken(partial(&tagged), json!({ "k": "b", "m": "x" })), ("$.m".into(), "a number".into()));
    // In full, the first branch that fits decides.
    assert_eq!(normal(tagged, json!({ "k": "b", "m": 1, "o": { "n": 1 } })), json!({ "k": "b", "m": 1, "o": {} }));
    // Recursive, and in arrays.
    let tree = json!({ "$ref": "#/$defs/t", "$defs": { "t": { "anyOf": [
        { "type": "object", "required": ["leaf"], "x-unknownKeys": "strip", "properties": { "leaf": { "type": "number" } } },
        { "type": "object", "required": ["children"], "x-unknownKeys": "strip",
          "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/t" } } } },
    ] } } });
    assert_eq!(
        expected(&tree, json!({ "children": [{ "children": [{ "leaf": 1, "z": 1 }], "z": 1 }, {}] })),
        json!({ "children": [{ "children": [{ "leaf": 1 }] }, {}] })
    );
}

// EV-39, EV-40, EV-41, D-24
#[test]
fn conditional_keywords_are_refused() {
    for draft in [Some(NEWEST), Some(DRAFT_07), None] {
        for (keyword, value) in [
            ("if", json!({ "required": ["a"] })),
            ("then", json!({ "required": ["b"] })),
            ("else", json!(false)),
            ("not", json!({ "type": "null" })),
            ("dependentSchemas", json!({ "a": { "required": ["b"] } })),
            ("dependentRequired", json!({ "a": ["b"] })),
            ("dependencies", json!({ "a": ["b"], "c": { "minItems": 1 } })),
            ("unevaluatedProperties", json!(false)),
            ("unevaluatedItems", json!(false)),
        ] {
            let mut schema = json!({ "type": "object", keyword: value });
            if let Some(draft) = draft {
                schema["$schema"] = draft.into();
            }
            assert_eq!(conditional(&schema), [(keyword, keyword.to_owned())]);
            let error = partial_schema(&schema).expect_err("it is refused");
            assert_eq!(error.code(), "C_EXPECTED_SCHEMA_CONDITIONAL");
            assert_eq!(error.to_string(), format!("the schema has no partial form because of `{keyword}`"));
        }
    }
}

// EV-42
#[test]
fn every_conditional_keyword_is_reported_wherever_it_stands() {
    let not = json!({ "not": {} });
    let schema = json!({
        "$schema": NEWEST,
        "properties": { "a": { "properties": { "b c": not, "x-y": not, "1": not } } },
        "patternProperties": { "^p": not }, "additionalProperties": not, "propertyNames": not,
        "items": not, "prefixItems": [true, not], "contains": not,
        "allOf": [{ "if": true, "then": not, "else": { "anyOf": [not] } }], "anyOf": [not], "oneOf": [not, not],
        "$defs": { "unused": not }, "definitions": { "unused": not },
        "dependentSchemas": { "a": not },
    });
    assert_eq!(
        conditional(&schema),
        [
            ("not", "properties.a.properties[\"b c\"].not"),
            ("not", "properties.a.properties.x-y.not"),
            ("not", "properties.a.properties[\"1\"].not"),
            ("not", "patternProperties[\"^p\"].not"),
            ("not", "additionalProperties.not"),
            ("not", "propertyNames.not"),
            ("not", "items.not"),
            ("not", "prefixItems[1].not"),
            ("not", "contains.not"),
            ("if", "allOf[0].if"),
            ("then", "allOf[0].then"),
            ("not", "allOf[0].then.not"),
            ("else", "allOf[0].else"),
            ("not", "allOf[0].else.anyOf[0].not"),
            ("not", "anyOf[0].not"),
            ("not", "oneOf[0].not"),
            ("not", "oneOf[1].not"),
            ("not", "$defs.unused.not"),
            ("not", "definitions.unused.not"),
            ("dependentSchemas", "dependentSchemas"),
            ("not", "dependentSchemas.a.not"),
        ]
        .map(|(keyword, path)| (keyword, path.to_owned()))
    );
    assert_eq!(
        partial_schema(&schema).expect_err("it is refused").to_string(),
        "the schema has no partial form because of `properties.a.properties[\"b c\"].not`, \
         `properties.a.properties.x-y.not`, `properties.a.properties[\"1\"].not` and 18 more"
    );
}

#[test]
fn names_of_properties_and_data_are_no_keywords() {
    let data = json!({ "if": 1, "then": 2, "else": 3, "not": {}, "dependencies": {}, "unevaluatedItems": false });
    let schema = json!({
        "$schema": DRAFT_07, "const": data, "enum": [data], "default": data, "examples": [data], "x-vendor": data,
        "properties": { "not": true, "if": { "const": data }, "dependencies": { "enum": [data] } },
        "patternProperties": { "not": true }, "definitions": { "unevaluatedProperties": {} },
    });
    assert_eq!(partial(&schema), schema);
    assert_eq!(
        conditional(&json!({ "properties": { "not": { "not": true } } })),
        [("not", "properties.not.not".into())]
    );
}

#[test]
fn references_follow_what_moved() {
    let schema = json!({
        "$schema": NEWEST,
        "properties": {
            "branch": { "$ref": "#/properties/u/oneOf/1" },
            "both": { "$ref": "#/properties/w%20w~1/oneOf/0" },
            "item": { "$ref": "#/properties/l/contains" },
            "deep": { "$ref": "#/properties/l/contains/properties/a" },
            "same": { "$ref": "#/$defs/contains-1" },
            "all": { "$ref": "#" },
            "u": { "oneOf": [{ "type": "null" }, { "type": "object", "required": ["a"], "properties": { "a": { "type": "string" } } }] },
            "w w/": { "anyOf": [true], "oneOf": [{ "type": "boolean" }, { "type": "string" }], "allOf": [true, true] },
            "l": { "contains": { "required": ["a"], "properties": { "a": { "type": "number" }, "n": { "$ref": "#/properties/l/contains/properties/n/contains" } } } },
        },
        "$defs": { "contains-1": { "type": "integer" } },
    });
    let mut schema = schema;
    schema["properties"]["l"]["contains"]["properties"]["n"] = json!({ "contains": { "type": "boolean" }, "items": { "$ref": "#/properties/l/contains/properties/n/contains" } });
    let derived = partial(&schema);
    let reference = |name: &str| derived["properties"][name]["$ref"].as_str().expect("a reference").to_owned();
    assert_eq!(reference("branch"), "#/properties/u/anyOf/1");
    assert_eq!(reference("both"), "#/properties/w%20w~1/allOf/2/anyOf/0");
    assert_eq!(reference("item"), "#/$defs/contains-2");
    assert_eq!(reference("deep"), "#/$defs/contains-2/properties/a");
    assert_eq!(reference("same"), "#/$defs/contains-1");
    assert_eq!(reference("all"), "#");
    assert_eq!(
        derived["$defs"],
        json!({
            "contains-1": { "type": "integer" },
            "contains-2": { "properties": { "a": { "type": "number" }, "n": { "items": { "$ref": "#/$defs/contains-3" } } } },
            "contains-3": { "type": "boolean" },
        })
    );
    assert_eq!(derived["properties"]["l"], json!({}));
    for (value, path) in [
        (json!({ "branch": { "a": 1 } }), "$.branch.a"),
        (json!({ "both": "x" }), "$.both"),
        (json!({ "item": { "a": "x" } }), "$.item.a"),
        (json!({ "item": { "n": [1] } }), "$.item.n[0]"),
        (json!({ "all": { "same": "x" } }), "$.all.same"),
    ] {
        assert_eq!(broken(derived.clone(), value).0, path);
    }
    assert_eq!(
        normal(derived, json!({ "branch": {}, "item": {}, "l": [] })),
        json!({ "branch": {}, "item": {}, "l": [] })
    );
    // Draft-07 has its definitions elsewhere; a reference to nowhere is left to the compiler.
    let schema = json!({ "$schema": DRAFT_07, "definitions": {}, "contains": { "minItems": 1 }, "items": { "$ref": "#/contains" } });
    assert_eq!(
        partial(&schema),
        json!({ "$schema": DRAFT_07, "definitions": { "contains-1": {} }, "items": { "$ref": "#/definitions/contains-1" } })
    );
    for nowhere in ["#/oneOf/7", "#/oneOf/x", "#/oneOf", "#/const/a", "#/x", "#x", "#/%zz", "https://example.com/a", ""]
    {
        let schema = json!({ "$schema": NEWEST, "oneOf": [true], "const": { "a": 1 }, "items": { "$ref": nowhere } });
        assert_eq!(partial(&schema)["items"], json!({ "$ref": nowhere }));
    }
}

#[test]
fn items_stay_unique_only_where_they_cannot_be_partial() {
    for (items, stays) in [
        (json!({ "type": "string" }), true),
        (json!({ "type": ["integer", "null"] }), true),
        (json!({ "type": "object" }), false),
        (json!({ "type": ["string", "array"] }), false),
        (json!({ "$ref": "#/definitions/a", "type": "string" }), false),
        (json!({}), false),
        (json!(true), false),
        (json!([{ "type": "string" }]), false),
    ] {
        let schema = json!({ "$schema": DRAFT_07, "items": items, "uniqueItems": true });
        assert_eq!(partial(&schema).get("uniqueItems").is_some(), stays, "{schema}");
    }
}

// 2.4
#[test]
fn objects_among_constants_are_matched_as_a_whole() {
    let schema =
        json!({ "$schema": NEWEST, "properties": { "p": { "const": { "a": 1, "b": 2 } } }, "required": ["p"] });
    assert!(compile(&partial(&schema)).check(json!({})).is_ok());
    assert_eq!(broken(partial(&schema), json!({ "p": { "a": 1 } })).0, "$.p");
}

#[test]
fn hostile_schemas_are_refused_before_they_are_looked_at() {
    let deep = nested(1_000, json!({}), |inner| json!({ "items": inner }));
    let error = partial_schema(&deep).expect_err("it is refused");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("C_SCHEMA_UNSUPPORTED", "The schema has more than 128 levels.")
    );
    let wide: Vec<Value> = (0..100_000).map(Value::from).collect();
    assert_eq!(
        partial_schema(&json!({ "enum": wide })).expect_err("it is refused").to_string(),
        "The schema has more than 100000 parts."
    );
    // Many keywords with long paths.
    let name = "é".repeat(100_000);
    let many: Vec<Value> = (0..20_000).map(|_| json!({ "not": true })).collect();
    let found = conditional(&json!({ "properties": { name: { "allOf": many } } }));
    assert_eq!(found.len(), 1_000);
    assert!(found.iter().all(|(_, path)| path.len() <= 512 && path.ends_with('…')));
    // Many references to the same and to different places.
    let items: Vec<Value> = (0..20_000)
        .map(|index| json!({ "$ref": format!("#/prefixItems/{index}/contains"), "contains": true }))
        .collect();
    let schema = json!({ "$schema": NEWEST, "prefixItems": items });
    assert_eq!(partial(&schema)["$defs"].as_object().map(Map::len), Some(20_000));
    // What is no schema stays for the compiler to refuse.
    for odd in [
        json!(5),
        json!(null),
        json!({ "properties": 5, "allOf": {}, "anyOf": true, "oneOf": 5, "items": [1], "$ref": 5, "$defs": [] }),
    ] {
        assert!(Schema::compile(&partial(&odd)).is_err(), "{odd}");
    }
}

/// Strips unknown keys in some of the objects.
fn strip_some(schema: &mut Value, random: &mut fastrand::Rng) {
    match schema {
        Value::Object(map) => {
            let strips =
                map.contains_key("properties") && !map.contains_key("additionalProperties") && random.u8(0..4) > 0;
            map.values_mut().for_each(|value| strip_some(value, random));
            if strips {
                map.insert("x-unknownKeys".into(), "strip".into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| strip_some(value, random)),
        _ => {}
    }
}

// EV-33
#[test]
fn any_part_of_a_value_that_fits_the_ir_fits_the_partial_one_and_stays_whole() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut fitting, mut stripped, mut only_partial, mut refused) = (0, 0, 0, 0);
    for _ in 0..6_000 {
        let mut schema = random_schema(&mut random, 4);
        strip_some(&mut schema, &mut random);
        let full = compile(&schema);
        let derived = partial(&schema);
        let partial = compile(&derived);
        for _ in 0..10 {
            let value = random_value(&mut random, 4);
            let shown = || format!("{value} under {schema}, partial {derived}");
            let Ok(normal) = full.check(value.clone()) else {
                *if partial.check(value.clone()).is_ok() { &mut only_partial } else { &mut refused } += 1;
                continue;
            };
            fitting += 1;
            stripped += usize::from(normal != value);
            let kept = partial.check(value.clone()).unwrap_or_else(|violation| panic!("{violation} {}", shown()));
            assert!(has_all_of(&kept, &normal), "{kept} {}", shown());
            for _ in 0..3 {
                assert!(partial.check(part(&value, &mut random)).is_ok(), "{}", shown());
                let part = part(&normal, &mut random);
                assert_eq!(partial.check(part.clone()), Ok(part), "{}", shown());
            }
        }
    }
    assert!(
        fitting > 10_000 && stripped > 300 && only_partial > 500 && refused > 5_000,
        "{fitting} {stripped} {only_partial} {refused}"
    );
}

// EV-33
#[test]
fn any_part_of_a_value_that_fits_a_raw_schema_fits_the_partial_one() {
    let mut random = fastrand::Rng::with_seed(12);
    let (mut fitting, mut only_partial, mut refused) = (0, 0, 0);
    for round in 0..4_000 {
        let mut schema = random_schema(&mut random, 3);
        let more = [
            "contains",
            "minContains",
            "minProperties",
            "maxProperties",
            "uniqueItems",
            "oneOf",
            "anyOf",
            "$ref",
            "allOf",
        ];
        for keyword in random.choose_multiple(&more, 3) {
            schema[*keyword] = match *keyword {
                "contains" => random_schema(&mut random, 2),
                "uniqueItems" => json!(true),
                "oneOf" | "anyOf" | "allOf" => json!([random_schema(&mut random, 2), random_schema(&mut random, 2)]),
                "$ref" => json!(["#/$defs/d", "#/$defs/d/oneOf/1", "#/$defs/d/contains"][random.usize(0..3)]),
                _ => json!(random.u32(1..3)),
            };
        }
        let options = json!([random_schema(&mut random, 1), random_schema(&mut random, 1)]);
        schema["$defs"] = json!({ "d": { "oneOf": options, "contains": random_schema(&mut random, 1) } });
        schema["$schema"] = if round % 2 == 0 { NEWEST } else { DRAFT_07 }.into();
        if round % 2 == 1 && schema.get("prefixItems").is_some() {
            continue;
        }
        let full = compile(&schema);
        let derived = partial(&schema);
        let partial = compile(&derived);
        for _ in 0..10 {
            let value = random_value(&mut random, 4);
            if full.check(value.clone()).is_err() {
                *if partial.check(value.clone()).is_ok() { &mut only_partial } else { &mut refused } += 1;
                continue;
            }
            fitting += 1;
            for part in [value.clone(), part(&value, &mut random), part(&value, &mut random)] {
                assert_eq!(partial.check(part.clone()), Ok(part), "{value} under {schema}, partial {derived}");
            }
        }
    }
    assert!(fitting > 5_000 && only_partial > 500 && refused > 5_000, "{fitting} {only_partial} {refused}");
}
