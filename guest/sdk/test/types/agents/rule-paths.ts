// The options of `exactDiff`: paths from the selected shape, and the fields of a rule (EV-59 to EV-71).

import { exactDiff, type RulePath } from '@eigenpal/automations';
import { invoice, is, type Same } from './invoice.ts';

// Four levels of names; arrays are no level.
const deep = { a: { b: { c: { d: { e: 1 } } } }, items: [{ x: { y: { z: { q: 1 } } }, tags: ['t'] }], matrix: [[1]] };
type Deep =
  | '$' | 'a' | 'a.b' | 'a.b.c' | 'a.b.c.d'
  | 'items' | 'items[]' | 'items[].x' | 'items[].x.y' | 'items[].x.y.z' | 'items[].tags' | 'items[].tags[]'
  | 'matrix' | 'matrix[]' | 'matrix[][]';
is<Same<RulePath<typeof deep>, Deep>>(true);
is<Same<RulePath<{ sku: string }[]>, '$' | '$[]' | '$[].sku'>>(true);
is<Same<RulePath<{ a?: { b: 1 } | { c: 1 } | null } | undefined>, '$' | 'a' | 'a.b' | 'a.c'>>(true);
is<Same<RulePath<number | undefined>, '$'>>(true);
is<Same<RulePath<{ 'a.b': { c: 1 }; 7: [1, 2] }>, '$' | '["a.b"]' | '["a.b"].c' | '7' | '7[]'>>(true);
is<Same<RulePath<{ m: Record<string, { v: 1 }> }>, '$' | 'm' | `m.${string}`>>(true);
is<Same<RulePath<unknown>, string>>(true);

invoice.defineEvaluator('x', exactDiff({
  select: () => deep,
  options: {
    rules: {
      $: {}, a: {}, 'a.b': {}, 'a.b.c': {}, 'a.b.c.d': {}, items: {}, 'items[]': {}, 'items[].x': {}, 'items[].x.y': {},
      'items[].x.y.z': {}, 'items[].tags': {}, 'items[].tags[]': {}, 'matrix[][]': {},
    },
  },
}));
type Options = Parameters<typeof exactDiff<unknown, typeof deep>>[0]['options'];
const diff = (options: Options) => exactDiff<unknown, typeof deep>({ select: () => deep, options });
// @ts-expect-error 2561 misspelt at level 1
diff({ rules: { item: {} } });
// @ts-expect-error 2353 misspelt at level 2
diff({ rules: { 'a.x': {} } });
// @ts-expect-error 2353 misspelt at level 3
diff({ rules: { 'a.b.x': {} } });
// @ts-expect-error 2353 misspelt at level 4
diff({ rules: { 'a.b.c.x': {} } });
// @ts-expect-error 2353 a fifth level
diff({ rules: { 'a.b.c.d.e': {} } });
// @ts-expect-error 2353 misspelt in an item
diff({ rules: { 'items[].y': {} } });
// @ts-expect-error 2353 misspelt in an item, level 3
diff({ rules: { 'items[].x.z': {} } });
// @ts-expect-error 2353 misspelt in an item, level 4
diff({ rules: { 'items[].x.y.q': {} } });
// @ts-expect-error 2353 items are spelled `items[]`
diff({ rules: { 'items.x': {} } });
// @ts-expect-error 2353 no indexes
diff({ rules: { 'items[0]': {} } });
// @ts-expect-error 2353 not an array
diff({ rules: { 'a[]': {} } });
// @ts-expect-error 2353 `$` stands alone
diff({ rules: { '$.a': {} } });

// In a chain the paths infer from the selector.
invoice.defineEvaluator('x', exactDiff({
  select: ({ total, lineItems, json, raw, extra, tree }) => ({ total, items: lineItems, json, raw, extra, tree }),
  options: {
    rules: {
      $: { allowExtraFields: false }, total: { numericTolerance: 0.01 }, items: { order: 'unordered', matchBy: 'sku' },
      'items[].price': { numericTolerance: 1 }, 'items[].tags[].name': { ignore: true }, 'raw.anything': {}, 'raw[].x': {}, 'extra.vat': {},
      'json[].x': {}, 'tree.children[].children[].value': {},
    },
  },
}));
invoice.defineEvaluator('x', exactDiff({
  select: (output) => output,
  options: { rules: { '["tax.rate"]': {}, 'supplier.address.geo.lat': {}, 'pair[]': {} } },
}));
// @ts-expect-error 2561 no such path
invoice.defineEvaluator('x', exactDiff({ select: ({ total }) => ({ total }), options: { rules: { totl: {} } } }));
// @ts-expect-error 2353 a field that was not selected
invoice.defineEvaluator('x', exactDiff({ select: ({ total }) => ({ total }), options: { rules: { summary: {} } } }));
// @ts-expect-error 2353 a path of the output, not of the projection
invoice.defineEvaluator('x', exactDiff({ select: (output) => ({ items: output.lineItems }), options: { rules: { lineItems: {} } } }));

// Rules.
diff({ rules: { items: { order: 'unordered', matchBy: ['x', 'tags'], items: 'exactly', allowExtraFields: false, numericTolerance: 0 } } });
diff({ rules: { items: { order: 'ordered', items: 'at-most' }, 'items[].x': { ignore: true } } });
// @ts-expect-error 2353 ignore stands alone
diff({ rules: { items: { ignore: true, order: 'ordered' } } });
// @ts-expect-error 2322 ignore is true or left out
diff({ rules: { items: { ignore: false } } });
// @ts-expect-error 2322 matchBy requires unordered
diff({ rules: { items: { matchBy: 'x' } } });
// @ts-expect-error 2322 matchBy requires unordered
diff({ rules: { items: { order: 'ordered', matchBy: 'x' } } });
// @ts-expect-error 2322 no such order
diff({ rules: { items: { order: 'sorted' } } });
// @ts-expect-error 2820 no such item policy
diff({ rules: { items: { items: 'exact' } } });
// @ts-expect-error 2322 a tolerance is a number
diff({ rules: { items: { numericTolerance: '1' } } });
// @ts-expect-error 2353 a misspelt field
diff({ rules: { items: { tolerance: 1 } } });

// Globals.
diff({ paths: ['a.b', 'items[0].x', 'items[].x', 'matrix[1][]'] });
diff({ unorderedPaths: ['items', 'items[].tags'], numericTolerance: 1, allowExtraFields: false });
diff({});
// @ts-expect-error 2322 no such path
diff({ paths: ['b'] });
// @ts-expect-error 2820 no such path
diff({ unorderedPaths: ['item'] });
// @ts-expect-error 2820 the array, not its items
diff({ unorderedPaths: ['items[]'] });
// @ts-expect-error 2353 a misspelt option
diff({ tolerance: 1 });
// @ts-expect-error 2322 rules and globals are not combined
diff({ rules: {}, paths: ['a'] });
// @ts-expect-error 2322 rules and globals are not combined
diff({ rules: {}, unorderedPaths: ['items'] });
// @ts-expect-error 2322 rules and globals are not combined
diff({ rules: {}, numericTolerance: 1 });
// @ts-expect-error 2322 rules and globals are not combined
diff({ rules: {}, allowExtraFields: true });
