//! Properties of every comparison, on values and options that proptest makes up.

use super::super::path::{Dialect, Step, parse};
use super::*;
use proptest::prelude::*;

/// JSON whose keys and scalars are few, so that two of them often have something in common.
pub(super) fn json_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i32).prop_map(Value::from),
        prop::sample::select(vec![0.1, 1e-7, 1e300, 0.30000000000000004]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "10", "ü", "__proto__"]).prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c.d", "id", "__proto__"]), inner, 0..4)
                .prop_map(|members| Value::Object(
                    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
                )),
        ]
    })
}

/// Options that are valid, of every kind.
fn options() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(vec!["$", "a", "b", "a[]", "a[].b", "$[]", r#"["c.d"]"#, "a.b"]);
    let rule = prop_oneof![
        Just(json!({})),
        Just(json!({ "order": "unordered" })),
        Just(json!({ "items": "exactly" })),
        Just(json!({ "items": "at-most", "order": "unordered" })),
        Just(json!({ "allowExtraFields": false })),
        Just(json!({ "numericTolerance": 0.5 })),
        Just(json!({ "order": "unordered", "matchBy": "id" })),
        Just(json!({ "ignore": true })),
    ];
    prop_oneof![
        Just(json!({})),
        Just(json!({ "allowExtraFields": false })),
        Just(json!({ "unorderedPaths": ["a", "$"], "numericTolerance": 0 })),
        Just(json!({ "paths": ["a", "b"] })),
        prop::collection::btree_map(path, rule, 0..4).prop_map(|map| {
            let rules: serde_json::Map<_, _> = map.into_iter().map(|(path, rule)| (path.to_owned(), rule)).collect();
            json!({ "rules": rules })
        }),
    ]
}

/// What stands at a path of a report, if anything does.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let steps = parse(path, Dialect::Selection);
    let mut place = value;
    for step in steps.unwrap_or_else(|| panic!("`{path}` is no path")) {
        place = match step {
            Step::Key(name) => place.get(&name)?,
            Step::Index(index) => place.get(index)?,
            Step::Items => return None,
        };
    }
    Some(place)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    // EV-43, 4.9
    #[test]
    fn equal_projections_score_one(value in json_value(), exact in any::<bool>()) {
        let options = if exact { json!({ "allowExtraFields": false }) } else { Value::Null };
        match compared(&value, &value, &options) {
            Ok(comparison) => {
                prop_assert_eq!(comparison.score, 1.0);
                prop_assert!(comparison.mismatches.is_empty());
            }
            Err(error) => prop_assert_eq!(error.code(), "E_EXPECTED_SELECTION_EMPTY"),
        }
    }

    // 4.9: finite, from 0 to 1, and the sum of its parts
    #[test]
    fn a_score_is_the_share_of_matched_fields(expected in json_value(), actual in json_value(), options in options()) {
        let Ok(parsed) = Options::parse(&options) else { return Ok(()) };
        let compared = compare(Projection::new(&expected, &[]), Projection::new(&actual, &[]), &parsed);
        if let Ok(comparison) = compared {
            prop_assert!(comparison.total >= 1 && comparison.score.is_finite());
            prop_assert_eq!(comparison.score, comparison.matched as f64 / comparison.total as f64);
            prop_assert_eq!(comparison.matched, comparison.fields.iter().filter(|field| field.matched).count());
            prop_assert_eq!(comparison.mismatches.is_empty(), comparison.matched == comparison.total);
        }
    }

    // 4.10: a mismatch names a path that really differs
    #[test]
    fn mismatches_differ(expected in json_value(), actual in json_value()) {
        if let Ok(comparison) = compared(&expected, &actual, &Value::Null) {
            for mismatch in &comparison.mismatches {
                prop_assert_ne!(at(&expected, &mismatch.path), at(&actual, &mismatch.path), "{}", mismatch.path);
            }
        }
    }

    // EV-61, 4.7
    #[test]
    fn the_order_of_an_unordered_array_means_nothing(
        (items, shuffled) in prop::collection::vec(json_value(), 1..8).prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle())),
        other in prop::collection::vec(json_value(), 1..8),
    ) {
        let options = rules(json!({ "l": { "order": "unordered", "items": "exactly" } }));
        let score = |expected: &[Value], actual: &[Value]| compared(&json!({ "l": expected }), &json!({ "l": actual }), &options).map(|it| it.score);
        prop_assert_eq!(score(&items, &shuffled), Ok(1.0));
        prop_assert_eq!(score(&items, &other), score(&shuffled, &other));
        prop_assert_eq!(score(&other, &items), score(&other, &shuffled));
    }

    // 4.6, 4.7: with nothing extra allowed on either side, the sides are alike
    #[test]
    fn an_exact_comparison_is_symmetric(left in json_value(), right in json_value()) {
        let options = json!({ "allowExtraFields": false });
        if let (Ok(one), Ok(other)) = (compared(&left, &right, &options), compared(&right, &left, &options)) {
            prop_assert_eq!(one.score == 1.0, other.score == 1.0);
        }
    }

    // 4.4: options come from a manifest, which comes from anybody
    #[test]
    fn any_options_are_taken_or_refused(options in json_value(), text in "\\PC{0,12}") {
        for options in [options, json!({ "rules": { text.clone(): { "ignore": true } } }), json!({ "paths": [text] })] {
            if let Err(error) = Options::parse(&options) {
                prop_assert!(error.code().starts_with("C_EXACT_DIFF_"));
            }
        }
    }
}
