// The editor errors of `test/types`, a project under the seed's own tsconfig: `npm run check` compiles it as it stands.
//
// Here the same project is compiled without its directives, as a user has it: with the package installed in `node_modules`.
// Then every `// @ts-expect-error CODE …` must be exactly that error on the line below it, and nothing else may be one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const sdk = fileURLToPath(new URL('..', import.meta.url));
const project = join(sdk, 'test/types');
const compiler = join(sdk, 'node_modules/typescript/bin/tsc');
const tsc = (cwd, ...options) =>
  spawnSync(process.execPath, [compiler, '-p', '.', '--pretty', 'false', ...options], { cwd, encoding: 'utf8' });

test('the types project compiles, with every expected error in place', () => {
  const { status, stdout } = tsc(project);
  assert.equal(stdout, '');
  assert.equal(status, 0);
});

test('index.d.ts itself has no error', () => {
  const { stdout } = tsc(project, '--skipLibCheck', 'false');
  assert.match(stdout, /zod\/v4\/core/); // Zod's declarations name `URL`, so declaration files are checked.
  assert.doesNotMatch(stdout, /index\.d\.ts/);
});

/** A copy of a project as a user has it after `npm install`. */
async function installed(context, project) {
  const folder = await mkdtemp(join(tmpdir(), 'callcell-types-'));
  context.after(() => rm(folder, { recursive: true }));
  const sources = (path) => basename(path) !== 'node_modules';
  await cp(project, folder, { recursive: true, filter: sources });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await mkdir(join(folder, 'node_modules/@eigenpal'), { recursive: true });
  await symlink(sdk, join(folder, 'node_modules/@eigenpal/automations'));
  await symlink(join(sdk, 'node_modules/zod'), join(folder, 'node_modules/zod'));
  return folder;
}

// CB-105, EV-08
test('the examples type-check', async (context) => {
  for (const [name, ...files] of [['invoice'], ['tax', 'tools.ts']]) {
    const folder = await installed(context, join(sdk, '../../examples', name));
    const settings = JSON.parse(await readFile(join(folder, 'tsconfig.json'), 'utf8'));
    // The tax example is one folder; the seed's `include` names two.
    if (files.length > 0) await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...settings, include: files }));
    const { status, stdout } = tsc(folder);
    assert.deepEqual({ name, status, stdout }, { name, status: 0, stdout: '' });
  }
});

test('without its directives it has exactly the promised errors', async (context) => {
  const folder = await installed(context, project);

  const promised = [];
  for (const part of ['agents', 'resources']) {
    for (const file of await readdir(join(folder, part), { recursive: true })) {
      if (!file.endsWith('.ts')) continue;
      const lines = (await readFile(join(folder, part, file), 'utf8')).split('\n');
      for (const [index, line] of lines.entries()) {
        const code = /\/\/ @ts-expect-error (\d+) \S/.exec(line)?.[1];
        assert.equal(code === undefined, !line.includes('@ts-expect-error'), `${file}:${index + 1} names its error`);
        if (code !== undefined) promised.push(`${part}/${file}:${index + 2} TS${code}`);
      }
      await writeFile(join(folder, part, file), lines.join('\n').replaceAll('@ts-expect-error', 'expected'));
    }
  }
  const { status, stdout } = tsc(folder);
  const found = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+): /gm)].map(([, file, line, code]) => `${file}:${line} ${code}`);
  assert.deepEqual(found.sort(), promised.sort());
  assert.equal(found.length, 168);
  assert.equal(status, 1);
});
