import { z } from 'zod';
import { countries } from '../../resources/vat-rates.ts';
import { currencies } from './money.ts';

export const country = z.enum(countries);
export const currency = z.enum(currencies);

export const amounts = z.strictObject({
  quantity: z.number(),
  unitPrice: z.number().describe('Net price of one unit, as printed.'),
  taxRate: z.number().min(0).max(100).describe('VAT in percent.'),
});

export const lineItem = amounts.extend({
  sku: z.string().min(1).max(64),
  description: z.string().max(500),
});

export const invoice = z.strictObject({
  number: z.string().min(1).max(64),
  supplier: z.strictObject({
    name: z.string().min(1).max(200),
    taxId: z.string().nullable().describe('Without spaces; null when the invoice prints none.'),
    address: z.strictObject({ city: z.string(), country }),
  }),
  issueDate: z.iso.date(),
  dueDate: z.iso.date(),
  currency,
  lineItems: z.array(lineItem).min(1).max(500),
  total: z.number().describe('What is to be paid, tax included. Negative on a credit note.'),
  summary: z.string().min(1).max(600).describe('For the approver: who wants what, for how much, by when.'),
});
