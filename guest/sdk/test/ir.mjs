// A small reference reading of SCHEMA-IR.md: `run(ir, value)` returns the normalised value, or `refused`.
// The schema tests compare it with what Zod itself answers.

export const refused = Symbol('refused');

export function run(ir, value) {
  return valid(ir, value, ir) ? normalise(ir, value, ir) : refused;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const points = (text) => [...text].length;
const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
const own = (object, key) => Object.hasOwn(object, key);
const resolve = (reference, root) => root.$defs[reference.slice('#/$defs/'.length)];
const formats = {
  url(text, node) {
    if (/^\s|\s$|[\t\r\n]/.test(text) || !URL.canParse(text)) return false;
    const url = new URL(text);
    const fits = (pattern, part) => pattern === undefined || new RegExp(pattern.source, pattern.flags).test(part);
    return fits(node['x-hostname'], url.hostname) && fits(node['x-protocol'], url.protocol.slice(0, -1));
  },
  ipv6: (text) => /^[0-9a-fA-F:.]+$/.test(text) && URL.canParse(`http://[${text}]`),
};

function valid(node, value, root) {
  if (typeof node === 'boolean') return node;
  const types = { string: typeof value === 'string', number: typeof value === 'number', integer: Number.isInteger(value), boolean: typeof value === 'boolean', null: value === null, array: Array.isArray(value), object: isObject(value) };
  const rules = {
    $ref: (reference) => valid(resolve(reference, root), value, root),
    type: (type) => types[type],
    const: (constant) => same(constant, value),
    enum: (list) => list.some((entry) => same(entry, value)),
    allOf: (list) => list.every((entry) => valid(entry, value, root)),
    anyOf: (list) => list.some((entry) => valid(entry, value, root)),
    oneOf: (list) => list.filter((entry) => valid(entry, value, root)).length === 1,
    minLength: (count) => !types.string || points(value) >= count,
    maxLength: (count) => !types.string || points(value) <= count,
    pattern: (source) => !types.string || new RegExp(source, 'u').test(value),
    'x-pattern': ({ source, flags }) => !types.string || new RegExp(source, flags).test(value),
    'x-format': (format) => !types.string || formats[format](value, node),
    minimum: (bound) => !types.number || value >= bound,
    maximum: (bound) => !types.number || value <= bound,
    exclusiveMinimum: (bound) => !types.number || value > bound,
    exclusiveMaximum: (bound) => !types.number || value < bound,
    'x-multipleOf': (step) => !types.number || Math.abs(value / step - Math.round(value / step)) < 4 * 2 ** -52 * Math.max(Math.abs(value / step), 1),
    minItems: (count) => !types.array || value.length >= count,
    maxItems: (count) => !types.array || value.length <= count,
    prefixItems: (list) => !types.array || list.every((entry, index) => index >= value.length || valid(entry, value[index], root)),
    items: (entry) => !types.array || value.slice(node.prefixItems?.length ?? 0).every((item) => valid(entry, item, root)),
    required: (names) => !types.object || names.every((name) => own(value, name)),
    properties: (map) => !types.object || Object.keys(map).every((name) => !own(value, name) || valid(map[name], value[name], root)),
    propertyNames: (entry) => !types.object || Object.keys(value).every((name) => valid(entry, name, root)),
    patternProperties: (map) => !types.object || Object.keys(value).every((name) => Object.keys(map).every((source) => !new RegExp(source, 'u').test(name) || valid(map[source], value[name], root))),
    additionalProperties: (entry) => !types.object || Object.keys(value).every((name) => (node.properties && own(node.properties, name)) || valid(entry, value[name], root)),
  };
  const silent = ['description', 'default', 'format', 'x-unknownKeys', 'x-discriminator', 'x-hostname', 'x-protocol', '$defs'];
  return Object.keys(node).every((keyword) => {
    if (silent.includes(keyword)) return true;
    if (!rules[keyword]) throw new Error(`the IR has no keyword ${keyword}`);
    return rules[keyword](node[keyword]);
  });
}

function normalise(node, value, root) {
  if (typeof node === 'boolean') return value;
  if (node.$ref) return normalise(resolve(node.$ref, root), value, root);
  const branch = (node.anyOf ?? node.oneOf)?.find((entry) => valid(entry, value, root));
  if (branch !== undefined) return normalise(branch, value, root);
  if (Array.isArray(value)) {
    return value.map((item, index) => normalise(node.prefixItems?.[index] ?? node.items ?? true, item, root));
  }
  if (!isObject(value)) return value;
  if (node.allOf) return node.allOf.map((entry) => normalise(entry, value, root)).reduce(merge);
  const result = {};
  for (const name of Object.keys(value)) {
    const declared = node.properties && own(node.properties, name);
    if (declared) result[name] = normalise(node.properties[name], value[name], root);
    else if (node['x-unknownKeys'] !== 'strip') result[name] = normalise(node.additionalProperties ?? true, value[name], root);
  }
  for (const name of Object.keys(node.properties ?? {})) {
    const entry = node.properties[name];
    if (!own(value, name) && typeof entry === 'object' && 'default' in entry) result[name] = normalise(entry, entry.default, root);
  }
  return result;
}

function merge(left, right) {
  if (!isObject(left) || !isObject(right)) return Array.isArray(left) && Array.isArray(right) ? left.map((item, index) => merge(item, right[index])) : left;
  const result = { ...right, ...left };
  for (const name of Object.keys(left)) if (own(right, name)) result[name] = merge(left[name], right[name]);
  return result;
}
