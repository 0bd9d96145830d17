import { createAgent } from '@eigenpal/automations';
import { z } from 'zod';
import { country, invoice } from './schema.ts';
import * as tools from './tools.ts';

export default createAgent({
  name: 'invoices',
  instructions: `
Read the supplier invoice in \`text\` and return its facts for approval.

- If \`text\` is the name of a scan, get the text first, with the skill read-scans.
- Copy numbers, names and dates as the invoice prints them. Guess nothing.
- Check sums with computeTotals. If the printed total differs, return the printed one and say so in the summary.
- If computeTotals reports unknown rates, name them in the summary beside those that resources/vat-rates.ts lists.
- If no due date is printed, use computeDueDate with the printed terms, or without terms if there are none.
- Check the tax id and the IBAN, and name what is wrong with them in the summary.
- Prepare a payment only if every check succeeded.
`,
  inputSchema: z.object({
    text: z.string().min(1).max(100_000).describe('The invoice, or the name of its scan in the working directory.'),
    country: country.describe('The country whose VAT applies.'),
  }),
  outputSchema: invoice,
  tools: { ...tools },
  skills: ['agents/invoice/skills/read-scans'],
  resources: ['resources/vat-rates.ts'],
  limits: { maxTurns: 12, maxTokens: 40_000, timeoutMs: 120_000 },
});
