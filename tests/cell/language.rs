//! The part of JavaScript that callbacks are written in (CB-04 to CB-16).

use callcell_runtime::{CallErrorKind, CallbackKind, ModuleSet};
use callcell_tests::{Callback, KINDS, bundle, bundle_file, call, callback, engine, evaluated, module, modules};
use serde_json::{Value, json};

/// Asserts what each expression is worth.
fn assert_values(table: &[(&str, Value)]) {
    for (expression, expected) in table {
        assert_eq!(&evaluated(expression), expected, "{expression}");
    }
}

// CB-01
#[test]
fn a_callback_of_each_kind_runs_from_its_argument_alone() {
    let results = [json!({ "sum": 3 }), json!(1), json!([1, 2]), json!([1, 2]), json!(true)];
    let bodies = [
        "return { sum: input.a + input.b };",
        "return input.a === 1 && input.b === 2 ? 1 : 0;",
        "return [input.a, input.b];",
        "return [input.a, input.b];",
        "return input.a < input.b;",
    ];
    for ((kind, body), expected) in KINDS.into_iter().zip(bodies).zip(results) {
        assert_eq!(callback(kind, "", body).value(json!({ "a": 1, "b": 2 })), expected, "{kind:?}");
    }
}

// CB-04
#[test]
fn strings_work() {
    assert_values(&[
        ("`${1 + 1} apples`", json!("2 apples")),
        ("'Grüße'.toUpperCase()", json!("GRÜSSE")),
        ("'a,b,,c'.split(',')", json!(["a", "b", "", "c"])),
        ("'x'.padStart(3, '0') + 'y'.repeat(2)", json!("00xyy")),
        ("'  in  '.trim().at(-1)", json!("n")),
        ("'a-b-c'.replaceAll('-', '+')", json!("a+b+c")),
        ("[...'🌍é'].length", json!(2)),
        ("'é'.normalize('NFC').length", json!(1)),
        ("String.raw`\\n`", json!("\\n")),
        ("'b'.localeCompare('a')", json!(1)),
    ]);
}

// CB-05
#[test]
fn finite_numbers_work() {
    assert_values(&[
        ("0.1 + 0.2", json!(0.1 + 0.2)),
        ("7 % 4 + 2 ** 10", json!(1027)),
        ("-7 / 2 | 0", json!(-3)),
        ("(255).toString(16)", json!("ff")),
        ("Number.parseFloat('12.5kg')", json!(12.5)),
        ("(1.005).toFixed(2)", json!("1.00")),
        ("Number.MAX_SAFE_INTEGER", json!(9_007_199_254_740_991_u64)),
        ("1_000_000", json!(1_000_000)),
    ]);
}

// CB-06
#[test]
fn booleans_work() {
    assert_values(&[
        ("true && !false", json!(true)),
        ("null ?? 'default'", json!("default")),
        ("0 || ''", json!("")),
        ("Boolean([]) === !!1", json!(true)),
    ]);
}

// CB-07
#[test]
fn arrays_work() {
    assert_values(&[
        ("[3, 1, 2].sort()", json!([1, 2, 3])),
        ("[3, 1, 2].toSorted((a, b) => b - a)", json!([3, 2, 1])),
        ("[1, 2, 3].map((n) => n * 2).filter((n) => n > 2).reduce((a, b) => a + b)", json!(10)),
        ("[...[1, 2], ...new Set([2, 2, 3])]", json!([1, 2, 2, 3])),
        ("[[1, [2]], 3].flat(Infinity)", json!([1, 2, 3])),
        (
            "Object.entries(Object.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even')))",
            json!([["odd", [1, 3]], ["even", [2]]]),
        ),
        ("[1, 2, 3].includes(2) && [1, 2, 3].findLast((n) => n < 3) === 2", json!(true)),
        ("Array.from({ length: 3 }, (_, index) => index)", json!([0, 1, 2])),
    ]);
}

// CB-08
#[test]
fn plain_objects_work() {
    assert_values(&[
        ("(({ a, ...rest }) => ({ ...rest, a }))({ a: 1, b: 2 })", json!({ "b": 2, "a": 1 })),
        ("({ a: { b: null } }).a?.b?.c ?? 'none'", json!("none")),
        ("Object.fromEntries([['x', 1]])", json!({ "x": 1 })),
    ]);
}

// CB-09
#[test]
fn regular_expressions_work() {
    assert_values(&[
        ("/(?<year>\\d{4})-(?<month>\\d\\d)/.exec('on 2024-05-06').groups.month", json!("05")),
        ("'a1b22'.replace(/\\d+/g, (digits) => `<${digits}>`)", json!("a<1>b<22>")),
        ("[...'x1y2'.matchAll(/[a-z](\\d)/g)].map((match) => match[1])", json!(["1", "2"])),
        ("/^\\p{Lu}/u.test('Ärger')", json!(true)),
        ("/(?<=€)\\d+/.exec('€42')[0]", json!("42")),
        ("'A\\nb'.match(/^b$/im).index", json!(2)),
        ("/a/y.test('ba')", json!(false)),
    ]);
}

// CB-10
#[test]
fn loops_work() {
    let sums = "const sums = [0, 0, 0, 0, 0];
        for (let i = 1; i <= 4; i++) sums[0] += i;
        for (const n of [1, 2, 3, 4]) sums[1] += n;
        for (const key in { 1: 0, 2: 0, 3: 0, 4: 0 }) sums[2] += +key;
        let left = 4; while (left > 0) sums[3] += left--;
        do { sums[4] += 10; } while (false);
        outer: for (;;) { for (;;) break outer; }
        return sums;";
    assert_eq!(callback(CallbackKind::DiffSelector, "", sums).value(Value::Null), json!([10, 10, 10, 10, 10]));
}

// CB-11
#[test]
fn json_operations_work() {
    assert_values(&[
        (
            "JSON.parse('{\"a\":[1,2]}', (key, value) => (typeof value === 'number' ? value + 1 : value))",
            json!({ "a": [2, 3] }),
        ),
        (
            "JSON.stringify({ b: 1, a: [true, null] }, null, 1)",
            json!("{\n \"b\": 1,\n \"a\": [\n  true,\n  null\n ]\n}"),
        ),
        ("JSON.stringify({ a: 1, b: 2 }, ['b'])", json!("{\"b\":2}")),
    ]);
}

// CB-12
#[test]
fn math_works() {
    assert_values(&[
        ("Math.round(2.5) + Math.round(-2.5)", json!(1)),
        ("Math.max(1, 3, 2) - Math.min(4, 2)", json!(1)),
        ("Math.hypot(3, 4)", json!(5)),
        ("Math.trunc(-1.9) + Math.sign(-3)", json!(-2)),
        ("Math.sqrt(2)", json!(std::f64::consts::SQRT_2)),
        ("Math.cbrt(27) + Math.log2(8)", json!(6)),
    ]);
}

// CB-13, CB-14, CB-75
#[test]
fn local_helpers_and_constants_are_captured_through_two_imports() {
    let set = modules(&[
        (
            "tools.js",
            "import { createTool } from '@eigenpal/automations';
             import { gross } from './math.js';
             export const total = createTool({ description: 'Total.', inputSchema: { type: 'object' },
               outputSchema: { type: 'object' }, execute: ({ net }) => ({ total: gross(net) }) });",
        ),
        ("math.js", "import { taxRate } from './rates.js'; export const gross = (net) => net * (1 + taxRate);"),
        ("rates.js", "export const taxRate = 0.25;"),
    ]);
    let bundle = engine().load(bundle_file(engine(), set)).expect("a good bundle");
    assert_eq!(call(&bundle, "total", &json!({ "net": 100 })).expect("it works").value, json!({ "total": 125 }));
}

/// The seed's example as the compiler would hand it over.
fn tax_example() -> ModuleSet {
    modules(&[
        (
            "tools.js",
            "import { createTool } from '@eigenpal/automations';
             import { z } from 'zod';
             import { totalWithTax } from './math.js';
             export const calculateTotal = createTool({
               description: 'Calculate the total including tax.',
               inputSchema: z.object({ subtotal: z.number().nonnegative() }),
               outputSchema: z.strictObject({ total: z.number() }),
               execute: ({ subtotal }) => ({ total: totalWithTax(subtotal) }),
             });",
        ),
        ("math.js", "export const taxRate = 0.2; export const totalWithTax = (subtotal) => subtotal * (1 + taxRate);"),
    ])
}

// CB-16, CB-22, CB-25
#[test]
fn the_seeds_example_gives_120() {
    let bundle = engine().load(bundle_file(engine(), tax_example())).expect("a good bundle");
    let outcome = call(&bundle, "calculateTotal", &json!({ "subtotal": 100 })).expect("it works");
    assert_eq!(outcome.value, json!({ "total": 120 }));
    assert_eq!((outcome.usage.argument_bytes, outcome.usage.result_bytes), (16, 13));
}

// CB-18, CB-121
#[test]
fn a_negative_subtotal_is_refused_before_execute_runs() {
    let bundle = engine().load(bundle_file(engine(), tax_example())).expect("a good bundle");
    let error = call(&bundle, "calculateTotal", &json!({ "subtotal": -1 })).expect_err("it is negative");
    assert_eq!(error.code(), "R_INPUT_SCHEMA");
    assert_eq!(error.kind.path(), Some("$.subtotal"));
    assert_eq!(error.usage, None, "a cell ran");
}

// CB-19, CB-121
#[test]
fn a_strict_output_refuses_an_extra_key() {
    let bundle = bundle(
        "import { createTool } from '@eigenpal/automations';
         import { z } from 'zod';
         export const extra = createTool({ description: 'Says too much.', inputSchema: z.object({}),
           outputSchema: z.strictObject({ total: z.number() }), execute: () => ({ total: 1, tax: 2 }) });",
    );
    let error = call(&bundle, "extra", &json!({})).expect_err("`tax` is extra");
    assert_eq!(error.code(), "R_OUTPUT_SCHEMA");
    assert!(
        matches!(&error.kind, CallErrorKind::OutputSchema { path, .. } if path == "$.tax" || path == "$"),
        "{error:?}"
    );
}

// CB-34
#[test]
fn a_tool_returns_an_object() {
    for body in ["return [];", "return 1;", "return 'text';", "return null;", "return true;"] {
        let error = callback(CallbackKind::Tool, "", body).call(json!({})).expect_err(body);
        assert_eq!((error.code(), error.kind.path()), ("R_OUTPUT_SCHEMA", Some("$")), "{body}");
    }
}

// CB-71
#[test]
fn a_bundle_is_called_again_after_a_round_trip_through_bytes() {
    let bytes = bundle_file(engine(), tax_example()).to_bytes().expect("it can be written");
    let file = callcell_runtime::BundleFile::from_bytes(&bytes).expect("it can be read");
    let bundle = engine().load(file).expect("it can be loaded");
    assert_eq!(
        call(&bundle, "calculateTotal", &json!({ "subtotal": 50 })).expect("it works").value,
        json!({ "total": 60 })
    );
}

// CB-72, CB-116
#[test]
fn a_body_that_throws_or_never_ends_compiles() {
    for body in ["throw new Error('no');", "for (;;);"] {
        let (source, _) = callcell_tests::source(CallbackKind::Tool, "", body);
        assert_eq!(engine().evaluate(&module(&source)).expect("no body runs").problems, []);
    }
}

// R_UNKNOWN_CALLBACK of 3.6
#[test]
fn an_unknown_callback_is_told_its_nearest_name() {
    let probe = callback(CallbackKind::Tool, "", "return {};");
    let wrong = Callback { name: "prob".into(), ..probe };
    let expected = CallErrorKind::UnknownCallback { name: "prob".into(), nearest: Some("probe".into()) };
    assert_eq!(wrong.refusal(json!({})), expected);
    assert_eq!(expected.code(), "R_UNKNOWN_CALLBACK");
    assert_eq!(expected.hint().as_deref(), Some("did you mean `probe`?"));
}
