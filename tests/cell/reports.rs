//! Public bug reports of neighbouring projects that could hurt a cell too. Each test is named after its report.
//!
//! What must hold every time: the host sees a value or a typed error, never `R_WORKER_LOST`, and the next call works.

use callcell_runtime::{CallError, CallErrorKind, CallOptions, Limits};
use callcell_tests::{assert_alive, diff_selector, engine, evaluate, evaluated, tool};
use serde_json::{Value, json};
use std::time::Duration;

fn run(body: &str) -> Result<Value, CallError> {
    let limits = Limits { time: Duration::from_millis(1500), memory_bytes: 16 << 20, ..Limits::default() };
    let options = CallOptions { limits: Some(limits), ..CallOptions::default() };
    let result = diff_selector(body).call_with(json!({}), &options).map(|outcome| outcome.value);
    assert!(!matches!(&result, Err(error) if error.kind == CallErrorKind::WorkerLost), "the cell was lost: {body}");
    assert_alive(engine());
    result
}

fn code(body: &str) -> &'static str {
    run(body).expect_err(body).code()
}

// https://github.com/quickjs-ng/quickjs/issues/1460: the stack was exhausted in `JSON.parse` and in eval
#[test]
fn quickjs_ng_1460() {
    assert!(["R_STACK", "R_THREW"].contains(&code("return JSON.parse(new Array(2949).join('['));")));
    assert!(["R_STACK", "R_THREW"].contains(&code("return JSON.parse('['.repeat(100000));")));
    assert_eq!(code("return JSON.parse('{\"a\":'.repeat(100000) + '1' + '}'.repeat(100000));"), "R_STACK");
}

// https://github.com/quickjs-ng/quickjs/issues/1462: recursion trapped, and the next call failed with "invalid opcode"
#[test]
fn quickjs_ng_1462() {
    for _ in 0..3 {
        assert_eq!(code("function f() { f(); } f();"), "R_STACK");
        assert_eq!(run("return [1, 2].map((n) => n + 1);").expect("it is good"), json!([2, 3]));
    }
}

// https://github.com/quickjs-ng/quickjs/issues/1711: the memory limit looked at single allocations on wasi
#[test]
fn quickjs_ng_1711() {
    let limits = Limits { memory_bytes: 8 << 20, ..Limits::default() };
    let options = CallOptions { limits: Some(limits), ..CallOptions::default() };
    let strings = |count| {
        format!(
            "const all = []; for (let i = 0; i < {count}; i++) all.push('x'.repeat(5000000 + i)); return all.length;"
        )
    };
    assert_eq!(diff_selector(&strings(1)).call_with(json!({}), &options).expect("5 MB").value, json!(1));
    assert_eq!(diff_selector(&strings(2)).call_with(json!({}), &options).expect_err("10 MB").code(), "R_MEMORY");
}

// https://github.com/quickjs-ng/quickjs/issues/1296: a getter resized the buffer under a typed array's constructor
#[test]
fn quickjs_ng_1296() {
    let body = "const buffer = new ArrayBuffer(1024, { maxByteLength: 65536 });
        const evil = new Proxy(function () {}, { get(target, name) { if (name === 'prototype') buffer.resize(0); return target[name]; } });
        try { const view = Reflect.construct(KIND, [buffer, 8], evil); for (let i = 0; i < 128; i++) view[i] = 1; return view.length ?? 0; }
        catch (error) { return error.name; }";
    for kind in ["Uint8Array", "Float64Array", "BigInt64Array", "DataView"] {
        let value = run(&body.replace("KIND", kind)).expect("it is caught");
        assert!(value == json!(0) || value.is_string(), "{kind}: {value}");
    }
}

// https://github.com/quickjs-ng/quickjs/issues/1301 and 1302: conversions shrank the buffer during an access
#[test]
fn quickjs_ng_1301() {
    assert_eq!(evaluated("typeof Atomics"), json!("undefined"));
    let bodies = [
        "view.fill({ valueOf() { buffer.resize(0); return 1; } });",
        "view.set([{ valueOf() { buffer.resize(0); return 1; } }, 2], 4);",
        "view.with(3, { valueOf() { buffer.resize(0); return 1; } });",
        "view.subarray({ valueOf() { buffer.resize(1); return 0; } }, 16);",
        "view.slice({ valueOf() { buffer.resize(1); return 0; } }, 16);",
        "view.copyWithin({ valueOf() { buffer.resize(1); return 0; } }, 8);",
        "view.indexOf(1, { valueOf() { buffer.resize(0); return 0; } });",
        "view.sort((a, b) => { buffer.resize(0); return a - b; });",
        "view.map(() => { buffer.resize(0); return 1; });",
        "view[Symbol.iterator]().next(); for (const n of view) buffer.resize(0);",
        "new DataView(buffer).setFloat64(0, { valueOf() { buffer.resize(0); return 1; } });",
        "buffer.slice({ valueOf() { buffer.resize(0); return 0; } });",
        "buffer.transfer({ valueOf() { buffer.resize(0); return 32; } });",
        "view.lastIndexOf(1, { valueOf() { buffer.resize(2); return 15; } });",
        "Uint8Array.from(view, () => { buffer.resize(0); return 1; });",
        "view.toSorted(() => { buffer.resize(0); return 0; }); view.join({ toString() { buffer.resize(0); return ','; } });",
    ];
    for body in bodies {
        let body = format!(
            "const buffer = new ArrayBuffer(16, {{ maxByteLength: 65536 }}); const view = new Uint8Array(buffer); try {{ {body} }} catch {{}} return view.length < 17;"
        );
        assert_eq!(run(&body).expect("it is caught"), json!(true));
    }
}

// https://github.com/quickjs-ng/quickjs/issues/1400 (CVE-2026-37630): `arguments` captured across a collection
#[test]
fn quickjs_ng_1400() {
    let body =
        "let kept = []; function take(a, b) { kept.push(arguments, () => arguments[0]); a = {}; return arguments; }
        for (let i = 0; i < 20000; i++) { take({ i }, [i]); if (kept.length > 100) kept = []; }
        return take(7, 8).length;";
    assert_eq!(run(body).expect("it is good"), json!(2));
}

// https://github.com/quickjs-ng/quickjs/issues/1564 and 1661: a disposal ran a collection
#[test]
fn quickjs_ng_1564() {
    let body = "const stack = new DisposableStack(); const big = () => { const all = []; for (let i = 0; i < 3000; i++) all.push({ i }); };
        for (let i = 0; i < 20; i++) stack.defer(() => { big(); try { stack.dispose(); stack.defer(big); } catch {} });
        stack.dispose(); return stack.disposed;";
    assert_eq!(run(body).expect("it is good"), json!(true));
    let patched = "Promise.prototype.then = function () { return null; }; const stack = new AsyncDisposableStack();
        stack.defer(() => { throw 1; }); stack.disposeAsync(); return 1;";
    assert!(run(patched).map_or_else(|error| error.code() == "R_PROMISE", |value| value == json!(1)));
}

// https://github.com/quickjs-ng/quickjs/issues/1708: a slice of a wide string, handed to the host
#[test]
fn quickjs_ng_1708() {
    assert_eq!(evaluated("('한글🌍'.repeat(500) + 'x').slice(3, -1).length"), json!(1997));
    let value = run("const wide = '한글'.repeat(1000); return [wide.slice(1), wide.slice(1, 3), wide.slice(-1)];")
        .expect("it is good");
    assert_eq!(value[1], json!("글한"));
}

// https://github.com/quickjs-ng/quickjs/issues/1222: large regular expressions were refused
#[test]
fn quickjs_ng_1222() {
    assert_eq!(
        run("return new RegExp(Array.from({ length: 2000 }, (_, i) => 'w' + i).join('|')).test('w1999');")
            .expect("it is good"),
        json!(true)
    );
    for pattern in [
        "'(a{0,9999}){0,9999}'.repeat(20)",
        "'(?:'.repeat(3000) + 'a' + ')*'.repeat(3000)",
        "'[a-z]'.repeat(200000)",
        "'a|'.repeat(500000)",
    ] {
        let result = run(&format!("return new RegExp({pattern}).test('aaaaaaaaab');"));
        assert!(
            result.map_or_else(
                |error| ["R_THREW", "R_TIMEOUT", "R_FUEL", "R_MEMORY", "R_STACK"].contains(&error.code()),
                |value| value.is_boolean()
            ),
            "{pattern}"
        );
    }
}

// https://github.com/quickjs-ng/quickjs/issues/1240: sources that do not end in NUL were "invalid UTF-8"
#[test]
fn quickjs_ng_1240() {
    for length in 0..40 {
        let comment = "é".repeat(length);
        let (source, _) =
            callcell_tests::source(callcell_runtime::CallbackKind::Tool, "", &format!("return {{ v: '{comment}' }};"));
        assert_eq!(evaluate(&format!("{source}//{comment}")).expect("it is good").problems, []);
    }
}

// https://github.com/bellard/quickjs/issues/545: bigint operations could not be interrupted
#[test]
fn bellard_545() {
    for body in [
        "for (;;) (2n ** 1000000n) * (2n ** 1000000n);",
        "return (3n ** 2000000n).toString().length;",
        "return (7n ** 500000n % 11n ** 250000n).toString(36).length + (5n ** 4000000n).toString().length;",
    ] {
        assert!(["R_TIMEOUT", "R_FUEL", "R_THREW"].contains(&code(body)), "{body}");
    }
}

// https://github.com/bellard/quickjs/issues/531 and 406: too little memory crashed the parser
#[test]
fn bellard_531() {
    for memory_bytes in [0, 1, 4 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20] {
        let options = CallOptions {
            limits: Some(Limits { memory_bytes, ..Limits::default() }),
            reveal: true,
            ..CallOptions::default()
        };
        for body in [
            "return { v: 1 };",
            "return new RegExp('(a|b)*?[\\\\u{10000}-\\\\u{20000}]{2,5}', 'u').test('x') ? {} : {};",
            "return JSON.parse('{\"a\":[1,2,{\"b\":null}]}');",
            "throw new Error('x');",
            "console.log({ a: [1] }); return {};",
        ] {
            match tool(body).call_with(json!({ "text": "x".repeat(1000) }), &options) {
                Ok(_) => {}
                Err(error) => {
                    assert!(["R_MEMORY", "R_THREW"].contains(&error.code()), "{memory_bytes} {body}: {error:?}")
                }
            }
        }
    }
    assert_alive(engine());
}

// https://github.com/hmsk/quickjs.rb/issues/116: building a backtrace without memory crashed
#[test]
fn quickjs_rb_116() {
    assert_eq!(code("const a = []; for (;;) a.push({ x: 1, y: 2, z: 3 });"), "R_MEMORY");
    assert_eq!(
        code(
            "const a = []; const deep = (n) => (n ? deep(n - 1) : (() => { for (;;) a.push({ x: 1 }); })()); deep(300);"
        ),
        "R_MEMORY"
    );
    assert_eq!(
        code("const a = []; try { for (;;) a.push(new Error('x')); } catch (error) { return error.stack; }"),
        "R_MEMORY"
    );
}

// https://github.com/bytecodealliance/javy/issues/1070: nested literals overflowed the stack at build time
#[test]
fn javy_1070() {
    for depth in [60, 500, 5_000, 50_000] {
        let literal = format!("{}1{}", "{a:".repeat(depth), "}".repeat(depth));
        let (source, _) = callcell_tests::source(
            callcell_runtime::CallbackKind::Tool,
            &format!("const deep = {literal};"),
            "return {};",
        );
        match evaluate(&source) {
            Ok(evaluation) => assert_eq!(evaluation.problems, []),
            Err(error) => {
                assert!(["C_COMPILE_LIMIT", "C_SYNTAX"].contains(&error.code()) && depth > 60, "{depth}: {error}")
            }
        }
    }
    assert_alive(engine());
}

// https://github.com/bytecodealliance/javy/issues/700: cycles; 835: parsing and printing leaked; 673: text as keys
#[test]
fn javy_700() {
    assert_eq!(code("const a = []; a.push(a); return JSON.stringify(a);"), "R_THREW");
    assert_eq!(code("const a = []; a.push(a); return a;"), "R_RESULT_NOT_JSON");
    let body = "let text = '{\"a\":[1,\"x\"]}'; for (let i = 0; i < 20000; i++) text = JSON.stringify(JSON.parse(text)); return text;";
    assert_eq!(diff_selector(body).outcome(json!({})).value, json!("{\"a\":[1,\"x\"]}"));
    assert_eq!(
        evaluated("JSON.parse('{\"0\":1,\"-1\":2,\"01\":3,\"4294967295\":4,\"\":5}')").to_string(),
        r#"{"0":1,"-1":2,"01":3,"4294967295":4,"":5}"#
    );
}

// https://github.com/extism/js-pdk/issues/134 and 151: an async function that threw something else than an error
#[test]
fn js_pdk_134() {
    for thrown in ["1", "null", "undefined", "{ a: 1 }", "Symbol()", "'text'"] {
        assert_eq!(code(&format!("return (async () => {{ throw {thrown}; }})();")), "R_PROMISE");
        assert_eq!(code(&format!("throw {thrown};")), "R_THREW");
    }
}

// https://github.com/extism/js-pdk/issues/130, 133 and 147: jobs, errors on the console, syntax errors
#[test]
fn js_pdk_147() {
    assert_eq!(evaluate("export const = 1;").expect_err("a syntax error").code(), "C_SYNTAX");
    let outcome = tool("console.error(new Error('bad')); return {};").outcome(json!({}));
    assert_eq!(outcome.logs.lines[0].text, "Error: bad");
}

// https://github.com/justjake/quickjs-emscripten/issues/255: strings of 1 MiB for ever
#[test]
fn quickjs_emscripten_255() {
    assert_eq!(code("const a = []; for (;;) a.push('x'.repeat(1 << 20));"), "R_MEMORY");
}

// https://github.com/justjake/quickjs-emscripten/issues/271: the limit bounded one allocation only
#[test]
fn quickjs_emscripten_271() {
    assert_eq!(
        code("const a = []; for (let i = 0; i < 10; i++) a.push(String(i).repeat(7000000)); return a.length;"),
        "R_MEMORY"
    );
}

// https://github.com/justjake/quickjs-emscripten/issues/30: a large source broke the context
#[test]
fn quickjs_emscripten_30() {
    let rows = "{\"id\":1,\"name\":\"row\"},".repeat(60_000);
    let (source, _) = callcell_tests::source(
        callcell_runtime::CallbackKind::Tool,
        &format!("const text = '[{rows}null]';"),
        "return { v: JSON.parse(text).length };",
    );
    assert!(source.len() > 1 << 20);
    let bundle = callcell_tests::bundle(&source);
    assert_eq!(callcell_tests::call(&bundle, "probe", &json!({})).expect("it is good").value, json!({ "v": 60_001 }));
}

// https://github.com/justjake/quickjs-emscripten/issues/219: an array as large as an array can be, as text
#[test]
fn quickjs_emscripten_219() {
    assert!(["R_TIMEOUT", "R_FUEL", "R_MEMORY"].contains(&code("return new Array(1e9) + '';")));
}

// quickjs-wasi#30: typed arrays escaped the limit
#[test]
fn quickjs_wasi_30() {
    assert_eq!(
        code("const a = []; for (let i = 0; i < 300; i++) a.push(new Uint8Array(512 * 1024)); return a.length;"),
        "R_MEMORY"
    );
    assert_eq!(
        code(
            "const a = []; for (let i = 0; i < 300; i++) a.push(new ArrayBuffer(512 * 1024).transfer(600 * 1024)); return a.length;"
        ),
        "R_MEMORY"
    );
}

// quickjs-wasi#38: without memory a bare `null` was thrown
#[test]
fn quickjs_wasi_38() {
    assert_eq!(code("const a = []; try { for (;;) a.push({}); } catch (error) { return error === null; }"), "R_MEMORY");
}

// quickjs-wasi#35: texts were lossy in both directions
#[test]
fn quickjs_wasi_35() {
    let value = diff_selector("return [input, input.length, 'a\\u0000b\\ud800'];").value(json!("a\u{0}b"));
    assert_eq!(value, json!(["a\u{0}b", 3, "a\u{0}b\u{fffd}"]));
}

// https://github.com/DelSkayn/rquickjs/issues/447: a broken surrogate was an error
#[test]
fn rquickjs_447() {
    assert_eq!(evaluated("'🌍🌎'.slice(1)"), json!("\u{fffd}🌎"));
}

// https://github.com/DelSkayn/rquickjs/issues/663: an interrupt with jobs pending hit an assertion
#[test]
fn rquickjs_663() {
    assert!(
        ["R_TIMEOUT", "R_FUEL"]
            .contains(&code("for (let i = 0; i < 100; i++) Promise.resolve(i).then(() => i); for (;;);"))
    );
    // A rejection that nobody handles leaves no job behind.
    assert_eq!(run("Promise.reject(new Error('x')); return 1;").expect("it is good"), json!(1));
}

// https://github.com/fastschema/qjs/issues/47 and boa#4299: nested expressions panicked the host
#[test]
fn qjs_47() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{a:", "}"), ("!", ""), ("f(", ")"), ("`${", "}`"), ("()=>(", ")"), ("new ", "")]
    {
        for depth in [700, 20_000] {
            let source =
                format!("const f = (x) => x; export const a = {}1{};", open.repeat(depth), close.repeat(depth));
            let result = evaluate(&source).map(|evaluation| evaluation.problems.len());
            assert!(
                !matches!(&result, Err(error) if error.code() == "ENGINE_WASMTIME"),
                "{depth} times `{open}`: {result:?}"
            );
        }
    }
    assert!(evaluate("const a=function(){b((c=d([])))};export{a}").is_ok());
    assert_alive(engine());
}

// https://github.com/laverdet/isolated-vm/issues/527: running out of memory far below the limit
#[test]
fn isolated_vm_527() {
    assert_eq!(run("return Array.from(new Uint8Array(2 ** 18)).length;").expect("it fits"), json!(1 << 18));
}

// https://github.com/patriksimek/vm2/issues/449 and 130: lengths that lie, texts of a gigabyte
#[test]
fn vm2_449() {
    assert!(
        ["R_THREW", "R_MEMORY", "R_TIMEOUT", "R_FUEL"]
            .contains(&code("return JSON.stringify('x'.repeat(2 ** 29)).length;"))
    );
    assert_eq!(
        code("const a = new Uint8Array(8); Object.defineProperty(a, 'length', { value: 2 ** 40 }); return a;"),
        "R_RESULT_NOT_JSON"
    );
    assert_eq!(
        run("return Array.from({ length: 3, __proto__: { length: 9 } }).length;").expect("it is good"),
        json!(3)
    );
}

// hostile 39: shapes of quickjs-ng's own regression tests
#[test]
fn quickjs_ng_regressions() {
    let bodies = [
        "const a = [1, 2, 3]; a.sort(() => { a.length = 0; a.push({}); return 1; }); return a.length >= 0;",
        "const a = []; for (let i = 0; i < 1000; i++) a.push(i); a.splice({ valueOf() { a.length = 1; return 0; } }, 900); return true;",
        "const a = new Array(100).fill(1); a.concat.call(a, new Proxy([], { get(t, n) { a.length = 0; return t[n]; } })); return true;",
        "const m = new Map([[1, 1], [2, 2]]); m.forEach((v, k) => { m.clear(); for (let i = 0; i < 100; i++) if (m.size < 50) m.set(i + v, i); if (v > 60) m.clear(); }); return true;",
        "const s = new Set([1, 2, 3]); try { s.union({ size: 3, has: () => s.clear(), keys: () => ({ next: () => ({ done: s.clear() ?? true }) }) }); } catch {} return true;",
        "const r = /a/g; r[Symbol.replace]('aaa', { toString() { r.compile('(b)(c)'); return '$1'; } }); return true;",
        "const e = new Error('x'); Error.prepareStackTrace = () => { throw e; }; try { null.x; } catch {} return true;",
        "Error.prepareStackTrace = (error, sites) => sites; Error.stackTraceLimit = 1e9; (function f(n) { if (n) f(n - 1); else new Error().stack; })(500); return true;",
        "const it = [1, 2, 3].values().map((n) => { try { it.next(); } catch {} return n; }); it.next(); return true;",
        "const g = (function* () { try { yield 1; } finally { g.next; } })(); g.next(); try { g.return(); } catch {} return true;",
        "class A { #x = 1; static steal(o) { try { return o.#x; } catch { return true; } } } return A.steal(new Proxy(new A(), {}));",
        "const w = new WeakRef({}); for (let i = 0; i < 100000; i++) ({ i }); w.deref(); return true;",
        "const a = new Uint8Array([1, 2]); a.constructor = { [Symbol.species]: function () { return new Uint8Array(1); } }; try { a.slice(); a.subarray(0); a.map((n) => n); } catch {} return true;",
        "let f = () => {}; for (let i = 0; i < 100000; i++) f = f.bind(null, i); try { f(); } catch {} return true;",
        "let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); try { p.x; } catch {} return true;",
        "let o = null; for (let i = 0; i < 200000; i++) o = { o }; o = null; return true;",
        "const d = new Date(NaN); try { d.toISOString(); } catch {} new Date(8.64e15 + 1).getTime(); return true;",
        "return 'x'.localeCompare('\\u{1F600}') !== 0 && (1e21 + 1).toString(36).length > 0 && (0.1).toString(2).length > 0;",
    ];
    for body in bodies {
        match run(body) {
            Ok(value) => assert_eq!(value, json!(true), "{body}"),
            Err(error) => {
                assert!(["R_STACK", "R_MEMORY", "R_FUEL", "R_TIMEOUT"].contains(&error.code()), "{body}: {error:?}")
            }
        }
    }
}
