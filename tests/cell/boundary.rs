//! What may leave a cell: JSON data and nothing else, with the path of what is refused (3.1, CB-27 to CB-33).

use callcell_runtime::{CallErrorKind, CallbackKind};
use callcell_tests::{callback, diff_selector, evaluated, evaluator, judge_selector, pass_rule, tool};
use serde_json::{Value, json};

/// Asserts that a tool that returns `{ v: expression }` is refused, with the path from `v` on.
fn assert_refused(table: &[(&str, &str, &str)]) {
    for (expression, path, what) in table {
        let expected = CallErrorKind::ResultNotJson { path: format!("$.v{path}"), what: (*what).into() };
        let refusal = tool(&format!("return {{ v: ({expression}) }};")).refusal(json!({}));
        assert_eq!(refusal, expected, "{expression}");
        assert_eq!(refusal.code(), "R_RESULT_NOT_JSON");
    }
}

/// The text a result has after the host read it, with its members in order.
fn text_of(body: &str) -> String {
    tool(body).value(json!({})).to_string()
}

// CB-29
#[test]
fn functions_are_refused() {
    assert_refused(&[
        ("() => 1", "", "a function"),
        ("class A {}", "", "a function"),
        ("Math.max", "", "a function"),
        ("Array", "", "a function"),
        ("(() => 1).bind(null)", "", "a function"),
        ("[1, { f() {} }]", "[1].f", "a function"),
    ]);
}

// CB-30
#[test]
fn symbols_are_refused_as_values_and_as_keys() {
    assert_refused(&[
        ("Symbol('s')", "", "a symbol"),
        ("[Symbol.iterator]", "[0]", "a symbol"),
        ("{ [Symbol('s')]: 1 }", "", "a symbol as a key"),
        ("{ a: { [Symbol.iterator]: 1 } }", ".a", "a symbol as a key"),
    ]);
}

// CB-31
#[test]
fn bigints_are_refused() {
    assert_refused(&[("1n", "", "a bigint"), ("2n ** 200n", "", "a bigint"), ("[[0n]]", "[0][0]", "a bigint")]);
}

// CB-32
#[test]
fn cycles_are_refused() {
    assert_refused(&[
        ("(() => { const a = {}; a.a = a; return a; })()", ".a", "a cycle"),
        ("(() => { const a = { b: [{}] }; a.b[0].c = a; return a; })()", ".b[0].c", "a cycle"),
        ("(() => { const a = [1]; a.push(a); return a; })()", "[1]", "a cycle"),
    ]);
}

// 3.1
#[test]
fn shared_references_are_written_twice() {
    let body = "const shared = { x: [1] }; return { a: shared, b: [shared, shared.x], c: shared };";
    assert_eq!(text_of(body), r#"{"a":{"x":[1]},"b":[{"x":[1]},[1]],"c":{"x":[1]}}"#);
}

// CB-33
#[test]
fn numbers_that_are_not_finite_are_refused() {
    let what = "a number that is not finite";
    assert_refused(&[
        ("NaN", "", what),
        ("Infinity", "", what),
        ("-Infinity", "", what),
        ("1e400", "", what),
        ("[1, 0 / 0]", "[1]", what),
        ("{ a: Math.sqrt(-1) }", ".a", what),
    ]);
}

// CB-28
#[test]
fn collections_and_built_in_objects_are_refused() {
    assert_refused(&[
        ("new Map([[1, 2]])", "", "a Map"),
        ("[new Map()]", "[0]", "a Map"),
        ("new Set([1])", "", "a Set"),
        ("{ deep: { set: new Set() } }", ".deep.set", "a Set"),
        ("new WeakMap()", "", "a class instance"),
        ("new WeakSet()", "", "a class instance"),
        ("new WeakRef({})", "", "a class instance"),
        ("new Date(0)", "", "a Date"),
        ("/x/", "", "a RegExp"),
        ("new Uint8Array(2)", "", "a typed array"),
        ("new Float64Array(1)", "", "a typed array"),
        ("new BigInt64Array(1)", "", "a typed array"),
        ("new DataView(new ArrayBuffer(1))", "", "a typed array"),
        ("new ArrayBuffer(2)", "", "an ArrayBuffer"),
        ("new Error('x')", "", "an Error"),
        ("new RangeError('x')", "", "an Error"),
        ("new AggregateError([])", "", "an Error"),
    ]);
}

// 3.1
#[test]
fn class_instances_are_refused() {
    assert_refused(&[
        ("new (class Point { x = 1 })()", "", "a class instance"),
        ("Object.create({})", "", "a class instance"),
        ("Object.create(Array.prototype)", "", "a class instance"),
        ("new (class extends Array {})()", "", "a class instance"),
        ("Object.setPrototypeOf([], null)", "", "a class instance"),
        ("new Number(1)", "", "a class instance"),
        ("new String('s')", "", "a class instance"),
        ("new Boolean(false)", "", "a class instance"),
        ("Object(1n)", "", "a class instance"),
        ("Object(Symbol())", "", "a class instance"),
        ("(function () { return arguments; })(1)", "", "a class instance"),
    ]);
    assert_eq!(evaluated("Object.assign(Object.create(null), { a: 1 })"), json!({ "a": 1 }));
}

// CB-56
#[test]
fn promises_inside_a_result_are_refused() {
    assert_refused(&[
        ("Promise.resolve(1)", "", "a promise"),
        ("[(async () => 1)()]", "[0]", "a promise"),
        ("{ then() {} }", ".then", "a function"),
    ]);
}

// CB-55
#[test]
fn iterators_inside_a_result_are_refused() {
    assert_refused(&[
        ("(function* () {})()", "", "an iterator"),
        ("(async function* () {})()", "", "an iterator"),
        ("[[1].values()]", "[0]", "an iterator"),
        ("new Map().entries()", "", "an iterator"),
        ("'ab'.matchAll(/a/g)", "", "an iterator"),
    ]);
}

// 3.1
#[test]
fn accessors_are_refused_and_not_run() {
    let table = [
        ("({ get a() { console.log('ran'); return 1; } })", "$.a"),
        ("({ set a(value) {} })", "$.a"),
        ("({ list: [{ get b() { console.log('ran'); return 1; } }] })", "$.list[0].b"),
        ("Object.defineProperty([1], 0, { get() { console.log('ran'); return 1; } })", "$[0]"),
    ];
    for (expression, path) in table {
        let error = diff_selector(&format!("return {expression};")).call(json!({})).expect_err(expression);
        assert_eq!(error.kind, CallErrorKind::ResultNotJson { path: path.into(), what: "an accessor".into() });
        assert_eq!(error.logs.lines, [], "{expression}");
    }
}

// 3.1
#[test]
fn only_own_enumerable_members_are_written() {
    let body = "const value = Object.defineProperty({ a: 1 }, 'hidden', { value: 2 });
        Object.defineProperty(value, 'getter', { get() { console.log('ran'); } });
        Object.prototype.inherited = 3;
        return value;";
    let outcome = tool(body).outcome(json!({}));
    assert_eq!((outcome.value, outcome.logs.lines), (json!({ "a": 1 }), vec![]));
}

// 3.1
#[test]
fn proxies_are_refused_and_their_traps_not_run() {
    let handler = "new Proxy({}, { get(target, name) { return () => { console.log('ran ' + String(name)); }; } })";
    let values = [
        ("new Proxy({ a: 1 }, handler)", "$", "a proxy"),
        ("new Proxy([1], handler)", "$", "a proxy"),
        ("new Proxy(() => 1, handler)", "$", "a proxy"),
        ("({ a: [new Proxy({}, handler)] })", "$.a[0]", "a proxy"),
        ("(() => { const made = Proxy.revocable({}, handler); made.revoke(); return made.proxy; })()", "$", "a proxy"),
        ("Object.create(new Proxy({}, handler))", "$", "a class instance"),
    ];
    for (value, path, what) in values {
        let error =
            diff_selector(&format!("const handler = {handler}; return {value};")).call(json!({})).expect_err(value);
        let expected = CallErrorKind::ResultNotJson { path: path.into(), what: what.into() };
        assert_eq!((&error.kind, &error.logs.lines[..]), (&expected, &[][..]), "{value}");
    }
}

// 3.1
#[test]
fn holes_are_refused() {
    let what = "a hole in an array";
    assert_refused(&[
        ("[1, , 2]", "[1]", what),
        ("new Array(3)", "[0]", what),
        ("[[], [,]]", "[1][0]", what),
        ("(() => { const a = [1]; a.length = 2 ** 32 - 1; return a; })()", "[1]", what),
    ]);
}

// D-32
#[test]
fn a_to_json_method_is_refused_and_not_run() {
    let what = "an object with a toJSON method";
    assert_refused(&[
        ("{ toJSON() { console.log('ran'); return 1; } }", "", what),
        ("Object.assign([1], { toJSON: () => 1 })", "", what),
        ("[{ a: { toJSON: Math.abs } }]", "[0].a", what),
    ]);
    assert_eq!(evaluated("{ toJSON: 1 }"), json!({ "toJSON": 1 }));
    let patched = tool("Object.prototype.toJSON = () => ({ forged: true }); return { v: [] };").refusal(json!({}));
    assert_eq!(patched, CallErrorKind::ResultNotJson { path: "$".into(), what: what.into() });
}

// D-34
#[test]
fn results_may_nest_128_levels() {
    let nested = |levels: usize| format!("let v = 1; for (let i = 0; i < {levels}; i++) v = [v]; return v;");
    let deepest = diff_selector(&nested(128)).value(json!({}));
    assert_eq!(deepest.to_string(), format!("{}1{}", "[".repeat(128), "]".repeat(128)));
    for levels in [129, 100_000] {
        let refusal = diff_selector(&nested(levels)).refusal(json!({}));
        let path = format!("${}", "[0]".repeat(128));
        let what = "nested more than 128 levels deep".to_owned();
        assert_eq!(refusal, CallErrorKind::ResultNotJson { path, what });
    }
    let objects = tool("let v = {}; for (let i = 0; i < 128; i++) v = { v }; return v;").refusal(json!({}));
    assert_eq!(objects.path(), Some(format!("${}", ".v".repeat(128)).as_str()));
}

// 3.1
#[test]
fn keys_that_are_no_names_are_quoted_in_paths() {
    assert_refused(&[
        ("{ 'a b': 1n }", "[\"a b\"]", "a bigint"),
        ("{ 7: [1n] }", "[\"7\"][0]", "a bigint"),
        ("{ '': 1n }", "[\"\"]", "a bigint"),
        ("{ 'a.b': { c: 1n } }", "[\"a.b\"].c", "a bigint"),
        ("{ 'say \"hi\"': 1n }", "[\"say \\\"hi\\\"\"]", "a bigint"),
        ("{ $id_9: 1n }", ".$id_9", "a bigint"),
        ("{ 'é': 1n }", "[\"é\"]", "a bigint"),
        ("{ ['__proto__']: 1n }", ".__proto__", "a bigint"),
    ]);
}

// D-33
#[test]
fn a_lone_surrogate_becomes_u_fffd() {
    let table = [
        (r"'\ud800'", "\u{fffd}"),
        (r"'a\ud800b\udfff'", "a\u{fffd}b\u{fffd}"),
        (r"'\udc00\ud800'", "\u{fffd}\u{fffd}"),
        (r"'\ud83c\udf0d'", "🌍"),
        (r"'🌍🌎'.slice(1)", "\u{fffd}🌎"),
        (r"'\ud7ff\ue000'", "\u{d7ff}\u{e000}"),
        (r"'한글\ud800'", "한글\u{fffd}"),
        (r"'x'.repeat(5000) + '\ud800'.repeat(5000)", &("x".repeat(5000) + &"\u{fffd}".repeat(5000))),
    ];
    for (expression, expected) in table {
        assert_eq!(evaluated(expression), json!(expected), "{expression}");
        let key = tool(&format!("return {{ [{expression}]: 1 }};")).value(json!({}));
        assert_eq!(key, Value::Object([(expected.to_owned(), json!(1))].into_iter().collect()), "{expression}");
    }
}

// D-33, hostile 29
#[test]
fn keys_that_become_equal_keep_the_last_value() {
    assert_eq!(evaluated(r"{ '\ud800': 1, '\ud801': 2 }"), json!({ "\u{fffd}": 2 }));
}

// 3.1
#[test]
fn proto_as_data_stays_data() {
    for body in [
        "return JSON.parse('{\"__proto__\":{\"a\":1}}');",
        "return { ['__proto__']: { a: 1 } };",
        "return Object.defineProperty({}, '__proto__', { value: { a: 1 }, enumerable: true });",
    ] {
        assert_eq!(text_of(body), r#"{"__proto__":{"a":1}}"#, "{body}");
    }
    assert_eq!(
        text_of("return { constructor: 1, hasOwnProperty: 2, then: 3, toString: 4 };"),
        r#"{"constructor":1,"hasOwnProperty":2,"then":3,"toString":4}"#
    );
    let inherited = tool("return { __proto__: { a: 1 } };").refusal(json!({}));
    assert_eq!(inherited, CallErrorKind::ResultNotJson { path: "$".into(), what: "a class instance".into() });
}

// 3.1
#[test]
fn minus_zero_becomes_0() {
    assert_eq!(text_of("return { a: -0, b: [-0, 0 * -1], c: Math.round(-0.4) };"), r#"{"a":0,"b":[0,0],"c":0}"#);
}

// 3.1
#[test]
fn members_keep_their_insertion_order() {
    let body = "const value = { b: 1, a: 2 }; value.z = 3; value.c = 4; delete value.b; value.b = 5; return value;";
    assert_eq!(text_of(body), r#"{"a":2,"z":3,"c":4,"b":5}"#);
    assert_eq!(text_of("return { b: 1, 10: 2, 9: 3, a: 4 };"), r#"{"9":3,"10":2,"b":1,"a":4}"#);
}

// 3.1, hostile 29
#[test]
fn every_text_comes_out_as_it_is() {
    let table = [
        (r"'\0'", "\0"),
        (r"'a\0b'", "a\0b"),
        (r"'\u2028\u2029\ufeff'", "\u{2028}\u{2029}\u{feff}"),
        (r#"'\b\f\n\r\t\v\\"/\x1f\x7f\x80'"#, "\u{8}\u{c}\n\r\t\u{b}\\\"/\u{1f}\u{7f}\u{80}"),
        (r"'Grüße ✓ 🌍'", "Grüße ✓ 🌍"),
        (r"''", ""),
        (r"'x'.concat('y', 'z'.repeat(3))", "xyzzz"),
    ];
    for (expression, expected) in table {
        assert_eq!(evaluated(expression), json!(expected), "{expression}");
        let key = Value::Object([(expected.to_owned(), json!(null))].into_iter().collect());
        assert_eq!(evaluated(&format!("{{ [{expression}]: null }}")), key);
    }
    assert_eq!(evaluated("Object.keys({ ['k'.repeat(100000)]: 1 })[0].length"), json!(100_000));
    let long = evaluated("{ ['k'.repeat(100000)]: 1 }");
    assert_eq!(long.as_object().and_then(|members| members.keys().next()).map(String::len), Some(100_000));
}

// 3.1
#[test]
fn numbers_come_out_exactly() {
    let table = [
        ("2 ** 53 + 1", 9_007_199_254_740_992.0),
        ("-(2 ** 31)", -2_147_483_648.0),
        ("2 ** 31", 2_147_483_648.0),
        ("1e21", 1e21),
        ("123456789012345680000", 123_456_789_012_345_680_000.0),
        ("5e-324", 5e-324),
        ("1.7976931348623157e308", f64::MAX),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("1e-7", 1e-7),
        ("-1 / 3", -1.0 / 3.0),
    ];
    for (expression, expected) in table {
        assert_eq!(evaluated(expression).as_f64(), Some(expected), "{expression}");
    }
    assert_eq!(evaluated("2 ** 53").to_string(), "9007199254740992");
}

// D-35
#[test]
fn a_tool_leaves_undefined_members_out() {
    let outcome = tool("return { a: undefined, b: [{ c: undefined }], d: 1 };").outcome(json!({}));
    assert_eq!((outcome.value, outcome.undefined), (json!({ "b": [{}], "d": 1 }), Vec::<String>::new()));
    assert_refused(&[("[1, undefined]", "[1]", "undefined"), ("{ a: [undefined] }", ".a[0]", "undefined")]);
}

// 3.1, 4.3
#[test]
fn a_selector_marks_undefined_members() {
    let body = "return { total: input.total, lines: [undefined, { sku: input.sku }, , null], ok: 1 };";
    for selector in [diff_selector(body), judge_selector(body)] {
        let outcome = selector.outcome(json!({}));
        assert_eq!(outcome.value, json!({ "total": null, "lines": [null, { "sku": null }, null, null], "ok": 1 }));
        assert_eq!(outcome.undefined, ["$.total", "$.lines[0]", "$.lines[1].sku", "$.lines[2]"]);
        assert_eq!(outcome.usage.result_bytes, 59);
    }
}

// 3.1, 4.3
#[test]
fn undefined_as_the_whole_result_is_refused_but_by_selectors() {
    for callback in [tool(""), evaluator("return undefined;"), pass_rule("return;")] {
        let error = callback.call(json!({})).expect_err("undefined");
        assert_eq!((error.code(), error.kind.path()), ("R_RESULT_UNDEFINED", None));
    }
    for selector in [diff_selector(""), judge_selector("return input.missing;")] {
        let outcome = selector.outcome(json!({}));
        assert_eq!((outcome.value, outcome.undefined), (json!(null), vec!["$".to_owned()]));
    }
}

// 4.3
#[test]
fn a_selector_may_leave_out_a_great_many_members() {
    let outcome = diff_selector("return new Array(20000).fill(undefined);").outcome(json!({}));
    assert_eq!(outcome.value.as_array().map(Vec::len), Some(20_000));
    assert_eq!((outcome.undefined.len(), outcome.undefined[999].as_str()), (1000, "$[999]"));
    let long_paths = diff_selector("return { ['\\x01'.repeat(600)]: new Array(1000).fill(undefined) };");
    assert_eq!(long_paths.outcome(json!({})).undefined.len(), 1000);
}

// CB-56, CB-57, CB-119
#[test]
fn promises_are_refused() {
    let values = [
        "Promise.resolve({})",
        "new Promise(() => {})",
        "Promise.reject(new Error('x'))",
        "(async () => ({}))()",
        "(async () => { throw 1; })()",
        "({ then() {} })",
        "new (class { then() {} })()",
        "Object.create({ then: (resolve) => resolve({}) })",
        "Promise.all([])",
        "import('zod')",
    ];
    for value in values {
        for kind in callcell_tests::KINDS {
            let error = callback(kind, "", &format!("return {value};")).call(json!({})).expect_err(value);
            assert_eq!(error.code(), "R_PROMISE", "{kind:?} {value}");
        }
    }
    assert_eq!(evaluated("{ then: 1 }"), json!({ "then": 1 }));
}

// R_PROMISE of 3.6
#[test]
fn work_left_behind_is_refused() {
    for body in ["Promise.resolve().then(() => 1); return {};", "(async () => { await null; })(); return {};"] {
        assert_eq!(tool(body).call(json!({})).expect_err(body).code(), "R_PROMISE", "{body}");
    }
    assert_eq!(tool("new Promise(() => {}); return {};").value(json!({})), json!({}));
}

// CB-117
#[test]
fn a_helper_that_returns_a_promise_is_caught() {
    let top_level = "async function rate() { return 0.2; } const helper = () => rate();";
    let error = callback(CallbackKind::Tool, top_level, "return helper();").call(json!({})).expect_err("a promise");
    assert_eq!(error.code(), "R_PROMISE");
}

// R_GENERATOR of 3.6
#[test]
fn generators_and_iterators_are_refused() {
    let values = [
        "(function* () { yield 1; })()",
        "(async function* () { yield 1; })()",
        "[1, 2].values()",
        "new Set([1]).values()",
        "new Map().entries()",
        "'ab'[Symbol.iterator]()",
        "'ab'.matchAll(/./g)",
        "[1].values().map((n) => n)",
        "Iterator.from([1])",
    ];
    for value in values {
        let error = diff_selector(&format!("return {value};")).call(json!({})).expect_err(value);
        assert_eq!(error.code(), "R_GENERATOR", "{value}");
    }
}

// hostile 32
#[test]
fn patched_intrinsics_change_nothing() {
    let patches = [
        "JSON.stringify = () => '{\"forged\":1}';",
        "Array.prototype[Symbol.iterator] = function* () { yield 'forged'; };",
        "Object.keys = Object.entries = Object.getOwnPropertyNames = () => ['forged'];",
        "Reflect.ownKeys = () => ['forged'];",
        "Object.prototype.forged = 1; Array.prototype.forged = 1;",
        "Object.defineProperty(Object.prototype, 'a', { get() { return 'forged'; }, configurable: true });",
        "Array.prototype[0] = 'forged'; Array.prototype.length = 9;",
        "String.prototype.toString = Number.prototype.valueOf = () => 'forged';",
        "Object.prototype.toString = Object.prototype.valueOf = () => { throw 1; };",
        "Object.getPrototypeOf = Reflect.getPrototypeOf = () => null; Array.isArray = () => false;",
        "globalThis.Object = globalThis.Array = globalThis.JSON = undefined;",
        "Object.defineProperty(Object.prototype, 'then', { get() { console.log('ran'); return () => {}; }, configurable: true });",
        "Object.defineProperty(Object.prototype, 'toJSON', { get() { console.log('ran'); return () => 1; }, configurable: true });",
    ];
    for patch in patches {
        let body = format!("const value = {{ list: [1, 'two', {{ three: 3 }}], n: 1 }}; {patch} return value;");
        let outcome = diff_selector(&body).outcome(json!({}));
        assert_eq!(outcome.value.to_string(), r#"{"list":[1,"two",{"three":3}],"n":1}"#, "{patch}");
        assert_eq!(outcome.logs.lines, [], "{patch}");
    }
}

// hostile 32
#[test]
fn foreign_prototypes_do_not_pass_as_plain() {
    let body = "const own = Object.create(null); Object.setPrototypeOf(Array.prototype, own); return { v: [1] };";
    assert_eq!(tool(body).value(json!({})), json!({ "v": [1] }));
    let swapped = "globalThis.Object = { prototype: null }; return { v: { a: 1 } };";
    assert_eq!(tool(swapped).value(json!({})), json!({ "v": { "a": 1 } }));
}
