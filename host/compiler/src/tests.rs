//! The compiler's checks on small projects, without an engine.

use crate::{
    Category, Checked, CompileError, Compiler, Diagnostic, MAX_DIAGNOSTICS, Project, ProjectError, Sources, check,
    compile,
};
use callcell_runtime::{Engine, EngineConfig};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A project folder with these files; the first one is the entry.
struct Files(tempfile::TempDir, String);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        Self::bytes(&files)
    }

    fn bytes(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        Self(folder, files[0].0.to_owned())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn project(&self) -> Result<Project, ProjectError> {
        Project::with_root(self.path(), Path::new(&self.1))
    }

    fn found(&self) -> Vec<Diagnostic> {
        match check(&self.project().unwrap()) {
            Ok(checked) => checked.warnings,
            Err(error) => error.diagnostics().to_vec(),
        }
    }

    /// `file:line:column code`, and the category.
    fn short(&self) -> Vec<String> {
        self.found().iter().map(short).collect()
    }

    fn checked(&self) -> Checked {
        check(&self.project().unwrap()).unwrap_or_else(|error| panic!("{:#?}", error.diagnostics()))
    }
}

fn short(diagnostic: &Diagnostic) -> String {
    let Diagnostic { file, line, column, code, category, .. } = diagnostic;
    match category {
        Some(category) => format!("{file}:{line}:{column} {code} {category}"),
        None => format!("{file}:{line}:{column} {code}"),
    }
}

fn found(text: &str) -> Vec<String> {
    Files::new(&[("a.ts", text)]).short()
}

fn javascript(text: &str) -> String {
    Files::new(&[("a.ts", text)]).checked().modules.modules[0].source.clone()
}

fn import_of(specifier: &str) -> Vec<String> {
    found(&format!("import {{ x }} from '{specifier}';\nx();\n"))
}

const NONE: [&str; 0] = [];

// CB-21, CB-22, CB-23, CB-15
#[test]
fn allowed_imports() {
    let files = Files::new(&[
        (
            "a/tools.ts",
            "import { createTool } from '@eigenpal/automations';\nimport { z } from 'zod';\nimport * as z4 from 'zod/v4';\n\
             import { x } from './x.ts';\nimport { y } from '../y.ts';\ncreateTool(z, z4, x, y);\n",
        ),
        ("a/x.ts", "export const x = 1;"),
        ("y.ts", "export const y = 2;"),
    ]);
    let checked = files.checked();
    let names: Vec<_> = checked.modules.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["a/tools.ts", "a/x.ts", "y.ts"]);
    assert_eq!(checked.modules.entry, "a/tools.ts");
    let imports: Vec<_> =
        checked.modules.modules[0].imports.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert_eq!(
        imports,
        [
            ("@eigenpal/automations", "@eigenpal/automations"),
            ("zod", "zod"),
            ("zod/v4", "zod"),
            ("./x.ts", "a/x.ts"),
            ("../y.ts", "y.ts"),
        ]
    );
}

// CB-24, CB-38, CB-113, CB-114
#[test]
fn builtins_of_hosts() {
    for specifier in
        ["node:fs", "fs", "fs/promises", "child_process", "node:test", "bun:sqlite", "deno:std", "worker_threads"]
    {
        assert_eq!(import_of(specifier), ["a.ts:1:19 C_IMPORT_UNSUPPORTED node-builtin"], "{specifier}");
    }
}

// CB-24, CB-44, CB-58
#[test]
fn packages() {
    for specifier in [
        "decimal.js",
        "lodash",
        "@scope/name",
        "npm:zod",
        "#internal",
        "zod/mini",
        "zod/v3",
        "zod/locales/de",
        "fsx",
        "",
    ] {
        assert_eq!(import_of(specifier), ["a.ts:1:19 C_IMPORT_UNSUPPORTED npm-package"], "{specifier}");
    }
    let help = |specifier: &str| {
        let files = Files::new(&[("a.ts", &format!("import '{specifier}';"))]);
        files.found()[0].help.clone().unwrap()
    };
    assert_eq!(help("zod/mini"), "import from `zod`");
    assert!(help("decimal.js").starts_with("copy the helper into the project"));
}

// CB-24
#[test]
fn urls() {
    for specifier in ["https://deno.land/x.ts", "data:text/javascript,1", "file:///etc/passwd", "blob:x"] {
        assert_eq!(import_of(specifier), ["a.ts:1:19 C_IMPORT_UNSUPPORTED url"], "{specifier}");
    }
}

// CB-24
#[test]
fn paths_that_leave_the_project() {
    for specifier in ["/etc/passwd", "../x.ts", "./a/../../x.ts", "C:/x.ts", "..", "\\\\\\\\server\\\\x.ts"] {
        assert_eq!(import_of(specifier), ["a.ts:1:19 C_IMPORT_UNSUPPORTED outside-project"], "{specifier}");
    }
}

// CB-24
#[cfg(unix)]
#[test]
fn links_that_leave_the_project() {
    let outside = Files::new(&[("secret.ts", "export const x = 1;")]);
    let files = Files::new(&[("a.ts", "import { x } from './link.ts';\nimport { y } from './dir/secret.ts';\nx(y);")]);
    std::os::unix::fs::symlink(outside.path().join("secret.ts"), files.path().join("link.ts")).unwrap();
    std::os::unix::fs::symlink(outside.path(), files.path().join("dir")).unwrap();
    assert_eq!(
        files.short(),
        ["a.ts:1:19 C_IMPORT_UNSUPPORTED outside-project", "a.ts:2:19 C_IMPORT_UNSUPPORTED outside-project"]
    );
}

// CB-23
#[cfg(unix)]
#[test]
fn a_link_inside_the_project_is_the_module_it_leads_to() {
    let files = Files::new(&[
        ("a.ts", "import { x } from './link.ts';\nimport { x as y } from './real/x.ts';\nx(y);"),
        ("real/x.ts", "export const x = 1;"),
    ]);
    std::os::unix::fs::symlink("real/x.ts", files.path().join("link.ts")).unwrap();
    let modules = files.checked().modules.modules;
    assert_eq!(modules.len(), 2);
    assert!(modules[0].imports.iter().all(|(_, target)| target == "real/x.ts"));
}

// CB-24
#[test]
fn missing_modules() {
    for specifier in ["./none.ts", "./none.js", "./none", "./none/", "./x.ts?raw", ".\\\\x.ts"] {
        assert_eq!(import_of(specifier), ["a.ts:1:19 C_IMPORT_UNSUPPORTED missing-module"], "{specifier}");
    }
}

// CB-24, D-18
#[test]
fn files_that_are_no_source_modules() {
    for specifier in ["./d.json", "./d.wasm", "./d.node", "./d.tsx", "./d.svg", "./d.mts", "./types.d.ts"] {
        assert_eq!(import_of(specifier), ["a.ts:1:19 C_IMPORT_UNSUPPORTED non-source-module"], "{specifier}");
    }
    let files = Files::new(&[
        ("a.ts", "import x from './plain.js';\nimport y from './x.ts' with { type: 'json' };\nx(y);"),
        ("plain.js", "export default 1;"),
        ("x.ts", "export default 1;"),
    ]);
    assert_eq!(
        files.short(),
        ["a.ts:1:15 C_IMPORT_UNSUPPORTED non-source-module", "a.ts:2:15 C_IMPORT_UNSUPPORTED non-source-module"]
    );
}

// CB-45
#[test]
fn dynamic_import() {
    assert_eq!(found("const f = () => import('./x.ts');\nf();"), ["a.ts:1:17 C_IMPORT_UNSUPPORTED dynamic-import"]);
}

// CB-46
#[test]
fn require_in_every_form() {
    assert_eq!(
        found("const a = require('fs');\nconst b = require.resolve('x');\nimport c = require('y');\n(a, b, c);"),
        [
            "a.ts:1:11 C_IMPORT_UNSUPPORTED require",
            "a.ts:2:11 C_IMPORT_UNSUPPORTED require",
            "a.ts:3:1 C_IMPORT_UNSUPPORTED require"
        ]
    );
    assert_eq!(
        found("import { createRequire } from 'node:module';\nexport const r = createRequire('x');"),
        ["a.ts:1:31 C_IMPORT_UNSUPPORTED node-builtin", "a.ts:2:18 C_IMPORT_UNSUPPORTED require"]
    );
    assert_eq!(found("function require(x: string) { return x; }\nrequire('x');"), NONE);
}

// D-19
#[test]
fn words_in_strings_and_comments_are_no_imports() {
    assert_eq!(found("// require('fs') import('x')\nexport const s = \"require('fs') import('x')\";"), NONE);
}

#[test]
fn import_meta() {
    assert_eq!(found("export const u = import.meta.url;"), ["a.ts:1:18 C_IMPORT_UNSUPPORTED import-meta"]);
}

#[test]
fn re_exports_are_imports() {
    assert_eq!(
        found("export { x } from 'lodash';\nexport * from 'fs';\nexport * as ns from './none.ts';"),
        [
            "a.ts:1:19 C_IMPORT_UNSUPPORTED npm-package",
            "a.ts:2:15 C_IMPORT_UNSUPPORTED node-builtin",
            "a.ts:3:21 C_IMPORT_UNSUPPORTED missing-module"
        ]
    );
}

// D-17, CB-110
#[test]
fn types_come_from_anywhere() {
    let text = "import type { A } from 'decimal.js';\nimport { type B, type C } from 'node:fs';\nexport type { D } from '../out.ts';\n\
                export { type E } from 'lodash';\nexport type * from 'x';\nimport type F = require('y');\n\
                type G = import('z').G | typeof import('w');\n/// <reference types=\"node\" />\nexport const x = 1 as unknown as A | B | C | F | G;";
    assert_eq!(found(text), NONE);
    assert_eq!(Files::new(&[("a.ts", text)]).checked().modules.modules[0].imports, []);
}

#[test]
fn a_triple_slash_path_stays_in_the_project() {
    assert_eq!(
        found("/// <reference path=\"../../x.d.ts\" />\n/// <reference path='types.d.ts' />\nexport {};"),
        ["a.ts:1:1 C_IMPORT_UNSUPPORTED outside-project"]
    );
}

// D-16
#[test]
fn js_means_ts() {
    let files = Files::new(&[
        ("a.ts", "import { x } from './x.js';\nx();"),
        ("x.ts", "export const x = () => 1;"),
        ("x.js", ""),
    ]);
    assert_eq!(files.checked().modules.modules[0].imports, [("./x.js".into(), "x.ts".into())]);
}

// D-16
#[test]
fn extensionless_resolves_if_one_file_exists() {
    let entry = ("a.ts", "import { x } from './x';\nx();");
    let module = "export const x = () => 1;";
    let target = |files: &[(&str, &str)]| Files::new(files).checked().modules.modules[0].imports[0].1.clone();
    assert_eq!(target(&[entry, ("x.ts", module)]), "x.ts");
    assert_eq!(target(&[entry, ("x/index.ts", module)]), "x/index.ts");
    let both = Files::new(&[entry, ("x.ts", module), ("x/index.ts", module)]);
    assert_eq!(both.short(), ["a.ts:1:19 C_IMPORT_UNSUPPORTED missing-module"]);
    assert_eq!(both.found()[0].message, "`./x` is ambiguous: both `x.ts` and `x/index.ts` exist");
    assert_eq!(target(&[("a.ts", "import { x } from './x.config';\nx();"), ("x.config.ts", module)]), "x.config.ts");
    assert_eq!(target(&[("b/a.ts", "import { x } from '..';\nx();"), ("index.ts", module)]), "index.ts");
}

// D-14
#[test]
fn everything_is_reported_at_once() {
    let files = Files::new(&[
        ("a.ts", "import './b.ts';\nimport 'lodash';\nimport 'fs';"),
        ("b.ts", "import './c.ts';\nexport const = 1;"),
        ("c.ts", "import 'https://x';\nawait 1;"),
    ]);
    let short = files.short();
    assert_eq!(
        short[..3],
        [
            "a.ts:2:8 C_IMPORT_UNSUPPORTED npm-package",
            "a.ts:3:8 C_IMPORT_UNSUPPORTED node-builtin",
            "b.ts:2:14 C_SYNTAX"
        ]
    );
}

#[test]
fn syntax_errors_have_a_place() {
    assert_eq!(found("export const a = 1;\nexport const b = ;\n"), ["a.ts:2:18 C_SYNTAX"]);
    assert_eq!(found("let a = 1;\nlet a = 2;\n")[0], "a.ts:1:5 C_SYNTAX");
    assert_eq!(found("export const a = <div>x</div>;"), ["a.ts:1:18 C_SYNTAX"]);
    assert_eq!(found("export const a = /(/;"), ["a.ts:1:19 C_SYNTAX"]);
}

#[test]
fn a_missing_export_is_a_syntax_error() {
    let files = Files::new(&[("a.ts", "import { nope, x } from './x.ts';\nnope(x);"), ("x.ts", "export const x = 1;")]);
    assert_eq!(files.short(), ["a.ts:1:10 C_SYNTAX"]);
    assert_eq!(files.found()[0].message, "`x.ts` has no export `nope`");
}

#[test]
fn syntax_that_cannot_be_lowered() {
    assert_eq!(found("const d = (x: unknown) => x;\n@d class A {}\nnew A();")[0], "a.ts:2:1 C_SYNTAX");
    assert_eq!(found("class A { accessor x = 1; }\nnew A();"), ["a.ts:1:11 C_SYNTAX"]);
    assert_eq!(found("export async function f() { await using x = null; return x; }"), ["a.ts:1:29 C_SYNTAX"]);
    assert_eq!(found("const a = 1;\nexport = a;"), ["a.ts:2:1 C_SYNTAX"]);
    assert_eq!(found("namespace A { export let x = 1; }\nexport { A };"), ["a.ts:1:26 C_SYNTAX"]);
}

#[test]
fn top_level_await() {
    assert_eq!(found("const f = async () => await 1;\nawait f();"), ["a.ts:2:1 C_TOP_LEVEL_AWAIT"]);
    assert_eq!(found("for await (const x of []) { x; }"), ["a.ts:1:1 C_TOP_LEVEL_AWAIT"]);
}

const SDK: &str = "import { createTool as tool, exactDiff, llmJudge } from '@eigenpal/automations';\n";

// CB-54, CB-57, CB-115
#[test]
fn async_callbacks_of_every_kind() {
    let text = format!(
        "{SDK}tool({{ execute: async () => ({{}}) }});\ntool({{ async execute() {{}} }});\nexactDiff({{ select: async (x) => x }});\n\
         llmJudge({{ select: async function (x) {{ return x; }} }});\nagent.defineEvaluator('a', async () => 1).defineEvalPass(async () => true);\n\
         declare const agent: any;"
    );
    let files = Files::new(&[("a.ts", &text)]);
    assert_eq!(
        files.short(),
        [
            "a.ts:2:17 C_CALLBACK_ASYNC",
            "a.ts:3:8 C_CALLBACK_ASYNC",
            "a.ts:4:21 C_CALLBACK_ASYNC",
            "a.ts:5:20 C_CALLBACK_ASYNC",
            "a.ts:6:28 C_CALLBACK_ASYNC",
            "a.ts:6:58 C_CALLBACK_ASYNC"
        ]
    );
    assert_eq!(files.found()[0].message, "the tool's `execute` is an async function");
    assert_eq!(
        files.found()[0].help.as_deref(),
        Some("callbacks run synchronously: drop `async`; pass fetched data in as input")
    );
}

// CB-55, CB-115
#[test]
fn generator_callbacks() {
    let text = format!(
        "{SDK}tool({{ *execute() {{}} }});\ntool({{ execute: function* () {{}} }});\ntool({{ async *execute() {{}} }});\n"
    );
    assert_eq!(
        found(&text),
        [
            "a.ts:2:8 C_CALLBACK_GENERATOR",
            "a.ts:3:17 C_CALLBACK_GENERATOR",
            "a.ts:4:8 C_CALLBACK_ASYNC",
            "a.ts:4:8 C_CALLBACK_GENERATOR"
        ]
    );
}

// CB-115
#[test]
fn callbacks_are_followed_by_name() {
    let text = format!(
        "{SDK}async function one() {{}}\nconst two = async () => 1;\nconst three = two;\nconst options = {{ execute: three }} as const;\n\
         tool({{ execute: one }});\ntool(options);\n"
    );
    assert_eq!(found(&text), ["a.ts:2:1 C_CALLBACK_ASYNC", "a.ts:3:13 C_CALLBACK_ASYNC"]);
}

// CB-115
#[test]
fn callbacks_are_followed_through_modules() {
    let files = Files::new(&[
        (
            "a.ts",
            "import { make } from './sdk.ts';\nimport run, * as all from './b.ts';\nmake({ execute: run });\nmake({ execute: all.two });\n",
        ),
        ("sdk.ts", "export { createTool as make } from '@eigenpal/automations';"),
        ("b.ts", "export default async function () {}\nexport * from './c.ts';\n"),
        ("c.ts", "function* gen() {}\nexport { gen as two };\n"),
    ]);
    assert_eq!(files.short(), ["b.ts:1:16 C_CALLBACK_ASYNC", "c.ts:1:1 C_CALLBACK_GENERATOR"]);
}

// CB-116, CB-117
#[test]
fn only_callbacks_must_be_synchronous() {
    let text = format!(
        "{SDK}export async function helper() {{}}\nfunction createTool(x: unknown) {{ return x; }}\ncreateTool({{ execute: async () => 1 }});\n\
         tool({{ execute: () => {{ for (;;) helper(); }} }});\n"
    );
    assert_eq!(found(&text), NONE);
}

// D-09
#[test]
fn names_should_be_literals() {
    assert_eq!(
        found(
            "declare const a: any;\nconst n = 'x';\na.defineEvaluator(n, () => 1);\na.defineEvaluator(`ok`, () => 1).defineEvaluator('ok', () => 1);"
        ),
        ["a.ts:3:19 W_NAME_NOT_LITERAL"]
    );
}

// D-20, CB-85
#[test]
fn globals_and_impure_calls_are_warnings() {
    assert_eq!(
        found(
            "export const f = () => fetch('x');\nexport const g = () => globalThis['x'];\nexport const h = typeof process;\ntype P = typeof fetch;\nexport const p = (fetch: P) => fetch;"
        ),
        ["a.ts:1:24 W_GLOBAL_UNAVAILABLE", "a.ts:2:24 W_GLOBAL_UNAVAILABLE"]
    );
    let text = format!(
        "{SDK}tool({{ execute: () => ({{ a: Date.now(), b: new Date(), c: Math.random(), d: new Date(0) }}) }});\nexport const out = () => Date.now();\n"
    );
    assert_eq!(
        found(&text),
        ["a.ts:2:29 W_NOT_REPRODUCIBLE", "a.ts:2:44 W_NOT_REPRODUCIBLE", "a.ts:2:59 W_NOT_REPRODUCIBLE"]
    );
}

#[test]
fn byte_order_mark_line_ends_and_hashbang() {
    let files = Files::bytes(&[(
        "a.ts",
        b"\xEF\xBB\xBF#!/usr/bin/env node\r\nexport const a: number = 1;\r\nimport 'fs';\r\n",
    )]);
    assert_eq!(files.short(), ["a.ts:3:8 C_IMPORT_UNSUPPORTED node-builtin"]);
    let files = Files::bytes(&[("a.ts", b"\xEF\xBB\xBF#!/usr/bin/env node\r\nexport const a: number = 1;\r\n")]);
    assert_eq!(files.checked().modules.modules[0].source, "export const a = 1;\n");
}

#[test]
fn files_that_are_no_text() {
    let files = Files::bytes(&[
        ("a.ts", b"import './b.ts';\nimport './c.ts';"),
        ("b.ts", b"ok\n\xFF"),
        ("c.ts", &[b' '; (1 << 20) + 1]),
    ]);
    assert_eq!(files.short(), ["b.ts:2:1 C_SYNTAX", "c.ts:1:1 C_COMPILE_LIMIT"]);
    let largest = vec![b' '; 1 << 20];
    assert_eq!(Files::bytes(&[("a.ts", &largest)]).short(), NONE);
}

#[test]
fn deep_nesting_is_refused_not_fatal() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{a:", "}"), ("(a=", ")=>1"), ("`${", "}`")] {
        let text = format!("export const a = {}1{};", open.repeat(5_000), close.repeat(5_000));
        let short = found(&text);
        assert_eq!(short.len(), 1, "{open}");
        assert!(short[0].ends_with("C_COMPILE_LIMIT"), "{short:?}");
    }
    for text in ["(", "[", "{", "!", "`${", "a=>", "-", "a?", "if(a)", "<", "async(a="] {
        found(&text.repeat(5_000));
        found(&format!("export const a = {};", text.repeat(5_000)));
    }
}

/// Nesting that the quick look does not count needs the stack.
#[test]
fn deep_nesting_without_brackets_fits_the_stack() {
    for text in [
        format!("export const a = {}1;", "!".repeat(200_000)),
        format!("export const a = 1{};", "+1".repeat(200_000)),
        format!("export const a = b{};\ndeclare const b: any;", ".c".repeat(200_000)),
        format!("if (0) ;{}", "else if(0);".repeat(50_000)),
        // Brackets hidden behind what looks like a regular expression.
        format!("let a = 1, b = {{}}\n/\"/; a = {}1{} + \"\"", "(".repeat(100_000), ")".repeat(100_000)),
    ] {
        found(&text);
    }
}

#[test]
fn no_text_makes_it_panic() {
    for text in [
        "",
        "\0",
        "\u{FEFF}\u{FEFF}",
        "#!",
        "export",
        "import",
        "import {",
        "`",
        "'",
        "/*",
        "<!--",
        "\u{2028}",
        "@",
        "a\\u{",
        "class {",
        "import.meta",
        "x!",
        "enum A { a = b }",
        "export default interface A {}",
        "export { a as 'b c' }; const a = 1;",
    ] {
        found(text);
    }
}

#[test]
fn types_are_stripped() {
    assert_eq!(
        javascript(
            "interface A { x: number }\nexport const f = <T extends A>(a: T, b?: string): number => (a as any).x! satisfies number;\n"
        ),
        "export const f = (a, b) => a.x;\n"
    );
}

#[test]
fn enums_namespaces_and_parameter_properties_are_lowered() {
    let text = javascript(
        "export enum A { x = 1, y }\nexport namespace B { export const z = A.y; }\nexport class C { constructor(private readonly p: number) {} }\nexport const enum D { q }\n",
    );
    for expected in ["A[A[\"x\"] = 1] = \"x\"", "_B.z = ", "this.p = p;", "D[D[\"q\"] = 0] = \"q\""] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn imports_used_as_types_are_dropped() {
    let files = Files::new(&[
        (
            "a.ts",
            "import { T, v, type U } from './x.ts';\nimport { Only } from './types.ts';\nexport const a: T | U | Only = v;\nexport { R, w } from './x.ts';\nexport { T };\n",
        ),
        (
            "x.ts",
            "export interface T {}\nexport type U = 1;\nexport const v = 1;\nexport { R } from './types.ts';\nexport const w = 2;\n",
        ),
        ("types.ts", "export type Only = 1;\nexport type R = 2;\n"),
    ]);
    let checked = files.checked();
    let names: Vec<_> = checked.modules.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["a.ts", "x.ts"]);
    assert_eq!(
        checked.modules.modules[0].source,
        "import { v } from \"./x.ts\";\nexport const a = v;\nexport { w } from \"./x.ts\";\n"
    );
    assert_eq!(checked.modules.modules[1].source, "export const v = 1;\nexport const w = 2;\n");
    let read: Vec<_> = checked.sources.iter().map(|source| source.path.as_str()).collect();
    assert_eq!(read, ["a.ts", "types.ts", "x.ts"]);
}

// D-12
#[test]
fn the_same_sources_give_the_same_modules() {
    let files = Files::new(&[
        ("a.ts", "import { x } from './b.ts';\nexport const y: number = x;"),
        ("b.ts", "export const x = 1;"),
    ]);
    let (one, two) = (files.checked(), files.checked());
    assert_eq!(one.modules, two.modules);
    assert_eq!(one.sources, two.sources);
    assert_eq!(one.sources[1].sha256, "2bf28849cade87113ec4170ef2bf9ffb1179fc9a276afa675c9de2424349560b");
}

#[test]
fn source_maps_name_the_source_and_carry_no_text() {
    let map = Files::new(&[("d/a.ts", "export const a: number = 1;")]).checked().modules.modules[0]
        .source_map
        .clone()
        .unwrap();
    let map: serde_json::Value = serde_json::from_str(&map).unwrap();
    assert_eq!(map["sources"], serde_json::json!(["d/a.ts"]));
    assert!(map.get("sourcesContent").is_none_or(|content| content.as_array().is_none_or(Vec::is_empty)), "{map}");
}

#[test]
fn diagnostics_are_data_and_pictures() {
    let found = Files::new(&[("a.ts", "import 'lodash';")]).found();
    assert_eq!(found[0].category, Some(Category::NpmPackage));
    let value = serde_json::to_value(&found[0]).unwrap();
    assert_eq!(value["category"], "npm-package");
    assert_eq!(value["severity"], "error");
    assert_eq!(
        found[0].to_string(),
        "a.ts:1:8: C_IMPORT_UNSUPPORTED (npm-package): the package `lodash` cannot be imported"
    );
    let picture = found[0].render(false);
    assert!(
        picture.contains("a.ts:1:8") && picture.contains("import 'lodash';") && picture.contains("help: copy"),
        "{picture}"
    );
}

/// The parser tries some texts twice at every level. Far below a second each on an idle machine.
#[test]
fn parsing_time_is_bounded() {
    for (open, close) in [
        ("a<", ""),
        ("a<(", ""),
        ("a<{}|", ""),
        ("a<b,", ""),
        ("(a,b<", ""),
        ("a?(b):c=>", ""),
        ("a?(b", ")"),
        ("a?(b=", "):c=>1"),
        ("a?(", "):"),
        ("(a?", ":b)=>1"),
        ("async<", ""),
        ("async(", ""),
        ("<T>(a=", ""),
        ("<T>(a:", ""),
        ("<a>(", ""),
        ("new a<", ""),
        ("f`${a<", ""),
        ("({a=", "})"),
        ("([a=", "])"),
        ("a?async(b", ")"),
        ("(a:(", ""),
        ("(a):(b)=>", ""),
        ("a?(b):(c):", ""),
        ("(a=(b):c=>", ""),
        ("typeof a<", ""),
        ("{a:(b):c=>", "}"),
        ("a?(b:c", ")"),
        ("a?(b):a?(c):", ""),
        ("(a?(", "))"),
    ] {
        let start = std::time::Instant::now();
        for levels in [64, 128, 256, 10_000] {
            found(&format!("export const a = {}1{};", open.repeat(levels), close.repeat(levels)));
            found(&open.repeat(levels));
        }
        assert!(start.elapsed().as_secs() < 20, "{open} {close} took {:?}", start.elapsed());
    }
}

// CB-16
#[test]
fn the_example_checks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tax");
    let project = Project::open(&root.join("tools.ts")).unwrap();
    let checked = check(&project).unwrap();
    assert!(checked.warnings.is_empty());
    assert_eq!(checked.modules.modules.len(), 2);
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineConfig::one_shot()).unwrap())
}

fn compiled(files: &Files) -> Result<crate::Compilation, Vec<String>> {
    compile(engine(), &files.project().unwrap()).map_err(|error| error.diagnostics().iter().map(short).collect())
}

// CB-16, CB-20, CB-71
#[test]
fn the_example_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tax");
    let compilation = compile(engine(), &Project::open(&root.join("tools.ts")).unwrap()).unwrap();
    let names: Vec<_> = compilation.bundle.manifest.callbacks.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["calculateTotal"]);
    let sources: Vec<_> = compilation.bundle.manifest.sources.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(sources, ["math.ts", "tools.ts"]);
}

// CB-73
#[test]
fn a_top_level_exception_is_placed_in_the_typescript() {
    let files = Files::new(&[
        ("a.ts", "import { check } from './b.ts';\nexport const a = check(1);\n"),
        (
            "b.ts",
            "interface Unused {\n  x: number;\n}\n\nexport function check(x: number) {\n  if (x > 0) throw new Error('no');\n  return x;\n}\n",
        ),
    ]);
    assert_eq!(compiled(&files).unwrap_err(), ["b.ts:6:24 C_TOP_LEVEL_THREW"]);
}

// CB-82, CB-83
#[test]
fn clock_and_random_are_disabled() {
    let code = |text: &str| compiled(&Files::new(&[("a.ts", text)])).unwrap_err();
    assert_eq!(code("type A = 1;\nexport const a = Date.now();"), ["a.ts:2:23 C_CLOCK_DISABLED"]);
    assert_eq!(code("type A = 1;\nexport const a = Math.random();"), ["a.ts:2:23 C_RANDOM_DISABLED"]);
}

/// The problems of a project, each as `file:line:column` and the text it is placed at.
fn placed(files: &Files) -> Vec<String> {
    let error = compile(engine(), &files.project().unwrap()).unwrap_err();
    let text = |it: &Diagnostic| std::fs::read_to_string(files.path().join(&it.file)).unwrap();
    let places = error.diagnostics().iter().map(|it| {
        let line = text(it).lines().nth(it.line as usize - 1).unwrap_or_default().to_owned();
        let column = it.column as usize - 1;
        format!("{}:{} {}", it.file, it.line, line[column..].chars().take(12).collect::<String>())
    });
    places.collect()
}

// CB-17, CB-26
#[test]
fn a_wrong_option_is_placed_where_it_is_written() {
    let missing = Files::new(&[(
        "a.ts",
        "import { createTool } from '@eigenpal/automations';\nexport const t = createTool({} as any);\n",
    )]);
    assert!(placed(&missing).iter().all(|it| it == "a.ts:2 t = createTo"), "{:?}", placed(&missing));

    let files = Files::new(&[
        (
            "a.ts",
            "import { createTool } from '@eigenpal/automations';
import { z } from 'zod';
import { supplier } from './shared/index.ts';
const input = z.object({
  name: z.string().trim(),
  list: z.array(z.object({ when: z.date() })),
  either: z.union([z.string(), z.bigint()]),
  byName: z.record(z.string(), z.map(z.string(), z.string())),
  supplier,
});
const wrong = createTool({
  description: '',
  inputSchema: input,
  outputShema: z.object({}),
  outputSchema: z.strictObject({ total: z.number().catch(1) }),
  execute() { return { total: 1 }; },
} as any);
export { wrong as default };
",
        ),
        ("shared/index.ts", "export { supplier } from './supplier.ts';\n"),
        (
            "shared/supplier.ts",
            "import { z } from 'zod';\nconst id = z.string().refine(() => true);\nexport const supplier = z.object({ id });\n",
        ),
    ]);
    assert_eq!(
        placed(&files),
        [
            "a.ts:5 name: z.stri",
            "a.ts:6 when: z.date",
            "a.ts:7 z.bigint()])",
            "a.ts:8 z.map(z.stri",
            "a.ts:12 description:",
            "a.ts:14 outputShema:",
            "a.ts:15 total: z.num",
            "shared/supplier.ts:3 id });"
        ]
    );
}

// EV-15..EV-20, EV-94, EV-97
#[test]
fn a_wrong_link_of_a_chain_is_placed_where_it_is_written() {
    let files = Files::new(&[
        (
            "a.ts",
            "import { exactDiff, llmJudge, weightedScore } from '@eigenpal/automations';
import base from './base.ts';
const scored = (base as any)
  .defineEvaluator('fields', exactDiff({ select: (o: any) => o, options: { rules: { total: { numericTolerance: -1 } } } }))
  .defineEvaluator('1a', () => 1)
  .defineEvaluator('meaning', llmJudge({ prompt: 'short', select: () => 1 }));
export const reviewed = scored.defineEvalPass(weightedScore({ weights: { fields: -2, nope: 1 }, threshold: 2 }))
  .withFilesystem({ cwd: '/etc' });
",
        ),
        (
            "base.ts",
            "import { createAgent } from '@eigenpal/automations';
export default createAgent({ name: 'Bad Name', instructions: 'x', limits: { maxTurn: 1 }, skills: ['../x'] } as any);
",
        ),
    ]);
    assert_eq!(
        placed(&files),
        [
            "a.ts:4 numericToler",
            "a.ts:5 '1a', () => ",
            "a.ts:6 prompt: 'sho",
            "a.ts:7 fields: -2, ",
            "a.ts:7 nope: 1 }, t",
            "a.ts:7 threshold: 2",
            "a.ts:8 { cwd: '/etc",
            "base.ts:2 name: 'Bad N",
            "base.ts:2 maxTurn: 1 }",
            "base.ts:2 '../x'] } as",
        ]
        .map(|it| it.replace("{ cwd: '/etc", "cwd: '/etc' "))
    );
}

// 6.4, EV-103
#[test]
fn a_predicate_is_kept_as_it_was_written() {
    let files = Files::new(&[
        (
            "a.ts",
            "import { createAgent } from '@eigenpal/automations';
import { rule } from './rules.ts';
const scored = createAgent({ name: 'a', instructions: 'x' }).defineEvaluator('one', (_: unknown) => 1);
type Scores = { one: number };
export const calc = scored.defineEvalPass((() => (scores: Scores) => scores.one > 2)());
export const arrow = scored.defineEvalPass(({ one }: Scores): boolean => /* all of it */ one === 1);
export const other = scored.defineEvalPass((scores: Scores) => scores.one > 0.5);
export const named = scored.defineEvalPass(rule);
export const made = scored.defineEvalPass((() => (scores: Scores) => scores.one > 0)());
",
        ),
        (
            "rules.ts",
            "export function rule(scores: { one: number }): boolean {\n  return scores.one > 0.9; // nearly\n}\n",
        ),
    ]);
    let manifest = compiled(&files).unwrap().bundle.manifest;
    let sources: Vec<_> = manifest.agents.iter().map(|agent| agent["pass"]["source"].as_str().unwrap()).collect();
    assert_eq!(
        sources,
        [
            "({ one }: Scores): boolean => /* all of it */ one === 1",
            "(scores) => scores.one > 2",
            "(scores) => scores.one > 0",
            "function rule(scores: { one: number }): boolean {\n  return scores.one > 0.9; // nearly\n}",
            "(scores: Scores) => scores.one > 0.5",
        ]
    );
}

// D-14, CB-115
#[test]
fn asynchronous_callbacks_hide_nothing_else() {
    let text = "import { createTool } from '@eigenpal/automations';
import { z } from 'zod';
const later = { execute: async () => ({}) };
export const one = createTool({ description: 'd', inputSchema: z.object({ a: z.date() }), outputSchema: z.object({}),
  execute: async () => ({}) });
export const two = createTool({ description: ' ', inputSchema: z.object({}), outputSchema: z.object({}), ...later });
";
    let found = compiled(&Files::new(&[("a.ts", text)])).unwrap_err();
    assert_eq!(
        found,
        [
            "a.ts:3:17 C_CALLBACK_ASYNC",
            "a.ts:4:75 C_SCHEMA_UNREPRESENTABLE",
            "a.ts:5:3 C_CALLBACK_ASYNC",
            "a.ts:5:12 C_CALLBACK_ASYNC",
            "a.ts:6:33 C_DECLARATION_INVALID"
        ]
    );
    let one = Files::new(&[("a.ts", &text.replace("...later", "execute: () => ({})"))]);
    assert_eq!(
        compiled(&one).unwrap_err(),
        ["a.ts:4:75 C_SCHEMA_UNREPRESENTABLE", "a.ts:5:12 C_CALLBACK_ASYNC", "a.ts:6:33 C_DECLARATION_INVALID"]
    );
}

// CB-65, D-06
#[test]
fn folders_that_agents_name_exist() {
    let text = "import { createAgent } from '@eigenpal/automations';
export default createAgent({ name: 'a', instructions: 'x', skills: ['skills/read', 'skills/none'] })
  .withFilesystem({ cwd: 'work' });
";
    let files = Files::new(&[("a.ts", text), ("skills/read/SKILL.md", "Read.")]);
    assert_eq!(placed(&files), ["a.ts:2 'skills/none", "a.ts:3 cwd: 'work' "]);
    assert_eq!(compiled(&files).unwrap_err(), ["a.ts:2:84 C_DECLARATION_INVALID", "a.ts:3:21 C_DECLARATION_INVALID"]);
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(files.path().join("work")).unwrap();
        std::os::unix::fs::symlink(outside.path(), files.path().join("skills/none")).unwrap();
        assert_eq!(compiled(&files).unwrap_err(), ["a.ts:2:84 C_PATH_ESCAPE"]);
    }
}

#[test]
fn many_problems_are_counted_and_not_listed() {
    let text = "import 'lodash';\n".repeat(MAX_DIAGNOSTICS + 5);
    let found = Files::new(&[("a.ts", &text)]).found();
    assert_eq!(found.len(), MAX_DIAGNOSTICS);
    assert_eq!(found[0].code, "C_IMPORT_UNSUPPORTED");
    let last = &found[MAX_DIAGNOSTICS - 1];
    assert_eq!((last.code.as_ref(), last.message.as_str()), ("C_COMPILE_LIMIT", "there are 6 more"));
}

#[test]
fn a_compiler_does_again_what_changed_and_nothing_else() {
    const ENTRY: &str = "import { createTool } from '@eigenpal/automations';
import { rate, type Rate } from './rate.ts';
export const t = createTool({
  description: 'A rate.', inputSchema: { type: 'object' }, outputSchema: { type: 'object' },
  execute: () => ({ rate: rate as Rate }),
});
";
    let files = Files::new(&[("a.ts", ENTRY), ("rate.ts", "export type Rate = number;\nexport const rate = 1;\n")]);
    let project = files.project().unwrap();
    let mut compiler = Compiler::new(engine().clone());
    let first = compiler.compile(&project).unwrap();
    let again = compiler.compile(&project).unwrap();
    assert_eq!(first.bundle, again.bundle);

    // Another text, another program.
    let write = |text: &str| std::fs::write(files.path().join("rate.ts"), text).unwrap();
    write("export type Rate = number;\nexport const rate = 2;\n");
    let changed = compiler.compile(&project).unwrap();
    assert_eq!(changed.bundle, compile(engine(), &project).unwrap().bundle);
    assert_ne!(changed.bundle, first.bundle);

    // The same text of the importer means something else now: `rate` became a type.
    write("export type Rate = number;\nexport type rate = 3;\n");
    let changed = compiler.compile(&project).unwrap();
    assert_eq!(changed.bundle, compile(engine(), &project).unwrap().bundle);
    assert_eq!(changed.bundle.modules.modules.len(), 1);
    write("export type Rate = number;\nexport const rate = Date.now();\n");
    let codes = |error: &CompileError| error.diagnostics().iter().map(short).collect::<Vec<_>>();
    for _ in 0..2 {
        assert_eq!(codes(&compiler.compile(&project).unwrap_err()), ["rate.ts:2:26 C_CLOCK_DISABLED"]);
    }
    std::fs::remove_file(files.path().join("rate.ts")).unwrap();
    assert_eq!(
        codes(&compiler.compile(&project).unwrap_err()),
        ["a.ts:2:33 C_IMPORT_UNSUPPORTED missing-module"],
        "a file that is gone is noticed"
    );
    write("export type Rate = number;\nexport const rate = 1;\n");
    assert_eq!(compiler.compile(&project).unwrap().bundle, first.bundle);
}

#[test]
fn stacks_are_placed_in_the_typescript() {
    let text = "interface A { x: number }\n\nexport function f(a: A) {\n  return a.x;\n}\n";
    let modules = Files::new(&[("a.ts", text)]).checked().modules;
    let sources = Sources::new(&modules);
    let javascript = &modules.modules[0].source;
    let line = javascript.lines().position(|line| line.contains("return")).unwrap() + 1;
    let place = sources.place(&format!("    at f (a.ts:{line}:10)")).unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("a.ts", 4, 10));
    assert_eq!(
        sources.stack(&format!("    at f (a.ts:{line}:10)\n    at map (native)\n    at zod.js:1:1")),
        "    at f (a.ts:4:10)\n    at map (native)\n    at zod.js:1:1"
    );
    // Maps come from bundles, and bundles from anybody.
    for map in ["", "{", "[]", r#"{"version":3,"sources":[],"names":[],"mappings":"AAAA"}"#] {
        let mut hostile = modules.clone();
        hostile.modules[0].source_map = Some(map.into());
        Sources::new(&hostile).place("    at f (a.ts:1:1)");
        assert_eq!(Sources::new(&hostile).place("    at f (a.ts:0:0)"), None);
    }
}
