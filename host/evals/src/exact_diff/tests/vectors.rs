//! The vectors of spec 4.12, by their numbers.

use super::*;

const DEFAULT: Value = Value::Null;

/// Number, expected, actual, options, matched, total, differences.
type Vector = (u32, Value, Value, Value, usize, usize, &'static [(&'static str, MismatchKind)]);

fn scored() -> Vec<Vector> {
    use MismatchKind::{ExtraField, ExtraItem, Missing, MissingItem, Type, Value as Other};
    let unordered = || rules(json!({ "a": { "order": "unordered" } }));
    let items = |policy: &str| rules(json!({ "a": { "items": policy } }));
    let match_by = |name: &str| rules(json!({ "l": { "order": "unordered", "matchBy": name } }));
    let (float, noisy) = (json!({ "a": 0.3 }), json!({ "a": 0.30000000000000004 }));
    let tolerance = |tolerance: f64| rules(json!({ "a": { "numericTolerance": tolerance } }));
    vec![
        (1, json!({ "total": 10 }), json!({ "total": 10, "x": 1 }), DEFAULT, 1, 1, &[]),
        (
            2,
            json!({ "total": 10 }),
            json!({ "total": 10, "x": 1 }),
            json!({ "allowExtraFields": false }),
            1,
            2,
            &[("x", ExtraField)],
        ),
        (3, json!({ "a": 1, "b": 2 }), json!({ "a": 1, "b": 3 }), DEFAULT, 1, 2, &[("b", Other)]),
        (4, json!({ "a": [1, 2] }), json!({ "a": [1, 2, 3] }), DEFAULT, 1, 1, &[]),
        (5, json!({ "a": [1, 2] }), json!({ "a": [2, 1] }), DEFAULT, 0, 1, &[("a[0]", Other), ("a[1]", Other)]),
        (6, json!({ "a": [1, 2] }), json!({ "a": [2, 1] }), unordered(), 1, 1, &[]),
        (7, json!({ "a": [1, 2] }), json!({ "a": [1, 2, 3] }), items("exactly"), 0, 1, &[("a[2]", ExtraItem)]),
        (8, json!({ "a": [1, 2, 3] }), json!({ "a": [1, 2] }), items("at-most"), 1, 1, &[]),
        (9, json!({ "a": [1, 2, 3] }), json!({ "a": [2] }), items("at-most"), 0, 1, &[("a[0]", Other)]),
        (
            10,
            json!({ "a": [1, 2, 3] }),
            json!({ "a": [2] }),
            rules(json!({ "a": { "items": "at-most", "order": "unordered" } })),
            1,
            1,
            &[],
        ),
        (11, json!({ "a": [1] }), json!({ "a": [9, 1] }), DEFAULT, 0, 1, &[("a[0]", Other)]),
        (12, json!({ "a": [1, 1] }), json!({ "a": [1, 2] }), unordered(), 0, 1, &[("a[1]", MissingItem)]),
        (
            13,
            json!({ "a": [{ "a": 1 }, { "a": 1, "b": 2 }] }),
            json!({ "a": [{ "a": 1, "b": 2 }, { "a": 1 }] }),
            unordered(),
            1,
            1,
            &[],
        ),
        (14, json!({ "a": null }), json!({ "a": null }), DEFAULT, 1, 1, &[]),
        (15, json!({ "a": null }), json!({}), DEFAULT, 0, 1, &[("a", Missing)]),
        (16, json!({ "a": "" }), json!({ "a": "x" }), DEFAULT, 0, 1, &[("a", Other)]),
        (17, json!({ "a": false, "b": 0 }), json!({ "a": false, "b": 0 }), DEFAULT, 2, 2, &[]),
        (22, json!({ "a": "10" }), json!({ "a": 10 }), DEFAULT, 0, 1, &[("a", Type)]),
        (23, json!({ "a": 1.00 }), json!({ "a": 1.01 }), tolerance(0.01), 1, 1, &[]),
        (24, json!({ "a": 1.00 }), json!({ "a": 1.011 }), tolerance(0.01), 0, 1, &[("a", Other)]),
        (25, float.clone(), noisy.clone(), DEFAULT, 1, 1, &[]),
        (26, float, noisy, tolerance(0.0), 0, 1, &[("a", Other)]),
        (
            27,
            json!({ "l": [{ "sku": "A", "p": 1 }, { "sku": "B", "p": 2 }] }),
            json!({ "l": [{ "sku": "B", "p": 2 }, { "sku": "A", "p": 9 }] }),
            match_by("sku"),
            0,
            1,
            &[("l[0].p", Other)],
        ),
        (
            28,
            json!({ "l": [{ "id": 10 }] }),
            json!({ "l": [{ "id": "10" }] }),
            match_by("id"),
            0,
            1,
            &[("l[0]", MissingItem)],
        ),
        (
            30,
            json!({ "l": [{ "id": 1 }] }),
            json!({ "l": [{ "id": 1, "x": 0 }, { "id": 1 }] }),
            match_by("id"),
            1,
            1,
            &[],
        ),
        (
            31,
            json!({ "t": 1, "e": "old" }),
            json!({ "t": 1, "e": "new" }),
            rules(json!({ "e": { "ignore": true } })),
            1,
            1,
            &[],
        ),
        (
            33,
            json!({ "s": { "a": 1 } }),
            json!({ "s": { "a": 1, "b": 2 } }),
            rules(json!({ "s": { "allowExtraFields": false } })),
            0,
            1,
            &[("s.b", ExtraField)],
        ),
        (
            34,
            json!({ "l": [{ "p": 1 }] }),
            json!({ "l": [{ "p": 1, "q": 1 }] }),
            rules(json!({ "l[]": { "allowExtraFields": false } })),
            0,
            1,
            &[("l[0].q", ExtraField)],
        ),
        (
            35,
            json!([1, 2]),
            json!([1, 2, 3]),
            rules(json!({ "$": { "items": "exactly" } })),
            0,
            1,
            &[("$[2]", ExtraItem)],
        ),
        (36, json!({ "a": 1, "b": 1 }), json!({ "a": 1, "b": 2 }), rules(json!({ "a": {} })), 1, 2, &[("b", Other)]),
        (
            37,
            json!({ "a": { "x": 1.2 }, "b": 1.2 }),
            json!({ "a": { "x": 1.25 }, "b": 1.25 }),
            rules(json!({ "$": { "numericTolerance": 0 }, "a": { "numericTolerance": 0.1 } })),
            1,
            2,
            &[("b", Other)],
        ),
        (38, json!({ "a": [] }), json!({ "a": [1] }), DEFAULT, 1, 1, &[]),
        (38, json!({ "a": [] }), json!({ "a": [1] }), items("exactly"), 0, 1, &[("a[0]", ExtraItem)]),
        (43, json!({ "__proto__": 1 }), json!({ "__proto__": 1 }), DEFAULT, 1, 1, &[]),
    ]
}

#[test]
fn vectors_with_a_score() {
    for (number, expected, actual, options, matched, total, found) in scored() {
        let comparison =
            compared(&expected, &actual, &options).unwrap_or_else(|error| panic!("vector {number}: {error}"));
        assert_eq!((comparison.matched, comparison.total), (matched, total), "vector {number}");
        assert_eq!(comparison.score, matched as f64 / total as f64, "vector {number}");
        assert_eq!(differences(&comparison), found, "vector {number}");
        assert_eq!(comparison.truncated, 0, "vector {number}");
    }
}

#[test]
fn vectors_18_to_21_undefined_and_empty() {
    let undefined = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let null = json!({ "a": null });
    let compare_marked = |expected: &Value, expected_marks: &[&str], actual: &Value, actual_marks: &[&str]| {
        let (left, right) = (undefined(expected_marks), undefined(actual_marks));
        compare(Projection::new(expected, &left), Projection::new(actual, &right), &Options::default())
    };
    let missing = |path: &str| Err(ComparisonError::SelectionMissing { path: path.to_owned() });
    // 18, EV-50
    assert_eq!(compare_marked(&null, &["$.a"], &null, &["$.a"]), missing("a"));
    // 19, EV-53
    for empty in [json!({}), json!([])] {
        assert_eq!(compare_marked(&empty, &[], &json!({ "a": 1 }), &[]), Err(ComparisonError::SelectionEmpty));
    }
    // 20, EV-52
    assert_eq!(compare_marked(&Value::Null, &["$"], &json!(1), &[]), missing("$"));
    // 21, D-46
    let comparison = compare_marked(&json!({ "a": 1 }), &[], &Value::Null, &["$"]).unwrap();
    assert_eq!((comparison.score, comparison.total), (0.0, 1));
    assert_eq!(differences(&comparison), [("$", MismatchKind::Missing)]);
    assert_eq!(comparison.mismatches[0].actual, None);
}

#[test]
fn vectors_29_and_32_errors() {
    // 29, D-60: whatever the actual projection is.
    let match_by = rules(json!({ "l": { "order": "unordered", "matchBy": "id" } }));
    for actual in [json!({}), json!({ "l": [{ "id": 1 }, { "id": 1 }] }), json!(null)] {
        let error = compared(&json!({ "l": [{ "id": 1 }, { "id": 1 }] }), &actual, &match_by).unwrap_err();
        assert_eq!((error.code(), error.path()), ("E_RULE_NOT_APPLICABLE", Some("l[1]")));
    }
    // 32
    let error = compared(&json!({ "e": "old" }), &json!(1), &rules(json!({ "e": { "ignore": true } }))).unwrap_err();
    assert_eq!(error.code(), "E_EXPECTED_SELECTION_EMPTY");
}

#[test]
fn vectors_39_to_42_options() {
    for (number, options, code) in [
        (39, json!({ "rules": {}, "numericTolerance": 0 }), "C_EXACT_DIFF_MIXED"),
        (40, rules(json!({ "a": { "ignore": true, "order": "ordered" } })), "C_EXACT_DIFF_OPTIONS"),
        (41, rules(json!({ "l[]": { "items": "exactly" } })), "C_EXACT_DIFF_OPTIONS"),
        (42, rules(json!({ "l": { "matchBy": "id" } })), "C_EXACT_DIFF_OPTIONS"),
    ] {
        assert_eq!(Options::parse(&options).map(|_| ()).map_err(|error| error.code()), Err(code), "vector {number}");
    }
}
