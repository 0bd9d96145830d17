/**
 * VAT rates in percent, the standard rate first, as of 1 January 2026.
 * Zero is not listed: exports and reverse charge make it possible everywhere.
 */
export const vatRates = {
  AT: [20, 13, 10],
  DE: [19, 7],
  FR: [20, 10, 5.5, 2.1],
  GB: [20, 5],
  NL: [21, 9],
} as const;

export const countries = ['AT', 'DE', 'FR', 'GB', 'NL'] as const;

export type Country = (typeof countries)[number];
