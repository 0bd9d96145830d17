//! What runs while a project is loaded (spec 2.5): once, in a compile cell, without clock, randomness or host.

use crate::project::{Files, SDK};
use callcell_runtime::LogLevel;
use callcell_tests::call;
use serde_json::json;

/// A project with this at its top level, and a tool that returns an object with `result`.
fn loading(top: &str, result: &str) -> Files {
    Files::declaring(&format!(
        "{top}\nexport const t = createTool({{ description: 'd', inputSchema: {{ type: 'object' }}, \
         outputSchema: {{ type: 'object' }}, execute: () => ({{ result: {result} }}) }});\n"
    ))
}

/// What the tool of [`loading`] returns.
fn result(top: &str, result: &str) -> serde_json::Value {
    let bundle = loading(top, result).bundle();
    call(&bundle, "t", &json!({})).unwrap_or_else(|error| panic!("{:?}", error.kind)).value["result"].clone()
}

// CB-73, CB-74, CB-76
#[test]
fn the_top_level_runs_once_and_every_call_starts_from_what_it_left() {
    let bundle = loading("let loads = 0; loads++; let calls = 0;", "[loads, ++calls]").bundle();
    for _ in 0..3 {
        assert_eq!(call(&bundle, "t", &json!({})).unwrap().value, json!({ "result": [1, 1] }));
    }
}

// CB-75
#[test]
fn what_the_top_level_computed_is_kept() {
    let top = "const table = new Map(Array.from({ length: 100 }, (_, n) => [n, n * n] as const));";
    assert_eq!(result(top, "table.get(12)"), 144);
}

// CB-82, CB-83, D-25
#[test]
fn the_clock_and_random_numbers_are_disabled() {
    for (top, place, code) in [
        ("const a = Date.now();", "2:16", "C_CLOCK_DISABLED"),
        ("const a = new Date();", "2:15", "C_CLOCK_DISABLED"),
        ("const a = Date();", "2:11", "C_CLOCK_DISABLED"),
        ("const a = Math.random();", "2:16", "C_RANDOM_DISABLED"),
        ("const id = () => Math.random().toString(36);\nconst a = id();", "2:23", "C_RANDOM_DISABLED"),
        ("const { now } = Date;\nconst a = now();", "3:11", "C_CLOCK_DISABLED"),
    ] {
        assert_eq!(loading(top, "a").places(), [format!("a.ts:{place} {code}")], "{top}");
    }
}

// D-25
#[test]
fn a_caught_touch_of_the_clock_is_a_warning() {
    let places = |top: &str| loading(top, "1").places();
    assert_eq!(places("try { Date.now(); } catch {}"), ["a.ts:1:1 W_CLOCK_TOUCHED"]);
    assert_eq!(places("try { new Date(); } catch {}"), ["a.ts:1:1 W_CLOCK_TOUCHED"]);
    assert_eq!(places("try { Math.random(); } catch {}"), ["a.ts:1:1 W_RANDOM_TOUCHED"]);
    let both = "for (const read of [() => Date(), () => Math.random()]) try { read(); } catch {}";
    assert_eq!(places(both), ["a.ts:1:1 W_CLOCK_TOUCHED", "a.ts:1:1 W_RANDOM_TOUCHED"]);
}

// D-25, D-27
#[test]
fn dates_that_need_no_clock_work() {
    let top = "const at = [new Date(0).toISOString(), Date.UTC(2026, 0), Date.parse('2026-01-01'), new Date(2026, 0, 1).getTimezoneOffset()];";
    assert_eq!(result(top, "at"), json!(["1970-01-01T00:00:00.000Z", 1_767_225_600_000_u64, 1_767_225_600_000_u64, 0]));
}

// CB-73, CB-38 to CB-48, D-28
#[test]
fn there_is_no_host_at_the_top_level() {
    for name in ["fetch", "process", "Buffer", "window", "document", "setTimeout", "queueMicrotask", "eval"] {
        let files = loading(&format!("(globalThis as any)[{name:?}]('x');"), "1");
        let found = files.found();
        let error = found.iter().find(|it| it.is_error()).unwrap();
        assert_eq!((error.code.as_ref(), error.line), ("C_TOP_LEVEL_THREW", 2), "{name}: {error}");
    }
    let function = loading("const made = (() => {}).constructor('return 1')();", "1").found();
    assert_eq!(function[0].code, "C_TOP_LEVEL_THREW");
}

// CB-73: as people write it
#[test]
fn a_global_of_a_host_at_the_top_level_fails_the_compilation() {
    for (read, name) in [
        ("await_less(fetch('https://example.com'))", "fetch"),
        ("process.env.HOME", "process"),
        ("Buffer.from('x')", "Buffer"),
        ("window.location.href", "window"),
        ("require.main", "require"),
        ("new URL('https://example.com')", "URL"),
        ("crypto.randomUUID()", "crypto"),
        ("performance.now()", "performance"),
        ("structuredClone({})", "structuredClone"),
        ("new Function('return 1')", "Function"),
        ("eval('1')", "eval"),
    ] {
        let found = loading(&format!("const await_less = (x: unknown) => x;\nconst a = {read};"), "1").found();
        let errors: Vec<_> = found.iter().filter(|it| it.is_error()).map(|it| (&*it.code, &*it.message)).collect();
        let message = format!("the project threw while it was loaded: ReferenceError: {name} is not defined");
        assert_eq!(errors, [("C_TOP_LEVEL_THREW", message.as_str())], "{read}");
    }
}

// CB-73
#[test]
fn a_missing_global_is_placed_where_it_is_read() {
    let files = loading("const one = Math.max(1);\nconst two = 2;\nconst a = missing;", "1");
    assert_eq!(files.places(), ["a.ts:4:11 C_TOP_LEVEL_THREW"]);
}

// The place of what the first line of a module throws; its imports are erased.
#[test]
fn the_first_line_is_counted_like_any_other() {
    for text in ["const a = Date.now();", "const b = 1;\nconst a = Date.now();"] {
        let line = text.lines().count();
        assert_eq!(Files::one(text).places(), [format!("a.ts:{line}:16 C_CLOCK_DISABLED")], "{text}");
    }
}

// D-26
#[test]
fn the_console_is_kept_for_the_author() {
    let compilation = loading("console.log('loaded', { a: 1 }); console.error('twice');", "1").compilation();
    let lines: Vec<_> = compilation.logs.lines.iter().map(|line| (line.level, line.text.as_str())).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].0 == LogLevel::Log && lines[0].1.starts_with("loaded"), "{lines:?}");
    assert_eq!(lines[1], (LogLevel::Error, "twice"));
}

// D-13
#[test]
fn what_takes_too_much_is_a_limit() {
    let limit = |top: &str| {
        let found = loading(top, "1").found();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, "C_COMPILE_LIMIT", "{top}");
        found[0].message.clone()
    };
    assert!(
        limit("const all: string[] = []; for (;;) all.push('x'.repeat(1 << 20) + all.length);").ends_with("memory")
    );
    assert!(limit("const f = (): number => f() + 1; f();").ends_with("stack"));
    let endless = limit("for (;;) {}");
    assert!(endless.ends_with("work") || endless.ends_with("time"), "{endless}");
}

#[test]
fn anything_may_be_thrown() {
    for thrown in [
        "null",
        "undefined",
        "1",
        "'text'",
        "Symbol('s')",
        "{ toString() { throw 1; } }",
        "new (class extends Error { get message(): string { throw 1; } get stack(): string { throw 2; } })()",
        "new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } })",
        "Object.assign(new Error('x'.repeat(1 << 20)), { stack: 5 })",
    ] {
        let found = loading(&format!("throw {thrown};"), "1").found();
        assert_eq!((found.len(), found[0].code.as_ref()), (1, "C_TOP_LEVEL_THREW"), "{thrown}");
        assert!(found[0].to_string().len() < 20_000, "{thrown}");
    }
}

// CB-13: the place of what another module throws
#[test]
fn what_a_helper_throws_is_placed_in_the_helper() {
    let files = Files::new(&[
        ("main.ts", &format!("{SDK}\nimport {{ check }} from './lib/check.ts';\nexport const a = check(-1);\n")),
        (
            "lib/check.ts",
            "type Positive = number;\n\nexport function check(n: number): Positive {\n  if (n < 0) {\n    throw new RangeError('negative');\n  }\n  return n;\n}\n",
        ),
    ]);
    let found = files.found();
    assert_eq!((found[0].file.as_str(), found[0].line), ("lib/check.ts", 5));
    assert!(found[0].message.ends_with("RangeError: negative"), "{}", found[0].message);
}
