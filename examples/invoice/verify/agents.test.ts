// What `inputs/` cannot say: the second entry, exit codes, costs. A TypeScript project of its own, because it needs
// Node's types and the agents must not see them. Run it from the package's folder.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

interface Outcome {
  ok: boolean;
  value?: unknown;
  error?: { code: string; path?: string };
  usage?: { fuel: number };
}

const program = process.env.CALLCELL ?? 'callcell';
const folder = mkdtempSync(join(tmpdir(), 'invoice-'));
after(() => rmSync(folder, { recursive: true }));

function run(...args: string[]) {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw error;
  return { status, stdout, stderr };
}

function build(entry: string): string {
  const bundle = join(folder, `${entry}.cell`);
  const { status, stderr } = run('build', `agents/invoice/${entry}.ts`, '--output', bundle);
  assert.equal(status, 0, stderr);
  return bundle;
}

function call(bundle: string, callback: string, argument: unknown): Outcome {
  return JSON.parse(run('call', bundle, callback, JSON.stringify(argument), '--json').stdout);
}

const agent = build('agent');
const strict = build('strict');
const invoice = JSON.parse(readFileSync('inputs/invoices.evaluators.fields/whole-output.json', 'utf8'));

test('the selectors disclose what they name and nothing else', () => {
  const { number, supplier, lineItems, currency, issueDate, total, summary, dueDate } = invoice;
  assert.deepEqual(call(strict, 'invoices.evaluators.content', invoice).value, {
    invoice: { number, supplier },
    lineItems,
  });
  assert.deepEqual(call(strict, 'invoices.evaluators.terms', invoice).value, { currency, issueDate, total });
  assert.deepEqual(call(strict, 'invoices.evaluators.summary', { actual: invoice }).value, {
    summary,
    facts: { supplier: supplier.name, total, currency, dueDate },
  });
});

test('a total that its lines do not reach is inconsistent', () => {
  const score = (total: number) =>
    call(strict, 'invoices.evaluators.consistent', { actual: { ...invoice, total } }).value;
  assert.equal(score(712.57), 1);
  assert.equal(score(712.58), 0);
});

test('a day off costs a tenth, and a missing expectation is an error', () => {
  const punctual = (expected?: object) => call(strict, 'invoices.evaluators.punctual', { actual: invoice, expected });
  assert.equal(punctual({ dueDate: '2026-04-11' }).value, 1);
  assert.equal(punctual({ dueDate: '2026-04-12' }).value, 0.9);
  assert.equal(punctual({ dueDate: '2026-06-01' }).value, 0);
  assert.equal(punctual().error?.code, 'R_THREW');
});

test('the pass rule forgives one day where the summary is good', () => {
  const passes = (scores: object) =>
    call(strict, 'invoices.pass', { content: 1, terms: 1, consistent: 1, punctual: 1, summary: 0, ...scores }).value;
  assert.equal(passes({}), true);
  assert.equal(passes({ punctual: 0.9, summary: 0.8 }), true);
  assert.equal(passes({ punctual: 0.9, summary: 0.7 }), false);
  assert.equal(passes({ content: 0.5, summary: 1 }), false);
});

test('a refused input ends the program with 1 and names the place', () => {
  const argument = JSON.stringify({ country: 'DE', currency: 'EUR', lineItems: [] });
  const { status, stdout } = run('call', agent, 'computeTotals', argument, '--json');
  const { error }: Outcome = JSON.parse(stdout);
  assert.equal(status, 1);
  assert.equal(error?.code, 'R_INPUT_SCHEMA');
  assert.equal(error?.path, '$.lineItems');
});

test('the same call costs the same fuel', () => {
  const fuel = () => call(agent, 'computeDueDate', { issueDate: '2026-03-12' }).usage?.fuel;
  const first = fuel();
  assert.equal(typeof first, 'number');
  assert.equal(fuel(), first);
});
