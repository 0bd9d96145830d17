// Writes a dataset of invoices as JSON Lines: `node datasets/generate.mjs [COUNT] [SEED] > /tmp/invoices.jsonl`.
//
// Each line has an input, an answer that some agent gave, and what is expected. The answers are wrong in the ways in which agents are:
// reordered lines, totals a cent or more off, forgotten facts. The same count and seed give the same bytes.

const count = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? 1);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  console.error('usage: node datasets/generate.mjs [COUNT] [SEED]');
  process.exit(2);
}

// A linear congruential generator: numbers that look random and repeat.
let state = BigInt.asUintN(64, BigInt(seed) * 0x9e3779b97f4a7c15n + 1n);
const random = (below) => {
  state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
  return Number((state >> 33n) % BigInt(below));
};
const pick = (list) => list[random(list.length)];

const suppliers = [
  ['Nordwind GmbH', 'DE123456789', 'Kiel', 'DE', 'EUR', 19],
  ['Müller & Söhne KG', 'DE987654321', 'Nürnberg', 'DE', 'EUR', 7],
  ['Café des Arts SARL', null, 'Lyon', 'FR', 'EUR', 20],
  ['Van den Berg B.V.', 'NL001234567B01', 'Utrecht', 'NL', 'EUR', 21],
  ['Alpenwerkzeug GmbH', 'ATU12345678', 'Graz', 'AT', 'CHF', 20],
  ['Kyoto Paper Ltd 京都', null, 'London', 'GB', 'JPY', 20],
];
const goods = [
  ['A-100', 'Screws, box of 200', 4990],
  ['B-17', 'Hand plane "No. 4"', 12950],
  ['C-3', 'Coffee, 1 kg', 1895],
  ['D-21', 'Paper, A4 <80 g>', 455],
  ['E-9', 'Repair; labour, per hour', 8600],
];

const digitsOf = (currency) => (currency === 'JPY' ? 0 : 2);
const money = (minor, currency) => Number((minor / 10 ** digitsOf(currency)).toFixed(digitsOf(currency)));
const written = (minor, currency) => `${money(minor, currency).toFixed(digitsOf(currency))} ${currency}`;
const day = (offset) => new Date(Date.UTC(2026, 0, 5) + offset * 86_400_000).toISOString().slice(0, 10);

function invoice(index) {
  const [name, taxId, city, country, currency, taxRate] = pick(suppliers);
  const credit = index % 17 === 16;
  const lines = Array.from({ length: 1 + random(6) }, (_, line) => {
    const [sku, description, price] = pick(goods);
    const quantity = (1 + random(12)) * (credit ? -1 : 1);
    return { sku: `${sku}-${line}`, description, quantity, unitPrice: price, taxRate };
  });
  const net = lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0);
  const minor = net + Math.sign(net) * Math.round((Math.abs(net) * taxRate) / 100);
  const issued = random(300);
  const total = written(minor, currency);
  const facts = {
    number: `2026-${String(index + 1).padStart(4, '0')}`,
    supplier: { name, taxId, address: { city, country } },
    issueDate: day(issued),
    dueDate: day(issued + pick([14, 30, 60])),
    currency,
    lineItems: lines.map((line) => ({ ...line, unitPrice: money(line.unitPrice, currency) })),
    total: money(minor, currency),
  };
  facts.summary = `${name} ${credit ? 'credits' : 'asks for'} ${total} for ${lines.length} items by ${facts.dueDate}.`;
  return { facts, minor };
}

const shuffled = (list) => list.map((item) => [random(1 << 20), item]).sort(([a], [b]) => a - b).map(([, item]) => item);

// What can become of an answer: a name, and what it changes.
const fates = [
  ['right', () => {}],
  ['reordered', (actual) => { actual.lineItems = shuffled(actual.lineItems); }],
  ['cent-off', (actual, expected, minor) => { actual.total = money(minor + 1, actual.currency); }],
  ['two-cents-off', (actual, expected, minor) => { actual.total = money(minor + 2, actual.currency); }],
  ['wrong-total', (actual, expected, minor) => { actual.total = money(minor * 10, actual.currency); }],
  ['partial-expectation', (actual, expected) => { delete expected.lineItems; delete expected.supplier.taxId; }],
  ['summary-forgets', (actual) => { actual.summary = `${actual.supplier.name} sent an invoice.`; }],
  ['line-missing', (actual) => { if (actual.lineItems.length > 1) actual.lineItems.pop(); }],
  ['other-supplier', (actual) => { actual.supplier.name = actual.supplier.name.toUpperCase(); }],
  ['no-total-expected', (actual, expected) => { delete expected.total; }],
];

for (let index = 0; index < count; index++) {
  const { facts, minor } = invoice(index);
  // Two right answers for each wrong one of a kind.
  const [fate, change] = index % 3 === 0 ? pick(fates) : index % 3 === 1 ? fates[0] : fates[(index - 2) / 3 % fates.length];
  const actual = structuredClone(facts);
  const expected = structuredClone(facts);
  change(actual, expected, minor);
  const { supplier, lineItems, total, currency } = facts;
  const text = [
    `${supplier.name}, ${supplier.address.city}`,
    `Invoice ${facts.number} of ${facts.issueDate}`,
    ...lineItems.map((line) => `${line.quantity} x ${line.sku} ${line.description} at ${line.unitPrice}, VAT ${line.taxRate} %`),
    `Total: ${total} ${currency}, due ${facts.dueDate}`,
  ].join('\n');
  const name = `${String(index + 1).padStart(String(count).length, '0')}-${fate}`;
  console.log(JSON.stringify({ name, input: { text, country: supplier.address.country }, actual, expected }));
}
