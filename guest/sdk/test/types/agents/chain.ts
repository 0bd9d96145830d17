// The chain: names, pass rules, closed registration, filesystem mode.

import { exactDiff, weightedScore } from '@eigenpal/automations';
import { invoice, is, type Same } from './invoice.ts';

const scored = invoice.defineEvaluator('fields', () => 1).defineEvaluator('meaning', () => 1);

// EV-20, EV-21: literal, unique names.
// @ts-expect-error 2345 the name is taken
scored.defineEvaluator('fields', () => 1);
// @ts-expect-error 2345 the name is taken, also after a filesystem call
scored.withFilesystem().defineEvaluator('meaning', () => 1);
// @ts-expect-error 2345 not a literal
scored.defineEvaluator(String('x'), () => 1);
// @ts-expect-error 2345 not a literal
scored.defineEvaluator(`x${scored}`, () => 1);
// @ts-expect-error 2345 not a literal
for (const name of ['a', 'b']) scored.defineEvaluator(name, () => 1);
// @ts-expect-error 2345 not one literal
for (const name of ['a', 'b'] as const) scored.defineEvaluator(name, () => 1);
// @ts-expect-error 2345 not a literal
((name: `x-${string}`) => scored.defineEvaluator(name, () => 1));
// @ts-expect-error 2345 not a text
scored.defineEvaluator(1, () => 1);
// @ts-expect-error 2554 the evaluator is missing
scored.defineEvaluator('x');
// The receiver stays as it was, so a second chain may use the name.
export const other = invoice.defineEvaluator('fields', () => 0).defineEvalPass(({ fields }) => fields === 1);

// EV-22: score names.
const weights = { fields: 2, meaning: 1 };
export const reviewed = scored.defineEvalPass(weightedScore({ weights, threshold: 0.9 }));
export const partly = scored.defineEvalPass(weightedScore({ weights: { fields: 1 }, threshold: 0 }));
// @ts-expect-error 2345 no such score
scored.defineEvalPass(weightedScore({ weights: { feilds: 1 }, threshold: 0.5 }));
// @ts-expect-error 2345 no such score beside one that exists
scored.defineEvalPass(weightedScore({ weights: { fields: 1, extra: 1 }, threshold: 0.5 }));
// @ts-expect-error 2345 a score of a later evaluator
invoice.defineEvaluator('a', () => 1).defineEvalPass(weightedScore({ weights: { b: 1 }, threshold: 0.5 }));
// @ts-expect-error 2345 names that are not literal
scored.defineEvalPass(weightedScore({ weights: { [String('fields')]: 1 }, threshold: 0.5 }));
// @ts-expect-error 2322 a weight is a number
weightedScore({ weights: { fields: '1' }, threshold: 0.5 });
// @ts-expect-error 2741 the threshold is missing
weightedScore({ weights });
// @ts-expect-error 2561 a misspelt option
weightedScore({ weights, threshold: 0.5, treshold: 0.5 });
// @ts-expect-error 2353 not an option
weightedScore({ weights, threshold: 0.5, timeout: 1 });
scored.defineEvalPass((scores) => {
  is<Same<typeof scores, { readonly fields: number; readonly meaning: number }>>(true);
  // @ts-expect-error 2540 readonly
  scores.fields = 1;
  return true;
});
// @ts-expect-error 2339 no such score
scored.defineEvalPass(({ feilds }) => feilds === 1);
// @ts-expect-error 2551 no such score
scored.defineEvalPass((scores) => scores.feilds === 1);
// @ts-expect-error 2345 a predicate returns a boolean
scored.defineEvalPass(({ fields }) => fields);
// @ts-expect-error 2345 async
scored.defineEvalPass(async () => true);
// @ts-expect-error 2345 a generator
scored.defineEvalPass(function* () { return true; });
// @ts-expect-error 2345 nothing to decide on
invoice.defineEvalPass(() => true);

// EV-24 to EV-26: after the pass rule.
export const filesystemReviewer = reviewed.withFilesystem({ cwd: null });
export const mounted = other.withFilesystem({ cwd: 'work' });
export const early = invoice.withFilesystem().defineEvaluator('one', () => 1).defineEvalPass(({ one }) => one > 0);
// @ts-expect-error 2339 registration is closed
reviewed.defineEvaluator('late', () => 1);
// @ts-expect-error 2339 there is one pass rule
reviewed.defineEvalPass(() => true);
// @ts-expect-error 2339 registration stays closed in filesystem mode
filesystemReviewer.defineEvaluator('late', () => 1);
// @ts-expect-error 2339 there is one pass rule in filesystem mode
filesystemReviewer.defineEvalPass(() => true);
// @ts-expect-error 2339 filesystem mode is chosen already
filesystemReviewer.withFilesystem();
// @ts-expect-error 2339 filesystem mode is chosen already
early.withFilesystem();
// @ts-expect-error 2561 a misspelt option
invoice.withFilesystem({ cwdd: null });
// @ts-expect-error 2322 a folder is a text
invoice.withFilesystem({ cwd: 5 });

// EV-116, EV-117: not part of the SDK.
// @ts-expect-error 2339 no asTool
invoice.asTool();
// @ts-expect-error 2339 no asTool
reviewed.asTool();
// @ts-expect-error 2339 no asTool
filesystemReviewer.asTool();
// @ts-expect-error 2339 no follow-ups
reviewed.chat('and the date?');
// @ts-expect-error 2339 definitions are not run
reviewed.run({});

// What one agent's evaluator needs, another agent with more fields has too.
export const nonnegative = ({ actual }: { actual: { readonly total: number } }) => Number(actual.total >= 0);
invoice.defineEvaluator('shared', nonnegative);
// So does what a ready-made evaluator of no particular agent needs.
export const same = exactDiff({ select: (output) => output });
export const totals = exactDiff<{ total: number }, unknown>({ select: (output) => output.total });
invoice.defineEvaluator('same', same).defineEvaluator('totals', totals);
// @ts-expect-error 2345 another agent's output
invoice.defineEvaluator('other', exactDiff<{ amount: number }, unknown>({ select: (output) => output.amount }));
