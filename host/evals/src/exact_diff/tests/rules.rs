//! What spec 4.2 to 4.11 say beside the vectors.

use super::*;
use crate::exact_diff::{MAX_MISMATCHES, MAX_UNORDERED_ITEMS};
use MismatchKind::{
    ExtraField, ExtraItem, IdentityDuplicate, IdentityMissing, IdentityNotScalar, Missing, MissingItem, Type,
};

#[track_caller]
fn assert_differs(expected: Value, actual: Value, options: Value, found: &[(&str, MismatchKind)]) {
    let comparison = compared(&expected, &actual, &options).expect("a comparison");
    assert_eq!(differences(&comparison), found);
    assert_eq!(comparison.matched == comparison.total, found.is_empty());
}

#[track_caller]
fn assert_refused(expected: Value, options: Value, code: &str, path: &str) {
    // Whatever the answer was: the dataset is at fault.
    for actual in [expected.clone(), json!(null), json!({})] {
        let error = compared(&expected, &actual, &options).expect_err("an error");
        assert_eq!((error.code(), error.path()), (code, Some(path)));
    }
}

// EV-54 to EV-57, D-45: explicit values at the root are units.
#[test]
fn a_scalar_projection_is_one_unit() {
    for value in [json!(null), json!(false), json!(0), json!(""), json!("x")] {
        let comparison = compared(&value, &value, &Value::Null).unwrap();
        assert_eq!((comparison.score, comparison.fields[0].path.as_str()), (1.0, "$"));
        assert_differs(value, json!([]), Value::Null, &[("$", Type)]);
    }
}

// EV-49
#[test]
fn fields_are_labelled_by_key() {
    let expected = json!({ "total": 1, "a.b": 2, "z": 3 });
    let comparison = compared(&expected, &json!({ "z": 3, "total": 1 }), &Value::Null).unwrap();
    let fields: Vec<_> = comparison.fields.iter().map(|field| (field.path.as_str(), field.matched)).collect();
    assert_eq!(fields, [("total", true), ("[\"a.b\"]", false), ("z", true)]);
    assert_eq!(differences(&comparison), [("[\"a.b\"]", Missing)]);
}

// Spec 4.3: an absent key is no error, an undefined one is; at any depth.
#[test]
fn undefined_in_the_expected_projection_is_an_error_unless_it_is_pruned() {
    let expected = json!({ "s": { "items": [1, null] }, "t": 1 });
    let run = |marks: &[&str], options: Value| {
        let marks: Vec<String> = marks.iter().map(|mark| (*mark).to_owned()).collect();
        let options = Options::parse(&options).unwrap();
        compare(Projection::new(&expected, &marks), Projection::new(&expected, &[]), &options)
    };
    let path = |result: Result<Comparison, ComparisonError>| result.unwrap_err().path().map(str::to_owned);
    assert_eq!(path(run(&["$.s.items[1]"], json!({}))).as_deref(), Some("s.items[1]"));
    // The guest cuts long markers; what is left names a place above.
    assert_eq!(path(run(&["$.s…"], json!({}))).as_deref(), Some("s.items[1]"));
    assert_eq!(run(&["$.s.items[1]"], rules(json!({ "s.items": { "ignore": true } }))).unwrap().score, 1.0);
    assert_eq!(run(&["$.s.items[1]"], json!({ "paths": ["t"] })).unwrap().total, 1);
    // A full list may be incomplete.
    assert!(run(&["$.elsewhere"; 1_000], json!({})).is_err());
    assert!(run(&[], json!({})).is_ok());
}

// D-46: undefined in the actual projection is missing, also where null was expected.
#[test]
fn undefined_in_the_actual_projection_is_missing() {
    let (expected, marks) =
        (json!({ "a": null, "l": [null] }), ["$.a".to_owned(), "$.l[0]".to_owned(), "$.x".to_owned()]);
    let actual = json!({ "a": null, "l": [null], "x": null });
    let options = Options::parse(&json!({ "allowExtraFields": false })).unwrap();
    let comparison = compare(Projection::new(&expected, &[]), Projection::new(&actual, &marks), &options).unwrap();
    assert_eq!(differences(&comparison), [("a", Missing), ("l[0]", Missing)]);
}

// D-43: no coercion.
#[test]
fn types_never_mix() {
    for (expected, actual) in
        [("007", json!("7")), ("yes", json!(true)), ("1", json!(1)), ("a", json!("A")), ("a", json!("a "))]
    {
        assert_eq!(compared(&json!({ "a": expected }), &json!({ "a": actual }), &Value::Null).unwrap().score, 0.0);
    }
    assert_differs(json!({ "a": {} }), json!({ "a": [] }), Value::Null, &[("a", Type)]);
    assert_differs(json!({ "a": [{}] }), json!({ "a": [null] }), Value::Null, &[("a[0]", Type)]);
    // D-44
    assert_eq!(compared(&json!({ "a": "__any__" }), &json!({ "a": "x" }), &Value::Null).unwrap().score, 0.0);
}

// Spec 4.5, D-56, D-57.
#[test]
fn numbers_are_close_by_the_documented_measure() {
    for (expected, actual, tolerance, matches) in [
        (1_000_000.0, 1_000_000.5, None, true),
        (1_000_000.0, 1_000_002.0, None, false),
        (0.0, 9.9e-7, None, true),
        (0.0, 1e-6, None, false),
        (-0.0, 0.0, Some(0.0), true),
        (0.1, -0.2, Some(0.3), true),
        (100.0, 100.01, Some(0.01), true),
        (1e15, 1e15 + 1.0, Some(0.5), false),
        (f64::MAX, -f64::MAX, Some(f64::MAX), false),
        (f64::MAX, -f64::MAX, None, false),
        (5e-324, 0.0, Some(0.0), false),
        (1.0, 2.0, Some(1.0), true),
    ] {
        let options = tolerance.map_or(Value::Null, |tolerance| json!({ "numericTolerance": tolerance }));
        for (left, right) in [(expected, actual), (actual, expected)] {
            let comparison = compared(&json!({ "a": left }), &json!({ "a": right }), &options).unwrap();
            assert_eq!(comparison.score == 1.0, matches, "{left} {right} {tolerance:?}");
        }
    }
    assert_eq!(
        compared(&json!({ "a": 1 }), &json!({ "a": 1.0 }), &json!({ "numericTolerance": 0 })).unwrap().score,
        1.0
    );
}

// Spec 4.4: each field comes from the most specific rule that sets it; `matchBy` is not inherited.
#[test]
fn rules_are_inherited_field_by_field() {
    let deep = |number: f64, extra: bool| {
        let mut item = json!({ "n": number });
        if extra {
            item["x"] = json!(1);
        }
        json!({ "groups": [{ "members": [[item]] }] })
    };
    let options = rules(json!({
        "$": { "allowExtraFields": false, "numericTolerance": 1 },
        "groups[].members[][]": { "numericTolerance": 0.1 },
    }));
    assert_differs(deep(1.0, false), deep(1.1, false), options.clone(), &[]);
    let path = "groups[0].members[0][0]";
    assert_differs(deep(1.0, false), deep(1.2, false), options.clone(), &[(&format!("{path}.n"), MismatchKind::Value)]);
    assert_differs(deep(1.0, false), deep(1.0, true), options, &[(&format!("{path}.x"), ExtraField)]);
    // The inner array is unordered by inheritance, but not matched by identity.
    let options = rules(json!({ "l": { "order": "unordered", "matchBy": "id" } }));
    let item = |inner: Value| json!({ "l": [{ "id": 1, "l": inner }] });
    assert_differs(item(json!([1, 2])), item(json!([2, 1])), options, &[]);
}

// Spec 4.4, D-47, D-48.
#[test]
fn rules_reach_items_of_the_root_and_nested_arrays() {
    assert_differs(
        json!([{ "a": 1, "b": 1 }]),
        json!([{ "a": 1, "b": 2 }]),
        rules(json!({ "$[].b": { "ignore": true } })),
        &[],
    );
    assert_differs(
        json!({ "m": [[1, 2], [3]] }),
        json!({ "m": [[2, 1], [3]] }),
        rules(json!({ "m[]": {}, "m[][]": { "numericTolerance": 1 } })),
        &[],
    );
    assert_differs(
        json!({ "l": [1, 2], "t": 1 }),
        json!({ "l": [], "t": 1 }),
        rules(json!({ "l[]": { "ignore": true } })),
        &[],
    );
}

// Spec 4.4, globals.
#[test]
fn globals_hold_everywhere() {
    assert_differs(
        json!({ "a": [1] }),
        json!({ "a": [1, 2] }),
        json!({ "allowExtraFields": false }),
        &[("a[1]", ExtraItem)],
    );
    assert_differs(json!({ "a": [1] }), json!({ "a": [1, 2], "b": 1 }), json!({ "allowExtraFields": true }), &[]);
    let options = json!({ "unorderedPaths": ["g[].m"], "numericTolerance": 0.5, "allowExtraFields": false });
    assert_differs(json!({ "g": [{ "m": [1, 2] }] }), json!({ "g": [{ "m": [2.5, 1.5] }] }), options.clone(), &[]);
    assert_differs(
        json!({ "g": [{ "m": [1] }] }),
        json!({ "g": [{ "m": [1, 2] }] }),
        options,
        &[("g[0].m[1]", ExtraItem)],
    );
    // A global is no statement about the root.
    assert_differs(json!(5), json!(5), json!({ "allowExtraFields": false }), &[]);
}

// Spec 4.4: `paths` keeps only what it lists, on both sides.
#[test]
fn paths_select() {
    let expected = json!({ "a": 1, "l": [{ "sku": "A", "p": 1 }, { "sku": "B", "p": 2 }], "s": { "x": 1, "y": 2 } });
    let actual =
        json!({ "a": 9, "l": [{ "sku": "A", "p": 9 }, { "sku": "C", "p": 2 }], "s": { "x": 1, "y": 9 }, "z": 1 });
    let only = |paths: Value| json!({ "paths": paths, "allowExtraFields": false });
    assert_differs(expected.clone(), actual.clone(), only(json!(["l[0].sku", "s.x"])), &[]);
    assert_differs(expected.clone(), actual.clone(), only(json!(["l[].sku"])), &[("l[1].sku", MismatchKind::Value)]);
    assert_differs(expected.clone(), actual.clone(), only(json!(["l[1]"])), &[("l[1].sku", MismatchKind::Value)]);
    assert_differs(expected.clone(), json!({ "s": 5 }), only(json!(["s.x"])), &[("s", Type)]);
    assert_eq!(compared(&expected, &actual, &only(json!(["$"]))).unwrap().total, 4);
    // D-54
    for (paths, missing) in [
        (json!(["b"]), "b"),
        (json!(["s", "s.z"]), "s.z"),
        (json!(["a.b"]), "a.b"),
        (json!(["l[2].sku"]), "l[2]"),
        (json!(["l[].qty"]), "l[0].qty"),
        (json!(["l.sku"]), "l"),
        (json!(["s[]"]), "s"),
        (json!(["a[0]"]), "a"),
        (json!(["l[99999999999999999999]"]), &format!("l[{}]", usize::MAX)),
    ] {
        assert_refused(expected.clone(), json!({ "paths": paths }), "E_EXPECTED_SELECTION_MISSING", missing);
    }
}

// Spec 4.7, all six modes.
#[test]
fn arrays_follow_order_and_policy() {
    let run = |order: &str, items: &str, expected: Value, actual: Value| {
        let options = rules(json!({ "$": { "order": order, "items": items } }));
        let comparison = compared(&expected, &actual, &options).unwrap();
        comparison
            .mismatches
            .iter()
            .map(|mismatch| format!("{} {:?}", mismatch.path, mismatch.kind))
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (order, items, expected, actual, found) in [
        ("ordered", "at-least", json!([1, 2, 3]), json!([1]), "$[1] MissingItem, $[2] MissingItem"),
        ("ordered", "at-most", json!([1]), json!([1, 2, 3]), "$[1] ExtraItem, $[2] ExtraItem"),
        ("ordered", "exactly", json!([1, 2]), json!([1]), "$[1] MissingItem"),
        ("unordered", "at-least", json!([1, 2]), json!([3, 2, 4]), "$[0] MissingItem"),
        ("unordered", "at-most", json!([1, 2, 2]), json!([2, 3, 2]), "$[1] ExtraItem"),
        ("unordered", "exactly", json!([1, 2]), json!([2, 3]), "$[0] MissingItem, $[1] ExtraItem"),
        ("unordered", "exactly", json!([1, 1, 2]), json!([2, 1, 1]), ""),
        ("unordered", "at-most", json!([1]), json!([]), ""),
    ] {
        assert_eq!(run(order, items, expected, actual), found, "{order} {items}");
    }
}

// Spec 4.7: a maximum matching, although equal items would leave one alone.
#[test]
fn equal_items_part_where_a_tolerance_needs_it() {
    let options = rules(json!({ "$": { "order": "unordered", "items": "exactly", "numericTolerance": 0.01 } }));
    assert_differs(json!([1.0, 0.991]), json!([1.0, 1.009]), options.clone(), &[]);
    // The same where an index narrows the search.
    let line: Vec<f64> = (0..40).map(|number| f64::from(number) * 0.01).collect();
    let shifted: Vec<f64> = line.iter().map(|number| number + 0.01).collect();
    assert_differs(json!(line), json!(shifted), options, &[]);
}

// Spec 4.7: what `at-most` does not ask for keeps no item from its partner, in arrays long enough for the index, too.
#[test]
fn longer_expected_arrays_find_their_partners_in_long_arrays() {
    let expected: Vec<_> = (0..40).map(|id| json!([id, 100 + id])).collect();
    let actual: Vec<_> = (0..40).rev().map(|id| json!([id])).collect();
    let options = |items: &str| rules(json!({ "$": { "order": "unordered", "items": items } }));
    assert_differs(json!(expected), json!(actual), options("at-most"), &[]);
    assert_differs(json!(actual), json!(expected), options("at-least"), &[]);
    assert_eq!(compared(&json!(expected), &json!(actual), &options("exactly")).unwrap().score, 0.0);
}

// Spec 4.8.
#[test]
fn items_are_matched_by_identity() {
    let by =
        |names: Value, items: &str| rules(json!({ "l": { "order": "unordered", "matchBy": names, "items": items } }));
    let list = |items: Value| json!({ "l": items });
    let one = || list(json!([{ "k": { "id": 1 }, "t": null, "p": 1 }]));
    let tuple = json!(["k.id", "t"]);
    // Tuples; null is a value; 1 is 1.0; no tolerance in identities.
    assert_differs(one(), list(json!([{ "k": { "id": 1.0 }, "t": null, "p": 1 }])), by(tuple.clone(), "exactly"), &[]);
    assert_differs(
        one(),
        list(json!([{ "k": { "id": 1.0000001 }, "t": null, "p": 1 }])),
        by(tuple.clone(), "exactly"),
        &[("l[0]", MissingItem), ("l[0]", ExtraItem)],
    );
    // At-least: extras may lack or repeat identities.
    let extras = list(json!([5, {}, { "k": { "id": 1 }, "t": null, "p": 2 }, { "k": { "id": 1 }, "t": null, "p": 3 }]));
    assert_differs(one(), extras.clone(), by(tuple.clone(), "at-least"), &[("l[0].p", MismatchKind::Value)]);
    // Otherwise every actual item needs one of its own.
    let found =
        [("l[0]", Type), ("l[1].k.id", IdentityMissing), ("l", IdentityDuplicate), ("l[0].p", MismatchKind::Value)];
    assert_differs(one(), extras.clone(), by(tuple.clone(), "exactly"), &found);
    assert_differs(one(), extras.clone(), by(tuple.clone(), "at-most"), &found);
    let comparison = compared(&one(), &extras, &by(tuple.clone(), "exactly")).unwrap();
    assert_eq!(comparison.mismatches[2].positions, [2, 3]);
    assert_differs(
        one(),
        list(json!([{ "k": { "id": [] }, "t": 1, "p": 1 }])),
        by(tuple, "at-most"),
        &[("l[0].k.id", IdentityNotScalar)],
    );
    // At-most: expected items may be more, and may repeat.
    let many = list(json!([{ "id": 1, "p": 1 }, { "id": 1, "p": 2 }, {}, { "id": 3 }]));
    assert_differs(many.clone(), list(json!([{ "id": 1, "p": 2 }])), by(json!("id"), "at-most"), &[]);
    assert_differs(
        many.clone(),
        list(json!([{ "id": 1, "p": 3 }])),
        by(json!("id"), "at-most"),
        &[("l[0].p", MismatchKind::Value)],
    );
    assert_differs(many, list(json!([{ "id": 4 }])), by(json!("id"), "at-most"), &[("l[0]", ExtraItem)]);
    // D-60
    for (expected, path) in
        [(json!([{ "id": 1 }, { "x": 1 }]), "l[1].id"), (json!([{ "id": {} }]), "l[0].id"), (json!([1]), "l[0]")]
    {
        assert_refused(list(expected), by(json!("id"), "exactly"), "E_RULE_NOT_APPLICABLE", path);
    }
}

// Spec 4.8.3: nested, with inherited rules, the deepest difference is told.
#[test]
fn identities_nest_and_the_deepest_difference_is_told() {
    let options = rules(json!({
        "o": { "order": "unordered", "matchBy": "id" },
        "o[].lines": { "order": "unordered", "matchBy": "sku" },
        "o[].lines[].price": { "numericTolerance": 0.01 },
    }));
    let order = |id: u32, price: f64| json!({ "id": id, "lines": [{ "sku": "B", "price": 1 }, { "sku": "A", "price": price }] });
    let expected = json!({ "o": [order(1, 2.0), order(2, 2.0)] });
    assert_differs(expected.clone(), json!({ "o": [order(2, 2.01), order(1, 2.0)] }), options.clone(), &[]);
    let actual = json!({ "o": [order(2, 2.02), order(1, 2.0)] });
    assert_differs(expected, actual, options, &[("o[1].lines[1].price", MismatchKind::Value)]);
}

// Spec 4.9: extra members at the top are failing units.
#[test]
fn extra_members_at_the_top_count() {
    let options = rules(json!({ "$": { "allowExtraFields": false } }));
    let comparison = compared(&json!({ "a": 1 }), &json!({ "x": 1, "a": 1, "y": 1 }), &options).unwrap();
    assert_eq!((comparison.matched, comparison.total, comparison.score), (1, 3, 1.0 / 3.0));
    assert_eq!(differences(&comparison), [("x", ExtraField), ("y", ExtraField)]);
}

// Spec 4.10.
#[test]
fn mismatches_are_listed_up_to_a_limit_and_then_counted() {
    let comparison = compared(&json!(vec![1; 1_000]), &json!(vec![2; 999]), &Value::Null).unwrap();
    assert_eq!((comparison.mismatches.len(), comparison.truncated), (MAX_MISMATCHES, 800));
    let first = json!({ "path": "$[0]", "kind": "value", "expected": 1, "actual": 2 });
    assert_eq!(json!(comparison.mismatches[0]), first);
    let empty = json!(compared(&json!(1), &json!(1), &Value::Null).unwrap());
    let whole = json!({
        "score": 1.0, "matched": 1, "total": 1, "fields": [{ "path": "$", "matched": true }], "mismatches": [], "truncated": 0,
    });
    assert_eq!(empty, whole);
}

// D-62, EV-54.
#[test]
fn rules_that_cannot_apply_are_errors() {
    let unordered = json!({ "order": "unordered" });
    let by = json!({ "order": "unordered", "matchBy": "id" });
    for (expected, rule, path) in [
        (json!({ "a": 1 }), json!({ "a": unordered }), "a"),
        (json!({ "a": "x" }), json!({ "a": { "items": "exactly" } }), "a"),
        (json!({ "a": [1, true] }), json!({ "a[]": { "allowExtraFields": false } }), "a[]"),
        (json!({ "a": { "b": 1 } }), json!({ "a": by }), "a"),
        (json!(1), json!({ "$": { "allowExtraFields": true } }), "$"),
    ] {
        assert_refused(expected, rules(rule), "E_RULE_NOT_APPLICABLE", path);
    }
    for (expected, rule) in [
        (json!({ "a": 1 }), json!({ "b": unordered })),
        (json!({ "a": null }), json!({ "a": by })),
        (json!({ "a": { "b": [1] } }), json!({ "a": unordered })),
        (json!({ "a": [1, []] }), json!({ "a[]": { "numericTolerance": 1 } })),
        (json!({ "a": [{ "b": 1 }, { "b": [] }] }), json!({ "a[].b": unordered })),
    ] {
        assert!(compared(&expected, &expected, &rules(rule)).is_ok(), "{expected}");
    }
}

// Spec 4.7, D-59.
#[test]
fn limits_are_errors() {
    let unordered = json!({ "unorderedPaths": ["$"] });
    let full = json!((0..MAX_UNORDERED_ITEMS).collect::<Vec<_>>());
    let above = json!((0..=MAX_UNORDERED_ITEMS).collect::<Vec<_>>());
    assert_eq!(compared(&full, &full, &unordered).unwrap().score, 1.0);
    for (expected, actual) in [(&full, &above), (&above, &full)] {
        let error = compared(expected, actual, &unordered).unwrap_err();
        assert_eq!(error.code(), "E_COMPARISON_LIMIT");
        assert_eq!(error.to_string(), "the comparison exceeds the limit of 1000 items in an unordered array");
    }
    // No limit on the number of items where identities pair them.
    let items: Vec<_> = (0..5_000).map(|id| json!({ "id": id })).collect();
    let by = rules(json!({ "$": { "order": "unordered", "matchBy": "id" } }));
    let reversed: Vec<_> = items.iter().rev().cloned().collect();
    assert_eq!(compared(&json!(items), &json!(reversed), &by).unwrap().score, 1.0);
}
