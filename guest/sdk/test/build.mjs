// Builds the guest's JavaScript once per test process and hands out fresh instances of the SDK.

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildAll } from '../build.mjs';

export const folder = await mkdtemp(join(tmpdir(), 'callcell-sdk-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
await buildAll(folder);

const address = (file) => pathToFileURL(join(folder, file)).href;
export const { z } = await import(address('zod.js'));

let instances = 0;
/** The SDK as a project sees it: one instance per compile. */
export const freshSdk = () => import(`${address('sdk.js')}?instance=${++instances}`);

/** Manifests hold objects without prototypes; plain ones compare and print better. */
export const plain = (value) => JSON.parse(JSON.stringify(value));

/** `code path` of every problem. */
export const summary = (manifest) => manifest.problems.map(({ code, path }) => `${code} ${path}`);
