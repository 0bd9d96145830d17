// Sums are made of whole minor units (cents), because 0.1 + 0.2 is not 0.3.

export const currencies = ['CHF', 'EUR', 'GBP', 'JPY', 'USD'] as const;

export type Currency = (typeof currencies)[number];

const decimals: Record<Currency, number> = { CHF: 2, EUR: 2, GBP: 2, JPY: 0, USD: 2 };

export const toMinor = (amount: number, currency: Currency) => round(amount * 10 ** decimals[currency]);

export const fromMinor = (minor: number, currency: Currency) => minor / 10 ** decimals[currency];

export interface Line {
  readonly quantity: number;
  readonly unitPrice: number;
  readonly taxRate: number;
}

/** Net, tax and total; the tax is rounded once per rate, as the rates stand on an invoice. */
export function totals(lines: readonly Line[], currency: Currency) {
  const netByRate = new Map<number, number>();
  for (const { quantity, unitPrice, taxRate } of lines) {
    netByRate.set(taxRate, (netByRate.get(taxRate) ?? 0) + toMinor(quantity * unitPrice, currency));
  }

  let net = 0;
  let tax = 0;
  const rates = [...netByRate].sort(([a], [b]) => b - a);
  const taxes = rates.map(([rate, base]) => {
    const due = round((base * rate) / 100);
    net += base;
    tax += due;
    return { rate, net: fromMinor(base, currency), tax: fromMinor(due, currency) };
  });
  return { net: fromMinor(net, currency), taxes, total: fromMinor(net + tax, currency) };
}

/** To a whole number, halves away from zero. 1.005 * 100 is 100.49999999999999; fifteen digits make it 100.5 again. */
function round(value: number): number {
  return Math.sign(value) * Math.round(Number(Math.abs(value).toPrecision(15)));
}
