//! The comparison against a comparator that is written straight from spec 4.5 to 4.9, without views, hashes or indexes.

use super::properties::json_value;
use super::*;
use proptest::prelude::*;
use serde_json::Map;

/// One rule at `$`, inherited everywhere.
#[derive(Clone, Debug)]
struct Uniform {
    order: &'static str,
    items: &'static str,
    allow_extra_fields: bool,
    tolerance: Option<f64>,
}

impl Uniform {
    fn options(&self) -> Value {
        let mut rule = json!({ "order": self.order, "items": self.items, "allowExtraFields": self.allow_extra_fields });
        if let Some(tolerance) = self.tolerance {
            rule["numericTolerance"] = json!(tolerance);
        }
        rules(json!({ "$": rule }))
    }

    fn matches(&self, expected: &Value, actual: &Value) -> bool {
        match (expected, actual) {
            (Value::Number(left), Value::Number(right)) => {
                let (left, right) = (left.as_f64().unwrap(), right.as_f64().unwrap());
                let (difference, larger) = ((right - left).abs(), left.abs().max(right.abs()));
                match self.tolerance {
                    None if left == 0.0 || right == 0.0 => difference < 1e-6,
                    None => difference / larger < 1e-6,
                    Some(tolerance) => difference <= tolerance + if tolerance > 0.0 { larger * 1e-15 } else { 0.0 },
                }
            }
            (Value::Array(left), Value::Array(right)) => self.items_match(left, right),
            (Value::Object(left), Value::Object(right)) => {
                left.iter().all(|(key, value)| right.get(key).is_some_and(|other| self.matches(value, other)))
                    && (self.allow_extra_fields || right.keys().all(|key| left.contains_key(key)))
            }
            _ => expected == actual,
        }
    }

    fn items_match(&self, expected: &[Value], actual: &[Value]) -> bool {
        let enough = match self.items {
            "at-least" => expected.len() <= actual.len(),
            "at-most" => actual.len() <= expected.len(),
            _ => expected.len() == actual.len(),
        };
        let common = expected.len().min(actual.len());
        enough
            && match self.order {
                "ordered" => expected.iter().zip(actual).all(|(left, right)| self.matches(left, right)),
                // Whoever needs partners is the shorter side.
                _ => self.most_pairs(expected, actual) == common,
            }
    }

    fn most_pairs(&self, expected: &[Value], actual: &[Value]) -> usize {
        fn search(edges: &[Vec<bool>], left: usize, seen: &mut [bool], partner: &mut [Option<usize>]) -> bool {
            (0..seen.len()).any(|right| {
                let open = edges[left][right] && !std::mem::replace(&mut seen[right], true);
                let found = open && partner[right].is_none_or(|left| search(edges, left, seen, partner));
                if found {
                    partner[right] = Some(left);
                }
                found
            })
        }
        let edges: Vec<Vec<bool>> =
            expected.iter().map(|left| actual.iter().map(|right| self.matches(left, right)).collect()).collect();
        let mut partner = vec![None; actual.len()];
        (0..edges.len()).filter(|left| search(&edges, *left, &mut vec![false; actual.len()], &mut partner)).count()
    }

    /// Matched and total, for an expected projection that is an object.
    fn score(&self, expected: &Map<String, Value>, actual: &Value) -> (usize, usize) {
        let Some(actual) = actual.as_object() else { return (0, expected.len()) };
        let matched = |(key, value): &(&String, &Value)| actual.get(*key).is_some_and(|it| self.matches(value, it));
        let extra = actual.keys().filter(|key| !self.allow_extra_fields && !expected.contains_key(*key)).count();
        (expected.iter().filter(matched).count(), expected.len() + extra)
    }
}

fn uniform() -> impl Strategy<Value = Uniform> {
    (
        prop::sample::select(vec!["ordered", "unordered"]),
        prop::sample::select(vec!["at-least", "at-most", "exactly"]),
        any::<bool>(),
        prop::sample::select(vec![None, Some(0.0), Some(0.5), Some(1.0)]),
    )
        .prop_map(|(order, items, allow_extra_fields, tolerance)| Uniform {
            order,
            items,
            allow_extra_fields,
            tolerance,
        })
}

fn members() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c"]), json_value(), 1..4)
        .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Arrays long enough for the index, of items of which many match several others.
fn long_array() -> impl Strategy<Value = Vec<Value>> {
    let number = (0..24_u8).prop_map(|half| json!(f64::from(half) / 2.0));
    let item = prop_oneof![
        4 => number.clone(),
        4 => (number.clone(), prop::sample::select(vec!["x", "y"]))
            .prop_map(|(n, kind)| json!({ "n": n, "kind": kind })),
        2 => number.clone().prop_map(|n| json!({ "n": n })),
        2 => prop::collection::vec(number.clone(), 0..3).prop_map(|list| json!({ "list": list })),
        2 => (number.clone(), number.clone()).prop_map(|(first, second)| json!([first, [second]])),
        1 => Just(Value::Null),
        1 => Just(json!({})),
    ];
    prop::collection::vec(item, 14..36)
}

#[track_caller]
fn assert_agrees(rule: &Uniform, expected: &Map<String, Value>, actual: &Value) -> Result<(), TestCaseError> {
    let comparison = compared(&Value::Object(expected.clone()), actual, &rule.options()).expect("a comparison");
    prop_assert_eq!((comparison.matched, comparison.total), rule.score(expected, actual));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    // 4.5 to 4.9
    #[test]
    fn small_projections_score_as_the_reference_says(rule in uniform(), expected in members(), actual in members(), other in json_value()) {
        assert_agrees(&rule, &expected, &Value::Object(actual))?;
        assert_agrees(&rule, &expected, &other)?;
    }

    // 4.7: shuffled copies, each item moved within the tolerance or out of it
    #[test]
    fn long_unordered_arrays_score_as_the_reference_says(
        rule in uniform(),
        (items, shuffled) in long_array().prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle())),
        moves in prop::collection::vec(prop::sample::select(vec![0.0, 0.0, 0.0, 0.5, -0.5, 1.0]), 36),
        (left, right) in (0..3_usize, 0..3_usize),
    ) {
        let rule = Uniform { order: "unordered", ..rule };
        let moved = shuffled.into_iter().zip(moves).map(|(item, by)| match item {
            Value::Number(number) => json!(number.as_f64().unwrap() + by),
            // Fewer or more items inside, as the policies allow.
            Value::Array(mut items) if by < 0.0 => {
                items.pop();
                Value::Array(items)
            }
            Value::Object(mut members) if by != 0.0 => {
                if let Some(list) = members.get_mut("list").and_then(Value::as_array_mut) {
                    if by < 0.0 { list.truncate(1) } else { list.push(json!(by)) }
                }
                Value::Object(members)
            }
            item => item,
        });
        let actual = json!({ "l": moved.skip(left).collect::<Vec<_>>() });
        let expected = Map::from_iter([("l".to_owned(), Value::Array(items[right..].to_vec()))]);
        assert_agrees(&rule, &expected, &actual)?;
    }

    // 4.3: whatever the guest lists; a mark makes nothing match that did not
    #[test]
    fn marks_never_make_a_value_match(
        expected in members(), actual in members(), rule in uniform(),
        marks in prop::collection::vec("(\\$?[.\\[\\]$a-c0-2\"…]{0,8})|(\\PC{0,8})", 0..4), on_expected in any::<bool>(),
    ) {
        let (left, right) = (Value::Object(expected), Value::Object(actual));
        let options = Options::parse(&rule.options()).unwrap();
        let none: &[String] = &[];
        let (of_left, of_right) = if on_expected { (&marks[..], none) } else { (none, &marks[..]) };
        let marked = compare(Projection::new(&left, of_left), Projection::new(&right, of_right), &options);
        match marked {
            Err(error) => prop_assert!(on_expected, "{error}"),
            // An undefined member of the actual side is no extra member, so only allowed extras keep the same total.
            Ok(marked) if rule.allow_extra_fields && rule.items == "at-least" => {
                let plain = compare(Projection::new(&left, none), Projection::new(&right, none), &options).unwrap();
                prop_assert!(marked.score <= plain.score);
            }
            Ok(marked) => prop_assert!((0.0..=1.0).contains(&marked.score)),
        }
    }
}
