//! Inputs made to be expensive or deep. Actual projections are chosen by a model, expected ones by whoever wrote the dataset.

use super::*;

fn nested(levels: usize) -> Value {
    // Not with `json!`, which would copy and so descend.
    (0..levels).fold(json!(1), |value, level| match level % 2 {
        0 => Value::Array(vec![value]),
        _ => Value::Object([("a".to_owned(), value)].into_iter().collect()),
    })
}

#[test]
fn depth_is_bounded() {
    let deepest = nested(128);
    for options in [Value::Null, json!({ "unorderedPaths": ["$"] })] {
        assert_eq!(compared(&deepest, &deepest, &options).unwrap().score, 1.0);
        for (expected, actual) in [(nested(129), json!([1])), (json!([1]), nested(4_000))] {
            assert_eq!(compared(&expected, &actual, &options).unwrap_err().code(), "E_COMPARISON_LIMIT");
        }
    }
}

#[test]
fn what_is_ignored_may_be_deep() {
    let mut expected = json!({ "t": { "x": 1 } });
    let actual = expected.clone();
    expected["t"]["x"] = nested(4_000);
    let options = rules(json!({ "t.x": { "ignore": true }, "t": { "numericTolerance": 0 } }));
    assert_eq!(compared(&expected, &actual, &options).unwrap().score, 1.0);
    // It is part of the value that is shown.
    let comparison = compared(&expected, &json!({ "t": 1 }), &options).unwrap();
    assert!(comparison.mismatches[0].expected.as_ref().and_then(Value::as_str).is_some_and(|text| text.ends_with('…')));
}

fn list(items: usize, item: impl Fn(usize) -> Value) -> Value {
    Value::Array((0..items).map(item).collect())
}

/// 128 KiB against 128 KiB in the shapes that cost most. Each ends, with its verdict.
#[test]
fn large_comparisons_end_with_a_verdict() {
    let line = |id: usize, noise: f64| {
        json!({ "sku": format!("SKU-{id:05}"), "name": format!("A thing to sell, number {id}"), "qty": id % 7, "price": id as f64 * 1.25 + noise,
            "tags": ["new", "sale"], "stock": { "here": id % 3, "there": true } })
    };
    let lines = list(1_000, |id| line(id, 0.0));
    let any = json!({ "unorderedPaths": ["$"] });
    let score =
        |expected: &Value, actual: &Value, options: &Value| compared(expected, actual, options).map(|it| it.score);

    let ints = list(60_000, |_| json!(1));
    assert!(ints.to_string().len() < 128 * 1024);
    assert_eq!(score(&ints, &ints, &Value::Null), Ok(1.0));
    assert_eq!(score(&ints, &list(60_000, |_| json!(2)), &Value::Null), Ok(0.0));
    assert_eq!(score(&lines, &lines, &Value::Null), Ok(1.0));
    let members =
        |step: usize| Value::Object((0..12_000).map(|id| (format!("k{}", id * step % 12_000), json!(1))).collect());
    assert_eq!(score(&members(1), &members(7_919), &Value::Null), Ok(1.0));
    assert_eq!(score(&lines, &list(1_000, |id| line(999 - id, 0.0)), &any), Ok(1.0));
    assert_eq!(score(&lines, &list(1_000, |id| line(999 - id, 1e-7)), &any), Ok(1.0));
    assert_eq!(score(&lines, &list(1_000, |id| line(999 - id, 1.0)), &any), Ok(0.0));
    // Every search for a partner has to move all that were found before.
    let chain = json!({ "unorderedPaths": ["$"], "numericTolerance": 0.5 });
    assert_eq!(score(&list(1_000, |id| json!(id)), &list(1_000, |id| json!(999.5 - id as f64)), &chain), Ok(1.0));
    let boxed = |shift: f64| list(1_000, |id| json!([(id as f64 + shift) % 1_000.0, "x".repeat(100)]));
    assert_eq!(score(&boxed(0.0), &boxed(1.25), &chain), Ok(1.0));
    // No single scalar tells these apart, so pairs are tried, up to a limit.
    let parted = |shift: usize| list(1_000, |id| json!([[id % 30, id / 30], [(id / 30 + shift) % 34, "x".repeat(90)]]));
    let tried = score(&parted(0), &parted(1), &any);
    assert!(matches!(tried, Ok(_) | Err(ComparisonError::Limit { .. })), "{tried:?}");
    // Unordered in unordered.
    let matrix =
        |first: usize| list(250, |row| list(100, |column| json!([(row * 100 + column + first) % 7, column % 2])));
    let tried = score(&matrix(0), &matrix(3), &any);
    assert!(matches!(tried, Ok(_) | Err(ComparisonError::Limit { .. })), "{tried:?}");
}

/// Prints how long 128 KiB against 128 KiB take: `cargo test --release --workspace --lib -- --ignored --nocapture speed_of`.
/// The targets: 5 ms ordered, 50 ms unordered with 1,000 items.
#[test]
#[ignore = "measures"]
fn speed_of_large_comparisons() {
    let item = |id: usize, noise: f64| json!({ "sku": format!("SKU-{id:05}"), "name": format!("A thing to sell, number {id:05}, {}", "x".repeat(16)), "qty": id % 7, "price": id as f64 * 1.25 + noise, "stock": { "here": id % 3 } });
    let ordered = list(1_000, |id| item(id, 0.0));
    let reversed = |noise: f64| list(1_000, |id| item(999 - id, noise));
    let boxed = |shift: f64| list(1_000, |id| json!([(id as f64 + shift) % 1_000.0, "x".repeat(100)]));
    let parted = |shift: usize| list(1_000, |id| json!([[id % 30, id / 30], [(id / 30 + shift) % 34, "x".repeat(90)]]));
    let any = json!({ "unorderedPaths": ["$"], "numericTolerance": 0.5 });
    let exactly = rules(json!({ "$": { "order": "unordered", "items": "exactly", "allowExtraFields": false } }));
    for (name, expected, actual, options) in [
        ("ordered, equal", ordered.clone(), ordered.clone(), Value::Null),
        ("ordered, nothing equal", ordered.clone(), reversed(0.0), Value::Null),
        ("unordered, a permutation", ordered.clone(), reversed(0.0), exactly.clone()),
        ("unordered, all within the tolerance", ordered.clone(), reversed(0.25), any.clone()),
        ("unordered, nothing equal", ordered, reversed(1.0), exactly),
        (
            "unordered, a chain of augmenting paths",
            list(1_000, |id| json!(id)),
            list(1_000, |id| json!(999.5 - id as f64)),
            any.clone(),
        ),
        ("unordered, arrays in the array", boxed(0.0), boxed(1.25), any.clone()),
        ("unordered, items without a telling scalar", parted(0), parted(1), any),
    ] {
        let options = if options.is_null() { Options::default() } else { Options::parse(&options).unwrap() };
        let run = || {
            let start = std::time::Instant::now();
            let result = compare(Projection::new(&expected, &[]), Projection::new(&actual, &[]), &options);
            (start.elapsed(), result.map(|comparison| comparison.score).map_err(|error| error.code()))
        };
        let mut times: Vec<_> = (0..21).map(|_| run().0).collect();
        times.sort_unstable();
        let (_, result) = run();
        println!(
            "{name}: {} and {} bytes, median {:?}, worst {:?}, {result:?}",
            expected.to_string().len(),
            actual.to_string().len(),
            times[10],
            times[20]
        );
    }
}
