// What the editor must accept and refuse: section 1.9 of the specification. Every `@ts-expect-error` is a promised error.

import { createAgent, createTool, exactDiff, llmJudge, weightedScore } from '@eigenpal/automations';
import { z } from 'zod';

export const calculateTotal = createTool({
  description: 'Calculate the total including tax.',
  inputSchema: z.object({ subtotal: z.number().nonnegative() }),
  outputSchema: z.strictObject({ total: z.number() }),
  execute: ({ subtotal }) => ({ total: subtotal * 1.2 }),
});

createTool({
  description: 'd',
  inputSchema: z.object({ subtotal: z.number() }),
  outputSchema: z.object({ total: z.number() }),
  // @ts-expect-error the result does not follow the output schema
  execute: ({ subtotal }) => ({ total: `${subtotal}` }),
});

createTool({
  description: 'd',
  inputSchema: z.object({ subtotal: z.number() }),
  outputSchema: z.object({}),
  // @ts-expect-error the input has no such field
  execute: ({ subtotl }) => ({}),
});

createTool({
  description: 'd',
  inputSchema: z.object({}),
  outputSchema: z.object({}),
  // @ts-expect-error callbacks are synchronous
  execute: async () => ({}),
});

createTool({
  description: 'd',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object' },
  execute: (input) => {
    const seen: unknown = input;
    // @ts-expect-error raw schemas infer unknown
    input.x;
    return { seen: seen !== null };
  },
});

const reviewer = createAgent({
  name: 'invoices',
  instructions: 'Review.',
  tools: { calculateTotal },
  outputSchema: z.object({
    total: z.number(),
    summary: z.string(),
    supplier: z.object({ taxId: z.string() }),
    lineItems: z.array(z.object({ sku: z.string(), price: z.number() })),
  }),
});

const scored = reviewer
  .defineEvaluator(
    'fields',
    exactDiff({
      select: (output) => ({ total: output.total, items: output.lineItems }),
      options: { rules: { total: { numericTolerance: 0.01 }, 'items[].price': { numericTolerance: 1 }, items: { order: 'unordered', matchBy: 'sku' }, $: {} } },
    }),
  )
  .defineEvaluator(
    'meaning',
    llmJudge({
      prompt: 'Score whether the actual summary preserves the facts.',
      select: ({ actual, expected }) => ({ actual: actual.summary, expected: expected?.summary }),
    }),
  )
  .defineEvaluator('nonnegative', ({ actual, expected }) => Number(actual.total >= 0 && expected?.supplier?.taxId !== ''));

export const reviewed = scored.defineEvalPass(weightedScore({ weights: { fields: 2, meaning: 1, nonnegative: 1 }, threshold: 0.9 }));
export const filesystemReviewer = reviewed.withFilesystem({ cwd: null });
export const predicate = scored.defineEvalPass(({ fields, meaning, nonnegative }) => nonnegative === 1 && (fields === 1 || meaning >= 0.95));
export const early = reviewer.withFilesystem().defineEvaluator('one', () => 1).defineEvalPass(({ one }) => one > 0);

// @ts-expect-error the name is taken
scored.defineEvaluator('fields', () => 1);
// @ts-expect-error names are literal
scored.defineEvaluator(String('x'), () => 1);
// @ts-expect-error no such score
scored.defineEvalPass(weightedScore({ weights: { feilds: 1 }, threshold: 0.5 }));
// @ts-expect-error no such score
scored.defineEvalPass(({ feilds }) => feilds === 1);
// @ts-expect-error a predicate returns a boolean
scored.defineEvalPass(() => 1);
// @ts-expect-error nothing to decide on
reviewer.defineEvalPass(() => true);
// @ts-expect-error no such output field
reviewer.defineEvaluator('x', ({ actual }) => actual.totl);
// @ts-expect-error expected is optional
reviewer.defineEvaluator('x', ({ expected }) => expected.total ?? 0);
// @ts-expect-error expected is deeply partial
reviewer.defineEvaluator('x', ({ expected }) => expected?.supplier.taxId.length ?? 0);
// @ts-expect-error the output is readonly
reviewer.defineEvaluator('x', ({ actual }) => (actual.total = 1));
// @ts-expect-error no such output field in a selector
reviewer.defineEvaluator('x', exactDiff({ select: (output) => output.totl }));
// @ts-expect-error no such path
reviewer.defineEvaluator('x', exactDiff({ select: (output) => ({ total: output.total }), options: { rules: { totl: {} } } }));
// @ts-expect-error ignore stands alone
reviewer.defineEvaluator('x', exactDiff({ select: (output) => ({ total: output.total }), options: { rules: { total: { ignore: true, order: 'ordered' } } } }));
// @ts-expect-error matchBy requires unordered comparison
reviewer.defineEvaluator('x', exactDiff({ select: (output) => ({ items: output.lineItems }), options: { rules: { items: { matchBy: 'sku' } } } }));
// @ts-expect-error rules and globals do not mix
reviewer.defineEvaluator('x', exactDiff({ select: (output) => ({ total: output.total }), options: { rules: {}, numericTolerance: 1 } }));
// @ts-expect-error evaluators are synchronous
reviewer.defineEvaluator('x', async () => 1);
// @ts-expect-error the chain is finished
reviewed.defineEvaluator('x', () => 1);
// @ts-expect-error the chain is finished
reviewed.defineEvalPass(() => true);
// @ts-expect-error filesystem mode is chosen already
filesystemReviewer.withFilesystem();
// @ts-expect-error not part of the SDK
reviewed.asTool();
// @ts-expect-error not a tool
createAgent({ name: 'a', instructions: 'b', tools: { x: {} } });

createAgent({ name: 'a', instructions: 'b' }).defineEvaluator('x', ({ actual }) => {
  // @ts-expect-error without an output schema the output is unknown
  actual.x;
  return actual === 1 ? 1 : 0;
});
