// The same agent, judged harder: before a release, where agent.ts is for every day.

import { exactDiff, llmJudge } from '@eigenpal/automations';
import reviewer from './base.ts';
import { daysBetween } from './dates.ts';
import { totals } from './money.ts';

const scored = reviewer
  .defineEvaluator(
    'content',
    exactDiff({
      // The keys are the labels in the report.
      select: ({ number, supplier, lineItems }) => ({ invoice: { number, supplier }, lineItems }),
      options: {
        rules: {
          $: { allowExtraFields: false },
          'invoice.supplier.address.city': { ignore: true },
          lineItems: { order: 'unordered', items: 'exactly', matchBy: 'sku' },
          'lineItems[].description': { ignore: true },
          'lineItems[].unitPrice': { numericTolerance: 0.005 },
        },
      },
    }),
  )
  .defineEvaluator(
    'terms',
    exactDiff({
      select: ({ currency, issueDate, total }) => ({ currency, issueDate, total }),
      // Without rules, settings hold for the whole projection.
      options: { numericTolerance: 0, allowExtraFields: false },
    }),
  )
  // Needs no expected answer: the output contradicts itself, or it does not.
  .defineEvaluator('consistent', ({ actual }) =>
    Number(totals(actual.lineItems, actual.currency).total === actual.total),
  )
  // A day off costs a tenth.
  .defineEvaluator('punctual', ({ actual, expected }) => {
    // Not a 0: an error blocks the pass and blames the dataset, not the agent.
    if (expected?.dueDate === undefined) throw new Error('The example has no due date.');
    return Math.max(0, 1 - Math.abs(daysBetween(expected.dueDate, actual.dueDate)) / 10);
  })
  .defineEvaluator(
    'summary',
    llmJudge({
      prompt: 'Score 1 when an approver could decide from the summary alone, and 0 when it misleads. Ignore the style.',
      select: ({ actual: { summary, supplier, total, currency, dueDate } }) => ({
        summary,
        facts: { supplier: supplier.name, total, currency, dueDate },
      }),
      model: 'careful-judge',
    }),
  );

const strict = scored.defineEvalPass(
  ({ content, terms, consistent, punctual, summary }) =>
    content === 1 && terms === 1 && consistent === 1 && (punctual === 1 || (punctual >= 0.9 && summary >= 0.8)),
);

export default strict;

// In this folder the agent finds the skill's script beside the scans it is given.
export const scanReader = strict.withFilesystem({ cwd: 'agents/invoice/skills/read-scans' });
