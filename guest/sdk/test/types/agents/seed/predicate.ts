// The seed's second pass rule, on a chain with the same scores.

import reviewer from './base.ts';

const scored = reviewer
  .defineEvaluator('fields', () => 1)
  .defineEvaluator('meaning', () => 1)
  .defineEvaluator('nonnegative', ({ actual }) => Number(actual.total >= 0));

export default scored.defineEvalPass(
  ({ fields, meaning, nonnegative }) => nonnegative === 1 && (fields === 1 || meaning >= 0.95)
);
