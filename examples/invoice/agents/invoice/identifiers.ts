import { countries, type Country } from '../../resources/vat-rates.ts';

const taxIds: Record<Country, RegExp> = {
  AT: /^ATU\d{8}$/,
  DE: /^DE\d{9}$/,
  FR: /^FR[0-9A-HJ-NP-Z]{2}\d{9}$/,
  GB: /^GB(\d{9}|\d{12}|(GD|HA)\d{3})$/,
  NL: /^NL\d{9}B\d{2}$/,
};

const ibanLengths: Partial<Record<string, number>> = { AT: 20, CH: 21, DE: 22, FR: 27, GB: 22, NL: 18 };

/** Without the spaces, dots and dashes that print puts in. */
export const compact = (identifier: string) => identifier.toUpperCase().replace(/[\s.-]/g, '');

/** The country whose form a compact tax id has. */
export const taxIdCountry = (taxId: string) => countries.find((country) => taxIds[country].test(taxId));

/** What is wrong with a compact IBAN, if anything. */
export function ibanProblem(iban: string): 'format' | 'length' | 'checksum' | undefined {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) return 'format';
  const length = ibanLengths[iban.slice(0, 2)];
  if (length !== undefined && iban.length !== length) return 'length';

  // ISO 7064 mod 97-10. As one number the digits would not fit a double, so the remainder is carried along.
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1 ? undefined : 'checksum';
}
