// Evaluators: what their callbacks see, what they may return, and the options of `exactDiff` and `llmJudge`.

import { createAgent, exactDiff, llmJudge } from '@eigenpal/automations';
import { z } from 'zod';
import { Id, invoice, is, type Same } from './invoice.ts';

const prompt = 'Score whether the summary preserves the facts.';

// EV-31 to EV-35: `actual` follows the schema, `expected` is optional and deeply partial, both are readonly at any depth.
invoice.defineEvaluator('types', ({ actual, expected }) => {
  is<Same<typeof actual.total, number>>(true);
  is<Same<typeof actual.currency, 'EUR' | 'USD'>>(true);
  is<Same<typeof actual.paid, boolean | null>>(true);
  is<Same<typeof actual.id, z.output<typeof Id>>>(true);
  is<Same<typeof actual.pair, readonly [string, number]>>(true);
  is<Same<typeof actual.raw, unknown>>(true);
  is<Same<(typeof actual.extra)[string], number>>(true);
  is<Same<(typeof actual.lineItems)[0]['tags'], readonly { readonly name: string }[]>>(true);
  is<Same<undefined extends typeof expected ? true : false, true>>(true);
  is<Same<(typeof actual.tree.children)[0]['children'][0]['value'], number>>(true);
  const given = expected!;
  is<Same<typeof given.total, number | undefined>>(true);
  is<Same<typeof given.paid, boolean | null | undefined>>(true);
  is<Same<NonNullable<typeof given.supplier>['taxId'], string | undefined>>(true);
  is<Same<NonNullable<NonNullable<typeof given.lineItems>[0]['tags']>, readonly { readonly name?: string | undefined }[]>>(true);
  is<Same<NonNullable<NonNullable<typeof given.tree>['children']>[0]['value'], number | undefined>>(true);
  return Number(expected?.supplier?.address?.geo?.fix?.at === actual.supplier.address.geo.fix.at);
});

// @ts-expect-error 2551 no such output field
invoice.defineEvaluator('x', ({ actual }) => actual.totl);
// @ts-expect-error 2339 no such nested field
invoice.defineEvaluator('x', ({ actual }) => actual.supplier.address.town.length);
// @ts-expect-error 2551 no such field of an item
invoice.defineEvaluator('x', ({ actual }) => actual.lineItems[0]!.prise);
// @ts-expect-error 2551 no such expected field
invoice.defineEvaluator('x', ({ expected }) => expected?.totl ?? 0);
// @ts-expect-error 2339 no such nested expected field
invoice.defineEvaluator('x', ({ expected }) => expected?.supplier?.address?.town ?? 0);
// @ts-expect-error 2339 callbacks receive nothing else
invoice.defineEvaluator('x', ({ input }) => 1);
// @ts-expect-error 2345 callbacks receive one argument
invoice.defineEvaluator('x', (data: unknown, context: unknown) => 1);
// @ts-expect-error 18048 expected is optional
invoice.defineEvaluator('x', ({ expected }) => expected.total ?? 0);
// @ts-expect-error 2345 expected is partial
invoice.defineEvaluator('x', ({ expected }) => expected!.total);
// @ts-expect-error 18048 expected is partial at depth
invoice.defineEvaluator('x', ({ expected }) => expected?.supplier?.address.city?.length ?? 0);
// @ts-expect-error 18048 items of expected arrays are partial
invoice.defineEvaluator('x', ({ expected }) => expected?.lineItems?.map(({ sku }) => sku.length).length ?? 0);

invoice.defineEvaluator('readonly', ({ actual, expected }) => {
  // @ts-expect-error 2540 readonly
  actual.total = 1;
  // @ts-expect-error 2540 readonly at depth
  actual.supplier.address.geo.lat = 1;
  // @ts-expect-error 2542 readonly array
  actual.lineItems[0] = actual.lineItems[1]!;
  // @ts-expect-error 2339 readonly array
  actual.lineItems.sort();
  // @ts-expect-error 2540 readonly item
  actual.lineItems[0]!.price = 1;
  // @ts-expect-error 2339 readonly array in an item
  actual.lineItems[0]!.tags.push({ name: 'x' });
  // @ts-expect-error 2542 readonly record
  actual.extra.x = 1;
  // @ts-expect-error 2540 readonly
  expected!.total = 1;
  // @ts-expect-error 2540 readonly at depth
  expected!.supplier!.address!.city = 'x';
  // @ts-expect-error 2540 readonly item
  expected!.lineItems![0]!.price = 1;
  // @ts-expect-error 2339 readonly array
  expected!.lineItems!.push({});
  return 1;
});

// Scores are numbers, at once.
// @ts-expect-error 2345 a boolean is no score
invoice.defineEvaluator('x', ({ actual }) => actual.total > 0);
// @ts-expect-error 2345 async
invoice.defineEvaluator('x', async () => 1);
// @ts-expect-error 2345 a promise
invoice.defineEvaluator('x', () => Promise.resolve(1));
// @ts-expect-error 2345 a generator
invoice.defineEvaluator('x', function* () { return 1; });
// @ts-expect-error 2345 an async generator
invoice.defineEvaluator('x', async function* () { return 1; });
// @ts-expect-error 2345 nothing is returned
invoice.defineEvaluator('x', () => {});
// @ts-expect-error 2353 not an evaluator
invoice.defineEvaluator('x', { prompt });

// EV-36, EV-37: raw and absent output schemas.
for (const unknownOutput of [
  createAgent({ name: 'a', instructions: 'b' }),
  createAgent({ name: 'a', instructions: 'b', outputSchema: { type: 'object', properties: { x: { type: 'number' } } } }),
]) {
  unknownOutput.defineEvaluator('x', ({ actual, expected }) => {
    is<Same<typeof actual, unknown>>(true);
    is<Same<typeof expected, unknown>>(true);
    // @ts-expect-error 18046 unknown
    actual.x;
    // @ts-expect-error 2339 unknown
    expected?.x;
    return 1;
  });
  unknownOutput.defineEvaluator('x', exactDiff({ select: (output) => output, options: { rules: { anything: {} } } }));
  // @ts-expect-error 18046 unknown
  unknownOutput.defineEvaluator('x', exactDiff({ select: (output) => output.x }));
  // @ts-expect-error 18046 unknown
  unknownOutput.defineEvaluator('x', llmJudge({ prompt, select: ({ actual }) => actual.x }));
}

// exactDiff: one selector for both sides.
invoice.defineEvaluator('x', exactDiff({ select: ({ total, supplier }) => ({ total, city: supplier?.address?.city }) }));
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.paid }));
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.lineItems?.map(({ sku }) => sku) }));
// @ts-expect-error 2551 no such output field
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.totl }));
// @ts-expect-error 2339 no such nested field
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.supplier?.address?.town }));
// @ts-expect-error 18048 nested values may be missing
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.supplier.taxId }));
// @ts-expect-error 2540 readonly
invoice.defineEvaluator('x', exactDiff({ select: (output) => (output.total = 1) }));
// @ts-expect-error 2322 async
invoice.defineEvaluator('x', exactDiff({ select: async (output) => output.total }));
// @ts-expect-error 2322 a promise, sometimes
invoice.defineEvaluator('x', exactDiff({ select: (output) => (output.paid ? Promise.resolve(1) : 1) }));
// @ts-expect-error 2322 a generator
invoice.defineEvaluator('x', exactDiff({ *select(output) { yield output.total; } }));
// @ts-expect-error 2322 an async generator
invoice.defineEvaluator('x', exactDiff({ async *select(output) { yield output.total; } }));
// @ts-expect-error 2741 the selector is missing
invoice.defineEvaluator('x', exactDiff({ options: {} }));
// @ts-expect-error 2561 a misspelt option
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.total, option: {} }));
// @ts-expect-error 2353 limits are the platform's
invoice.defineEvaluator('x', exactDiff({ select: (output) => output.total, timeout: 1 }));

// llmJudge: what is disclosed.
invoice.defineEvaluator('x', llmJudge({ prompt, model: 'm', select: ({ actual, expected }) => [actual.summary, expected?.summary] }));
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ actual }) => actual.summary }));
// @ts-expect-error 2551 no such output field
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ actual }) => actual.sumary }));
// @ts-expect-error 2551 no such expected field
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ expected }) => expected?.sumary }));
// @ts-expect-error 18048 expected is optional
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ expected }) => expected.summary }));
// @ts-expect-error 2540 readonly
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ actual }) => (actual.total = 1) }));
// @ts-expect-error 2322 async
invoice.defineEvaluator('x', llmJudge({ prompt, select: async ({ actual }) => actual.summary }));
// @ts-expect-error 2322 a generator
invoice.defineEvaluator('x', llmJudge({ prompt, *select({ actual }) { yield actual.summary; } }));
// @ts-expect-error 2741 the prompt is missing
invoice.defineEvaluator('x', llmJudge({ select: ({ actual }) => actual.summary }));
// @ts-expect-error 2353 not an option
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ actual }) => actual.summary, temperature: 1 }));
// @ts-expect-error 2353 limits are the platform's
invoice.defineEvaluator('x', llmJudge({ prompt, select: ({ actual }) => actual.summary, timeout: 1 }));
