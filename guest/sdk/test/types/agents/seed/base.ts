// The invoice agent that the seed's `agent.ts` starts from.

import { createAgent } from '@eigenpal/automations';
import { z } from 'zod';
import { calculateTotal } from './tools.ts';

export default createAgent({
  name: 'invoice-reviewer',
  instructions: 'Read the invoice and report its total.',
  tools: { calculateTotal },
  outputSchema: z.object({ total: z.number(), summary: z.string() }),
});
