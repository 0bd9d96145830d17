// The built files: complete, deterministic, and usable where `Function` does not exist.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as original from 'zod';
import { buildAll } from '../build.mjs';
import { folder, freshSdk } from './build.mjs';

test('the SDK exports exactly its functions', async () => {
  assert.deepEqual(Object.keys(await freshSdk()), ['createAgent', 'createTool', 'exactDiff', 'harvest', 'llmJudge', 'weightedScore']);
});

test('zod.js exports what zod exports, in English only', async () => {
  const built = await import(join(folder, 'zod.js'));
  assert.deepEqual(Object.keys(built), Object.keys(original));
  assert.equal(built.default, built.z);
  assert.deepEqual(Object.keys(built.locales), ['en']);
});

test('zod.js works without Function', () => {
  const script = `
    delete globalThis.Function;
    delete Object.getPrototypeOf(() => {}).constructor;
    const { z } = await import(${JSON.stringify(join(folder, 'zod.js'))});
    const { error } = z.object({ a: z.string() }).safeParse({ a: 1 });
    process.stdout.write(error.issues[0].message);`;
  const answer = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  assert.equal(answer, 'Invalid input: expected string, received number');
});

test('a second build gives the same bytes and names no folder', async (context) => {
  const other = await mkdtemp(join(tmpdir(), 'callcell-sdk-'));
  context.after(() => rm(other, { recursive: true }));
  await buildAll(other);
  for (const file of ['sdk.js', 'automations.js', 'zod.js']) {
    const text = await readFile(join(folder, file), 'utf8');
    assert.equal(text, await readFile(join(other, file), 'utf8'), file);
    assert.doesNotMatch(text, /node_modules|file:\/\//, file);
    assert.ok(!text.includes(process.cwd()), file);
  }
});
