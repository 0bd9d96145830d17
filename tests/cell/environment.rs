//! What a callback finds around it: the language and `console`, no host (CB-38 to CB-58, CB-82 to CB-85, D-25 to D-28).

use callcell_runtime::{CallErrorKind, CallOptions, CallbackKind, LogLevel, LogLine, ModuleSet, ModuleSource};
use callcell_tests::{KINDS, bundle, call, callback, diff_selector, engine, evaluate, evaluated, tool};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// Everything on the global object. A new name here is a decision, not an accident.
const GLOBALS: [&str; 59] = [
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "console",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
];
/// The rest of them.
const MORE_GLOBALS: [&str; 3] = ["parseInt", "undefined", "unescape"];

// CB-02, hostile 33
#[test]
fn the_global_names_are_the_golden_list() {
    let mut golden: Vec<&str> = GLOBALS.into_iter().chain(MORE_GLOBALS).collect();
    golden.sort_unstable();
    let found = evaluated("Reflect.ownKeys(globalThis).filter((name) => typeof name === 'string').sort()");
    assert_eq!(found, json!(golden));
    let symbols = evaluated("Reflect.ownKeys(globalThis).filter((name) => typeof name === 'symbol').map(String)");
    assert_eq!(symbols, json!(["Symbol(Symbol.toStringTag)"]));
}

/// Logs what a script can see of its surroundings, from any kind of callback.
const PROBE: &str = "console.log(Reflect.ownKeys(globalThis).map(String).sort().join());
    console.log(Object.getOwnPropertyNames(console).join(), typeof this, arguments.length);";

fn good(kind: CallbackKind) -> &'static str {
    match kind {
        CallbackKind::Tool => "return {};",
        CallbackKind::Evaluator => "return 1;",
        CallbackKind::DiffSelector | CallbackKind::JudgeSelector => "return [];",
        CallbackKind::PassRule => "return true;",
    }
}

// CB-02
#[test]
fn all_five_kinds_find_the_same_environment() {
    let seen = KINDS.map(|kind| callback(kind, "", &format!("{PROBE} {}", good(kind))).outcome(json!({})).logs);
    assert_eq!(seen[0].lines.len(), 2);
    for (kind, logs) in KINDS.iter().zip(&seen) {
        assert_eq!(logs, &seen[0], "{kind:?}");
    }
}

// CB-03, CB-62, CB-63
#[test]
fn a_filesystem_agent_has_the_same_environment() {
    let names =
        ["", ".withFilesystem()", ".withFilesystem({ cwd: null })", ".withFilesystem({ cwd: 'work' })"].map(|mode| {
            let bundle = bundle(&format!(
                "import {{ createAgent, weightedScore }} from '@eigenpal/automations';
             export const agent = createAgent({{ name: 'agent', instructions: 'Work.' }}){mode}
               .defineEvaluator('probe', function () {{ {PROBE} return 1; }})
               .defineEvalPass(weightedScore({{ weights: {{ probe: 1 }}, threshold: 0.5 }}));"
            ));
            call(&bundle, "agent.evaluators.probe", &json!({})).expect("it works").logs
        });
    assert!(names.iter().all(|logs| logs == &names[0] && logs.lines.len() == 2));
}

// CB-38 to CB-48
#[test]
fn no_host_api_exists() {
    let names = [
        "process",
        "Buffer",
        "require",
        "module",
        "exports",
        "__dirname",
        "__filename",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "window",
        "document",
        "self",
        "navigator",
        "location",
        "localStorage",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "clearTimeout",
        "queueMicrotask",
        "performance",
        "crypto",
        "WebAssembly",
        "Deno",
        "Bun",
        "std",
        "os",
        "bjson",
        "scriptArgs",
        "print",
        "gc",
        "load",
        "Javy",
        "Worker",
        "Atomics",
        "SharedArrayBuffer",
        "structuredClone",
        "TextEncoder",
        "TextDecoder",
        "URL",
        "Intl",
        "eval",
        "Function",
        "ShadowRealm",
        "alert",
    ];
    for name in names {
        assert_eq!(evaluated(&format!("typeof {name}")), json!("undefined"), "{name}");
        assert_eq!(evaluated(&format!("'{name}' in globalThis")), json!(false), "{name}");
        let error = tool(&format!("return {name};"))
            .call_with(json!({}), &CallOptions { reveal: true, ..CallOptions::default() });
        let CallErrorKind::Threw { detail: Some(thrown) } = error.expect_err(name).kind else { panic!("{name}") };
        assert_eq!((thrown.name.as_str(), thrown.message), ("ReferenceError", format!("{name} is not defined")));
    }
}

// CB-118
#[test]
fn an_absent_global_fails_at_run_time() {
    let top_level = "const load = () => fetch('https://example.com');";
    assert_eq!(
        callback(CallbackKind::Tool, top_level, "return load();").call(json!({})).expect_err("absent").code(),
        "R_THREW"
    );
}

// CB-73
#[test]
fn an_absent_global_at_the_top_level_fails_the_evaluation() {
    let error = evaluate("const now = process.env.NOW; export const a = now;").expect_err("no process");
    assert_eq!(error.code(), "C_TOP_LEVEL_THREW");
    assert_eq!(error.to_string(), "the project threw while it was loaded: ReferenceError: process is not defined");
}

// D-28, hostile 33
#[test]
fn no_code_comes_from_text() {
    let spellings = [
        "eval('1')",
        "(0, eval)('1')",
        "globalThis.eval('1')",
        "Function('return 1')()",
        "new Function('return 1')()",
        "globalThis['Function']('return 1')()",
        "(() => {}).constructor('return 1')()",
        "(function () {}).constructor('return 1')()",
        "(class {}).constructor('return 1')()",
        "Object.getPrototypeOf(() => {}).constructor('return 1')()",
        "(async () => {}).constructor('return 1')()",
        "(function* () {}).constructor('return 1')()",
        "(async function* () {}).constructor('return 1')()",
        "Object.getPrototypeOf(async () => {}).constructor('return 1')()",
        "Object.getPrototypeOf(function* () {}).constructor('return 1')()",
        "Object.getPrototypeOf(async function* () {}).constructor('return 1')()",
        "Math.max.constructor('return 1')()",
        "Object.constructor('return 1')()",
        "Reflect.construct(Object.constructor, ['return 1'])()",
        "console.log.constructor('return 1')()",
        "Date.constructor('return 1')()",
        "Object.defineProperty.bind().constructor('return 1')()",
        "new Proxy(() => {}, {}).constructor('return 1')()",
        "(function () { return this; }).call(1).constructor.constructor('return 1')()",
        "[]['constructor']['constructor']('return 1')()",
        "''.sub['constructor']('return 1')()",
        "Object.getOwnPropertyDescriptor(Object.getPrototypeOf(() => {}), 'constructor').value('return 1')()",
        "globalThis.constructor.constructor('return 1')()",
        "input.constructor.constructor('return 1')()",
        "Error.prototype.constructor.constructor('return 1')()",
        "Symbol.prototype.constructor.constructor('return 1')()",
        "Iterator.prototype.constructor.constructor('return 1')()",
        "Promise.resolve.constructor('return 1')()",
        "Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.constructor('return 1')()",
        "(() => { Error.prepareStackTrace = (error, sites) => sites; return new Error().stack[0].getFunction().constructor('return 1')(); })()",
    ];
    for spelling in spellings {
        let result = diff_selector(&format!("return {spelling};")).call(json!({}));
        assert_eq!(result.map(|outcome| outcome.value).map_err(|error| error.code()), Err("R_THREW"), "{spelling}");
    }
}

// D-28: whatever object a script reaches, no path leads to a constructor of functions
#[test]
fn no_reachable_object_is_a_function_constructor() {
    let body = "const seen = new Set(); const open = [globalThis, () => {}, async () => {}, function* () {}, async function* () {}];
        const found = [];
        while (open.length > 0) {
            const at = open.pop();
            if ((typeof at !== 'object' && typeof at !== 'function') || at === null || seen.has(at)) continue;
            seen.add(at);
            if (typeof at === 'function' && /^(Async)?(Generator)?Function$/.test(at.name)) found.push(at.name);
            open.push(Object.getPrototypeOf(at));
            for (const key of Reflect.ownKeys(at)) {
                const { value, get, set } = Object.getOwnPropertyDescriptor(at, key);
                open.push(value, get, set);
            }
        }
        return [found, seen.size > 500];";
    assert_eq!(diff_selector(body).value(json!({})), json!([[], true]));
}

// CB-45
#[test]
fn a_dynamic_import_gives_nothing() {
    for name in
        ["node:fs", "zod", "@eigenpal/automations", "./main.js", "main.js", "callcell:sdk", "file:///etc/passwd"]
    {
        let error = tool(&format!("return import('{name}');")).call(json!({})).expect_err(name);
        assert_eq!(error.code(), "R_PROMISE", "{name}");
        let error = tool(&format!("import('{name}'); return {{}};")).call(json!({})).expect_err(name);
        assert_eq!(error.code(), "R_PROMISE", "{name}");
    }
}

// CB-24, CB-38, CB-44
#[test]
fn only_what_the_bundle_captured_can_be_imported() {
    for name in [
        "node:fs",
        "fs",
        "child_process",
        "decimal.js",
        "https://example.com/x.js",
        "/etc/passwd",
        "../x.js",
        "std",
        "os",
        "qjs:os",
        "main",
        "callcell:sdk",
        "callcell:other",
    ] {
        let error = evaluate(&format!("import * as it from \"{name}\"; export const a = it;"));
        let error = error.map(|evaluation| evaluation.problems).expect_err(name);
        assert_eq!(error.code(), "C_TOP_LEVEL_THREW", "{name}: {error}");
    }
}

// CB-24
#[test]
fn a_specifier_means_something_only_in_its_own_module() {
    let module = |name: &str, source: &str, imports: &[(&str, &str)]| ModuleSource {
        name: name.into(),
        source: source.into(),
        source_map: None,
        imports: imports.iter().map(|(from, to)| ((*from).into(), (*to).into())).collect(),
    };
    let set = ModuleSet {
        entry: "a.js".into(),
        modules: vec![
            module("a.js", "import { b } from './b.js'; export { b };", &[("./b.js", "lib/b.js")]),
            module("lib/b.js", "import { c } from './c.js'; export const b = c;", &[]),
            module("c.js", "export const c = 1;", &[]),
        ],
    };
    assert_eq!(engine().evaluate(&set).expect_err("`./c.js` means nothing in b").code(), "C_TOP_LEVEL_THREW");
}

// 2.5
#[test]
fn waiting_at_the_top_level_is_refused() {
    for source in [
        "await 1; export const a = 1;",
        "Promise.resolve().then(() => 1); export const a = 1;",
        "await new Promise(() => {});",
        "import('node:fs'); export const a = 1;",
    ] {
        assert_eq!(evaluate(source).expect_err(source).code(), "C_TOP_LEVEL_AWAIT", "{source}");
    }
}

// hostile 34
#[test]
fn stacks_name_no_place_of_the_host() {
    let bodies = [
        "return new Error('x').stack;",
        "try { null.x; } catch (error) { return error.stack; }",
        "Error.prepareStackTrace = (error, sites) => sites.map((site) => site.getFileName() + site.getFunctionName()).join(); return new Error().stack;",
        "try { JSON.parse('{'); } catch (error) { return error.stack + error.message; }",
        "let stack; [1].map(() => { stack = new Error().stack; }); return stack;",
        "try { new Proxy({}, { get() { throw new Error('x'); } }).a; } catch (error) { return error.stack; }",
    ];
    for body in bodies {
        let stack = diff_selector(body).value(json!({})).as_str().expect("a text").to_owned();
        for place in ["/root", "/home", "/work", "/tmp", ".cargo", "guest", ".rs", "file:"] {
            assert!(!stack.contains(place), "{body}: {stack}");
        }
    }
    let zod = bundle(
        "import { createTool } from '@eigenpal/automations';
         import { z } from 'zod';
         const schema = z.object({ a: z.string() });
         export const probe = createTool({ description: 'Stack.', inputSchema: z.object({}), outputSchema: z.looseObject({}),
           execute() { try { schema.parse({ a: 1 }); } catch (error) { return { stack: error.stack }; } } });",
    );
    let stack =
        call(&zod, "probe", &json!({})).expect("it works").value["stack"].as_str().unwrap_or_default().to_owned();
    assert!(!stack.contains("/root") && !stack.contains("/work") && !stack.contains("node_modules"), "{stack}");
}

// CB-82, D-25
#[test]
fn the_clock_is_disabled_while_a_project_loads() {
    let spellings = [
        "Date.now()",
        "new Date()",
        "Date()",
        "new Date().getTime()",
        "Date.now.call(null)",
        "Reflect.construct(Date, [])",
        "Reflect.construct(Date, [], Object)",
        "Reflect.apply(Date, null, [])",
        "new (class Later extends Date {})()",
        "new (Date.bind(null))()",
        "Date.prototype.constructor.now()",
        "new (new Date(0).constructor)()",
        "(() => { const { now } = Date; return now(); })()",
        "Object.getOwnPropertyDescriptor(globalThis, 'Date').value.now()",
    ];
    for spelling in spellings {
        let error = evaluate(&format!("export const time = {spelling};")).expect_err(spelling);
        assert_eq!(error.code(), "C_CLOCK_DISABLED", "{spelling}: {error}");
        assert_eq!(error.to_string(), "the clock is disabled while a project is compiled");
    }
}

// CB-83, D-25
#[test]
fn chance_is_disabled_while_a_project_loads() {
    for spelling in ["Math.random()", "Math.random.call(null)", "(0, Math.random)()", "[1].map(Math.random)[0]"] {
        let error = evaluate(&format!("export const dice = {spelling};")).expect_err(spelling);
        assert_eq!(error.code(), "C_RANDOM_DISABLED", "{spelling}: {error}");
        assert_eq!(error.to_string(), "`Math.random` is disabled while a project is compiled");
    }
}

// W_CLOCK_TOUCHED, D-25
#[test]
fn a_caught_look_at_the_clock_is_noted() {
    let (source, _) = callcell_tests::source(CallbackKind::Tool, "", "return {};");
    let touched = |top_level: &str| {
        let evaluation = evaluate(&format!("{source}\n{top_level}")).expect("the error is caught");
        assert_eq!(evaluation.problems, []);
        (evaluation.clock_touched, evaluation.random_touched)
    };
    assert_eq!(touched(""), (false, false));
    assert_eq!(touched("try { Date.now(); } catch {}"), (true, false));
    assert_eq!(touched("try { Math.random(); } catch {}"), (false, true));
    assert_eq!(touched("try { new Date(); } catch {} try { Math.random(); } catch {}"), (true, true));
    assert_eq!(
        touched("new Date(0); Date.UTC(2024, 0); Date.parse('2024-01-01'); new Date(undefined);"),
        (false, false)
    );
}

// D-25
#[test]
fn dates_with_arguments_work_while_a_project_loads() {
    let top_level = "const at = [new Date(0).toISOString(), Date.UTC(2024, 1, 29), Date.parse('2024-05-06T07:08:09Z'),
        new Date(2024, 0, 1).getTime(), new Date('2024-05-06').getDay(), new Date(new Date(5)).getTime()];";
    let expected =
        json!(["1970-01-01T00:00:00.000Z", 1_709_164_800_000_u64, 1_714_979_289_000_u64, 1_704_067_200_000_u64, 1, 5]);
    assert_eq!(callback(CallbackKind::DiffSelector, top_level, "return at;").value(json!({})), expected);
}

// CB-85
#[test]
fn what_the_project_kept_of_clock_and_chance_works_in_calls() {
    let top_level = "const Kept = Date; const { now } = Date; const { random } = Math; class Later extends Date {}
        const early = new Date(0);";
    let body = "return [now(), Kept.now(), new Kept().getTime(), new Later().getTime(), typeof Kept(),
        new Date() instanceof Kept, early instanceof Date, new Later() instanceof Kept, random() < 1, Date.length, Date.name];";
    let options =
        CallOptions { clock: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)), ..CallOptions::default() };
    let value =
        callback(CallbackKind::DiffSelector, top_level, body).call_with(json!({}), &options).expect("it works").value;
    assert_eq!(value, json!([1000, 1000, 1000, 1000, "string", true, true, true, true, 7, "Date"]));
}

fn at(millis: u64) -> CallOptions {
    CallOptions { clock: Some(SystemTime::UNIX_EPOCH + Duration::from_millis(millis)), ..CallOptions::default() }
}

// CB-85
#[test]
fn the_clock_is_the_callers_to_the_millisecond() {
    let clock = diff_selector("return [Date.now(), new Date().getTime(), new Date().toISOString().length];");
    let days = (0..40).map(|step| 1_700_000_000_001 + step * 7_919_999).chain([0, 1, 999, 4_102_444_800_123]);
    for millis in days {
        let value = clock.call_with(json!({}), &at(millis)).expect("it works").value;
        assert_eq!(value, json!([millis, millis, 24]));
    }
}

// CB-85
#[test]
fn a_clock_before_1970_works() {
    let options =
        CallOptions { clock: Some(SystemTime::UNIX_EPOCH - Duration::from_millis(1500)), ..CallOptions::default() };
    let value = diff_selector("return Date.now();").call_with(json!({}), &options).expect("it works").value;
    assert_eq!(value, json!(-1500));
}

// CB-85, hostile 36
#[test]
fn the_clock_stands_still_during_a_call() {
    let body = "const before = Date.now(); for (let i = 0; i < 300000; i++); return Date.now() - before;";
    assert_eq!(diff_selector(body).value(json!({})), json!(0));
}

// CB-85
#[test]
fn without_a_pinned_clock_it_is_the_hosts() {
    let millis = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    let before = millis();
    let now = diff_selector("return Date.now();").value(json!({})).as_u64().expect("a time");
    assert!((before..=millis()).contains(&now), "{now} is not between {before} and {}", millis());
}

// CB-85, hostile 36
#[test]
fn chance_follows_the_seed() {
    let dice = diff_selector("return Array.from({ length: 20 }, Math.random);");
    let roll = |seed| {
        let options = CallOptions { seed, ..CallOptions::default() };
        dice.call_with(json!({}), &options).expect("it works").value
    };
    assert_eq!(roll(Some(1)), roll(Some(1)));
    assert_ne!(roll(Some(1)), roll(Some(2)));
    assert_ne!(roll(Some(0)), roll(Some(u64::MAX)));
    assert_ne!(roll(None), roll(None));
    let numbers: Vec<f64> = (0..50)
        .flat_map(|seed| match roll(Some(seed)) {
            Value::Array(numbers) => numbers.iter().filter_map(Value::as_f64).collect::<Vec<_>>(),
            other => panic!("{other}"),
        })
        .collect();
    assert!(numbers.len() == 1000 && numbers.iter().all(|number| (0.0..1.0).contains(number)));
    let mean = numbers.iter().sum::<f64>() / 1000.0;
    assert!((0.45..0.55).contains(&mean), "{mean}");
}

// D-40
#[test]
fn a_look_at_clock_or_chance_is_reported() {
    let used = |body: &str| {
        let usage = diff_selector(body).outcome(json!({})).usage;
        (usage.clock_used, usage.random_used)
    };
    assert_eq!(used("return 1;"), (false, false));
    assert_eq!(used("return new Date(0).getTime() + Date.UTC(2024, 0);"), (false, false));
    assert_eq!(used("return Date.now();"), (true, false));
    assert_eq!(used("return new Date().getTime();"), (true, false));
    assert_eq!(used("return Math.random();"), (false, true));
    assert_eq!(used("new Date(); Math.random(); return 1;"), (true, true));
    let failed = tool("Math.random(); throw 1;").call(json!({})).expect_err("it throws");
    assert_eq!(failed.usage.map(|usage| usage.random_used), Some(true));
}

// D-27
#[test]
fn it_is_utc_everywhere() {
    let table = [
        ("new Date(0).getHours()", json!(0)),
        ("[new Date(0), new Date(15e11)].map((date) => date.getTimezoneOffset())", json!([0, 0])),
        ("new Date(2024, 6, 1, 12).toISOString()", json!("2024-07-01T12:00:00.000Z")),
        ("new Date('2024-07-01T12:00:00').getTime()", json!(1_719_835_200_000_u64)),
        ("new Date(0).toString()", json!("Thu Jan 01 1970 00:00:00 GMT+0000")),
        ("new Date(0).toLocaleDateString() === new Date(0).toLocaleDateString('de')", json!(true)),
        ("(1234.5).toLocaleString() === (1234.5).toLocaleString('de')", json!(true)),
        ("['ä', 'z', 'a'].sort((a, b) => a.localeCompare(b)).length", json!(3)),
    ];
    for (expression, expected) in table {
        assert_eq!(evaluated(expression), expected, "{expression}");
    }
}

fn lines(body: &str) -> Vec<(LogLevel, String)> {
    let outcome = tool(&format!("{body} return {{}};")).outcome(json!({ "a": [1, null] }));
    assert!(!outcome.logs.truncated);
    outcome.logs.lines.into_iter().map(|LogLine { level, text }| (level, text)).collect()
}

// D-26
#[test]
fn console_is_captured() {
    let body = "console.log('a', 1, true, null, undefined); console.info(input); console.warn([1, { b: 2 }]);
        console.error(new TypeError('bad')); console.debug('é', 10n, Symbol('s'), -0); console.log();";
    let expected = [
        (LogLevel::Log, "a 1 true null undefined"),
        (LogLevel::Info, r#"{"a":[1,null]}"#),
        (LogLevel::Warn, r#"[1,{"b":2}]"#),
        (LogLevel::Error, "TypeError: bad"),
        (LogLevel::Debug, "é 10 Symbol() 0"),
        (LogLevel::Log, ""),
    ];
    assert_eq!(lines(body), expected.map(|(level, text)| (level, text.to_owned())));
}

// D-26
#[test]
fn console_never_throws() {
    let body = "const cycle = {}; cycle.cycle = cycle; console.log(cycle);
        console.log({ toString() { throw 1; }, toJSON() { throw 2; } });
        console.log(Object.create(null)); console.log(new Proxy({}, { get() { throw 3; }, ownKeys() { throw 4; } }));
        console.log(() => 1); console.log({ big: 1n }); console.log('\\ud800');";
    let texts: Vec<String> = lines(body).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts.len(), 7);
    assert_eq!(
        (texts[0].as_str(), texts[1].as_str(), texts[6].as_str()),
        ("[object Object]", "[unprintable]", "\u{fffd}")
    );
}

// D-26
#[test]
fn console_of_a_failed_call_is_kept() {
    let error = tool("console.log('before'); throw 1;").call(json!({})).expect_err("it throws");
    assert_eq!(error.logs.lines, [LogLine { level: LogLevel::Log, text: "before".into() }]);
    let looping = tool("console.log('before'); for (;;);");
    let limits = callcell_runtime::Limits { fuel: 30_000_000, ..Default::default() };
    let error = looping.call_with(json!({}), &CallOptions { limits: Some(limits), ..CallOptions::default() });
    assert_eq!(error.expect_err("it loops").code(), "R_FUEL");
}

// D-26, hostile 38
#[test]
fn console_keeps_8_kib() {
    let floods = [
        "console.log('x'.repeat(100000));",
        "console.log('é'.repeat(5000));",
        "console.log('🌍'.repeat(5000), 1);",
        "for (let i = 0; i < 100000; i++) console.log('line ' + i);",
        "for (let i = 0; i < 10000; i++) console.log('\\x1b]0;title\\x07\\r\\u202e');",
        "console.log(Array(10000).fill('abc'));",
        "console.log(...Array(20000).fill('abc'));",
    ];
    for flood in floods {
        let logs = tool(&format!("{flood} return {{}};")).outcome(json!({})).logs;
        let bytes: usize = logs.lines.iter().map(|line| line.text.len()).sum();
        assert!(logs.truncated, "{flood}");
        assert!(bytes <= 8192 && bytes > 4000, "{flood}: {bytes}");
        assert!(logs.lines.iter().all(|line| !line.text.contains('\u{fffd}')), "{flood}");
    }
}

// D-26
#[test]
fn empty_lines_cannot_overrun_the_console() {
    for flood in [
        "for (let i = 0; i < 10000; i++) console.log();",
        "console.log('x'.repeat(8185)); console.log('');",
        "console.log('x'.repeat(8187)); console.log();",
        "console.log('x'.repeat(8182)); console.log(''); console.log('');",
    ] {
        let outcome = tool(&format!("{flood} return {{}};")).outcome(json!({}));
        assert_eq!(outcome.value, json!({}), "{flood}");
    }
}
