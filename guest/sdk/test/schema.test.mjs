// Schemas: section 2.4 of the specification, row by row, and the IR against Zod itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshSdk, plain, summary, z } from './build.mjs';
import { refused, run } from './ir.mjs';

const sdk = await freshSdk();

function compile(schema, side = 'input') {
  const object = z.object({});
  const field = z.object({ f: schema });
  const tool = sdk.createTool({ description: 'd', inputSchema: side === 'input' ? field : object, outputSchema: side === 'output' ? field : object, execute: () => ({}) });
  const { manifest } = sdk.harvest({ t: tool });
  return { ir: plain(manifest.callbacks[0][`${side}Schema`]), problems: summary(manifest).map((line) => line.replace(/ t\.(input|output)Schema/, ' ')) };
}

const zodSays = (schema, value) => {
  const result = z.object({ f: schema }).safeParse(structuredClone(value));
  return result.success ? plain(result.data) : refused;
};

const values = [
  null, true, false, 0, 1, -1, 1.5, 3, 4, 10, 0.07, 2.03, 4294967295, 2147483648, 9007199254740991, 9007199254740992, 1e39, '', 'a', 'b', 'abc', 'ABC', 'hello world', '😀', '😀😀',
  'a@b.co', 'no@', '2024-02-29', '2023-02-29', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00+01:00', '12:30', 'https://example.com/x', 'http://a.b', 'mailto:a@b.c', 'not a url',
  '3f2b8c9e-1d2a-4b3c-8d4e-5f6a7b8c9d0e', '127.0.0.1', '::1', '1::g', '127.0.0.1/8', 'QUJD', 'QUI=', 'QUI', 'a\nb', 'id-7', 'id-x', '12', '+12345678901',
  [], ['a'], ['a', 1], ['a', 'b'], ['a', 1, 'x'], [1, 2, 3], {}, { a: 1 }, { a: 'x' }, { a: 1, b: 2 }, { a: 'x', b: 'y' }, { a: 'x', b: 'y', c: 'z' }, { b: 'y' }, { k: 'a', n: 1, z: 1 }, { k: 'b', s: 'x', z: 1 },
  { k: 'c' }, { 1: 'x' }, { '1.5': 'x' }, { v: 1, next: { v: 2, z: 0 } }, { v: 1, next: null }, { v: 1, next: { v: 'x' } }, { a: { x: 1, y: 2, z: 3 } }, { a: { x: 1 }, b: 1 }, { a: { x: 1, y: 1 } },
  [[]], [{ a: 1, q: 2 }], [{ children: [], q: 1 }], { children: [{ children: [], q: 1 }], q: 1 }, { constructor: 1 }, { a: null }, [null, { a: [1] }],
];

const Node = z.object({ v: z.number(), get next() { return Node.nullable().optional(); } });
const Tree = z.object({ get children() { return z.array(Tree); } });
const Lazy = z.lazy(() => z.union([z.string(), z.array(Lazy)]));
const A = z.object({ a: z.string() });
const B = z.object({ b: z.string() });

const surviving = {
  string: z.string(), min: z.string().min(2), max: z.string().max(2), length: z.string().length(1), regex: z.string().regex(/^a/), regexFlag: z.string().regex(/^abc$/i), multiline: z.string().regex(/^b$/m),
  dotAll: z.string().regex(/^a.b$/s), unicode: z.string().regex(/^.$/u), startsWith: z.string().startsWith('a@'), endsWith: z.string().endsWith('c'), includes: z.string().includes('o w'), includesAt: z.string().includes('o', { position: 5 }),
  lowercase: z.string().lowercase(), uppercase: z.string().uppercase(), several: z.string().regex(/a/).regex(/c/).min(1).min(2), email: z.email(), oldEmail: z.string().email(), uuid: z.uuid(), guid: z.guid(), url: z.url(), httpUrl: z.httpUrl(),
  urlHost: z.url({ hostname: /^example\.com$/ }), date: z.iso.date(), datetime: z.iso.datetime(), offset: z.iso.datetime({ offset: true }), time: z.iso.time(), ipv4: z.ipv4(), ipv6: z.ipv6(), cidrv4: z.cidrv4(), base64: z.base64(), base64url: z.base64url(),
  e164: z.e164(), hex: z.hex(), hostname: z.hostname(), stringFormat: z.stringFormat('id', /^id-\d+$/), stringFormatMin: z.stringFormat('id', /^id-/).min(4), emoji: z.emoji(),
  number: z.number(), int: z.int(), intCheck: z.number().int(), int32: z.int32(), uint32: z.uint32(), float32: z.float32(), float64: z.float64(), gt: z.number().gt(1), gte: z.number().gte(1), lt: z.number().lt(1), lte: z.number().lte(1),
  positive: z.number().positive(), nonnegative: z.number().nonnegative(), multipleOf: z.number().multipleOf(0.07), multipleOfInt: z.number().multipleOf(2), infinite: z.number().max(Infinity), boolean: z.boolean(), null: z.null(),
  literal: z.literal('a'), literals: z.literal(['a', 1, null, true]), enum: z.enum(['a', 'b']), nativeEnum: z.enum({ X: 1, 1: 'X', Y: 'a' }), template: z.templateLiteral(['id-', z.number()]), never: z.never(), any: z.any(), unknown: z.unknown(), json: z.json(),
  array: z.array(z.string()), arrayMin: z.array(z.any()).min(2), arrayMax: z.array(z.any()).max(1), arrayLength: z.array(z.any()).length(2), arrayOfObjects: z.array(z.object({ a: z.any() })), tuple: z.tuple([z.string(), z.number()]), tupleRest: z.tuple([z.string()], z.number()),
  tupleOptional: z.tuple([z.string(), z.number().optional()]), object: A, strict: z.strictObject({ a: z.string() }), loose: z.looseObject({ a: z.string() }), catchall: A.catchall(z.string()), optional: z.string().optional(), nullable: z.string().nullable(),
  nullish: A.nullish(), nonoptional: z.string().optional().nonoptional(), exactOptional: z.string().exactOptional(), partial: z.object({ a: z.string(), b: z.string() }).partial(), pick: z.object({ a: z.string(), b: z.number() }).pick({ a: true }), extend: A.extend({ b: z.string().optional() }),
  record: z.record(z.string(), z.number()), recordEnum: z.record(z.enum(['a', 'b']), z.string()), partialRecord: z.partialRecord(z.enum(['a', 'b']), z.string()), recordNumber: z.record(z.number(), z.string()), recordPattern: z.record(z.string().regex(/^a$/), z.any()),
  recordAny: z.record(z.enum(['a', 'b']), z.any()), looseRecord: z.looseRecord(z.string().regex(/^a$/), z.number()), recordObjects: z.record(z.string(), z.object({ x: z.any() })),
  union: z.union([z.string(), z.number()]), unionStrip: z.union([A, z.object({ b: z.string() })]), unionOptional: z.union([z.string().optional(), z.number()]), xor: z.xor([A, B]),
  tagged: z.discriminatedUnion('k', [z.object({ k: z.literal('a'), n: z.number() }), z.object({ k: z.literal('b'), s: z.string() })]),
  intersection: z.intersection(A, B), strictStrict: z.intersection(z.strictObject(A.shape), z.strictObject(B.shape)), strictStrip: z.intersection(z.strictObject(A.shape), B), strictLoose: z.intersection(z.strictObject(A.shape), z.looseObject(B.shape)),
  three: z.strictObject(A.shape).and(z.strictObject(B.shape)).and(z.strictObject({ c: z.string() })), nested: z.intersection(z.object({ a: z.object({ x: z.any() }) }), z.object({ a: z.object({ y: z.any() }) })), stripRecord: z.intersection(A, z.record(z.string(), z.string())),
  node: Node, tree: Tree, treeArray: z.array(Tree), lazy: Lazy, readonly: A.readonly(), brand: A.brand('x'), describe: z.string().describe('text'), meta: z.string().meta({ description: 'text', id: 'm' }),
  default: z.number().default(7), defaultObject: z.object({ a: z.number().default(1) }), prefault: z.object({ a: z.number().default(1) }).prefault({}), defaultOptional: z.string().default('d').optional(), defaultNullable: z.string().default('d').nullable(),
  defaultUnion: z.union([z.object({ b: z.string(), d: z.number().default(1) }), z.object({ a: z.string(), e: z.number().default(2) })]),
};

for (const [name, schema] of Object.entries(surviving)) {
  test(`${name} keeps its meaning`, () => {
    const { ir, problems } = compile(schema);
    assert.deepEqual(problems, []);
    for (const value of [...values.map((f) => ({ f })), {}, { f: 'a', g: 1 }]) {
      assert.deepEqual(run(ir, value), zodSays(schema, value), `${JSON.stringify(value)} under ${JSON.stringify(ir)}`);
    }
  });
}

const effects = {
  refine: z.string().refine(() => true), superRefine: z.string().superRefine(() => {}), check: z.string().check(() => {}), objectRefine: z.object({}).refine(() => true), trim: z.string().trim(), toLowerCase: z.string().toLowerCase(), toUpperCase: z.string().toUpperCase(),
  normalize: z.string().normalize(), slugify: z.string().slugify(), overwrite: z.number().overwrite((value) => value + 1), transform: z.string().transform((value) => value), bareTransform: z.transform((value) => value), preprocess: z.preprocess((value) => value, z.string()),
  pipe: z.string().pipe(z.string()), codec: z.codec(z.string(), z.number(), { decode: Number, encode: String }), stringbool: z.stringbool(), coerceString: z.coerce.string(), coerceNumber: z.coerce.number(), coerceBoolean: z.coerce.boolean(), coerceDate: z.coerce.date(), coerceBigint: z.coerce.bigint(),
  catch: z.string().catch('x'), promise: z.promise(z.string()), success: z.success(z.string()), functionDefault: z.string().default(() => 'x'), functionPrefault: z.string().prefault(() => 'x'), wrongDefault: z.string().min(3).default('x'), changingDefault: z.object({ a: z.number().default(1) }).default({}),
  normalizedUrl: z.url({ normalize: true }), stringFormatFunction: z.stringFormat('odd', () => true), conditional: z.string().check(z.minLength(3, { when: () => false })),
};

for (const [name, schema] of Object.entries(effects)) {
  test(`${name} is an effect`, () => assert.deepEqual(compile(schema).problems, ['C_SCHEMA_EFFECT .f']));
}

const unrepresentable = {
  bigint: z.bigint(), int64: z.int64(), uint64: z.uint64(), symbol: z.symbol(), undefined: z.undefined(), void: z.void(), date: z.date(), map: z.map(z.string(), z.string()), set: z.set(z.string()), nan: z.nan(), custom: z.custom(() => true), instanceof: z.instanceof(Date),
  function: z.function(), file: z.file(), literalBigint: z.literal(1n), literalUndefined: z.literal(undefined), property: z.string().check(z.property('length', z.number().min(3))), size: z.any().check(z.minLength(2)), unknownType: { _zod: { def: { type: 'hologram' } } },
  unknownFormat: { _zod: { def: { type: 'string', check: 'string_format', format: 'aura', pattern: /x/ } } },
};

for (const [name, schema] of Object.entries(unrepresentable)) {
  test(`${name} is unrepresentable`, () => {
    assert.deepEqual(compile(schema).problems, ['C_SCHEMA_UNREPRESENTABLE .f']);
  });
}

test('defaults belong to input properties', () => {
  // D-21
  assert.deepEqual(compile(z.string().default('x'), 'output').problems, ['C_SCHEMA_EFFECT .f']);
  assert.deepEqual(compile(z.array(z.string().default('x'))).problems, ['C_SCHEMA_EFFECT .f[]']);
  assert.deepEqual(compile(z.record(z.string(), z.string().default('x'))).problems, ['C_SCHEMA_EFFECT .f.*']);
  assert.deepEqual(compile(z.union([z.string(), z.number().default(1)])).problems, ['C_SCHEMA_EFFECT .f.anyOf[1]']);
});

test('two formats keep their parameters apart', () => {
  const { ir } = compile(z.string().check(z.ipv6()).check(z.url({ hostname: /^a$/ })));
  assert.deepEqual(ir.properties.f, { type: 'string', 'x-format': 'ipv6', allOf: [{ 'x-format': 'url', format: 'uri', 'x-hostname': { source: '^a$', flags: '' } }] });
});

test('problems name the place', () => {
  const deep = z.object({ 'a b': z.array(z.tuple([z.record(z.string().trim(), z.union([z.date(), z.string()]))])) });
  assert.deepEqual(compile(deep).problems, ['C_SCHEMA_UNREPRESENTABLE .f["a b"][][0].*.anyOf[0]', 'C_SCHEMA_EFFECT .f["a b"][][0].*(key)']);
});

test('schemas that would not end', () => {
  const self = z.lazy(() => self);
  assert.deepEqual(compile(self).problems, ['C_SCHEMA_UNREPRESENTABLE .f']);
  const left = z.lazy(() => z.union([left, z.string()]));
  assert.deepEqual(compile(left).problems, ['C_SCHEMA_UNREPRESENTABLE .f.anyOf[0]']);
  const fresh = () => z.object({ next: z.lazy(fresh).optional() });
  assert.equal(compile(fresh()).problems.length, 1);
  let bomb = z.object({ x: z.string() });
  for (let level = 0; level < 40; level++) bomb = z.object({ l: bomb, r: bomb });
  assert.deepEqual(compile(bomb).problems.length, 1);
});

test('descriptions reach the IR', () => {
  const { ir } = compile(z.object({ a: z.string().describe('inner') }).describe('outer').optional());
  assert.equal(ir.properties.f.description, 'outer');
  assert.equal(ir.properties.f.properties.a.description, 'inner');
});

test('reading a default does not call a function', () => {
  let calls = 0;
  compile(z.string().default(() => `${++calls}`));
  assert.equal(calls, 0);
});

test('raw JSON Schema', () => {
  const run = (inputSchema) => {
    const { manifest } = sdk.harvest({ t: sdk.createTool({ description: 'd', inputSchema, outputSchema: { type: 'object' }, execute: () => ({}) }) });
    return manifest.problems.length > 0 ? summary(manifest) : plain(manifest.callbacks[0].inputSchema);
  };
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { $ref: { const: { $ref: 'http://x' } }, a: { $ref: '#/definitions/a' } }, definitions: { a: { type: 'string' } } };
  assert.deepEqual(run(schema), schema);
  const newest = 'https://json-schema.org/draft/2020-12/schema';
  assert.deepEqual(run({ $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }), { $ref: '#/$defs/a', $defs: { a: { type: 'object' } }, $schema: newest });
  assert.equal(run({ type: 'object', dependencies: { a: ['b'] } }).$schema, 'http://json-schema.org/draft-07/schema#');
  assert.deepEqual(run({ type: 'object', dependencies: { a: ['b'] }, properties: { x: { prefixItems: [] } } }), ['C_SCHEMA_UNSUPPORTED t.inputSchema.properties.x.prefixItems']);
  assert.deepEqual(run({ $schema: newest, type: 'object', properties: { x: { items: [{}] } } }), ['C_SCHEMA_UNSUPPORTED t.inputSchema.properties.x.items']);
  assert.deepEqual(run({ ...schema, $schema: 'http://example.com' }), ['C_SCHEMA_UNSUPPORTED t.inputSchema.$schema']);
  assert.deepEqual(run({ type: 'object', properties: { a: { $ref: 'http://x/y.json' } } }), ['C_SCHEMA_UNSUPPORTED t.inputSchema.properties.a.$ref']);
  assert.deepEqual(run({ type: 'object', properties: { a: { 'x-format': 'url' } } }), ['C_SCHEMA_UNSUPPORTED t.inputSchema.properties.a.x-format']);
  assert.deepEqual(run({ type: 'object', default: () => 1 }), ['C_SCHEMA_UNSUPPORTED t.inputSchema.default']);
  assert.deepEqual(run({ type: 'string' }), ['C_DECLARATION_INVALID t.inputSchema']);
  assert.deepEqual(run({ _def: { typeName: 'ZodObject' } }), ['C_SCHEMA_UNSUPPORTED t.inputSchema']);
  assert.deepEqual(run(5), ['C_DECLARATION_INVALID t.inputSchema']);
  const cyclic = { type: 'object' };
  cyclic.properties = cyclic;
  assert.equal(run(cyclic).length, 1);
});
