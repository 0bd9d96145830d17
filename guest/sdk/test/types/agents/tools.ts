// Tools: callback types from the schemas, and what `createTool` and `createAgent` refuse.

import { createAgent, createTool } from '@eigenpal/automations';
import { z } from 'zod';
import { is, type Same } from './invoice.ts';

const description = 'd';
const inputSchema = z.object({ subtotal: z.number(), note: z.string().optional(), lines: z.array(z.object({ sku: z.string() })) });
const outputSchema = z.strictObject({ total: z.number() });
const empty = z.object({});
const raw = { type: 'object' };

// CB-36: parameters infer from the schema.
export const tool = createTool({
  description,
  inputSchema,
  outputSchema,
  execute: ({ subtotal, note, lines }) => {
    is<Same<typeof subtotal, number>>(true);
    is<Same<typeof note, string | undefined>>(true);
    is<Same<typeof lines, { sku: string }[]>>(true);
    return { total: subtotal };
  },
});
// A default is filled in before the callback runs.
const withDefault = z.object({ rate: z.number().default(0.2) });
createTool({ description, inputSchema: withDefault, outputSchema, execute: ({ rate }) => ({ total: rate }) });
// @ts-expect-error 2339 no such input field
createTool({ description, inputSchema, outputSchema, execute: ({ subtotl }) => ({ total: 1 }) });
// @ts-expect-error 2339 no such field of an item
createTool({ description, inputSchema, outputSchema, execute: ({ lines }) => ({ total: lines[0]!.skew.length }) });
// @ts-expect-error 18048 an optional field may be missing
createTool({ description, inputSchema, outputSchema, execute: ({ note }) => ({ total: note.length }) });

// The result follows the output schema.
// @ts-expect-error 2322 a text is no number
createTool({ description, inputSchema, outputSchema, execute: ({ subtotal }) => ({ total: `${subtotal}` }) });
// @ts-expect-error 2322 a misspelt member (and the right one is missing)
createTool({ description, inputSchema, outputSchema, execute: ({ subtotal }) => ({ totl: subtotal }) });
// @ts-expect-error 2322 a member is missing
createTool({ description, inputSchema, outputSchema, execute: () => ({}) });
// @ts-expect-error 2322 tools return objects
createTool({ description, inputSchema, outputSchema, execute: () => 1 });
// @ts-expect-error 2322 nothing is returned
createTool({ description, inputSchema, outputSchema, execute: () => {} });
// @ts-expect-error 2322 a second parameter would never be given
createTool({ description, inputSchema, outputSchema, execute: (input: unknown, context: unknown) => ({ total: 1 }) });

// CB-53: synchronous only.
// @ts-expect-error 2322 async
createTool({ description, inputSchema, outputSchema, execute: async () => ({ total: 1 }) });
// @ts-expect-error 2322 async, where the schema alone would take any object
createTool({ description, inputSchema, outputSchema: empty, execute: async () => ({}) });
// @ts-expect-error 2322 async, with a raw schema
createTool({ description, inputSchema, outputSchema: raw, execute: async () => ({}) });
// @ts-expect-error 2322 a promise
createTool({ description, inputSchema, outputSchema: z.looseObject({}), execute: () => Promise.resolve({}) });
// @ts-expect-error 2322 a generator
createTool({ description, inputSchema, outputSchema, *execute() { return { total: 1 }; } });
// @ts-expect-error 2322 a generator, where the schema alone would take any object
createTool({ description, inputSchema, outputSchema: empty, *execute() {} });
// @ts-expect-error 2322 an async generator
createTool({ description, inputSchema, outputSchema, async *execute() { return { total: 1 }; } });

// Raw JSON Schemas infer `unknown`.
createTool({
  description,
  inputSchema: raw,
  outputSchema: raw,
  execute: (input) => {
    is<Same<typeof input, unknown>>(true);
    // @ts-expect-error 18046 unknown
    input.x;
    return { seen: input !== null };
  },
});

// Options.
// @ts-expect-error 2561 a misspelt option
createTool({ description, inputSchema, outputSchema, outputShema: empty, execute: () => ({ total: 1 }) });
// @ts-expect-error 2353 limits are the platform's
createTool({ description, inputSchema, outputSchema, timeout: 5, execute: () => ({ total: 1 }) });
// @ts-expect-error 2353 there is no second execute mode
createTool({ description, inputSchema, outputSchema, language: 'python', execute: () => ({ total: 1 }) });
// @ts-expect-error 2353 names come from the export
createTool({ name: 'x', description, inputSchema, outputSchema, execute: () => ({ total: 1 }) });
// @ts-expect-error 2741 the output schema is missing
createTool({ description, inputSchema, execute: () => ({}) });
// @ts-expect-error 2322 the only execute mode is a function
createTool({ description, inputSchema, outputSchema, execute: 'python' });
// @ts-expect-error 2339 a tool is not called from code
tool.execute({});

const name = 'a';
const instructions = 'b';
createAgent({ name, instructions, tools: { tool }, limits: { maxTurns: 3, maxTokens: 5, timeoutMs: 7 } });
createAgent({ name, instructions, skills: ['skills/x'], resources: ['prices.csv'] });
createAgent({ name, instructions, tools: [tool], model: 'm', inputSchema: empty, outputSchema: raw });
// @ts-expect-error 2561 a misspelt option
createAgent({ name, instructions, outputShema: empty });
// @ts-expect-error 2353 not an option
createAgent({ name, instructions, timeout: 5 });
// @ts-expect-error 2561 a misspelt limit
createAgent({ name, instructions, limits: { maxTurn: 3 } });
// @ts-expect-error 2741 instructions are missing
createAgent({ name });
// @ts-expect-error 2322 not a tool
createAgent({ name, instructions, tools: { x: {} } });
// @ts-expect-error 2322 not a schema
createAgent({ name, instructions, outputSchema: 'text' });
