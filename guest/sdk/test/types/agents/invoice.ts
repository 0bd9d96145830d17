// The agent the other files work with, and a check that two types are the same.

import { createAgent } from '@eigenpal/automations';
import { z } from 'zod';
import { currencies } from '../resources/currencies.ts';

export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when its argument is `true`: `is<Same<…>>(true)`. */
export const is = <Truth extends boolean>(truth: Truth): Truth => truth;

const Tree = z.object({ value: z.number(), get children() { return z.array(Tree); } });
export const Id = z.string().brand('Id');

export const invoice = createAgent({
  name: 'invoices',
  instructions: 'Review.',
  outputSchema: z.object({
    id: Id,
    total: z.number(),
    summary: z.string(),
    currency: z.enum(currencies),
    paid: z.boolean().nullable(),
    supplier: z.object({
      taxId: z.string(),
      address: z.object({ city: z.string(), geo: z.object({ lat: z.number(), fix: z.object({ at: z.string() }) }) }),
    }),
    lineItems: z.array(z.object({ sku: z.string(), price: z.number(), tags: z.array(z.object({ name: z.string() })) })),
    pair: z.tuple([z.string(), z.number()]),
    extra: z.record(z.string(), z.number()),
    raw: z.unknown(),
    json: z.json(),
    tree: Tree,
    'tax.rate': z.number(),
  }),
});
