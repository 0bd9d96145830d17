//! Nothing of one call is visible in the next, nor in the memory it starts from (CB-74, CB-76, hostile 22 and 35).

use callcell_runtime::{CallbackKind, EngineConfig, ImagePolicy, Reset};
use callcell_tests::{bundle_file, callback, callback_on, config, diff_selector, engine, engine_with, module};
use serde_json::json;

// CB-76
#[test]
fn a_module_counter_is_1_every_time() {
    let counter = callback(
        CallbackKind::DiffSelector,
        "let count = 0; const seen = [];",
        "seen.push(1); return [++count, seen.length];",
    );
    for _ in 0..100 {
        assert_eq!(counter.value(json!({})), json!([1, 1]));
    }
}

// CB-74
#[test]
fn what_a_call_changes_is_gone() {
    let top_level = "const shared = { list: [] }; const cache = new Map();";
    let body = "const traces = [globalThis.leak, Object.prototype.leak, Array.prototype.leak, [].map.leak, shared.leak, cache.get('leak'),
            Math.leak, console.leak, Symbol.for('leak').description === 'leak' ? undefined : 1, JSON.stringify({}) === '{}' ? undefined : 1,
            /(l)eak/.exec('leak').leak, Date.leak, Promise.leak, input.leak];
        if (traces.some((trace) => trace !== undefined)) throw new Error('a trace');
        globalThis.leak = Object.prototype.leak = Array.prototype.leak = [].map.leak = shared.leak = 1;
        shared.list.push(1); cache.set('leak', 1); Math.leak = console.leak = Date.leak = Promise.leak = 1;
        JSON.stringify = () => 'leak'; Array.prototype.push = null; delete globalThis.Map;
        Object.setPrototypeOf(Array.prototype, { leak: 1 }); Object.freeze(Object.prototype);
        return shared.list.length;";
    for policy in [ImagePolicy::Shared, ImagePolicy::Own, ImagePolicy::Adaptive] {
        let engine = engine_with(EngineConfig { images: policy, cells: 2, warm_memories: 2, ..config() });
        let messy = callback_on(&engine, CallbackKind::DiffSelector, top_level, body);
        for _ in 0..50 {
            assert_eq!(messy.value(json!({})), json!(1), "{policy:?}");
        }
    }
}

// CB-74
#[test]
fn what_a_failed_call_changes_is_gone() {
    let bodies = [
        "globalThis.leak = 1; throw 1;",
        "globalThis.leak = 1; (function f() { f(); })();",
        "globalThis.leak = 1; const all = []; for (;;) all.push(new Uint8Array(2 ** 20));",
        "globalThis.leak = 1; return () => 1;",
    ];
    let look = diff_selector("return [typeof leak, Object.prototype.leak ?? null];");
    for body in bodies {
        diff_selector(body).call(json!({})).expect_err(body);
        assert_eq!(look.value(json!({})), json!(["undefined", null]), "{body}");
    }
}

// CB-74
#[test]
fn bundles_do_not_see_each_other() {
    let bundles: Vec<_> = (0..20)
        .map(|number| {
            let top_level = format!("let mine = {number}; globalThis.shared = [{number}];");
            callback(
                CallbackKind::DiffSelector,
                &top_level,
                "shared.push(0); return [mine++, shared[0], shared.length, Object.keys(globalThis).length];",
            )
        })
        .collect();
    for _ in 0..20 {
        for (number, bundle) in bundles.iter().enumerate() {
            assert_eq!(bundle.value(json!({})), json!([number, number, 2, 1]));
        }
    }
}

/// Fills memory with a pattern that nothing else has: buffers, strings, numbers, console and arguments.
const FILL: &str = "const all = [];
    for (let i = 0; i < 8; i++) all.push(new Uint32Array(2 ** 17).fill(0xca11ce11));
    for (let i = 0; i < 200; i++) all.push('canary-9d41e7' + String(i).repeat(200));
    console.log('canary-9d41e7'.repeat(200)); globalThis.kept = [all, input]; return all.length;";

/// Counts the pattern in as much fresh memory as a call may have.
const SCAN: &str = "let found = 0;
    for (const bytes of [2 ** 22, 2 ** 16, 2 ** 12, 2 ** 20]) {
        for (const word of new Uint32Array(new ArrayBuffer(bytes))) if (word !== 0) found++;
    }
    for (const word of new Uint32Array(new ArrayBuffer(2 ** 10, { maxByteLength: 2 ** 16 }))) if (word !== 0) found++;
    return found;";

// CB-74, hostile 22
#[test]
fn no_call_finds_the_memory_of_another() {
    for reset in [Reset::Auto, Reset::SwapSafe] {
        let engine = engine_with(EngineConfig { reset, cells: 4, warm_memories: 4, ..config() });
        let fills: Vec<_> = (0..3)
            .map(|number| callback_on(&engine, CallbackKind::DiffSelector, &format!("const number = {number};"), FILL))
            .collect();
        let scan = callback_on(&engine, CallbackKind::DiffSelector, "", SCAN);
        for round in 0..100 {
            assert_eq!(fills[round % 3].value(json!({ "secret": "canary-9d41e7".repeat(1000) })), json!(208));
            assert_eq!(scan.value(json!({})), json!(0), "{reset:?}, round {round}");
        }
    }
}

// CB-74, hostile 22: an image is a cell's whole memory, so it would show what an earlier call left there
#[test]
fn a_fresh_cell_holds_nothing_of_1000_calls_before_it() {
    let (source, _) = callcell_tests::source(
        CallbackKind::Tool,
        "const table = Array.from({ length: 5000 }, (_, i) => i);",
        "return {};",
    );
    for reset in [Reset::Auto, Reset::SwapSafe] {
        let engine =
            engine_with(EngineConfig { reset, images: ImagePolicy::Shared, cells: 2, warm_memories: 2, ..config() });
        let clean = bundle_file(&engine, module(&source));
        let fills: Vec<_> = (0..3)
            .map(|number| callback_on(&engine, CallbackKind::DiffSelector, &format!("const number = {number};"), FILL))
            .collect();
        for round in 0..500 {
            assert_eq!(fills[round % 3].value(json!({ "secret": "canary-9d41e7".repeat(1000) })), json!(208));
            if round % 10 == 9 {
                let after = bundle_file(&engine, module(&source));
                assert!(after == clean, "{reset:?}: the image of round {round} differs");
            }
        }
        let bytes = clean.to_bytes().expect("it can be written");
        assert!(!bytes.windows(13).any(|window| window == b"canary-9d41e7"));
    }
}

// D-30
#[test]
fn the_same_modules_give_the_same_bundle() {
    let (source, _) = callcell_tests::source(CallbackKind::Tool, "const map = new Map([[{}, 1]]);", "return {};");
    let other = engine_with(EngineConfig { reset: Reset::SwapSafe, cells: 1, warm_memories: 1, ..config() });
    let [one, two, three] = [engine(), engine(), &other]
        .map(|engine| bundle_file(engine, module(&source)).to_bytes().expect("it can be written"));
    assert!(one == two && two == three);
}
