import { createTool } from '@eigenpal/automations';
import { z } from 'zod';
import { totalWithTax } from './math.ts';

export const calculateTotal = createTool({
  description: 'Calculate the total including tax.',
  inputSchema: z.object({ subtotal: z.number().nonnegative() }),
  outputSchema: z.strictObject({ total: z.number() }),
  execute: ({ subtotal }) => ({ total: totalWithTax(subtotal) }),
});
