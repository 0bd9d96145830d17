// Builds the guest's JavaScript: `node build.mjs FOLDER` writes sdk.js, automations.js, zod.js and Zod's licence there.
//
// The same sources and tool versions give the same bytes in any folder: no times, no absolute paths.

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const zodFolder = dirname(createRequire(import.meta.url).resolve('zod/package.json'));
const pinned = JSON.parse(await readFile(join(here, 'package.json'), 'utf8')).devDependencies.zod;

const common = {
  absWorkingDir: here,
  bundle: true,
  charset: 'utf8',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  platform: 'neutral',
  target: 'es2022',
};

// English is the only locale a callback can meet, and the others are half of Zod's heap.
const onlyEnglish = {
  name: 'only-english',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export { default as en } from './en.js';", loader: 'js', resolveDir: join(zodFolder, 'v4/locales') }));
  },
};

// A default given as a function looks like a constant from outside. The mark lets the SDK refuse it without calling it.
const markFunctionDefaults = {
  name: 'mark-function-defaults',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]v4[\\/](?:classic[\\/]schemas|core[\\/]api)\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const getter = /get defaultValue\(\) \{\s*return typeof defaultValue === "function"/g;
      const count = source.match(getter)?.length;
      const expected = path.endsWith('api.js') ? 1 : 2;
      if (count !== expected) throw new Error(`${path}: ${count} default getters where ${expected} are expected; look at this Zod version first`);
      return { contents: source.replace(getter, 'defaultIsFunction: typeof defaultValue === "function", $&'), loader: 'js' };
    });
  },
};

export async function buildAll(folder) {
  const installed = JSON.parse(await readFile(join(zodFolder, 'package.json'), 'utf8')).version;
  if (installed !== pinned) throw new Error(`zod ${installed} is installed, but ${pinned} is pinned`);
  await mkdir(folder, { recursive: true });
  await build({ ...common, entryPoints: ['src/index.ts'], minify: true, outfile: join(folder, 'sdk.js') });
  await writeFile(
    join(folder, 'automations.js'),
    "export { createTool, createAgent, exactDiff, llmJudge, weightedScore } from 'callcell:sdk';\n",
  );
  await build({
    ...common,
    // The guest has no `Function`, so Zod must not try to compile its parsers; set before Zod reads it.
    banner: { js: `/* zod ${installed}, MIT License, see licenses/zod.LICENSE */\n(globalThis.__zod_globalConfig ??= {}).jitless = true;` },
    stdin: { contents: "export * from 'zod';\nexport { default } from 'zod';\n", resolveDir: here, sourcefile: 'zod.js' },
    minifySyntax: true,
    minifyWhitespace: true,
    outfile: join(folder, 'zod.js'),
    plugins: [onlyEnglish, markFunctionDefaults],
  });
  await copyFile(join(zodFolder, 'LICENSE'), join(folder, 'zod.LICENSE'));
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  if (folder === undefined) {
    process.stderr.write('usage: node build.mjs FOLDER\n');
    process.exit(2);
  }
  await buildAll(resolve(folder));
}
