#!/usr/bin/env bash
# Evaluates 100,000 examples with three evaluators (one exactDiff, two callbacks) from SQLite, and prints time and peak memory.
#
#   cargo build --release && benches/rows.sh [ROWS]
set -euo pipefail
rows=${1:-100000}
callcell=$(cd "$(dirname "$0")/.." && pwd)/target/release/callcell
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > agent.ts <<'TS'
import { createAgent, exactDiff, weightedScore } from '@eigenpal/automations';
import { z } from 'zod';
const line = z.object({ sku: z.string(), quantity: z.number() });
export default createAgent({
  name: 'rows',
  instructions: 'Work.',
  outputSchema: z.object({ total: z.number(), name: z.string(), lines: z.array(line) }),
})
  .defineEvaluator('fields', exactDiff({ select: ({ total, lines }) => ({ total, lines }) }))
  .defineEvaluator('nonnegative', ({ actual }) => Number(actual.total >= 0))
  .defineEvaluator('name', ({ actual, expected }) => Number(actual.name === expected?.name))
  .defineEvalPass(weightedScore({ weights: { fields: 2, nonnegative: 1, name: 1 }, threshold: 0.9 }));
TS
awk -v rows="$rows" 'BEGIN { for (i = 0; i < rows; i++) {
  lines = sprintf("\"lines\":[{\"sku\":\"a%d\",\"quantity\":%d},{\"sku\":\"b\",\"quantity\":2}]", i, i % 7)
  printf "{\"name\":\"r%d\",\"input\":{},\"actual\":{\"total\":%d,\"name\":\"n%d\",%s},\"expected\":{\"total\":%d,\"name\":\"n%d\",%s}}\n", i, i % 10 ? i : -1, i, lines, i, i, lines
} }' > rows.jsonl
"$callcell" dataset import rows.jsonl
timed() { if [ -x /usr/bin/time ]; then /usr/bin/time -f '%e s, at most %M KiB in memory' "$@"; else time "$@"; fi; }
timed "$callcell" eval . --data rows --min-pass-rate 0.9
