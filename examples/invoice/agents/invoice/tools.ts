// What the model must not do in its head. A tool is a calculation over its input: no clock, no network, no file.

import { createTool } from '@eigenpal/automations';
import { z } from 'zod';
import { paymentOrder } from '../../resources/payment-order.ts';
import { vatRates } from '../../resources/vat-rates.ts';
import { addDays, endOfMonth } from './dates.ts';
import { compact, ibanProblem, taxIdCountry } from './identifiers.ts';
import { toMinor, totals } from './money.ts';
import { amounts, country, currency } from './schema.ts';

export const computeTotals = createTool({
  description: 'Compute net, tax per rate and total of line items, and name the rates that the country does not have.',
  inputSchema: z.object({ country, currency, lineItems: z.array(amounts).min(1).max(500) }),
  outputSchema: z.strictObject({
    net: z.number(),
    taxes: z.array(z.strictObject({ rate: z.number(), net: z.number(), tax: z.number() })),
    total: z.number(),
    unknownRates: z.array(z.number()),
  }),
  execute: ({ country, currency, lineItems }) => {
    const known: readonly number[] = [...vatRates[country], 0];
    const sums = totals(lineItems, currency);
    return { ...sums, unknownRates: sums.taxes.map(({ rate }) => rate).filter((rate) => !known.includes(rate)) };
  },
});

export const computeDueDate = createTool({
  description: 'Compute the due date from the issue date and the payment terms.',
  inputSchema: z.object({
    issueDate: z.iso.date(),
    days: z.int().min(0).max(365).default(30),
    endOfMonth: z.boolean().default(false).describe('True for terms such as "30 days end of month".'),
  }),
  outputSchema: z.strictObject({ dueDate: z.iso.date() }),
  execute: (terms) => {
    const date = addDays(terms.issueDate, terms.days);
    return { dueDate: terms.endOfMonth ? endOfMonth(date) : date };
  },
});

export const checkTaxId = createTool({
  description: 'Check the form of a VAT identification number and find its country.',
  inputSchema: z.object({ taxId: z.string().max(40) }),
  outputSchema: z.strictObject({ taxId: z.string(), country: country.nullable() }),
  execute: (input) => {
    const taxId = compact(input.taxId);
    return { taxId, country: taxIdCountry(taxId) ?? null };
  },
});

// What the model shall act on is a result. What a tool throws stays private: the model sees only that it failed.
export const checkIban = createTool({
  description: 'Check the form, length and checksum of an IBAN.',
  inputSchema: z.object({ iban: z.string().max(60) }),
  outputSchema: z.strictObject({
    iban: z.string(),
    valid: z.boolean(),
    problem: z.enum(['format', 'length', 'checksum']).optional(),
  }),
  execute: (input) => {
    const iban = compact(input.iban);
    const problem = ibanProblem(iban);
    return { iban, valid: problem === undefined, problem };
  },
});

export const preparePayment = createTool({
  description: 'Prepare the payment order of a euro invoice, for a person to approve.',
  inputSchema: z.object({
    supplier: z.string().min(1).max(200),
    iban: z.iban(),
    amount: z.number().positive().max(999_999_999.99),
    dueDate: z.iso.date(),
    invoiceNumber: z.string().min(1).max(64),
  }),
  outputSchema: paymentOrder,
  execute: ({ supplier, iban, amount, dueDate, invoiceNumber }) => ({
    creditor: { name: plain(supplier).slice(0, 70), iban },
    amount: (toMinor(amount, 'EUR') / 100).toFixed(2),
    currency: 'EUR',
    executionDate: dueDate,
    remittance: `Invoice ${invoiceNumber}`,
  }),
});

/** The letters that payment systems share; `+` for `&` is their own convention. */
function plain(text: string): string {
  const letters = text.normalize('NFD').replace(/\p{Mark}/gu, '');
  return letters.replaceAll('ß', 'ss').replaceAll('&', '+');
}
