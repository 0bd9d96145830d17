// Declarations and the harvest, against the seeds and sections 1, 2.3, 4.4, 5.1 and 6.1 of the specification.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshSdk, plain, summary, z } from './build.mjs';

const never = () => {
  throw new Error('a callback was invoked');
};

const taxTool = ({ createTool }) =>
  createTool({
    description: 'Calculate the total including tax.',
    inputSchema: z.object({ subtotal: z.number().nonnegative() }),
    outputSchema: z.strictObject({ total: z.number() }),
    execute: ({ subtotal }) => ({ total: subtotal * 1.2 }),
  });

const reviewer = ({ createAgent }, extra = {}) =>
  createAgent({
    name: 'invoices',
    instructions: 'Review the invoice.',
    outputSchema: z.object({ total: z.number(), summary: z.string() }),
    ...extra,
  });

test('the tax example of the seed', async () => {
  const sdk = await freshSdk();
  const calculateTotal = taxTool(sdk);
  const { manifest, callbacks } = sdk.harvest({ calculateTotal, taxRate: 0.2 });
  assert.deepEqual(plain(manifest), {
    format: 1,
    callbacks: [
      {
        name: 'calculateTotal',
        kind: 'tool',
        description: 'Calculate the total including tax.',
        inputSchema: {
          type: 'object',
          properties: { subtotal: { type: 'number', minimum: 0 } },
          required: ['subtotal'],
          'x-unknownKeys': 'strip',
        },
        outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'], additionalProperties: false },
      },
    ],
    agents: [],
    problems: [],
  });
  assert.deepEqual(callbacks[0]({ subtotal: 10 }), { total: 12 });
});

test('the evaluation example of the seed', async () => {
  // EV-1 to EV-26
  const sdk = await freshSdk();
  const { exactDiff, llmJudge, weightedScore, harvest } = sdk;
  const calculateTotal = taxTool(sdk);
  const base = reviewer(sdk, { tools: { tax: calculateTotal, local: taxTool(sdk) } });
  const scored = base
    .defineEvaluator('fields', exactDiff({ select: (output) => ({ total: output.total }), options: { rules: { total: { numericTolerance: 0.01 } } } }))
    .defineEvaluator('meaning', llmJudge({ prompt: 'Score whether the summary preserves the facts.', select: never }))
    .defineEvaluator('nonnegative', ({ actual }) => Number(actual.total >= 0));
  const reviewed = scored.defineEvalPass(weightedScore({ weights: { fields: 2, meaning: 1, nonnegative: 1 }, threshold: 0.9 }));
  const { manifest, callbacks } = harvest({ calculateTotal, default: reviewed, filesystemReviewer: reviewed.withFilesystem({ cwd: null }), reviewed });
  assert.deepEqual(summary(manifest), []);
  assert.deepEqual(
    manifest.callbacks.map(({ name, kind }) => `${kind} ${name}`),
    [
      'tool calculateTotal',
      'tool invoices.tools.local',
      'diff-selector invoices.evaluators.fields',
      'judge-selector invoices.evaluators.meaning',
      'evaluator invoices.evaluators.nonnegative',
    ],
  );
  assert.equal(callbacks.length, manifest.callbacks.length);
  const [agent, variant] = plain(manifest.agents);
  assert.equal(manifest.agents.length, 2);
  assert.deepEqual([agent.export, agent.aliases, agent.filesystem], ['default', ['reviewed'], null]);
  assert.deepEqual(agent.tools, { tax: 'calculateTotal', local: 'invoices.tools.local' });
  assert.deepEqual(agent.evaluators, [
    { name: 'fields', type: 'exactDiff', callback: 'invoices.evaluators.fields', options: { rules: { total: { numericTolerance: 0.01 } } } },
    { name: 'meaning', type: 'llmJudge', callback: 'invoices.evaluators.meaning', prompt: 'Score whether the summary preserves the facts.' },
    { name: 'nonnegative', type: 'callback', callback: 'invoices.evaluators.nonnegative' },
  ]);
  assert.deepEqual(agent.pass, { type: 'weighted', weights: { fields: 2, meaning: 1, nonnegative: 1 }, threshold: 0.9 });
  assert.deepEqual([variant.export, variant.filesystem, variant.pass], ['filesystemReviewer', { cwd: null }, agent.pass]);
});

test('every chain method leaves its receiver as it was', async () => {
  // EV-14
  const sdk = await freshSdk();
  const base = reviewer(sdk);
  base.defineEvaluator('one', never).defineEvalPass(never);
  const { manifest } = sdk.harvest({ base });
  assert.deepEqual(summary(manifest), []);
  assert.deepEqual(plain(manifest.agents[0].evaluators), []);
});

test('two chains over one base keep both pass rules', async () => {
  const sdk = await freshSdk();
  const scored = reviewer(sdk).defineEvaluator('one', never);
  const strict = () => false;
  const { manifest, callbacks } = sdk.harvest({ a: scored.defineEvalPass(never), b: scored.defineEvalPass(strict) });
  assert.deepEqual(summary(manifest), []);
  assert.deepEqual(manifest.agents.map(({ pass }) => pass.callback), ['invoices.pass', 'invoices@b.pass']);
  assert.equal(callbacks[2], strict);
});

test('all problems are reported at once and no callback runs', async () => {
  const sdk = await freshSdk();
  const { createTool, createAgent, exactDiff, llmJudge, weightedScore, harvest } = sdk;
  const broken = createTool({
    description: ' ',
    inputSchema: z.object({ when: z.date(), nested: z.object({ name: z.string().trim() }) }),
    outputSchema: z.string(),
    outputShema: z.object({}),
    execute: async () => never(),
  });
  const agent = createAgent({
    name: 'Bad Name',
    instructions: '',
    limits: { maxTurns: 0, turns: 1 },
    skills: ['../x', 'ok'],
    tools: { 'not ok': broken, stranger: {} },
    tool: {},
  })
    .defineEvaluator('1st', never)
    .defineEvaluator('gen', function* () {})
    .defineEvaluator('gen', never)
    .defineEvaluator('odd', 5)
    .defineEvaluator('diff', exactDiff({ select: async () => {}, options: { rules: { 'a[0]': {}, 'b[]': { order: 'unordered' }, $: { ignore: true } }, paths: ['x'] } }))
    .defineEvaluator('judge', llmJudge({ prompt: 'short', select: never, model: ' ', temperature: 1 }))
    .defineEvalPass(weightedScore({ weights: { jugde: 1, gen: -1 }, threshold: 2 }))
    .defineEvalPass(never)
    .defineEvaluator('late', never)
    .withFilesystem({ cwd: '/etc' })
    .withFilesystem();
  agent.asTool();
  const { manifest } = harvest({ broken, agent });
  assert.deepEqual(summary(manifest).sort(), [
    'C_CALLBACK_ASYNC agent.evaluators.diff.select',
    'C_CALLBACK_ASYNC broken.execute',
    'C_CALLBACK_GENERATOR agent.evaluators.gen',
    'C_DECLARATION_INVALID agent.evaluators.judge.temperature',
    'C_DECLARATION_INVALID agent.instructions',
    'C_DECLARATION_INVALID agent.limits.maxTurns',
    'C_DECLARATION_INVALID agent.limits.turns',
    'C_DECLARATION_INVALID agent.name',
    'C_DECLARATION_INVALID agent.tool',
    'C_DECLARATION_INVALID agent.tools.stranger',
    'C_DECLARATION_INVALID agent.tools["not ok"]',
    'C_DECLARATION_INVALID broken.description',
    'C_DECLARATION_INVALID broken.outputSchema',
    'C_DECLARATION_INVALID broken.outputShema',
    'C_EVALUATORS_CLOSED agent.evaluators.late',
    'C_EVALUATOR_DUPLICATE agent.evaluators.gen',
    'C_EVALUATOR_INVALID agent.evaluators.odd',
    'C_EVALUATOR_NAME_INVALID agent.evaluators["1st"]',
    'C_EVAL_PASS_TWICE agent.pass',
    'C_EXACT_DIFF_MIXED agent.evaluators.diff.options.paths',
    'C_EXACT_DIFF_OPTIONS agent.evaluators.diff.options.rules.$.ignore',
    'C_EXACT_DIFF_OPTIONS agent.evaluators.diff.options.rules["b[]"].order',
    'C_EXACT_DIFF_RULE_PATH agent.evaluators.diff.options.rules["a[0]"]',
    'C_FILESYSTEM_TWICE agent.filesystem',
    'C_JUDGE_MODEL_INVALID agent.evaluators.judge.model',
    'C_JUDGE_PROMPT_LENGTH agent.evaluators.judge.prompt',
    'C_PATH_ESCAPE agent.filesystem.cwd',
    'C_PATH_ESCAPE agent.skills[0]',
    'C_SCHEMA_EFFECT broken.inputSchema.nested.name',
    'C_SCHEMA_UNREPRESENTABLE broken.inputSchema.when',
    'C_THRESHOLD_INVALID agent.pass.threshold',
    'C_UNSUPPORTED_API agent.asTool',
    'C_WEIGHTS_INVALID agent.pass.weights.gen',
    'C_WEIGHTS_UNKNOWN_SCORE agent.pass.weights.jugde',
  ]);
  const misspelt = manifest.problems.find(({ path }) => path === 'broken.outputShema');
  assert.equal(misspelt.help, 'Did you mean `outputSchema`?');
  const asynchronous = manifest.problems.find(({ path }) => path === 'broken.execute');
  assert.equal(asynchronous.help, 'Callbacks run synchronously: drop `async`; pass fetched data in as input.'); // CB-115
});

test('limits of the declaration', async () => {
  const sdk = await freshSdk();
  const many = (count) => {
    let agent = reviewer(sdk);
    for (let index = 0; index < count; index++) agent = agent.defineEvaluator(`e${index}`, never);
    return agent.defineEvalPass(never);
  };
  const judge = (length) => reviewer(sdk).defineEvaluator('j', sdk.llmJudge({ prompt: 'p'.repeat(length), select: never })).defineEvalPass(never);
  const weighted = (weights, threshold) => reviewer(sdk).defineEvaluator('a', never).defineEvalPass(sdk.weightedScore({ weights, threshold }));
  const codes = (agent) => sdk.harvest({ agent }).manifest.problems.map(({ code }) => code);
  assert.deepEqual(codes(many(32)), []); // EV-17
  assert.deepEqual(codes(many(33)), ['C_EVALUATOR_LIMIT']);
  assert.deepEqual([9, 10, 131072, 131073].map((length) => codes(judge(length)).length), [1, 0, 0, 1]); // EV-78
  assert.deepEqual(codes(weighted({ a: 1 }, 0)), []); // EV-97
  assert.deepEqual(codes(weighted({ a: 1 }, 1)), []);
  assert.deepEqual(codes(weighted({ a: 0 }, 0.5)), ['C_WEIGHTS_INVALID']); // EV-96
  assert.deepEqual(codes(weighted({ a: NaN }, 0.5)), ['C_WEIGHTS_INVALID']); // EV-94
  assert.deepEqual(codes(weighted({}, NaN)), ['C_WEIGHTS_INVALID', 'C_THRESHOLD_INVALID']);
  assert.deepEqual(codes(reviewer(sdk).defineEvalPass(never)), ['C_EVAL_PASS_WITHOUT_EVALUATORS']);
  assert.deepEqual(codes(reviewer(sdk).defineEvaluator('a', never)), ['C_EVAL_PASS_MISSING']); // EV-24
  assert.deepEqual(codes(reviewer(sdk)), []); // EV-27
  assert.deepEqual(codes(reviewer(sdk).defineEvaluator('constructor', never).defineEvaluator('toString', never).defineEvalPass(sdk.weightedScore({ weights: { constructor: 1 }, threshold: 1 }))), []);
});

test('exactDiff options', async () => {
  const sdk = await freshSdk();
  const run = (options) => {
    const agent = reviewer(sdk).defineEvaluator('d', sdk.exactDiff({ select: never, options })).defineEvalPass(never);
    const { manifest } = sdk.harvest({ agent });
    return manifest.problems.length > 0 ? summary(manifest).map((line) => line.replace('agent.evaluators.d.options', '~')) : plain(manifest.agents[0].evaluators[0].options);
  };
  for (const path of ['$', '$[]', '$[].name', 'a', 'a.b', 'a[]', 'a[].b', 'm[][]', '["a.b"]', 'a["b c"].d', '$["x"]']) {
    assert.deepEqual(run({ rules: { [` ${path} `]: {} } }), { rules: { [path]: {} } }, path);
  }
  for (const path of ['', 'a.', '.a', 'a..b', 'a[0]', '$a', 'a b', 'a]', '$.', 'a[].', '["\\q"]', '["a]']) {
    assert.match(run({ rules: { [path]: {} } })[0], /^C_EXACT_DIFF_RULE_PATH/, path);
  }
  assert.deepEqual(run({ rules: { items: { order: 'unordered', matchBy: ['a.b', 'c'], items: 'exactly' } } }), {
    rules: { items: { order: 'unordered', items: 'exactly', matchBy: ['a.b', 'c'] } },
  });
  assert.deepEqual(run({ rules: { items: { matchBy: 'a' } } }), ['C_EXACT_DIFF_OPTIONS ~.rules.items.matchBy']); // EV-64
  assert.deepEqual(run({ rules: { a: { ignore: true, order: 'ordered' } } }), ['C_EXACT_DIFF_OPTIONS ~.rules.a.ignore']); // EV-60
  assert.deepEqual(run({ rules: { a: { ignore: false } } }), ['C_EXACT_DIFF_OPTIONS ~.rules.a.ignore']);
  assert.deepEqual(run({ rules: { a: { numericTolerance: -1 } } }), ['C_EXACT_DIFF_OPTIONS ~.rules.a.numericTolerance']); // EV-66
  assert.deepEqual(run({ rules: {}, allowExtraFields: true }), ['C_EXACT_DIFF_MIXED ~.allowExtraFields']); // EV-71
  for (const [one, other] of [['a', ' a'], ['a', '["a"]'], ['a.b', '$.a["b"]'], ['["x y"]', '$["x\\u0020y"]'], ['$[].a', '$[]["a"]']]) {
    const [problem, ...more] = run({ rules: { [one]: {}, [other]: {} } });
    assert.deepEqual([problem.split(' ')[0], more], ['C_EXACT_DIFF_RULE_PATH', []], other); // One place, spelled twice.
  }
  assert.deepEqual(run({ paths: ['a', '$.a'] }), ['C_EXACT_DIFF_RULE_PATH ~.paths[1]']);
  assert.deepEqual(run({ rules: { items: { order: 'unordered', matchBy: ['a', 'b[]', 'a'] } } }), [
    'C_EXACT_DIFF_OPTIONS ~.rules.items.matchBy[1]',
    'C_EXACT_DIFF_OPTIONS ~.rules.items.matchBy[2]',
  ]);
  assert.deepEqual(run({ rules: { items: { order: 'unordered', matchBy: [] } } }), ['C_EXACT_DIFF_OPTIONS ~.rules.items.matchBy']);
  assert.deepEqual(run({ rules: { 'm[][]': { items: 'exactly' } } }), ['C_EXACT_DIFF_OPTIONS ~.rules["m[][]"].items']);
  assert.deepEqual(run({ rules: { $: { ignore: true } } }), ['C_EXACT_DIFF_OPTIONS ~.rules.$.ignore']); // D-52
  assert.deepEqual(run({ rules: { a: { order: 'sorted', items: 1, allowExtraFields: 'no', numericTolerance: Infinity, tolerance: 1 } } }).sort(), [
    'C_EXACT_DIFF_OPTIONS ~.rules.a.allowExtraFields',
    'C_EXACT_DIFF_OPTIONS ~.rules.a.items',
    'C_EXACT_DIFF_OPTIONS ~.rules.a.numericTolerance',
    'C_EXACT_DIFF_OPTIONS ~.rules.a.order',
    'C_EXACT_DIFF_OPTIONS ~.rules.a.tolerance',
  ]);
  const deep = (count) => Array(count).fill('a').join('.');
  assert.deepEqual(run({ rules: { [deep(64)]: {} } }), { rules: { [deep(64)]: {} } }); // D-50
  assert.match(run({ rules: { [deep(65)]: {} } })[0], /^C_EXACT_DIFF_RULE_PATH/);
  assert.deepEqual(run({ rules: {}, paths: ['a'], unorderedPaths: ['a'], numericTolerance: 1, allowExtraFields: true }).length, 4); // EV-71
  assert.deepEqual(run({ paths: ['lineItems[0].sku', 'total'], unorderedPaths: ['groups[].members'] }), {
    paths: ['lineItems[0].sku', 'total'],
    unorderedPaths: ['groups[].members'],
  });
  assert.deepEqual(run({ paths: [] }), ['C_EXACT_DIFF_OPTIONS ~.paths']); // D-55
  assert.deepEqual(run({ unorderedPaths: ['a[]'] }), ['C_EXACT_DIFF_OPTIONS ~.unorderedPaths[0]']);
  assert.deepEqual(run({ tolerance: 1 }), ['C_EXACT_DIFF_OPTIONS ~.tolerance']);
});

test('kinds of functions', async () => {
  const sdk = await freshSdk();
  const codes = (execute) => {
    const tool = sdk.createTool({ description: 'd', inputSchema: z.object({}), outputSchema: z.object({}), execute });
    return sdk.harvest({ tool }).manifest.problems.map(({ code }) => code);
  };
  assert.deepEqual(codes(async () => {}), ['C_CALLBACK_ASYNC']); // CB-115
  assert.deepEqual(codes(function* () {}), ['C_CALLBACK_GENERATOR']);
  assert.deepEqual(codes(async function* () {}), ['C_CALLBACK_GENERATOR']);
  assert.deepEqual(codes(class {}), ['C_DECLARATION_INVALID']);
  assert.deepEqual(codes(5), ['C_DECLARATION_INVALID']);
  assert.deepEqual(codes(function () {}), []);
  assert.deepEqual(codes({ execute() {} }.execute), []);
});

test('hostile exports give problems, never exceptions', async () => {
  const sdk = await freshSdk();
  const angry = new Proxy(function () {}, new Proxy({}, { get: () => never }));
  const { manifest } = sdk.harvest({
    angry,
    get thrower() {
      return never();
    },
    array: [1],
    nothing: null,
    symbol: Symbol('s'),
    text: 'x',
    revoked: (() => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    })(),
    proxied: new Proxy(taxTool(sdk), {}),
    tool: sdk.createTool(angry),
    schemas: sdk.createTool({ description: 'd', inputSchema: angry, outputSchema: { _zod: { def: { type: 'object', get shape() { return never(); } } } }, execute: angry }),
  });
  assert.deepEqual(summary(manifest).filter((line) => !line.includes(' tool')), [
    'C_DECLARATION_INVALID thrower',
    'C_DECLARATION_INVALID schemas.execute',
    'C_SCHEMA_UNREPRESENTABLE schemas.inputSchema',
    'C_SCHEMA_UNREPRESENTABLE schemas.outputSchema',
  ]);
  assert.deepEqual(summary(sdk.harvest({ helper: never, list: [taxTool(sdk)] }).manifest), ['C_NO_DEFINITION ']);
  assert.deepEqual(summary(sdk.harvest(new Proxy({}, { ownKeys: never })).manifest), ['C_DECLARATION_INVALID ']);
  JSON.stringify(manifest);
});

test('declarations cannot be forged or changed', async () => {
  const sdk = await freshSdk();
  const agent = reviewer(sdk);
  assert.throws(() => new agent.constructor({}, { kind: 'agent' }), TypeError);
  assert.throws(() => Object.assign(agent, { name: 'x' }), TypeError);
  assert.throws(() => { Object.getPrototypeOf(agent).defineEvaluator = never; }, TypeError);
});

test('patched prototypes do not reach the harvest', async () => {
  const sdk = await freshSdk();
  const calculateTotal = taxTool(sdk);
  const { push } = Array.prototype;
  const iterate = Array.prototype[Symbol.iterator];
  const { get } = Map.prototype;
  const { exec } = RegExp.prototype;
  const { slice } = String.prototype;
  let result;
  try {
    Array.prototype.push = Array.prototype[Symbol.iterator] = Map.prototype.get = RegExp.prototype.exec = String.prototype.slice = never;
    result = sdk.harvest({ calculateTotal });
  } finally {
    Array.prototype.push = push;
    Array.prototype[Symbol.iterator] = iterate;
    Map.prototype.get = get;
    RegExp.prototype.exec = exec;
    String.prototype.slice = slice;
  }
  assert.deepEqual(summary(result.manifest), []);
  assert.equal(result.manifest.callbacks[0].name, 'calculateTotal');
});
