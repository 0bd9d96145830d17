// Section 1 of the specification, rule by rule, and the paths of problems.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshSdk, plain, summary, z } from './build.mjs';

const never = () => {
  throw new Error('a callback was invoked');
};
const inputSchema = z.object({});
const outputSchema = z.object({});

/** Problems of what `make` declares, as `code path`; an agent or a tool is exported as `it`. */
async function problems(make) {
  const sdk = await freshSdk();
  return summary(sdk.harvest({ it: make(sdk) }).manifest);
}

const tool = (options) => ({ createTool }) => createTool({ description: 'd', inputSchema, outputSchema, execute: never, ...options });
const agent = (options = {}) => ({ createAgent }) => createAgent({ name: 'a', instructions: 'b', ...options });
const invalid = (path) => [`C_DECLARATION_INVALID ${path}`];

test('1.1 createTool', async () => {
  assert.deepEqual(await problems(tool()), []);
  assert.deepEqual(await problems(tool({ description: 'd'.repeat(4096) })), []); // D-01
  for (const description of [undefined, '', ' \n', 5, 'd'.repeat(4097)]) {
    assert.deepEqual(await problems(tool({ description })), invalid('it.description'));
  }
  assert.deepEqual(await problems(tool({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } })), []); // D-02
  assert.deepEqual(await problems(tool({ inputSchema: undefined, outputSchema: undefined })), [...invalid('it.inputSchema'), ...invalid('it.outputSchema')]);
  assert.deepEqual(await problems(tool({ inputSchema: z.string() })), invalid('it.inputSchema'));
  assert.deepEqual(await problems(tool({ outputSchema: z.array(z.string()) })), invalid('it.outputSchema')); // CB-34
  for (const schema of [z.string(), 5, 'text', null]) assert.equal((await problems(tool({ inputSchema: schema }))).length, 1, String(schema));
  assert.deepEqual(await problems(tool({ execute: undefined })), invalid('it.execute'));
  assert.deepEqual(await problems(tool({ execute: async () => {} })), ['C_CALLBACK_ASYNC it.execute']);
  assert.deepEqual(await problems(tool({ *execute() {} })), ['C_CALLBACK_GENERATOR it.execute']);
  // D-03, CB-64, CB-93
  for (const option of ['outputShema', 'timeout', 'memory', 'runtime', 'language', 'name']) {
    assert.deepEqual(await problems(tool({ [option]: 1 })), invalid(`it.${option}`));
  }
  for (const options of [undefined, null, 5, [], 'text']) assert.ok((await problems(({ createTool }) => createTool(options))).includes(invalid('it')[0]));
});

test('1.1 names of tools', async () => {
  const sdk = await freshSdk();
  const one = tool()(sdk);
  const names = (exports) => summary(sdk.harvest(exports).manifest);
  assert.deepEqual(names({ _ok: one, ok2: one, ['x'.repeat(64)]: one }), []); // D-04
  assert.deepEqual(names({ $no: one }), invalid('$no'));
  assert.deepEqual(names({ 'no no': one }), invalid('["no no"]'));
  assert.deepEqual(names({ ['x'.repeat(65)]: one }), invalid('x'.repeat(65)));
  const other = sdk.createTool({ description: 'd', inputSchema, outputSchema: z.string(), execute: never });
  assert.deepEqual(names({ one: other, two: other }), invalid('one.outputSchema')); // Once, whatever the number of names.
});

test('1.2 createAgent', async () => {
  assert.deepEqual(await problems(agent()), []);
  for (const name of ['a', '0', 'a-b_c', 'x'.repeat(128)]) assert.deepEqual(await problems(agent({ name })), []);
  for (const name of [undefined, '', 'A', '-a', '_a', 'a b', 'é', 'x'.repeat(129), 5]) assert.deepEqual(await problems(agent({ name })), invalid('it.name'));
  for (const instructions of [undefined, '', ' ', 5]) assert.deepEqual(await problems(agent({ instructions })), invalid('it.instructions'));
  for (const model of ['', ' ', 5, null]) assert.deepEqual(await problems(agent({ model })), invalid('it.model'));
  for (const schema of [z.string(), { type: 'string' }, z.object({})]) assert.deepEqual(await problems(agent({ inputSchema: schema, outputSchema: schema })), []);
  assert.deepEqual(await problems(agent({ outputSchema: 5 })), invalid('it.outputSchema'));
  assert.deepEqual(await problems(agent({ timeout: 1 })), invalid('it.timeout'));

  const tools = (count) => (sdk) => agent({ tools: Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, tool()(sdk)])) })(sdk);
  assert.deepEqual(await problems(tools(64)), []); // D-05
  assert.deepEqual(await problems(tools(65)), invalid('it.tools'));
  assert.deepEqual(await problems(agent({ tools: 5 })), invalid('it.tools'));
  assert.deepEqual(await problems((sdk) => agent({ tools: tool()(sdk) })(sdk)), invalid('it.tools'));
  assert.deepEqual(await problems((sdk) => agent({ tools: { 'a b': tool()(sdk), x: {}, y: tool({ timeout: 1 })(sdk) } })(sdk)), [
    ...invalid('it.tools["a b"]'), ...invalid('it.tools.x'), ...invalid('it.tools.y.timeout'),
  ]);

  assert.deepEqual(await problems(agent({ limits: { maxTurns: 1, maxTokens: 2, timeoutMs: 3 } })), []);
  for (const name of ['maxTurns', 'maxTokens', 'timeoutMs']) {
    for (const limit of [0, -1, 1.5, NaN, Infinity, '5', null]) assert.deepEqual(await problems(agent({ limits: { [name]: limit } })), invalid(`it.limits.${name}`));
  }
  assert.deepEqual(await problems(agent({ limits: { maxMemory: 1 } })), invalid('it.limits.maxMemory'));
  assert.deepEqual(await problems(agent({ limits: 5 })), invalid('it.limits'));

  for (const list of ['skills', 'resources']) {
    assert.deepEqual(await problems(agent({ [list]: ['a', './b/c', 'd e'] })), []);
    assert.deepEqual(await problems(agent({ [list]: 'a' })), invalid(`it.${list}`));
    assert.deepEqual(await problems(agent({ [list]: ['a', '', 5, '../x', '/x', 'a/../../x', 'C:\\x'] })), [
      ...invalid(`it.${list}[1]`), ...invalid(`it.${list}[2]`), ...[3, 4, 5, 6].map((index) => `C_PATH_ESCAPE it.${list}[${index}]`),
    ]);
    const unreadable = new Proxy([], { get: never });
    assert.deepEqual(await problems(agent({ [list]: unreadable })), invalid(`it.${list}`));
  }
});

test('1.2 tools in an array are named by their export, once for all variants', async () => {
  const sdk = await freshSdk();
  const exported = tool()(sdk);
  const base = agent({ tools: [exported, tool()(sdk), exported] })(sdk);
  assert.deepEqual(summary(sdk.harvest({ base, variant: base.withFilesystem(), exported }).manifest), [...invalid('base.tools[1]'), ...invalid('base.tools[2]')]);
});

test('1.2 unsupported methods are reported where their result went', async () => {
  // EV-116, EV-117
  const calls = async (make) => {
    const sdk = await freshSdk();
    return summary(sdk.harvest(make(sdk)).manifest);
  };
  const unsupported = (path) => [`C_UNSUPPORTED_API ${path}`];
  for (const method of ['run', 'chat', 'ask', 'followUp']) assert.deepEqual(await problems((sdk) => agent()(sdk)[method]('x')), unsupported(`it.${method}`));
  assert.deepEqual(await problems((sdk) => agent()(sdk).asTool()), unsupported('it.asTool'));
  assert.deepEqual(await calls((sdk) => {
    const one = agent()(sdk);
    one.asTool();
    return { other: agent()(sdk), one };
  }), unsupported('one.asTool'));
  assert.deepEqual(await calls((sdk) => {
    const one = agent()(sdk);
    return { one, shared: one.asTool() };
  }), unsupported('shared.asTool'));
  assert.deepEqual(await calls((sdk) => {
    const one = agent()(sdk);
    return { one, 'two ': agent({ tools: { helper: one.asTool() } })(sdk) };
  }), unsupported('["two "].tools.helper.asTool'));
  assert.deepEqual(await calls((sdk) => {
    const scored = agent()(sdk).defineEvaluator('x', never);
    scored.asTool();
    return { other: agent()(sdk), reviewed: scored.defineEvalPass(never) };
  }), unsupported('reviewed.asTool')); // Another definition of the same chain.
  assert.deepEqual(await calls((sdk) => {
    agent()(sdk).asTool();
    return { other: agent()(sdk) };
  }), unsupported('')); // Nothing that is exported.
});

test('1.3 withFilesystem', async () => {
  const cwd = async (...options) => {
    const sdk = await freshSdk();
    const { manifest } = sdk.harvest({ it: agent()(sdk).withFilesystem(...options) });
    return manifest.problems.length > 0 ? summary(manifest) : plain(manifest.agents[0].filesystem);
  };
  for (const options of [[], [undefined], [{}], [{ cwd: null }], [{ cwd: undefined }]]) assert.deepEqual(await cwd(...options), { cwd: null }); // D-06
  for (const folder of ['work', './work', 'a/b', '.', 'a..b']) assert.deepEqual(await cwd({ cwd: folder }), { cwd: folder });
  for (const folder of ['/work', '..', '../x', 'a/../b', 'a\\..\\b', '\\x', 'c:/x']) assert.deepEqual(await cwd({ cwd: folder }), ['C_PATH_ESCAPE it.filesystem.cwd']);
  for (const folder of ['', ' ', 5, {}, 'a\0b']) assert.deepEqual(await cwd({ cwd: folder }), invalid('it.filesystem.cwd'));
  assert.deepEqual(await cwd({ cwdd: null }), invalid('it.filesystem.cwdd'));
  assert.deepEqual(await cwd('work'), invalid('it.filesystem'));
  assert.deepEqual(await problems((sdk) => agent()(sdk).withFilesystem().withFilesystem()), ['C_FILESYSTEM_TWICE it.filesystem']); // D-07

  // EV-13, EV-26: anywhere in the chain, with the same evaluations.
  const sdk = await freshSdk();
  const base = agent()(sdk);
  const chains = {
    before: base.withFilesystem().defineEvaluator('x', never).defineEvalPass(never),
    between: base.defineEvaluator('x', never).withFilesystem().defineEvalPass(never),
    after: base.defineEvaluator('x', never).defineEvalPass(never).withFilesystem(),
  };
  const { manifest } = sdk.harvest(chains);
  assert.deepEqual(summary(manifest), []);
  const [first, ...others] = plain(manifest.agents).map(({ evaluators, pass, filesystem }) => ({ evaluators, pass, filesystem }));
  for (const other of others) assert.deepEqual(other, first);
});

test('1.4 defineEvaluator', async () => {
  const named = (...names) => problems((sdk) => names.reduce((chain, name) => chain.defineEvaluator(name, never), agent()(sdk)).defineEvalPass(never));
  assert.deepEqual(await named('a', 'Z9_-', 'x'.repeat(64), 'constructor', 'toString', 'hasOwnProperty'), []); // EV-15, EV-16
  for (const name of ['', '1a', '_a', '-a', 'a b', 'é', 'aé', 'x'.repeat(65), '__proto__']) {
    const path = /^[A-Za-z_]\w*$/.test(name) ? `it.evaluators.${name}` : `it.evaluators[${JSON.stringify(name)}]`;
    assert.deepEqual(await named('ok', name), [`C_EVALUATOR_NAME_INVALID ${path}`]);
  }
  for (const name of [undefined, 5, null, {}, Symbol('a')]) assert.deepEqual(await named('ok', name), ['C_EVALUATOR_NAME_INVALID it.evaluators[1]']);
  assert.deepEqual(await named('a', 'b', 'a'), ['C_EVALUATOR_DUPLICATE it.evaluators.a']);
  assert.deepEqual(await named(...Array.from({ length: 33 }, (_, index) => `e${index}`)), ['C_EVALUATOR_LIMIT it.evaluators.e32']); // EV-17
  const late = (sdk) => agent()(sdk).defineEvaluator('a', never).defineEvalPass(never).withFilesystem().defineEvaluator('b', never);
  assert.deepEqual(await problems(late), ['C_EVALUATORS_CLOSED it.evaluators.b']); // EV-25

  const given = (evaluator) => problems((sdk) => agent()(sdk).defineEvaluator('a', typeof evaluator === 'function' && evaluator.length === 1 ? evaluator(sdk) : evaluator).defineEvalPass(never));
  for (const evaluator of [undefined, 5, {}, class {}]) assert.deepEqual(await given(evaluator), ['C_EVALUATOR_INVALID it.evaluators.a']);
  assert.deepEqual(await given((sdk) => sdk.weightedScore({ weights: { a: 1 }, threshold: 1 })), ['C_EVALUATOR_INVALID it.evaluators.a']);
  assert.deepEqual(await given(async () => 1), ['C_CALLBACK_ASYNC it.evaluators.a']);
  assert.deepEqual(await given(function* () {}), ['C_CALLBACK_GENERATOR it.evaluators.a']);

  // 1.6, 1.7
  assert.deepEqual(await given((sdk) => sdk.exactDiff({ select: never })), []);
  assert.deepEqual(await given((sdk) => sdk.exactDiff({})), invalid('it.evaluators.a.select'));
  assert.deepEqual(await given((sdk) => sdk.exactDiff({ select: never, option: {} })), ['C_EXACT_DIFF_OPTIONS it.evaluators.a.option']);
  assert.deepEqual(await given((sdk) => sdk.exactDiff({ select: never, options: 5 })), ['C_EXACT_DIFF_OPTIONS it.evaluators.a.options']);
  assert.deepEqual(await given((sdk) => sdk.exactDiff({ select: function* () {} })), ['C_CALLBACK_GENERATOR it.evaluators.a.select']);
  const judge = (options) => given((sdk) => sdk.llmJudge({ prompt: 'p'.repeat(10), select: never, ...options }));
  assert.deepEqual(await judge({ model: 'm' }), []);
  assert.deepEqual(await judge({ prompt: `${' '.repeat(9)}x` }), ['C_JUDGE_PROMPT_LENGTH it.evaluators.a.prompt']); // D-64
  assert.deepEqual(await judge({ prompt: '😀'.repeat(5) }), []); // D-63: UTF-16 code units
  assert.deepEqual(await judge({ prompt: 5 }), ['C_JUDGE_PROMPT_LENGTH it.evaluators.a.prompt']);
  for (const model of ['', ' ', 5, null]) assert.deepEqual(await judge({ model }), ['C_JUDGE_MODEL_INVALID it.evaluators.a.model']);
  assert.deepEqual(await judge({ select: async () => {} }), ['C_CALLBACK_ASYNC it.evaluators.a.select']);
  assert.deepEqual(await judge({ timeout: 1 }), invalid('it.evaluators.a.timeout'));
});

test('1.5 defineEvalPass', async () => {
  const passed = (rule) => problems((sdk) => agent()(sdk).defineEvaluator('a', never).defineEvalPass(typeof rule === 'function' && rule.length === 1 ? rule(sdk) : rule));
  assert.deepEqual(await passed(() => true), []);
  for (const rule of [undefined, 5, {}, class {}]) assert.deepEqual(await passed(rule), invalid('it.pass'));
  assert.deepEqual(await passed((sdk) => sdk.exactDiff({ select: never })), invalid('it.pass'));
  assert.deepEqual(await passed(async () => true), ['C_CALLBACK_ASYNC it.pass']);
  assert.deepEqual(await passed(function* () {}), ['C_CALLBACK_GENERATOR it.pass']);
  assert.deepEqual(await problems((sdk) => agent()(sdk).defineEvaluator('a', never).defineEvalPass(never).defineEvalPass(never)), ['C_EVAL_PASS_TWICE it.pass']);
  assert.deepEqual(await problems((sdk) => agent()(sdk).defineEvalPass(sdk.weightedScore({ weights: { a: 1 }, threshold: 1 }))), [
    'C_EVAL_PASS_WITHOUT_EVALUATORS it.pass',
  ]); // D-10
  assert.deepEqual(await problems((sdk) => agent()(sdk).defineEvaluator('a', never)), ['C_EVAL_PASS_MISSING it']); // D-11
  assert.deepEqual(await problems(agent()), []); // EV-27

  // 1.8
  const weighted = (options) => passed((sdk) => sdk.weightedScore({ weights: { a: 1 }, threshold: 0.5, ...options }));
  assert.deepEqual(await weighted({}), []);
  assert.deepEqual(await weighted({ weights: { a: 1, b: 2 } }), ['C_WEIGHTS_UNKNOWN_SCORE it.pass.weights.b']);
  for (const weights of [undefined, null, {}, [], 5, { a: 0 }]) assert.deepEqual(await weighted({ weights }), ['C_WEIGHTS_INVALID it.pass.weights']);
  for (const weight of [-1, NaN, Infinity, '1', undefined]) assert.deepEqual(await weighted({ weights: { a: weight } }), ['C_WEIGHTS_INVALID it.pass.weights.a']);
  const two = (sdk) => agent()(sdk).defineEvaluator('a', never).defineEvaluator('b', never);
  assert.deepEqual(await problems((sdk) => two(sdk).defineEvalPass(sdk.weightedScore({ weights: { a: 1e308, b: 1e308 }, threshold: 1 }))), ['C_WEIGHTS_INVALID it.pass.weights']); // EV-96
  for (const threshold of [0, 1, 0.5]) assert.deepEqual(await weighted({ threshold }), []);
  for (const threshold of [undefined, null, -0.1, 1.1, NaN, '1']) assert.deepEqual(await weighted({ threshold }), ['C_THRESHOLD_INVALID it.pass.threshold']);
  assert.deepEqual(await weighted({ treshold: 1 }), invalid('it.pass.treshold'));
});

test('the source of a predicate is in the manifest', async () => {
  // EV-103
  const sdk = await freshSdk();
  const pass = (rule) => {
    const { manifest } = sdk.harvest({ it: agent()(sdk).defineEvaluator('a', never).defineEvalPass(rule) });
    return plain(manifest.agents[0].pass);
  };
  const rule = ({ a }) => a >= 0.5;
  assert.deepEqual(pass(rule), { type: 'predicate', callback: 'a.pass', source: '({ a }) => a >= 0.5' });
  rule.toString = never;
  assert.equal(pass(rule).source, '({ a }) => a >= 0.5');
  assert.equal(pass(new Proxy(rule, {})).source, 'function () { [native code] }');
  const long = (filler) => (0, eval)(`() => '${filler}'`);
  assert.equal(pass(long('x'.repeat(20_000))).source.length, 16_384);
  const faces = pass(long('😀'.repeat(10_000))).source;
  const shifted = pass(long(`x${'😀'.repeat(10_000)}`)).source;
  assert.deepEqual([faces.length, shifted.length].sort(), [16_383, 16_384]); // Characters stay whole.
  assert.doesNotMatch(faces + shifted, /\p{Surrogate}/u);
  const { manifest } = sdk.harvest({ it: agent()(sdk).defineEvaluator('a', never).defineEvalPass(sdk.weightedScore({ weights: { a: 1 }, threshold: 1 })) });
  assert.deepEqual(Object.keys(manifest.agents[0].pass), ['type', 'weights', 'threshold']);
});

test('every path follows the grammar in problems.ts', async () => {
  const sdk = await freshSdk();
  const { createTool, createAgent, exactDiff, llmJudge, weightedScore } = sdk;
  const bad = z.object({
    list: z.array(z.date()), pair: z.tuple([z.date()], z.date()), record: z.record(z.string().trim(), z.date()),
    either: z.union([z.string(), z.date()]), both: z.intersection(z.object({}), z.object({ 'a b': z.date() })), xor: z.xor([z.date(), z.string()]),
  });
  const scored = createAgent({ name: 'A', instructions: '', tools: [{}], skills: [5], limits: { x: 1 }, outputSchema: bad, inputSchema: { $ref: 'x', 'a b': [{ $ref: 5 }] } })
    .defineEvaluator(Symbol('x'), exactDiff({ select: 5, options: { rules: { 'a b': 5, x: { matchBy: [5], order: 'unordered' } }, paths: [5] } }))
    .defineEvaluator('b c', llmJudge({ prompt: '', select: 5, model: '' }))
    .defineEvaluator('ok', 5)
    .defineEvalPass(weightedScore({ weights: { 'x y': 1, ok: -1 }, threshold: 5 }))
    .withFilesystem({ cwd: '..' });
  scored.asTool();
  const exports = { 'my agent': scored, helper: createTool({ description: '', inputSchema: bad, outputSchema: bad, execute: 5 }), $t: createTool(5) };
  const paths = sdk.harvest(exports).manifest.problems.map(({ path }) => path);
  const word = String.raw`[A-Za-z_$][\w$-]*`;
  const quoted = String.raw`\["(?:[^"\\]|\\.)*"\]`;
  const grammar = new RegExp(String.raw`^(?:(${word}|${quoted})(?:\.${word}|${quoted}|\[\d*\]|\.\*(?:\(key\))?)*)?$`);
  assert.ok(paths.length > 45, String(paths.length));
  for (const path of paths) assert.ok(['["my agent"]', 'helper', '$t'].includes(grammar.exec(path)?.[1]), path);
});
