//! Every limit of a call, on both sides of its boundary (3.3, CB-86 to CB-95).

use callcell_runtime::{CallError, CallErrorKind, CallOptions, EngineConfig, Limits, Outcome};
use callcell_tests::{
    Callback, KINDS, alone, assert_alive, callback, callback_on, config, diff_selector, engine, engine_with, tool,
};
use serde_json::json;
use std::time::{Duration, Instant};

fn with(limits: Limits) -> CallOptions {
    CallOptions { limits: Some(limits), ..CallOptions::default() }
}

fn run(body: &str, limits: Limits) -> Result<Outcome, CallError> {
    diff_selector(body).call_with(json!({}), &with(limits))
}

fn quick() -> Limits {
    Limits { time: Duration::from_millis(250), ..Limits::default() }
}

/// Asserts that hostile work ends in a limit, soon, and that the engine works afterwards.
fn assert_stopped(bodies: &[&str]) {
    for body in bodies {
        let started = Instant::now();
        let error = run(body, quick()).map(|outcome| outcome.value).expect_err(body);
        assert!(["R_TIMEOUT", "R_FUEL", "R_MEMORY"].contains(&error.code()), "{body}: {error:?}");
        assert!(started.elapsed() < Duration::from_secs(3), "{body}: {:?}", started.elapsed());
    }
    assert_alive(engine());
}

// CB-89
#[test]
fn a_result_of_131072_bytes_passes_and_one_more_fails() {
    let text = diff_selector("return 'x'.repeat(input);");
    assert_eq!(text.outcome(json!(131_070)).usage.result_bytes, 131_072);
    let error = text.call(json!(131_071)).expect_err("131,073 bytes");
    assert_eq!((error.code(), &error.kind), ("R_RESULT_TOO_LARGE", &CallErrorKind::ResultTooLarge { limit: 131_072 }));
    let object = tool("return { [`k${'é'.repeat(input.key)}`]: ['x'.repeat(input.item), 1] };");
    let outcome = object.outcome(json!({ "key": 30_000, "item": 71_060 }));
    assert_eq!(outcome.usage.result_bytes, 131_072);
    assert_eq!(object.refusal(json!({ "key": 30_000, "item": 71_061 })).code(), "R_RESULT_TOO_LARGE");
    let escaped = diff_selector("return '\\x01'.repeat(input) + 'xxxx';");
    assert_eq!(escaped.outcome(json!(21_844)).usage.result_bytes, 131_070);
    assert_eq!(escaped.refusal(json!(21_845)).code(), "R_RESULT_TOO_LARGE");
    for huge in [
        "return new Array(2 ** 20).fill(0);",
        "return 'x'.repeat(2 ** 24);",
        "let s = 'x'; for (let i = 0; i < 24; i++) s += s; return s;",
        "return { ['k'.repeat(2 ** 22)]: 1 };",
    ] {
        assert_eq!(diff_selector(huge).refusal(json!({})).code(), "R_RESULT_TOO_LARGE", "{huge}");
    }
}

// CB-90
#[test]
fn arguments_of_262144_bytes_pass_and_one_more_fails_before_a_cell_exists() {
    for kind in KINDS {
        let length = callback(kind, "", "throw input.length ?? input.v.length;");
        let sized = |bytes: usize| json!({ "v": "x".repeat(bytes - 8) });
        let passed = length.call(sized(262_144)).expect_err("it throws");
        assert_eq!(
            (passed.code(), passed.usage.map(|usage| usage.argument_bytes)),
            ("R_THREW", Some(262_144)),
            "{kind:?}"
        );
        let refused = length.call(sized(262_145)).expect_err("one byte more");
        assert_eq!(refused.kind, CallErrorKind::ArgumentsTooLarge { bytes: 262_145, limit: 262_144 }, "{kind:?}");
        assert_eq!((refused.code(), refused.usage), ("R_ARGS_TOO_LARGE", None));
    }
    let echo = diff_selector("return input.length;");
    assert_eq!(echo.value(json!("é".repeat(131_071))), json!(131_071));
    assert_eq!(echo.value(json!("\u{1}".repeat(43_690))), json!(43_690));
}

// CB-91, CB-93
#[test]
fn lower_limits_win_and_higher_ones_do_not_raise() {
    let lower = Limits {
        time: Duration::from_millis(100),
        fuel: 1_000_000_000,
        memory_bytes: 8 << 20,
        stack_bytes: 64 << 10,
        argument_bytes: 1000,
        result_bytes: 500,
    };
    let huge = Limits {
        time: Duration::from_secs(99),
        fuel: u64::MAX,
        memory_bytes: usize::MAX,
        stack_bytes: usize::MAX,
        argument_bytes: usize::MAX,
        result_bytes: usize::MAX,
    };
    let tight = engine_with(EngineConfig { limits: lower, cells: 2, warm_memories: 2, ..config() });
    for (engine, options) in [(engine(), with(lower)), (&tight, CallOptions::default()), (&tight, with(huge))] {
        let text = callback_on(
            engine,
            callcell_runtime::CallbackKind::DiffSelector,
            "",
            "return 'x'.repeat(input.length ?? input);",
        );
        assert_eq!(text.call_with(json!(498), &options).expect("500 bytes").usage.result_bytes, 500);
        let error = text.call_with(json!(499), &options).expect_err("501 bytes");
        assert_eq!(error.kind, CallErrorKind::ResultTooLarge { limit: 500 });
        let error = text.call_with(json!("x".repeat(999)), &options).expect_err("1001 bytes");
        assert_eq!(error.kind, CallErrorKind::ArgumentsTooLarge { bytes: 1001, limit: 1000 });
        let memory = callback_on(
            engine,
            callcell_runtime::CallbackKind::DiffSelector,
            "",
            "return new Uint8Array(input).length;",
        );
        assert_eq!(memory.call_with(json!(4 << 20), &options).expect("4 MiB").value, json!(4 << 20));
        assert_eq!(memory.call_with(json!(8 << 20), &options).expect_err("8 MiB").code(), "R_MEMORY");
        let looping = callback_on(engine, callcell_runtime::CallbackKind::DiffSelector, "", "for (;;);");
        let error = looping.call_with(json!({}), &options).expect_err("it loops");
        assert!(["R_TIMEOUT", "R_FUEL"].contains(&error.code()), "{error:?}");
        let usage = error.usage.expect("it ran");
        assert!(usage.fuel <= 1_000_000_000 && usage.wall < Duration::from_secs(2), "{usage:?}");
    }
    for options in [CallOptions::default(), with(huge)] {
        let text = diff_selector("return 'x'.repeat(input.length ?? input);");
        assert_eq!(
            text.call_with(json!(131_071), &options).expect_err("too long").kind,
            CallErrorKind::ResultTooLarge { limit: 131_072 }
        );
        assert_eq!(
            text.call_with(json!("x".repeat(262_143)), &options).expect_err("too long").code(),
            "R_ARGS_TOO_LARGE"
        );
        assert_eq!(
            diff_selector("return new Uint8Array(64 * 2 ** 20).length;")
                .call_with(json!({}), &options)
                .expect_err("64 MiB")
                .code(),
            "R_MEMORY"
        );
        assert_eq!(
            diff_selector("let n = 0; (function f() { n++; f(); })();")
                .call_with(json!({}), &options)
                .expect_err("deep")
                .code(),
            "R_STACK"
        );
    }
}

// CB-94, CB-95
#[test]
fn with_scripts_off_every_kind_fails() {
    let off = engine_with(EngineConfig { scripts_enabled: false, cells: 1, warm_memories: 1, ..config() });
    for kind in KINDS {
        let error = callback_on(&off, kind, "", "return {};").call(json!({})).expect_err("scripts are off");
        assert_eq!((error.code(), error.usage), ("R_SCRIPTS_DISABLED", None), "{kind:?}");
    }
}

// CB-86, D-38
#[test]
fn an_endless_loop_ends_at_2_seconds() {
    alone("limits::an_endless_loop_ends_at_2_seconds", || {
        let looping = diff_selector("for (;;);");
        let mut attempts = (0..3).map(|_| {
            let error = looping.call(json!({})).expect_err("it loops");
            assert!(["R_TIMEOUT", "R_FUEL"].contains(&error.code()), "{error:?}");
            let usage = error.usage.expect("it ran");
            assert!(usage.fuel > 1_000_000_000);
            // Fuel may run out first on a fast machine.
            usage.wall <= Duration::from_millis(2200)
                && (error.code() == "R_FUEL" || usage.wall >= Duration::from_secs(2))
        });
        assert!(attempts.any(|in_time| in_time), "no attempt ended within 10 % of 2 s");
    });
}

// CB-92
#[test]
fn a_deadline_shortens_the_time_limit() {
    let options = CallOptions { deadline: Some(Instant::now() + Duration::from_millis(200)), ..CallOptions::default() };
    let error = tool("for (;;);").call_with(json!({}), &options).expect_err("it loops");
    assert_eq!(error.code(), "R_TIMEOUT");
    assert!(error.usage.expect("it ran").wall < Duration::from_millis(1500));
    let past = CallOptions { deadline: Some(Instant::now()), ..CallOptions::default() };
    assert_eq!(tool("return {};").call_with(json!({}), &past).expect_err("it is past").code(), "R_TIMEOUT");
}

// 3.3: work
#[test]
fn fuel_ends_exactly_at_its_limit() {
    let counting = diff_selector("let n = 0; for (let i = 0; i < 10000; i++) n += i; return n;");
    let fuel = counting.outcome(json!({})).usage.fuel;
    let limited = |fuel| counting.call_with(json!({}), &with(Limits { fuel, ..Limits::default() }));
    assert_eq!(limited(fuel).expect("just enough").usage.fuel, fuel);
    let error = limited(fuel - 1).expect_err("one too few");
    assert_eq!(
        (error.code(), error.kind.to_string().as_str()),
        ("R_FUEL", "the callback did more work than its fuel limit allows")
    );
    assert_eq!(limited(0).expect_err("none").code(), "R_FUEL");
}

// CB-87
#[test]
fn memory_just_under_the_limit_passes() {
    let outcome = diff_selector(
        "const all = []; for (let i = 0; i < 60; i++) all.push(new Uint8Array(2 ** 20).fill(1)); return all.length;",
    )
    .outcome(json!({}));
    assert_eq!(outcome.value, json!(60));
    let peak = outcome.usage.peak_memory_bytes;
    assert!((60 << 20..64 << 20).contains(&peak), "{peak}");
}

// CB-87, D-39
#[test]
fn memory_beyond_the_limit_fails() {
    let bodies = [
        "const all = []; for (;;) all.push(1);",
        "const all = []; for (;;) all.push({ x: all.length });",
        "const all = []; for (let i = 0;; i++) all.push('x'.repeat(2 ** 20) + i);",
        "const all = []; for (let i = 0; i < 300; i++) all.push(new Uint8Array(2 ** 19)); return 1;",
        "const all = []; for (let i = 0; i < 300; i++) all.push(new ArrayBuffer(2 ** 19)); return 1;",
        "let s = 'x'; for (let i = 0; i < 29; i++) s += s; return s.charCodeAt(5);",
        "const all = new Map(); for (let i = 0;; i++) all.set(i, i);",
        "const all = {}; for (let i = 0;; i++) all['key' + i] = i;",
        "const all = []; for (let i = 0;; i++) all.push(Symbol('s' + i));",
        "return new Uint8Array(2 ** 26).length;",
        "return new Array(2 ** 25).fill(0).length;",
        "return [...(function* () { for (;;) yield 'xxxxxxxxxxxxxxxx'; })()].length;",
        "return new ArrayBuffer(1, { maxByteLength: 2 ** 27 }).resize(2 ** 27);",
    ];
    for body in bodies {
        // Small things fill 64 MiB only just within the time limit; a quarter of it shows the same.
        let memory_bytes = if body.contains("for (;;)") || body.contains("i++)") { 16 << 20 } else { 64 << 20 };
        let error =
            run(body, Limits { memory_bytes, ..Limits::default() }).map(|outcome| outcome.value).expect_err(body);
        assert_eq!(error.code(), "R_MEMORY", "{body}: {error:?}");
        let peak = error.usage.expect("it ran").peak_memory_bytes;
        assert!(peak <= memory_bytes as u64, "{body}: {peak}");
    }
    let growing = "const all = []; for (let i = 0; i < 300; i++) all.push(new Uint8Array(2 ** 19)); return 1;";
    assert_eq!(diff_selector(growing).refusal(json!({})).code(), "R_MEMORY");
    assert_alive(engine());
}

// D-39
#[test]
fn a_swallowed_out_of_memory_still_fails() {
    let bodies = [
        "try { const all = []; for (;;) all.push(new Uint8Array(2 ** 20)); } catch { return 1; }",
        "try { new Uint8Array(2 ** 27); } catch {} return 1;",
        "try { const all = []; for (;;) all.push({}); } catch (error) { const more = []; for (let i = 0; i < 1000; i++) more.push({}); return 1; }",
        "try { const all = []; for (;;) all.push({}); } finally { return 1; }",
        "try { const all = []; for (;;) all.push({}); } catch (error) { throw new Error('mine'); }",
        "try { const all = []; for (;;) all.push({}); } catch { for (;;); }",
    ];
    for body in bodies {
        let limits = Limits { time: Duration::from_millis(1500), memory_bytes: 16 << 20, ..Limits::default() };
        let error = run(body, limits).map(|outcome| outcome.value).expect_err(body);
        let expected: &[&str] =
            if body.contains("for (;;); }") { &["R_MEMORY", "R_TIMEOUT", "R_FUEL"] } else { &["R_MEMORY"] };
        assert!(expected.contains(&error.code()), "{body}: {error:?}");
    }
}

// CB-87: code of ours that runs the script's code must not lift the limit
#[test]
fn console_is_no_way_around_the_memory_limit() {
    let hoard =
        "const all = []; for (let i = 0; i < 70; i++) all.push(new Uint8Array(2 ** 20).fill(1)); return 'hoarded';";
    for show in [
        "console.log({ toJSON() { HOARD } });",
        "console.log({ get a() { HOARD } });",
        "console.log(Object.assign(() => 1, { toString() { HOARD } }));",
        "console.log(new (class extends Error { toString() { HOARD } })());",
    ] {
        let body = format!("{} return 1;", show.replace("HOARD", hoard));
        let error =
            diff_selector(&body).call(json!({})).map(|outcome| outcome.usage.peak_memory_bytes).expect_err(show);
        assert_eq!(error.code(), "R_MEMORY", "{show}");
        assert!(error.usage.expect("it ran").peak_memory_bytes <= 64 << 20, "{show}");
    }
}

// CB-88
#[test]
fn recursion_can_be_caught() {
    let body = "let depth = 0; const dive = () => { depth++; dive(); };
        try { dive(); } catch (error) { return [error instanceof RangeError, error.message, depth > 500 && depth < 100000]; }";
    assert_eq!(diff_selector(body).value(json!({})), json!([true, "Maximum call stack size exceeded", true]));
}

// CB-88
#[test]
fn uncaught_recursion_is_the_stack_error() {
    let bodies = [
        "(function f() { f(); })();",
        "const a = () => b(); const b = () => a(); a();",
        "const o = { toString() { return `${this}`; } }; return `${o}`;",
        "const o = { valueOf() { return +this; } }; return +o;",
        "const p = new Proxy({}, { get(target, name, self) { return self[name]; } }); return p.x;",
        "class A { get x() { return this.x; } } return new A().x;",
        "const a = []; a[0] = { toString: () => a.join('') + a }; return String(a[0]);",
        "(function f(...rest) { return [1].map(() => f(...rest, 1)); })();",
        "let o = {}; for (let i = 0; i < 100000; i++) o = { o }; return JSON.stringify(o);",
        "return JSON.parse('['.repeat(100000) + ']'.repeat(100000));",
        "return [1, 2, 3].sort(function compare() { return [1, 2].sort(compare); });",
        "let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a.flat(Infinity).length;",
    ];
    for body in bodies {
        let error = diff_selector(body).call(json!({})).map(|outcome| outcome.value).expect_err(body);
        assert_eq!(error.code(), "R_STACK", "{body}: {error:?}");
    }
    // QuickJS reports a regular expression that nests too deep as a syntax error, in time.
    let nested = "return new RegExp('(?:'.repeat(50000) + ')'.repeat(50000)).test('');";
    assert!(["R_STACK", "R_THREW"].contains(&diff_selector(nested).refusal(json!({})).code()));
    assert_alive(engine());
}

// CB-88, CB-91
#[test]
fn a_smaller_stack_is_a_shallower_recursion() {
    let body = "let depth = 0; const dive = () => { depth++; dive(); }; try { dive(); } catch { return depth; }";
    let depth = |kib: usize| {
        run(body, Limits { stack_bytes: kib << 10, ..Limits::default() }).expect("it is caught").value.as_u64()
    };
    let (small, large) = (depth(64).expect("a number"), depth(512).expect("a number"));
    assert!(small * 6 < large && large < small * 12, "{small} and {large}");
}

// CB-86
#[test]
fn endless_loops_end() {
    assert_stopped(&[
        "while (true) {}",
        "for (;;) { try { null.x; } catch {} }",
        "(function f() { try { f(); } finally { f(); } })();",
        "for (;;) { try { for (;;); } catch { continue; } finally { for (;;); } }",
        "return [...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }];",
        "return Object.fromEntries((function* () { for (;;) yield ['a', 1]; })());",
        "return Array.from({ length: 2 ** 32 - 1 }, () => 0).length;",
        "const p = new Proxy({}, { getPrototypeOf() { for (;;); } }); return p instanceof Object;",
        "return JSON.parse('[1]', () => { for (;;); });",
        "return JSON.stringify({ toJSON() { for (;;); } });",
    ]);
}

// CB-86, 3.3, hostile 3 and 4
#[test]
fn regular_expressions_that_backtrack_for_ever_end() {
    assert_stopped(&[
        "return /^(a+)+$/.test('a'.repeat(40) + '!');",
        "return /^(\\w+\\s?)*$/.test('word '.repeat(13000) + '!');",
        "return /(x+x+)+y/.test('x'.repeat(60));",
        "return ('a'.repeat(50000) + 'b').replace(/(a|aa)+$/g, '');",
        "return /(?=(a+))a*b\\1/.test('a'.repeat(100000));",
    ]);
}

// CB-86, hostile 5
#[test]
fn huge_bigints_end() {
    for body in [
        "let n = 2n ** 1000000n; for (;;) n = n * n;",
        "return (2n ** (2n ** 22n)).toString().length;",
        "return (2n ** (2n ** 40n)).toString().length;",
        "let n = 3n; for (;;) n = n ** 3n;",
        "return BigInt('9'.repeat(5000000)).toString().length;",
        "for (;;) (10n ** 300000n) / (3n ** 100000n);",
    ] {
        let error = run(body, quick()).map(|outcome| outcome.value).expect_err(body);
        // QuickJS answers a size it does not offer with a RangeError.
        assert!(["R_TIMEOUT", "R_FUEL", "R_MEMORY", "R_THREW"].contains(&error.code()), "{body}: {error:?}");
    }
}

// CB-86, 3.3
#[test]
fn native_loops_end() {
    let bodies = [
        "return new Array(1e9) + '';",
        "return Array.prototype.indexOf.call({ length: 2 ** 32 - 1 }, 9);",
        "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 9);",
        "return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 9);",
        "return Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true);",
        "return Array.prototype.reduce.call({ length: 2 ** 53 - 1 }, (a) => a, 0);",
        "return Array.prototype.find.call({ length: 2 ** 53 - 1 }, () => false);",
        "return Array.prototype.reverse.call({ length: 2 ** 53 - 1 });",
        "return Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);",
        "return Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1);",
        "return Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1);",
        "return Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1);",
        "return Array.prototype.sort.call({ length: 2 ** 32 - 1 });",
        "const a = Array.from({ length: 200000 }, (_, i) => -i); for (;;) a.sort((x, y) => (x > y ? 1 : -1));",
        "let s = 'a'.repeat(1000000); for (;;) s.replaceAll('a', 'b');",
        "for (;;) 'x'.padStart(2 ** 22, 'ab');",
        "for (;;) 'ab'.repeat(2 ** 21);",
        "const a = new Array(2 ** 20); for (;;) a.fill(7);",
        "const a = new Array(2 ** 18).fill(0); for (;;) a.concat(a);",
        "for (;;) Array.from({ length: 2 ** 18 });",
        "const a = new Array(2 ** 16).fill({ k: 'v' }); for (;;) JSON.stringify(a);",
        "const t = JSON.stringify(new Array(2 ** 16).fill(1)); for (;;) JSON.parse(t);",
        "const b = new Uint8Array(6e7); for (;;) b.fill(1);",
        "const b = new Uint8Array(3e7); for (;;) b.copyWithin(1, 0);",
        "const b = new Float64Array(2 ** 21); for (;;) b.sort();",
        "const a = new Array(2 ** 16).fill('x'); for (;;) a.join(',').split(',');",
        "const s = 'a'.repeat(2 ** 20); for (;;) s.localeCompare(s + 'b') + s.indexOf('b') + s.lastIndexOf('b');",
        "const s = '\\u0958'.repeat(2 ** 18); for (;;) s.normalize('NFD');",
        "const s = '%41'.repeat(2 ** 17); for (;;) decodeURIComponent(s);",
        "const s = new Set(Array.from({ length: 100000 }, (_, i) => i)); for (;;) s.union(s).isSubsetOf(s);",
        "const a = new Array(2 ** 20).fill(1); for (;;) Math.max.apply(null, a.slice(0, 60000));",
        "return Reflect.apply(Math.max, null, { length: 2 ** 32 - 1 });",
        "return new Date(8.64e15).toLocaleString('x'.repeat(10)) && String.raw({ raw: { length: 2 ** 53 - 1 } });",
    ];
    for body in bodies {
        let started = Instant::now();
        let error = run(body, quick()).map(|outcome| outcome.value).expect_err(body);
        // A size that QuickJS refuses at once is a RangeError or TypeError.
        assert!(["R_TIMEOUT", "R_FUEL", "R_MEMORY", "R_THREW"].contains(&error.code()), "{body}: {error:?}");
        assert!(started.elapsed() < Duration::from_secs(3), "{body}: {:?}", started.elapsed());
    }
    assert_alive(engine());
}

// CB-86
#[test]
fn sizes_beyond_the_language_are_errors_that_can_be_caught() {
    for expression in [
        "'x'.repeat(2 ** 30)",
        "'x'.padEnd(2 ** 30)",
        "new Array(-1)",
        "new Array(2 ** 32)",
        "'x'.repeat(-1)",
        "new ArrayBuffer(2 ** 53)",
        "(1).toFixed(101)",
    ] {
        let body = format!("try {{ {expression}; }} catch (error) {{ return error.name; }} return 'no error';");
        assert_eq!(diff_selector(&body).value(json!({})), json!("RangeError"), "{expression}");
    }
}

// CB-86, hostile 8
#[test]
fn endless_promise_chains_end() {
    let bodies = [
        ("(function f() { Promise.resolve().then(f); })(); return 1;", "R_PROMISE"),
        ("(async function f() { for (;;) await null; })(); return 1;", "R_PROMISE"),
        (
            "const thenable = { then(resolve) { resolve(thenable); } }; Promise.resolve(thenable); return 1;",
            "R_PROMISE",
        ),
        ("return (async () => { for (;;); })();", "R_TIMEOUT"),
    ];
    for (body, code) in bodies {
        let error = run(body, quick()).map(|outcome| outcome.value).expect_err(body);
        assert_eq!(error.code(), code, "{body}");
    }
}

// CB-122: the engine after each limit
#[test]
fn after_every_limit_the_next_call_works() {
    let failing: [(Callback, &str); 6] = [
        (tool("for (;;);"), "R_TIMEOUT"),
        (tool("const all = []; for (;;) all.push('x'.repeat(2 ** 20) + all.length);"), "R_MEMORY"),
        (tool("(function f() { f(); })();"), "R_STACK"),
        (tool("return { v: 'x'.repeat(200000) };"), "R_RESULT_TOO_LARGE"),
        (tool("throw 1;"), "R_THREW"),
        (tool("return { v: () => 1 };"), "R_RESULT_NOT_JSON"),
    ];
    for (callback, code) in failing {
        let limits =
            Limits { time: Duration::from_millis(if code == "R_TIMEOUT" { 50 } else { 2000 }), ..Limits::default() };
        assert_eq!(callback.call_with(json!({}), &with(limits)).expect_err(code).code(), code);
        assert_alive(engine());
    }
}

// D-13, hostile 25 and 42
#[test]
fn loading_a_project_has_limits_too() {
    let table = [
        ("const all = []; for (;;) all.push('x'.repeat(2 ** 20) + all.length);".to_owned(), "C_COMPILE_LIMIT"),
        ("(function f() { f(); })();".to_owned(), "C_COMPILE_LIMIT"),
        (format!("export const a = {}1{};", "(".repeat(20_000), ")".repeat(20_000)), "C_COMPILE_LIMIT"),
        (format!("export const a = {}1{};", "[".repeat(20_000), "]".repeat(20_000)), "C_COMPILE_LIMIT"),
        (format!("export const a = {}1;", "-+".repeat(20_000)), "C_COMPILE_LIMIT"),
        (format!("{}{}", "if (1) {".repeat(20_000), "}".repeat(20_000)), "C_COMPILE_LIMIT"),
        (format!("export const a = {}1{};", "`${".repeat(20_000), "}`".repeat(20_000)), "C_COMPILE_LIMIT"),
        (format!("export const a = {}1;", "() => ".repeat(20_000)), "C_COMPILE_LIMIT"),
        ("export const a = ;".to_owned(), "C_SYNTAX"),
        ("throw new Error('top');".to_owned(), "C_TOP_LEVEL_THREW"),
    ];
    for (source, code) in table {
        let shown: String = source.chars().take(60).collect();
        let error = callcell_tests::evaluate(&source).map(|evaluation| evaluation.problems).expect_err(&shown);
        assert_eq!(error.code(), code, "{shown}: {error}");
    }
    assert_alive(engine());
}
