//! Fuel repeats exactly, everywhere, and a slower guest shows in it without a clock (issue 2, design 4).

use callcell_runtime::{CallOptions, CallbackKind, EngineConfig, ImagePolicy, Reset};
use callcell_tests::{Callback, alone, bundle, bundle_on, callback_on, config, engine, engine_with};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// Sample scripts and the fuel each may use. After a change to the guest that is meant to move them, run
/// `cargo test --release --workspace --test cell -- fuel::sample_scripts_keep_to_their_budgets --nocapture`, which
/// prints the new numbers.
const BUDGETS: [(&str, &str, u64); 7] = [
    ("noop", "return {};", 3_654),
    ("recursion", "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return { v: fib(18) };", 6_141_903),
    (
        "arrays",
        "const a = Array.from({ length: 3000 }, (_, i) => (i * 7919) % 3001); return { v: a.map((n) => n * 2).filter((n) => n % 3).sort((x, y) => x - y).length };",
        22_581_013,
    ),
    (
        "strings",
        "let s = ''; for (let i = 0; i < 2000; i++) s += `line ${i};`; return { v: s.split(';').map((l) => l.toUpperCase()).join('').length };",
        19_943_842,
    ),
    (
        "json",
        "const rows = Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] })); return { v: JSON.parse(JSON.stringify(rows)).length };",
        21_611_530,
    ),
    (
        "regex",
        "return { v: 'ab12cd345'.repeat(300).replace(/([a-z]+)(\\d+)/g, '$2$1').match(/\\d+/g).length };",
        12_387_055,
    ),
    ("boundary", "return { rows: input.rows };", 11_189_034),
];
/// The same for a tool whose bundle holds Zod.
const ZOD_BUDGET: u64 = 10_027;
/// How far a script may be from its budget, in either direction.
const SLACK: f64 = 0.02;

fn pinned() -> CallOptions {
    CallOptions {
        clock: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
        seed: Some(7),
        ..CallOptions::default()
    }
}

/// A bit of everything, clock and chance included.
const MIXED: &str = "const rows = Array.from({ length: 400 }, (_, i) => ({ i, x: Math.random(), at: new Date(Date.now() + i).toISOString() }));
    rows.sort((a, b) => a.x - b.x); const text = JSON.stringify(rows).replace(/\\d+/g, (n) => n.length);
    let caught = 0; try { (function f() { f(); })(); } catch { caught = 1; }
    return { text: text.length, caught, sum: input.list.reduce((a, b) => a + b, 0), big: String(3n ** 200n) };";

fn argument() -> Value {
    json!({ "list": (0..200).collect::<Vec<u32>>(), "rows": vec![json!({ "name": "row", "price": 1.25, "tags": ["a", "b"] }); 500] })
}

fn fuel(callback: &Callback) -> u64 {
    callback.call_with(argument(), &pinned()).unwrap_or_else(|error| panic!("{error:?}")).usage.fuel
}

fn mixed_on(config: EngineConfig) -> Callback {
    callback_on(
        &engine_with(EngineConfig { cells: 8, warm_memories: 8, ..config }),
        CallbackKind::Tool,
        "const kept = { a: 1 };",
        MIXED,
    )
}

#[test]
fn the_same_call_uses_the_same_fuel_50_times() {
    let mixed = mixed_on(config());
    let first = fuel(&mixed);
    // With `ImagePolicy::Adaptive` the bundle gets an image of its own on the way.
    assert!((0..50).all(|_| fuel(&mixed) == first));
    std::thread::sleep(Duration::from_millis(200));
    assert!((0..10).all(|_| fuel(&mixed) == first));
}

#[test]
fn fuel_is_the_same_with_every_image_policy_and_reset() {
    let expected = fuel(&mixed_on(config()));
    for images in [ImagePolicy::Own, ImagePolicy::Shared, ImagePolicy::Adaptive] {
        for reset in [Reset::Auto, Reset::SwapSafe] {
            assert_eq!(fuel(&mixed_on(EngineConfig { images, reset, ..config() })), expected, "{images:?} {reset:?}");
        }
    }
}

#[test]
fn fuel_is_the_same_in_a_new_process() {
    let printed = alone("fuel::fuel_is_the_same_in_a_new_process", || println!("fuel={};", fuel(&mixed_on(config()))));
    // In the child nothing is printed back.
    if let Some((_, rest)) = printed.split_once("fuel=") {
        let other = rest.split_once(';').map(|(number, _)| number.to_owned());
        assert_eq!(other, Some(fuel(&mixed_on(config())).to_string()));
    }
}

#[test]
fn fuel_is_the_same_under_load() {
    let mixed = mixed_on(config());
    let expected = fuel(&mixed);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!((0..30).all(|_| fuel(&mixed) == expected)));
        }
    });
}

#[test]
fn fuel_of_a_failure_repeats_too() {
    for body in [
        "throw new Error('x');",
        "(function f() { f(); })();",
        "return () => 1;",
        "const all = []; for (;;) all.push({});",
    ] {
        let failing = callback_on(engine(), CallbackKind::Tool, "", body);
        let used = || failing.call_with(json!({}), &pinned()).expect_err(body).usage.expect("it ran").fuel;
        let first = used();
        assert!((0..5).all(|_| used() == first), "{body}");
    }
}

#[test]
fn a_longer_loop_uses_more_fuel() {
    let looping = callback_on(engine(), CallbackKind::DiffSelector, "", "for (let i = 0; i < input; i++); return 0;");
    let used = [1000, 2000, 4000].map(|turns| looping.outcome(json!(turns)).usage.fuel);
    assert_eq!((used[2] - used[1]) / (used[1] - used[0]), 2);
}

#[test]
fn sample_scripts_keep_to_their_budgets() {
    let mut used: Vec<(String, u64, u64)> = BUDGETS
        .into_iter()
        .map(|(name, body, budget)| {
            let script = callback_on(engine(), CallbackKind::Tool, "", body);
            let argument = if name == "boundary" { argument() } else { json!({}) };
            let outcome = script.call_with(argument, &pinned()).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            (name.to_owned(), outcome.usage.fuel, budget)
        })
        .collect();
    let zod = bundle(
        "import { createTool } from '@eigenpal/automations';
         import { z } from 'zod';
         export const total = createTool({ description: 'Total.', inputSchema: z.object({ subtotal: z.number() }),
           outputSchema: z.strictObject({ total: z.number() }), execute: ({ subtotal }) => ({ total: subtotal * 1.2 }) });",
    );
    let outcome = zod.call_blocking("total", &json!({ "subtotal": 100 }), &pinned()).expect("it works");
    used.push(("zod".into(), outcome.usage.fuel, ZOD_BUDGET));
    let table: Vec<String> =
        used.iter().map(|(name, used, budget)| format!("{name}: {used} fuel, budget {budget}")).collect();
    println!("{}", table.join("\n"));
    let off = |used: u64, budget: u64| (used as f64 - budget as f64).abs() > budget as f64 * SLACK;
    assert!(!used.iter().any(|(_, used, budget)| off(*used, *budget)), "{table:#?}");
}

#[test]
fn usage_is_complete() {
    let engine = engine_with(EngineConfig { cells: 1, warm_memories: 1, ..config() });
    let bundle = bundle_on(&engine, &callcell_tests::source(CallbackKind::Tool, "", "return { v: input.v };").0);
    let usage = bundle.call_blocking("probe", &json!({ "v": "é" }), &pinned()).expect("it works").usage;
    assert_eq!((usage.argument_bytes, usage.result_bytes), (10, 10));
    assert!(usage.fuel > 1000 && usage.wall > Duration::ZERO, "{usage:?}");
    assert!((100_000..4_000_000).contains(&usage.peak_memory_bytes), "{usage:?}");
}
