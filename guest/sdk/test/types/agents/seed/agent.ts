import { exactDiff, llmJudge, weightedScore } from '@eigenpal/automations';
import reviewer from './base.ts';

const scored = reviewer
  .defineEvaluator(
    'fields',
    exactDiff({
      select: (output) => ({ total: output.total }),
      options: { rules: { total: { numericTolerance: 0.01 } } },
    })
  )
  .defineEvaluator(
    'meaning',
    llmJudge({
      prompt: 'Score whether the actual summary preserves the expected invoice facts.',
      select: ({ actual, expected }) => ({
        actual: actual.summary,
        expected: expected?.summary,
      }),
    })
  )
  .defineEvaluator('nonnegative', ({ actual }) => Number(actual.total >= 0));

export const reviewed = scored.defineEvalPass(
  weightedScore({
    weights: { fields: 2, meaning: 1, nonnegative: 1 },
    threshold: 0.9,
  })
);

export default reviewed;
export const filesystemReviewer = reviewed.withFilesystem({ cwd: null });
