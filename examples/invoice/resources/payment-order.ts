/** What the bank accepts: its own JSON Schema, unchanged. A tool can use one in place of a Zod schema. */
export const paymentOrder = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    creditor: {
      type: 'object',
      properties: {
        name: { type: 'string', pattern: "^[A-Za-z0-9/?:().,'+ -]{1,70}$" },
        iban: { type: 'string', pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$' },
      },
      required: ['name', 'iban'],
      additionalProperties: false,
    },
    amount: { type: 'string', pattern: '^[0-9]{1,9}\\.[0-9]{2}$' },
    currency: { const: 'EUR' },
    executionDate: { type: 'string', format: 'date' },
    remittance: { type: 'string', maxLength: 140 },
  },
  required: ['creditor', 'amount', 'currency', 'executionDate', 'remittance'],
  additionalProperties: false,
} as const;
