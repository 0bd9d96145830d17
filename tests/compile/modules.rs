//! Imports: what the standard says of modules, compiled from TypeScript and run in a cell (2.2).

use crate::project::{Files, SDK, probe, value};
use callcell_compiler::{Project, compile};
use callcell_tests::{call, engine};
use serde_json::json;
use std::path::Path;

/// The seed's example, with the tax rate one import further away.
const TAX: &[(&str, &str)] = &[
    (
        "agents/tools.ts",
        "import { createTool } from '@eigenpal/automations';
import { z } from 'zod';
import { totalWithTax } from './math.ts';

export const calculateTotal = createTool({
  description: 'Calculate the total including tax.',
  inputSchema: z.object({ subtotal: z.number().nonnegative() }),
  outputSchema: z.object({ total: z.number() }).strict(),
  execute: ({ subtotal }) => ({ total: totalWithTax(subtotal) }),
});
",
    ),
    (
        "agents/math.ts",
        "import { taxRate } from '../shared/rates.ts';
const precision = 2;
const round = (value: number): number => Number(value.toFixed(precision));
export function totalWithTax(subtotal: number): number {
  return round(subtotal * (1 + taxRate));
}
",
    ),
    ("shared/rates.ts", "export const taxRate = 0.2;\n"),
];

// CB-13, CB-14, CB-15, CB-16, CB-20, CB-23, CB-75
#[test]
fn a_chain_of_imports_runs_after_its_sources_are_gone() {
    let files = Files::new(TAX);
    let compilation = files.compilation();
    let sources: Vec<_> = compilation.bundle.manifest.sources.iter().map(|source| source.path.as_str()).collect();
    assert_eq!(sources, ["agents/math.ts", "agents/tools.ts", "shared/rates.ts"]);
    drop(files);
    let bundle = engine().load(compilation.bundle).expect("the bundle loads");
    let total = |subtotal: f64| call(&bundle, "calculateTotal", &json!({ "subtotal": subtotal }));
    assert_eq!(total(100.0).expect("it works").value, json!({ "total": 120 }));
    assert_eq!(total(0.125).expect("it works").value, json!({ "total": 0.15 }));
    assert_eq!(total(-1.0).expect_err("it is negative").code(), "R_INPUT_SCHEMA");
}

// CB-15
#[test]
fn a_tsconfig_above_the_entry_makes_its_folder_the_root() {
    let files = Files::new(TAX);
    files.write("tsconfig.json", "{}");
    let project = Project::open(&files.path("agents/tools.ts")).expect("the project opens");
    assert_eq!(project.entry(), "agents/tools.ts");
    assert!(compile(engine(), &project).is_ok());
}

// CB-23: bindings are live, functions are hoisted
#[test]
fn modules_may_import_each_other() {
    let found = value(&[
        (
            "probe.ts",
            "import { count, bump, early } from './even.ts';
export const isOdd = (n: number): boolean => n !== 0 && !early(n);
export default () => { const before = count; bump(); bump(); return [before, count, isOdd(7), early(7)]; };
export function hoisted() { return 'hoisted'; }
export let late = 'set';
",
        ),
        (
            "even.ts",
            "import { hoisted, late } from './probe.ts';
import * as probe from './probe.ts';
export let count = 0;
export const bump = () => { count += 1; };
export function early(n: number): boolean { return n % 2 === 0; }
export const greeting: string = hoisted() + ' and ' + probe.hoisted();
if (greeting !== 'hoisted and hoisted') throw new Error(greeting);
export const later = () => late;
",
        ),
    ]);
    assert_eq!(found, json!([0, 2, true, false]));
    let found = value(&[
        (
            "probe.ts",
            "import { read } from './b.ts';\nexport let x = 1;\nexport default () => { x = 5; return read(); };",
        ),
        (
            "b.ts",
            "import * as self from './b.ts';\nimport { x } from './probe.ts';\nexport const read = () => [x, self.read === read];",
        ),
    ]);
    assert_eq!(found, json!([5, true]));
}

// CB-73: a name that is read before its module ran is an error with a place
#[test]
fn a_cycle_that_is_read_too_early_throws_where_it_reads() {
    let files = probe(&[
        ("probe.ts", "import { b } from './b.ts';\nexport const a = 1;\nexport default () => a + b;\n"),
        ("b.ts", "import { a } from './probe.ts';\ninterface Unused { x: 1 }\n\nexport const b = 10 + a;\n"),
    ]);
    assert_eq!(
        files.report(),
        ["b.ts:4:23: C_TOP_LEVEL_THREW: the project threw while it was loaded: ReferenceError: a is not initialized"]
    );
    assert_eq!(
        files.found()[0].help.as_deref(),
        Some("top-level code runs while the project is compiled, without clock, randomness or network")
    );
    // The same read, later, is fine.
    files.write("b.ts", "import { a } from './probe.ts';\nexport const b = 10;\nexport const later = () => a;\n");
    assert_eq!(files.report(), [""; 0]);
}

// CB-23
#[test]
fn every_form_of_re_export_gives_the_same_thing() {
    let found = value(&[
        (
            "probe.ts",
            "import first, { named, renamed, fallback, starred, space, 'with space' as spaced, local, type Shape } from './barrel.ts';
import * as barrel from './barrel.ts';
export default () => {
  const shape: Shape = { of: 'type' };
  return [first, named, renamed, fallback, starred, space.named, spaced, local, shape.of, Object.keys(barrel)];
};
",
        ),
        (
            "barrel.ts",
            "import * as held from './held.ts';
export { named, named as renamed, default as fallback } from './x.ts';
export { default } from './x.ts';
export * from './star.ts';
export * as space from './x.ts';
export { named as 'with space' } from './x.ts';
export { held };
export type { Shape } from './types.ts';
export type * from './types.ts';
export const local = 'local';
",
        ),
        ("x.ts", "export const named = 'named';\nexport default 'default';\n"),
        ("star.ts", "export const starred = 'starred';\nexport const local = 'shadowed';\nexport default 'no star takes this';\n"),
        ("held.ts", "export const h = 1;\n"),
        ("types.ts", "export interface Shape { of: string }\n"),
    ]);
    let names = ["default", "fallback", "held", "local", "named", "renamed", "space", "starred", "with space"];
    assert_eq!(
        found,
        json!(["default", "named", "named", "default", "starred", "named", "named", "local", "type", names])
    );
}

// CB-23: two stars with one name
#[test]
fn a_name_that_two_stars_bring_is_no_export_unless_it_is_one_thing() {
    let barrel = "export * from './x.ts';\nexport * from './y.ts';\n";
    let x = "export { same } from './same.ts';\nexport const twice = 'x';\nexport const x = 1;\n";
    let y = "export { same } from './same.ts';\nexport const twice = 'y';\nexport const y = 2;\n";
    let modules = [("barrel.ts", barrel), ("x.ts", x), ("y.ts", y), ("same.ts", "export const same = 'same';\n")];
    let with = |text| [&[("probe.ts", text)], &modules[..]].concat();
    let space = "import * as all from './barrel.ts';\nexport default () => [Object.keys(all), all.same];\n";
    assert_eq!(value(&with(space)), json!([["same", "x", "y"], "same"]));
    let named = "import { same, x } from './barrel.ts';\nexport default () => [same, x];\n";
    assert_eq!(value(&with(named)), json!(["same", 1]));
    let twice = "import { same } from './barrel.ts';\nimport { x, twice } from './barrel.ts';\nexport default () => [same, x, twice];\n";
    let found = probe(&with(twice)).found();
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "probe.ts:2:13: C_SYNTAX: `barrel.ts` has two exports `twice`: its `export *` lead to those of `x.ts` and `y.ts`"
        ]
    );
    // What a module exports itself hides what comes through its stars.
    let own = [
        ("barrel.ts", "export * from './x.ts';\nexport * from './y.ts';\nexport const twice = 'own';\n"),
        modules[1],
        modules[2],
        modules[3],
    ];
    let outer = [&[("outer.ts", "export * from './barrel.ts';\nexport * from './barrel.ts';\n")], &own[..]].concat();
    let through = "import { twice } from './outer.ts';\nexport default () => twice;\n";
    assert_eq!(value(&[&[("probe.ts", through)], &outer[..]].concat()), json!("own"));
}

// 2.1, D-13: names are looked up through stars without walking every way there is
#[test]
fn a_thousand_names_through_modules_that_re_export_each_other() {
    let (modules, names) = (200, 1_000);
    let stars: String = (0..modules).map(|number| format!("export * from './m{number}.ts';\n")).collect();
    let mut files: Vec<(String, String)> = (0..modules)
        .map(|number| (format!("m{number}.ts"), format!("{stars}export const n{number} = {number};\n")))
        .collect();
    let wrong: Vec<String> = (0..names).map(|number| format!("u{number}")).collect();
    files.push((
        "probe.ts".into(),
        format!(
            "import {{ n7, {} }} from './m0.ts';\nexport default () => [n7, {}];\n",
            wrong.join(", "),
            wrong.join(", ")
        ),
    ));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let found = probe(&files).found();
    assert_eq!(found.len(), names);
    assert!(
        found.iter().all(|it| it.code == "C_SYNTAX" && it.message.starts_with("`m0.ts` has no export `u")),
        "{:?}",
        found[0]
    );
}

// CB-23: a circle of re-exports holds what its modules hold, and nothing else
#[test]
fn re_exports_may_go_in_a_circle() {
    let modules = [
        ("x.ts", "export * from './x.ts';\nexport * from './y.ts';\nexport const x = 1;\n"),
        ("y.ts", "export * from './x.ts';\nexport * from './z.ts';\nexport const y = 2;\n"),
        ("z.ts", "export * from './y.ts';\nexport { loop } from './w.ts';\n"),
        ("w.ts", "export { loop } from './z.ts';\n"),
    ];
    let with = |text| [&[("probe.ts", text)], &modules[..]].concat();
    let files = probe(&with("import { x, y } from './z.ts';\nexport default () => [x, y];\n"));
    files.write("z.ts", "export * from './y.ts';\n");
    let found = call(&files.bundle(), "a.evaluators.probe", &json!(null)).expect("it works");
    assert_eq!(found.value, json!([1, 2]));

    let files = probe(&with("import { x, none } from './x.ts';\nexport default () => [x, none];\n"));
    assert_eq!(
        files.report(),
        [
            "probe.ts:1:13: C_SYNTAX: `x.ts` has no export `none`",
            "w.ts:1:10: C_SYNTAX: `z.ts` has no export `loop`",
            "z.ts:2:10: C_SYNTAX: `w.ts` has no export `loop`",
        ]
    );
}

// CB-23
#[test]
fn default_and_namespace_come_in_every_combination() {
    let found = value(&[
        (
            "probe.ts",
            "import base, * as all from './x.ts';
import again, { default as third, named as other } from './x.ts';
import anonymous from './anonymous.ts';
import Class from './class.ts';
import expression from './expression.ts';
export default () => [
  base(), again === base, third === base, all.default === base, other, all.named, Object.keys(all),
  anonymous.name, anonymous(), new Class().x, Class.name, expression,
];
",
        ),
        ("x.ts", "export default function base() { return 'base'; }\nexport const named = 1;\n"),
        ("anonymous.ts", "export default function () { return 2; }\n"),
        ("class.ts", "export default class { x: number = 3; }\n"),
        ("expression.ts", "const n: number = 4;\nexport default n * 2 as number;\n"),
    ]);
    let keys = ["default", "named"];
    assert_eq!(found, json!(["base", true, true, true, 1, 1, keys, "default", 2, 3, "default", 8]));
}

// CB-15, CB-22, D-15, D-16
#[test]
fn every_way_to_name_a_module_leads_to_one_instance() {
    let files = probe(&[
        (
            "probe.ts",
            "import { state as a } from './lib/state.ts';
import { state as b } from './lib/state.js';
import { state as c } from './lib/state';
import { state as d } from './lib/deep/../state.ts';
import { state as e } from './linked.ts';
import { state as f } from './folder/state.ts';
import { state as g } from './lib';
import { state as h } from './lib/';
import { state as i } from './lib/index.js';
import { state as j } from './/lib/./state.ts';
export default () => { a.count += 1; return [new Set([a, b, c, d, e, f, g, h, i, j]).size, j.count]; };
",
        ),
        (
            "lib/state.ts",
            "import { mark } from '../mark.ts';\nmark.loads += 1;\nexport const state = { count: mark.loads };\n",
        ),
        ("lib/index.ts", "export * from './state.ts';\n"),
        ("mark.ts", "export const mark = { loads: 0 };\n"),
    ]);
    files.link("linked.ts", "lib/state.ts");
    files.link("folder", "lib");
    let compilation = files.compilation();
    let names: Vec<_> = compilation.bundle.modules.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["lib/index.ts", "lib/state.ts", "main.ts", "mark.ts", "probe.ts"]);
    let bundle = engine().load(compilation.bundle).expect("the bundle loads");
    let found = call(&bundle, "a.evaluators.probe", &json!(null)).expect("it works");
    assert_eq!(found.value, json!([1, 2]));
}

// CB-22, D-15
#[test]
fn zod_is_one_module_under_both_names() {
    let found = value(&[(
        "probe.ts",
        "import { z } from 'zod';
import * as v4 from 'zod/v4';
import fallback, { z as again, string } from 'zod/v4';
export default () => [z === v4.z, z === again, fallback === z, string === z.string, z.object({ a: string() }).safeParse({}).success];
",
    )]);
    assert_eq!(found, json!([true, true, true, true, false]));
}

// CB-21, EV-09
#[test]
fn the_sdk_gives_five_functions_and_nothing_to_harvest_with() {
    let found = value(&[
        (
            "probe.ts",
            "import * as sdk from '@eigenpal/automations';
import { createTool } from './sdk.ts';
import * as barrel from './sdk.ts';
export default () => [Object.keys(sdk), createTool === sdk.createTool, Object.keys(barrel)];
",
        ),
        ("sdk.ts", "export * from '@eigenpal/automations';\nexport const extra = 1;\n"),
    ]);
    let names = ["createAgent", "createTool", "exactDiff", "llmJudge", "weightedScore"];
    let barrel = ["createAgent", "createTool", "exactDiff", "extra", "llmJudge", "weightedScore"];
    assert_eq!(found, json!([names, true, barrel]));
    for (import, message) in [
        ("import { harvest } from '@eigenpal/automations';\nharvest();", "harvest"),
        ("import sdk from '@eigenpal/automations';\nsdk();", "default"),
    ] {
        let report = Files::one(import).report();
        assert_eq!(report.len(), 1, "{report:?}");
        assert!(report[0].contains(": C_SYNTAX: ") && report[0].contains(message), "{report:?}");
    }
    let internal = Files::one("import { harvest } from 'callcell:sdk';\nharvest();").report();
    assert_eq!(internal, ["a.ts:1:25: C_IMPORT_UNSUPPORTED (url): `callcell:sdk` is a URL; nothing is fetched"]);
}

// CB-23, D-04: the namespace of a module of tools is a record of tools
#[test]
fn a_module_of_tools_is_given_to_an_agent_as_its_namespace() {
    let tool = |name: &str| {
        format!(
            "export const {name} = createTool({{ description: 'd', inputSchema: {{ type: 'object' }}, \
             outputSchema: {{ type: 'object' }}, execute: () => ({{ name: '{name}' }}) }});\n"
        )
    };
    let tools = format!("{SDK}\n{}{}", tool("add"), tool("remove"));
    let entry = format!(
        "{SDK}\nimport * as tools from './tools.ts';\nexport default createAgent({{ name: 'a', instructions: 'Work.', tools }});\n"
    );
    let files = Files::new(&[("agent.ts", &entry), ("tools.ts", &tools)]);
    let compilation = files.compilation();
    assert_eq!(
        compilation.bundle.manifest.agents[0]["tools"],
        json!({ "add": "a.tools.add", "remove": "a.tools.remove" })
    );
    let bundle = engine().load(compilation.bundle).expect("the bundle loads");
    assert_eq!(call(&bundle, "a.tools.remove", &json!({})).expect("it works").value, json!({ "name": "remove" }));
}

// CB-73: dependencies first, in the order they are named, each once
#[test]
fn modules_are_evaluated_in_the_order_of_the_standard() {
    let log = |name: &str| format!("import {{ order }} from './order.ts';\norder.push('{name}');\n");
    let found = value(&[
        (
            "probe.ts",
            "import { order } from './order.ts';
order.push('probe');
import './a.ts';
import { b } from './b.ts';
import { unused } from './unused.ts';
import {} from './empty.ts';
import type {} from './types.ts';
export * from './c.ts';
import './a.ts';
export default () => [order, b];
",
        ),
        ("a.ts", &format!("import './shared.ts';\n{}", log("a"))),
        ("b.ts", &format!("{}import './shared.ts';\nimport './a.ts';\nexport const b = order.length;\n", log("b"))),
        ("c.ts", &log("c")),
        ("empty.ts", &log("empty")),
        ("types.ts", &log("types")),
        ("unused.ts", &format!("{}export const unused = 1;\n", log("unused"))),
        ("shared.ts", &log("shared")),
        ("order.ts", "export const order: string[] = [];\n"),
    ]);
    assert_eq!(found, json!([["shared", "a", "b", "empty", "c", "probe"], 3]));
}

// CB-24, CB-110, D-17
#[test]
fn what_only_types_come_from_is_not_looked_at() {
    let none = [""; 0];
    let entry = |import: &str| format!("{import}\nexport default () => {{ const x: T = 1; return x; }};\n");
    let forbidden = "import fs from 'node:fs';\nfs.readFileSync('x');\nexport type T = number;\nexport const v = 1;\n";
    // With `type` nothing is read, so it does not matter what is there, or whether anything is.
    for import in ["import type { T } from './forbidden.ts';", "import { type T } from './forbidden.ts';"] {
        let files = probe(&[("probe.ts", &entry(import)), ("forbidden.ts", forbidden)]);
        assert_eq!(files.report(), none, "{import}");
        let sources = files.compilation().bundle.manifest.sources;
        assert_eq!(sources.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["main.ts", "probe.ts"]);
        std::fs::remove_file(files.path("forbidden.ts")).expect("it is there");
        assert_eq!(files.report(), none, "{import}");
    }
    // Without `type` the module is captured and what it imports is checked, though nothing of it would run.
    let files = probe(&[("probe.ts", &entry("import { T } from './forbidden.ts';")), ("forbidden.ts", forbidden)]);
    assert_eq!(files.places(), ["forbidden.ts:1:16 C_IMPORT_UNSUPPORTED"]);
    // A captured module that is only types leaves no trace in what runs.
    let types = "import type { Stats } from 'node:fs';\nexport type T = number;\nexport interface S extends Stats {}\n";
    let files = probe(&[("probe.ts", &entry("import { T } from './types.ts';")), ("types.ts", types)]);
    let bundle = files.compilation().bundle;
    assert_eq!(bundle.modules.modules.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["main.ts", "probe.ts"]);
    assert_eq!(bundle.manifest.sources.len(), 3);
}

// CB-23
#[test]
fn imported_names_and_namespaces_cannot_be_changed() {
    let found = value(&[
        (
            "probe.ts",
            "import * as all from './x.ts';
const thrown = (body: () => void) => { try { body(); return 'nothing'; } catch (error) { return (error as Error).name; } };
export default () => [
  thrown(() => { (all as any).x = 2; }), thrown(() => { (all as any).y = 2; }), thrown(() => { delete (all as any).x; }),
  Object.prototype.toString.call(all), Object.getPrototypeOf(all), 'y' in all, Reflect.ownKeys(all).length, all.x,
];
",
        ),
        ("x.ts", "export let x = 1;\n"),
    ]);
    assert_eq!(found, json!(["TypeError", "TypeError", "TypeError", "[object Module]", null, false, 2, 1]));
}

// CB-23: a module is known by where it lies, so its own imports start there
#[cfg(unix)]
#[test]
fn a_linked_module_imports_from_where_it_lies() {
    let files = probe(&[
        ("probe.ts", "import { x } from './linked.ts';\nexport default () => x;\n"),
        ("real/x.ts", "export { y as x } from './y.ts';\n"),
        ("real/y.ts", "export const y = 'beside the real file';\n"),
        ("y.ts", "export const y = 'beside the link';\n"),
    ]);
    files.link("linked.ts", "real/x.ts");
    let bundle = files.bundle();
    let found = call(&bundle, "a.evaluators.probe", &json!(null)).expect("it works");
    assert_eq!(found.value, json!("beside the real file"));

    files.link("entry.ts", "main.ts");
    let project = Project::with_root(&files.path(""), Path::new("entry.ts")).expect("the project opens");
    assert_eq!(project.entry(), "main.ts");
    assert!(compile(engine(), &project).is_ok());
}
