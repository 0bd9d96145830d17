//! Declarations that are wrong: every code of spec 3.6 from a project, with its place and its words, and everything that
//! is right up to the last allowed name, weight and option.

use crate::project::{Files, SDK};
use callcell_runtime::CallbackKind;
use callcell_tests::call;
use serde_json::{Value, json};
use std::fmt::Write;

/// What the rows below stand on, in lines 1 to 4: a row's text starts in line 5.
const HEAD: &str = "import { z } from 'zod';
const agent = createAgent({ name: 'a', instructions: 'Work.' });
const weighted = weightedScore({ weights: { a: 1 }, threshold: 0.5 });
";

fn declaring(text: &str) -> Files {
    Files::declaring(&format!("{HEAD}{text}"))
}

/// A source, and everything that is reported of it.
type Row = (&'static str, &'static [&'static str]);

#[rustfmt::skip]
const REFUSED: &[Row] = &[
    // 2.1, 2.2, 2.3
    ("export const a = ;", &[
        "a.ts:5:18: C_SYNTAX: Unexpected token",
    ]),
    ("import fs from 'fs';\nfs();", &[
        "a.ts:5:16: C_IMPORT_UNSUPPORTED (node-builtin): `fs` is a built-in module of the host; callbacks have none",
    ]),
    ("export default createAgent({ name: 'b', instructions: 'Work.', skills: ['../secret'] });", &[
        "a.ts:5:73: C_PATH_ESCAPE: `default.skills[0]`: `../secret` leaves the project.",
    ]),
    ("export default createAgent({ name: 'b', instructions: 'Work.', resources: ['/etc/passwd'] });", &[
        "a.ts:5:76: C_PATH_ESCAPE: `default.resources[0]`: `/etc/passwd` leaves the project.",
    ]),
    ("export default agent.withFilesystem({ cwd: 'a/../../b' });", &[
        "a.ts:5:39: C_PATH_ESCAPE: `default.filesystem.cwd`: `a/../../b` leaves the project.",
    ]),
    ("export default agent.defineEvaluator('a', async () => 1).defineEvalPass(weighted);", &[
        "a.ts:5:43: C_CALLBACK_ASYNC: the evaluator is an async function",
    ]),
    ("export default agent.defineEvaluator('a', function* () { yield 1; }).defineEvalPass(weighted);", &[
        "a.ts:5:43: C_CALLBACK_GENERATOR: the evaluator is a generator function",
    ]),
    // 2.5
    ("throw new TypeError('no');", &[
        "a.ts:5:11: C_TOP_LEVEL_THREW: the project threw while it was loaded: TypeError: no",
    ]),
    ("await 1;", &[
        "a.ts:5:1: C_TOP_LEVEL_AWAIT: a module cannot use top-level `await`",
    ]),
    ("export const now = Date.now();", &[
        "a.ts:5:25: C_CLOCK_DISABLED: the clock is disabled while a project is compiled",
    ]),
    ("export const chance = Math.random();", &[
        "a.ts:5:28: C_RANDOM_DISABLED: `Math.random` is disabled while a project is compiled",
    ]),
    ("Promise.resolve().then(() => {});\nexport default agent;", &[
        "a.ts:1:1: C_TOP_LEVEL_AWAIT: a module awaits at its top level or leaves asynchronous work behind",
    ]),
    ("const deep = (n: number): number => deep(n + 1) + 1;\nexport default deep(0);", &[
        "a.ts:1:1: C_COMPILE_LIMIT: loading the project exceeded the compile limit on stack",
    ]),
    // 2.4
    ("export const t = createTool({ description: 'd', inputSchema: z.object({ a: z.string().trim() }), outputSchema: z.object({}), execute: () => ({}) });", &[
        "a.ts:5:73: C_SCHEMA_EFFECT: `t.inputSchema.a`: A check that rewrites the value, such as `.trim` or `.toLowerCase`, runs code or changes the value, which a schema that is only data cannot do.",
    ]),
    ("export const t = createTool({ description: 'd', inputSchema: z.object({}), outputSchema: z.object({ a: z.bigint() }), execute: () => ({}) });", &[
        "a.ts:5:101: C_SCHEMA_UNREPRESENTABLE: `t.outputSchema.a`: A bigint has no meaning for JSON data.",
    ]),
    ("export const t = createTool({ description: 'd', inputSchema: { type: 'object', $ref: 'https://x/y' }, outputSchema: z.object({}), execute: () => ({}) });", &[
        "a.ts:5:80: C_SCHEMA_UNSUPPORTED: `t.inputSchema.$ref`: The schema refers to something outside itself.",
    ]),
    ("export const t = createTool({ description: 'd', inputSchema: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, outputSchema: z.object({}), execute: () => ({}) });", &[
        "a.ts:5:64: C_SCHEMA_UNSUPPORTED: `t.inputSchema.$schema`: The schema names a dialect that is not supported.",
    ]),
    ("export const t = createTool({ description: 'd', inputSchema: z.array(z.string()), outputSchema: z.string(), execute: () => ({}) });", &[
        "a.ts:5:49: C_DECLARATION_INVALID: `t.inputSchema`: The input schema of a tool must describe an object.",
        "a.ts:5:83: C_DECLARATION_INVALID: `t.outputSchema`: The output schema of a tool must describe an object.",
    ]),
    ("export default createAgent({ name: 'b', instructions: 'Work.', outputSchema: { type: 'object', if: {}, then: {} } }).defineEvaluator('a', () => 1).defineEvalPass(weighted);", &[
        "a.ts:5:96: C_EXPECTED_SCHEMA_CONDITIONAL: `default.outputSchema.if`: The keyword `if` cannot hold for a partial expectation.",
        "a.ts:5:104: C_EXPECTED_SCHEMA_CONDITIONAL: `default.outputSchema.then`: The keyword `then` cannot hold for a partial expectation.",
    ]),
    // 1.1, 1.2
    ("export const t = createTool({ description: 'd', inputSchema: z.object({}), outputShema: z.object({}), execute: () => ({}) } as any);", &[
        "a.ts:5:14: C_DECLARATION_INVALID: `t.outputSchema`: A tool needs an output schema.",
        "a.ts:5:76: C_DECLARATION_INVALID: `t.outputShema`: `createTool` has no option `outputShema`.",
    ]),
    ("export const t = createTool({ description: 'd', inputSchema: z.object({}), outputSchema: z.object({}), timeout: 5, execute: 'python' } as any);", &[
        "a.ts:5:104: C_DECLARATION_INVALID: `t.timeout`: `createTool` has no option `timeout`.",
        "a.ts:5:116: C_DECLARATION_INVALID: `t.execute`: `execute` must be a function.",
    ]),
    ("export const t = createTool({ description: 'd', inputSchema: z.object({}), outputSchema: z.object({}), execute: class {} } as any);", &[
        "a.ts:5:104: C_DECLARATION_INVALID: `t.execute`: `execute` is a class.",
    ]),
    ("export default createAgent({ name: 'Not A Slug', instructions: ' ', model: '', limits: { maxTurns: 0 }, tools: { 'a b': 1, c: 2 }, tool: [] } as any);", &[
        "a.ts:5:30: C_DECLARATION_INVALID: `default.name`: An agent needs a name of lower-case letters, digits, `-` and `_`.",
        "a.ts:5:50: C_DECLARATION_INVALID: `default.instructions`: An agent needs instructions.",
        "a.ts:5:69: C_DECLARATION_INVALID: `default.model`: `model` must name a configured model.",
        "a.ts:5:90: C_DECLARATION_INVALID: `default.limits.maxTurns`: `maxTurns` must be a positive whole number.",
        "a.ts:5:114: C_DECLARATION_INVALID: `default.tools[\"a b\"]`: `a b` is not a tool name.",
        "a.ts:5:124: C_DECLARATION_INVALID: `default.tools.c`: This is not a tool.",
        "a.ts:5:132: C_DECLARATION_INVALID: `default.tool`: `createAgent` has no option `tool`.",
    ]),
    ("export default createAgent('a' as any);", &[
        "a.ts:5:1: C_DECLARATION_INVALID: `default.instructions`: An agent needs instructions.",
        "a.ts:5:1: C_DECLARATION_INVALID: `default.name`: An agent needs a name of lower-case letters, digits, `-` and `_`.",
        "a.ts:5:1: C_DECLARATION_INVALID: `default`: `createAgent` takes one object of options.",
    ]),
    // 1.4
    ("export default agent.defineEvaluator('1a', () => 1).defineEvalPass(() => true);", &[
        "a.ts:5:38: C_EVALUATOR_NAME_INVALID: `default.evaluators[\"1a\"]`: `1a` is not an evaluator name.",
        "a.ts:5:68: C_EVAL_PASS_WITHOUT_EVALUATORS: `default.pass`: There is a pass rule but no evaluator.",
    ]),
    ("export default agent.defineEvaluator('a', () => 1).defineEvaluator('a', () => 0).defineEvalPass(weighted);", &[
        "a.ts:5:68: C_EVALUATOR_DUPLICATE: `default.evaluators.a`: The evaluator `a` exists already.",
    ]),
    ("export default agent.defineEvaluator('a', { score: 1 } as any).defineEvalPass(weighted);", &[
        "a.ts:5:38: C_EVALUATOR_INVALID: `default.evaluators.a`: An evaluator is a function, or what `exactDiff` or `llmJudge` returns.",
    ]),
    ("export default agent.defineEvaluator('a', class {} as any).defineEvalPass(weighted);", &[
        "a.ts:5:38: C_EVALUATOR_INVALID: `default.evaluators.a`: The evaluator is a class.",
    ]),
    ("export default agent.defineEvaluator('a', () => 1).defineEvalPass(weighted).defineEvaluator('b', () => 1);", &[
        "a.ts:5:93: C_EVALUATORS_CLOSED: `default.evaluators.b`: An evaluator was added after the pass rule.",
    ]),
    // 1.5
    ("export default agent.defineEvaluator('a', () => 1);", &[
        "a.ts:5:1: C_EVAL_PASS_MISSING: `default`: The export `default` has evaluators but no pass rule.",
    ]),
    ("export default agent.defineEvaluator('a', () => 1).defineEvalPass(weighted).defineEvalPass(() => true);", &[
        "a.ts:5:92: C_EVAL_PASS_TWICE: `default.pass`: `defineEvalPass` was called twice.",
    ]),
    ("export default agent.defineEvalPass(weighted);", &[
        "a.ts:5:37: C_EVAL_PASS_WITHOUT_EVALUATORS: `default.pass`: There is a pass rule but no evaluator.",
    ]),
    ("export default agent.defineEvaluator('a', () => 1).defineEvalPass('all' as any);", &[
        "a.ts:5:67: C_DECLARATION_INVALID: `default.pass`: A pass rule is a function, or what `weightedScore` returns.",
    ]),
    // 1.6, 4.4
    ("export default agent.defineEvaluator('a', exactDiff({ select: (o) => o, options: { order: 'any' } as any })).defineEvalPass(weighted);", &[
        "a.ts:5:84: C_EXACT_DIFF_OPTIONS: `default.evaluators.a.options.order`: `exactDiff` has no option `order`.",
    ]),
    ("export default agent.defineEvaluator('a', exactDiff({ select: (o) => o, options: { rules: { 'a[0]': {} } } })).defineEvalPass(weighted);", &[
        "a.ts:5:93: C_EXACT_DIFF_RULE_PATH: `default.evaluators.a.options.rules[\"a[0]\"]`: `a[0]` is not a path of the projection.",
    ]),
    ("export default agent.defineEvaluator('a', exactDiff({ select: (o) => o, options: { rules: {}, numericTolerance: 1 } as any })).defineEvalPass(weighted);", &[
        "a.ts:5:95: C_EXACT_DIFF_MIXED: `default.evaluators.a.options.numericTolerance`: `numericTolerance` and `rules` cannot be combined.",
    ]),
    ("export default agent.defineEvaluator('a', exactDiff({ select: 'total' } as any)).defineEvalPass(weighted);", &[
        "a.ts:5:55: C_DECLARATION_INVALID: `default.evaluators.a.select`: `select` must be a function.",
    ]),
    // 1.7
    ("export default agent.defineEvaluator('a', llmJudge({ prompt: 'too short', select: (o) => o })).defineEvalPass(weighted);", &[
        "a.ts:5:54: C_JUDGE_PROMPT_LENGTH: `default.evaluators.a.prompt`: The prompt must be a string of 10 to 131072 characters.",
    ]),
    ("export default agent.defineEvaluator('a', llmJudge({ prompt: 'long enough', select: (o) => o, model: ' ' })).defineEvalPass(weighted);", &[
        "a.ts:5:95: C_JUDGE_MODEL_INVALID: `default.evaluators.a.model`: `model` must name a configured model.",
    ]),
    // 1.8
    ("export default agent.defineEvaluator('a', () => 1).defineEvalPass(weightedScore({ weights: { a: NaN }, threshold: 0.5 }));", &[
        "a.ts:5:94: C_WEIGHTS_INVALID: `default.pass.weights.a`: The weight of `a` must be a finite number of at least 0.",
    ]),
    ("export default agent.defineEvaluator('total', () => 1).defineEvalPass(weightedScore({ weights: { totl: 1 }, threshold: 0.5 }));", &[
        "a.ts:5:98: C_WEIGHTS_UNKNOWN_SCORE: `default.pass.weights.totl`: There is no evaluator `totl`.",
    ]),
    ("export default agent.defineEvaluator('a', () => 1).defineEvalPass(weightedScore({ weights: { a: 1 }, threshold: 1.5 }));", &[
        "a.ts:5:102: C_THRESHOLD_INVALID: `default.pass.threshold`: `threshold` must be a number from 0 to 1.",
    ]),
    // 1.3
    ("export default agent.withFilesystem().withFilesystem({ cwd: null });", &[
        "a.ts:5:54: C_FILESYSTEM_TWICE: `default.filesystem`: `withFilesystem` was called twice.",
    ]),
    // EV-117, EV-116
    ("export const t = agent.asTool();", &[
        "a.ts:5:23: C_UNSUPPORTED_API: `t.asTool`: `.asTool()` is not part of the SDK.",
    ]),
    ("export default agent.chat('hello');", &[
        "a.ts:5:21: C_UNSUPPORTED_API: `default.chat`: `.chat()` is not part of the SDK.",
    ]),
    ("export const other = createAgent({ name: 'b', instructions: 'Work.', tools: { a: agent.asTool() } });", &[
        "a.ts:5:87: C_UNSUPPORTED_API: `other.tools.a.asTool`: `.asTool()` is not part of the SDK.",
    ]),
    // 2.1
    ("export const nothing = 1;", &[
        "a.ts:1:1: C_NO_DEFINITION: The module exports no tool and no agent.",
    ]),
    ("", &[
        "a.ts:1:1: C_NO_DEFINITION: The module exports no tool and no agent.",
    ]),
];

// 1.1 to 1.8, 2.1 to 2.5, 3.6
#[test]
fn every_wrong_declaration_is_refused_with_its_place_and_its_words() {
    for (source, report) in REFUSED {
        assert_eq!(declaring(source).report(), *report, "{source}");
    }
}

// 3.6: the table above and the tests below leave no code out
#[test]
fn every_code_of_a_compilation_is_produced() {
    const ELSEWHERE: [&str; 1] = ["C_EVALUATOR_LIMIT"];
    let codes = [
        "C_SYNTAX",
        "C_IMPORT_UNSUPPORTED",
        "C_PATH_ESCAPE",
        "C_CALLBACK_ASYNC",
        "C_CALLBACK_GENERATOR",
        "C_TOP_LEVEL_THREW",
        "C_TOP_LEVEL_AWAIT",
        "C_CLOCK_DISABLED",
        "C_RANDOM_DISABLED",
        "C_COMPILE_LIMIT",
        "C_SCHEMA_EFFECT",
        "C_SCHEMA_UNREPRESENTABLE",
        "C_SCHEMA_UNSUPPORTED",
        "C_EXPECTED_SCHEMA_CONDITIONAL",
        "C_DECLARATION_INVALID",
        "C_EVALUATOR_NAME_INVALID",
        "C_EVALUATOR_DUPLICATE",
        "C_EVALUATOR_LIMIT",
        "C_EVALUATOR_INVALID",
        "C_EVALUATORS_CLOSED",
        "C_EVAL_PASS_MISSING",
        "C_EVAL_PASS_TWICE",
        "C_EVAL_PASS_WITHOUT_EVALUATORS",
        "C_EXACT_DIFF_OPTIONS",
        "C_EXACT_DIFF_RULE_PATH",
        "C_EXACT_DIFF_MIXED",
        "C_JUDGE_PROMPT_LENGTH",
        "C_JUDGE_MODEL_INVALID",
        "C_WEIGHTS_INVALID",
        "C_WEIGHTS_UNKNOWN_SCORE",
        "C_THRESHOLD_INVALID",
        "C_FILESYSTEM_TWICE",
        "C_UNSUPPORTED_API",
        "C_NO_DEFINITION",
    ];
    let produced = |code: &str| {
        let said = |line: &str| line.contains(&format!(": {code}:")) || line.contains(&format!(": {code} ("));
        REFUSED.iter().any(|(_, report)| report.iter().any(|line| said(line)))
    };
    let missing: Vec<_> = codes.iter().filter(|code| !produced(code) && !ELSEWHERE.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// An agent `a` with these evaluators, as text of a chain, and a pass rule that weighs the first.
fn chain(names: impl IntoIterator<Item = String>) -> String {
    let mut text = String::from("export default agent");
    for name in names {
        let _ = write!(text, "\n  .defineEvaluator('{name}', () => 1)");
    }
    text + "\n  .defineEvalPass(() => true);"
}

// EV-20
#[test]
fn an_agent_has_at_most_32_evaluators() {
    let names = |count: usize| (0..count).map(|number| format!("e{number}"));
    assert_eq!(declaring(&chain(names(32))).report(), [""; 0]);
    assert_eq!(
        declaring(&chain(names(33))).report(),
        ["a.ts:38:20: C_EVALUATOR_LIMIT: `default.evaluators.e32`: A definition has at most 32 evaluators."]
    );
}

// EV-15 to EV-19
#[test]
fn evaluator_names_begin_with_a_letter_and_have_at_most_64_characters() {
    let long = "x".repeat(64);
    for name in ["a", "Z", "a1", "a_b-c", "constructor", "toString", "hasOwnProperty", &long] {
        assert_eq!(declaring(&chain([name.to_owned()])).report(), [""; 0], "{name}");
    }
    let longer = "x".repeat(65);
    for name in ["", "1a", "_a", "-a", "a.b", "a b", "ä", "a\\n", "__proto__", &longer] {
        let places = declaring(&format!("{}\n", chain([name.to_owned(), "ok".to_owned()]))).places();
        assert_eq!(places, ["a.ts:6:20 C_EVALUATOR_NAME_INVALID"], "{name}");
    }
}

// EV-15, D-09
#[test]
fn a_name_that_is_computed_is_a_warning() {
    let files = declaring("export default agent.defineEvaluator(`a${1}` as 'a1', () => 1).defineEvalPass(() => true);");
    assert_eq!(files.report(), ["a.ts:5:38: W_NAME_NOT_LITERAL: the evaluator's name is not a string literal"]);
    assert_eq!(files.compilation().bundle.manifest.agents[0]["evaluators"][0]["name"], "a1");
}

/// Texts, each with the code it is refused with, if it is.
fn judge(table: &[(String, Option<&str>)]) {
    for (text, refused) in table {
        let found = declaring(text).found();
        let codes: Vec<_> = found.iter().map(|it| it.code.as_ref()).collect();
        assert_eq!(codes, refused.as_slice(), "{text:.300}");
    }
}

// EV-78
#[test]
fn a_judges_prompt_has_10_to_131072_characters() {
    let text = |prompt: &str| {
        format!(
            "export default agent.defineEvaluator('a', llmJudge({{ prompt: {prompt}, select: (o) => o }})).defineEvalPass(weighted);"
        )
    };
    const WRONG: Option<&str> = Some("C_JUDGE_PROMPT_LENGTH");
    judge(&[
        (text("'x'.repeat(9)"), WRONG),
        (text("'x'.repeat(10)"), None),
        (text("'x'.repeat(131072)"), None),
        (text("'x'.repeat(131073)"), WRONG),
        (text("' '.repeat(10)"), WRONG),
        (text("undefined as any"), WRONG),
        (text("['Judge the answer.'] as any"), WRONG),
    ]);
}

// EV-94, EV-95, EV-96, EV-97
#[test]
fn weights_are_finite_and_nonnegative_and_the_threshold_lies_between_0_and_1() {
    let text = |weights: &str, threshold: &str| {
        format!(
            "export default agent.defineEvaluator('a', () => 1).defineEvaluator('b', () => 1)
  .defineEvalPass(weightedScore({{ weights: {weights} as any, threshold: {threshold} as any }}));"
        )
    };
    const WEIGHTS: Option<&str> = Some("C_WEIGHTS_INVALID");
    const THRESHOLD: Option<&str> = Some("C_THRESHOLD_INVALID");
    judge(&[
        (text("{ a: 1, b: 0 }", "0"), None),
        (text("{ a: 5e-324 }", "1"), None),
        (text("{ a: 1e308, b: 1e307 }", "0.5"), None),
        (text("{ a: 0, b: 0 }", "0.5"), WEIGHTS),
        (text("{ a: 1e308, b: 1e308 }", "0.5"), WEIGHTS),
        (text("{ a: -1, b: 2 }", "0.5"), WEIGHTS),
        (text("{ a: Infinity }", "0.5"), WEIGHTS),
        (text("{ a: '1' }", "0.5"), WEIGHTS),
        (text("{ a: 1n }", "0.5"), WEIGHTS),
        (text("{}", "0.5"), WEIGHTS),
        (text("[1]", "0.5"), WEIGHTS),
        (text("{ a: 1 }", "-0.0001"), THRESHOLD),
        (text("{ a: 1 }", "1.0001"), THRESHOLD),
        (text("{ a: 1 }", "'0.5'"), THRESHOLD),
        (text("{ a: 1 }", "undefined"), THRESHOLD),
        (text("{ a: 1, toString: 1 }", "0.5"), Some("C_WEIGHTS_UNKNOWN_SCORE")),
    ]);
}

// EV-97, 2.4
#[test]
fn numbers_that_are_not_finite_are_problems_of_their_own() {
    let input = |schema: &str| {
        format!(
            "export const t = createTool({{ description: 'd', inputSchema: z.object({{ a: {schema} }}), outputSchema: z.object({{}}), execute: () => ({{}}) }});"
        )
    };
    let pass = |threshold: &str| {
        format!(
            "export default agent.defineEvaluator('a', () => 1).defineEvalPass(weightedScore({{ weights: {{ a: 1 }}, threshold: {threshold} }}));"
        )
    };
    // Such a bound means something to Zod, so it is no problem at all.
    judge(&[(input("z.string().min(NaN)"), None), (input("z.array(z.string()).max(Infinity)"), None)]);
    for threshold in ["NaN", "Infinity", "1n", "() => 1"] {
        let places = declaring(&pass(threshold)).places();
        assert_eq!(places, ["a.ts:5:102 C_THRESHOLD_INVALID"], "{threshold}");
    }
    judge(&[(pass("NaN"), Some("C_THRESHOLD_INVALID")), (pass("-Infinity"), Some("C_THRESHOLD_INVALID"))]);
}

// D-01, D-04, D-05, 1.2
#[test]
fn names_descriptions_and_counts_are_right_up_to_their_limits() {
    let tool = |export: &str, description: &str| {
        format!(
            "const made = createTool({{ description: {description}, inputSchema: z.object({{}}), outputSchema: z.object({{}}), execute: () => ({{}}) }});
export {{ made as {export} }};"
        )
    };
    let agent = |name: &str| format!("export default createAgent({{ name: {name}, instructions: 'Work.' }});");
    let tools = |count: usize| {
        format!(
            "{}\nexport default createAgent({{ name: 'b', instructions: 'Work.', tools: Object.fromEntries(Array.from({{ length: {count} }}, (_, n) => [`t${{n}}`, made])) }});",
            tool("one", "'d'")
        )
    };
    const WRONG: Option<&str> = Some("C_DECLARATION_INVALID");
    judge(&[
        (tool("t", "'x'.repeat(4096)"), None),
        (tool("t", "'x'.repeat(4097)"), WRONG),
        (tool("t", "' \\n'"), WRONG),
        (tool("_t1", "'d'"), None),
        (tool("'a-b'", "'d'"), None),
        (tool(&"t".repeat(64), "'d'"), None),
        (tool(&"t".repeat(65), "'d'"), WRONG),
        (tool("$t", "'d'"), WRONG),
        (tool("'1t'", "'d'"), WRONG),
        (tool("ä", "'d'"), WRONG),
        (agent("'0-a_b'"), None),
        (agent("'a'.repeat(128)"), None),
        (agent("'a'.repeat(129)"), WRONG),
        (agent("'-a'"), WRONG),
        (agent("'A'"), WRONG),
        (agent("'a.b'"), WRONG),
        (agent("''"), WRONG),
        (tools(64), None),
        (tools(65), WRONG),
    ]);
}

// CB-17
#[test]
fn a_tool_needs_each_of_its_options() {
    let options = [
        ("description", "description: 'd'"),
        ("inputSchema", "inputSchema: z.object({})"),
        ("outputSchema", "outputSchema: z.object({})"),
        ("execute", "execute: () => ({})"),
    ];
    for (missing, _) in options {
        let rest = options.iter().filter(|(name, _)| *name != missing).map(|(_, text)| *text);
        let text = format!("export const t = createTool({{ {} }} as any);", rest.collect::<Vec<_>>().join(", "));
        let report = declaring(&text).report();
        assert_eq!(report.len(), 1, "{report:?}");
        assert!(report[0].starts_with(&format!("a.ts:5:14: C_DECLARATION_INVALID: `t.{missing}`: ")), "{report:?}");
    }
}

// CB-72, CB-116: what a callback does shows when it is called, and not before
#[test]
fn callback_bodies_are_not_invoked() {
    for body in ["throw new Error('called')", "for (;;) {}", "return 1n as never", "return fetch('x') as never"] {
        let text = format!(
            "declare const fetch: any;
export const t = createTool({{ description: 'd', inputSchema: z.object({{}}), outputSchema: z.object({{}}), execute: () => {{ {body}; }} }});
export default agent.defineEvaluator('a', () => {{ {body}; }})
  .defineEvaluator('b', exactDiff({{ select: () => {{ {body}; }} }}))
  .defineEvaluator('c', llmJudge({{ prompt: 'Judge the answer.', select: () => {{ {body}; }} }}))
  .defineEvalPass(() => {{ {body}; }});
"
        );
        let bundle = declaring(&text).compilation().bundle;
        let kinds: Vec<_> = bundle.manifest.callbacks.iter().map(|it| it.kind).collect();
        let expected = [
            CallbackKind::Tool,
            CallbackKind::Evaluator,
            CallbackKind::DiffSelector,
            CallbackKind::JudgeSelector,
            CallbackKind::PassRule,
        ];
        assert!(expected.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    }
}

// CB-54, CB-55: functions that only the evaluation sees
#[test]
fn computed_asynchronous_callbacks_are_found_in_every_kind() {
    let uses = |callback: &str| {
        [
            format!(
                "export const t = createTool({{ description: 'd', inputSchema: z.object({{}}), outputSchema: z.object({{}}), execute: {callback} as any }});"
            ),
            format!("export default agent.defineEvaluator('a', {callback} as any).defineEvalPass(weighted);"),
            format!(
                "export default agent.defineEvaluator('a', exactDiff({{ select: {callback} as any }})).defineEvalPass(weighted);"
            ),
            format!(
                "export default agent.defineEvaluator('a', llmJudge({{ prompt: 'Judge the answer.', select: {callback} as any }})).defineEvalPass(weighted);"
            ),
            format!("export default agent.defineEvaluator('a', () => 1).defineEvalPass({callback} as any);"),
        ]
    };
    for (made, code) in [
        ("[async () => ({})][0]", "C_CALLBACK_ASYNC"),
        ("[function* () {}][0]", "C_CALLBACK_GENERATOR"),
        ("[async function* () {}][0]", "C_CALLBACK_GENERATOR"),
    ] {
        for text in uses(made) {
            let found = declaring(&text).found();
            let codes: Vec<_> = found.iter().map(|it| it.code.as_ref()).collect();
            assert_eq!(codes, [code], "{text}");
            assert!(found[0].help.as_ref().is_some_and(|help| help.contains("synchronous")), "CB-115: {text}");
        }
    }
}

// CB-54, CB-55: functions of another module, made there by a call that the static checks do not follow
#[test]
fn imported_asynchronous_callbacks_are_found() {
    for (made, code) in [
        ("wrap(async () => ({}))", "C_CALLBACK_ASYNC"),
        ("wrap(function* () {})", "C_CALLBACK_GENERATOR"),
        ("wrap((() => async () => ({}))())", "C_CALLBACK_ASYNC"),
    ] {
        let files = declaring(
            "import { made } from './made.ts';
export const t = createTool({ description: 'd', inputSchema: z.object({}), outputSchema: z.object({}), execute: made as any });
",
        );
        files.write("made.ts", format!("const wrap = (f: unknown) => f;\nexport const made = {made};\n"));
        assert_eq!(files.places(), [format!("made.ts:2:14 {code}")], "{made}");
    }
    // A bound function does not show what it is until it is called (CB-117, CB-119).
    let files = declaring(
        "const bound = (async () => ({})).bind(null);
export const t = createTool({ description: 'd', inputSchema: z.object({}), outputSchema: z.object({}), execute: bound as any });
",
    );
    assert_eq!(call(&files.bundle(), "t", &json!({})).map_err(|error| error.code()).err(), Some("R_PROMISE"));
}

// D-14: all problems of a project, of several modules and both phases, in one go
#[test]
fn the_problems_of_several_modules_come_together() {
    let files = Files::new(&[
        (
            "main.ts",
            "export { first } from './first.ts';\nexport { second } from './second.ts';\nexport const third = 3;\n",
        ),
        (
            "first.ts",
            &format!(
                "{SDK}\nexport const first = createTool({{ description: '', inputSchema: {{ type: 'object' }}, outputSchema: {{ type: 'object' }}, execute: () => ({{}}) }});\n"
            ),
        ),
        (
            "second.ts",
            &format!(
                "{SDK}\nexport const second = createAgent({{ name: 'B', instructions: 'x' }}).defineEvaluator('a', async () => 1);\n"
            ),
        ),
    ]);
    assert_eq!(
        files.places(),
        [
            "first.ts:2:35 C_DECLARATION_INVALID",
            "second.ts:2:14 C_EVAL_PASS_MISSING",
            "second.ts:2:37 C_DECLARATION_INVALID",
            "second.ts:2:90 C_CALLBACK_ASYNC",
        ]
    );
}

// EV-10, EV-12, EV-13, EV-14, EV-26
#[test]
fn chains_branch_and_leave_their_base_alone() {
    let files = declaring(
        "const base = agent.defineEvaluator('a', () => 1);
export default base.defineEvaluator('b', () => 0).defineEvalPass(() => true);
export const weighed = base.defineEvalPass(weighted);
export const filed = weighed.withFilesystem({ cwd: null });
export const plain = agent;
",
    );
    let manifest = files.compilation().bundle.manifest;
    let agent = |export: &str| manifest.agents.iter().find(|agent| agent["export"] == export).unwrap().clone();
    let names = |export: &str| -> Vec<Value> {
        agent(export)["evaluators"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect()
    };
    assert_eq!(names("default"), ["a", "b"]);
    assert_eq!(names("weighed"), ["a"]);
    assert_eq!(names("plain"), [""; 0], "EV-27: no evaluators, no pass rule");
    assert_eq!(agent("plain")["pass"], Value::Null);
    let (weighed, filed) = (agent("weighed"), agent("filed"));
    for part in ["evaluators", "pass", "tools", "instructions"] {
        assert_eq!(weighed[part], filed[part], "{part}");
    }
    assert_eq!((&weighed["filesystem"], &filed["filesystem"]), (&Value::Null, &json!({ "cwd": null })));
    assert_eq!(weighed["pass"], json!({ "type": "weighted", "weights": { "a": 1 }, "threshold": 0.5 }));
}

// EV-39 to EV-42
#[test]
fn conditional_output_schemas_are_for_agents_without_evaluators() {
    let schemas = [
        ("if", "{ type: 'object', if: { required: ['a'] }, then: {} }"),
        ("not", "{ type: 'object', properties: { a: { not: { type: 'string' } } } }"),
        ("dependentSchemas", "{ type: 'object', dependentSchemas: { a: {} } }"),
        ("dependentRequired", "{ type: 'object', dependentRequired: { a: ['b'] } }"),
        ("dependencies", "{ type: 'object', dependencies: { a: ['b'] } }"),
        ("unevaluatedProperties", "{ type: 'object', unevaluatedProperties: false }"),
    ];
    for (keyword, schema) in schemas {
        let agent =
            format!("export default createAgent({{ name: 'b', instructions: 'Work.', outputSchema: {schema} }})");
        assert_eq!(declaring(&format!("{agent};")).report(), [""; 0], "{keyword}");
        let evaluated = declaring(&format!("{agent}.defineEvaluator('a', () => 1).defineEvalPass(weighted);"));
        let report = evaluated.report();
        assert!(
            report.iter().all(|it| it.contains("C_EXPECTED_SCHEMA_CONDITIONAL")) && report[0].contains(keyword),
            "{report:?}"
        );
    }
}

// CB-81, CB-93, CB-64
#[test]
fn limits_are_no_options() {
    for option in ["timeout: 1", "memory: 1", "runtime: 'node'", "language: 'python'", "limits: {}"] {
        let text = format!(
            "export const t = createTool({{ description: 'd', inputSchema: z.object({{}}), outputSchema: z.object({{}}), execute: () => ({{}}), {option} }} as any);"
        );
        assert_eq!(declaring(&text).places(), ["a.ts:5:125 C_DECLARATION_INVALID"], "{option}");
    }
}

// CB-16, CB-18, CB-19, EV-35
#[test]
fn what_is_declared_is_called_by_its_name() {
    let files = declaring(
        "export const scale = createTool({
  description: 'Scales.', inputSchema: z.object({ value: z.number().nonnegative() }), outputSchema: z.strictObject({ value: z.number() }),
  execute: ({ value }) => (value === 13 ? { value, more: 1 } : { value: value * 2 }) as any,
});
export default createAgent({ name: 'b', instructions: 'Work.', tools: { scale } })
  .defineEvaluator('a', ({ expected }: any) => expected?.supplier?.taxId === 'x' ? 1 : 0).defineEvalPass(weighted);
",
    );
    let bundle = files.bundle();
    let code =
        |argument: Value| call(&bundle, "scale", &argument).map_err(|error| error.code().to_owned()).map(|it| it.value);
    assert_eq!(code(json!({ "value": 2 })), Ok(json!({ "value": 4 })));
    assert_eq!(code(json!({ "value": -2 })), Err("R_INPUT_SCHEMA".to_owned()));
    assert_eq!(code(json!({ "value": 13 })), Err("R_OUTPUT_SCHEMA".to_owned()));
    let score = |argument: Value| call(&bundle, "b.evaluators.a", &argument).unwrap().value;
    assert_eq!(score(json!({ "actual": 1, "expected": { "supplier": { "taxId": "x" } } })), 1);
    assert_eq!(score(json!({ "actual": 1, "expected": {} })), 0);
    assert_eq!(score(json!({ "actual": 1 })), 0);
}
