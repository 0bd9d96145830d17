// Schemas: a Zod 4 schema, or a raw JSON Schema, becomes the IR that SCHEMA-IR.md describes.
//
// The walk reads `schema._zod.def` and never asks Zod for JSON Schema, because that conversion drops
// refinements, transforms and coercions silently. What the IR cannot say exactly is a problem here.
// Nothing imports Zod, so projects without it do not load it.

import {
  append, ceil, codeAt, dictionary, floor, includes, indexOf, isArray, isFinite, isObject, isSafeInteger, mapDelete, mapGet, mapSet, matches,
  ownKeys, regExpParts, slice, descriptorOf,
} from './intrinsics.js';
import { copyJson, NotJson, sameJson } from './json.js';
import { member, Problems, report } from './problems.js';
import { compileRawSchema } from './raw-schema.js';

/** One schema of the IR: a JSON Schema object without a prototype, or `false`. */
export type Node = Record<string, any>;

/** What a schema is for: only the input side may carry defaults. */
export type Side = 'input' | 'output';

interface Walk {
  side: Side;
  problems: Problems;
  /** Definitions being converted, innermost last; meeting one again is recursion. */
  open: Map<object, Open>;
  definitions: Node;
  definitionCount: number;
  nodes: number;
  depth: number;
  /** Steps into a property, an item or a record value so far. */
  steps: number;
  /** Set when the schema has a check that only the host can run. */
  hostOnly: boolean;
}

interface Open {
  name: string | undefined;
  steps: number;
}

const maximumNodes = 10_000;
/** A level takes up to two levels of JSON, and common JSON readers stop at 128. */
const maximumDepth = 60;
const safeInteger = 9007199254740991;

/** Whether `value` is a Zod 4 schema. */
export function isZod(value: unknown): boolean {
  return definitionOf(value) !== undefined;
}

/**
 * The IR of `schema`. Problems are reported at paths that begin with `path`; with any, the returned IR is incomplete.
 */
export function compileSchema(schema: unknown, side: Side, path: string, problems: Problems): Node {
  try {
    if (!isZod(schema)) return compileRawSchema(schema, path, problems);
    const walk: Walk = {
      side, problems, open: new Map(), definitions: dictionary(), definitionCount: 0, nodes: 0, depth: 0, steps: 0, hostOnly: false,
    };
    const root = convert(schema, path, walk, false);
    if (walk.definitionCount > 0) root.$defs = walk.definitions;
    return root;
  } catch {
    report(
      problems, 'C_SCHEMA_UNREPRESENTABLE', path, 'The schema could not be read: reading it threw.',
      'Build the schema from the functions of `zod` only.',
    );
    return dictionary();
  }
}

/** Whether every value that `node` accepts is an object. */
export function describesObject(node: unknown, root: Node, depth = 0): boolean {
  if (!isObject(node) || depth > maximumDepth) return false;
  const schema = node as Node;
  if (schema.type === 'object') return true;
  if (typeof schema.$ref === 'string' && describesObject(resolve(schema.$ref, root), root, depth + 1)) return true;
  if (isArray(schema.allOf)) {
    for (let index = 0; index < schema.allOf.length; index++) if (describesObject(schema.allOf[index], root, depth + 1)) return true;
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (!isArray(branches) || branches.length === 0) return false;
  for (let index = 0; index < branches.length; index++) if (!describesObject(branches[index], root, depth + 1)) return false;
  return true;
}

function resolve(reference: string, root: Node): unknown {
  if (reference === '#') return root;
  const prefixes = ['#/$defs/', '#/definitions/'];
  for (let index = 0; index < prefixes.length; index++) {
    const prefix = prefixes[index]!;
    if (indexOf(reference, prefix) !== 0) continue;
    const definitions = index === 0 ? root.$defs : root.definitions;
    return isObject(definitions) ? (definitions as Node)[slice(reference, prefix.length)] : undefined;
  }
  return undefined;
}

function definitionOf(schema: unknown): any {
  if (!isObject(schema) && typeof schema !== 'function') return undefined;
  const internals = (schema as any)._zod;
  return isObject(internals) && isObject((internals as any).def) ? (internals as any).def : undefined;
}

function effect(walk: Walk, path: string, construct: string, help: string): Node {
  report(
    walk.problems, 'C_SCHEMA_EFFECT', path, `${construct} runs code or changes the value, which a schema that is only data cannot do.`,
    help,
  );
  return dictionary();
}

function unrepresentable(walk: Walk, path: string, construct: string, help: string): Node {
  report(walk.problems, 'C_SCHEMA_UNREPRESENTABLE', path, `${construct} has no meaning for JSON data.`, help);
  return dictionary();
}

/** `slot`: the schema stands directly in an object property, where a default has a place. */
function convert(schema: unknown, path: string, walk: Walk, slot: boolean): Node {
  const definition = definitionOf(schema);
  if (definition === undefined) return unrepresentable(walk, path, 'A value that is not a Zod schema', 'Use a schema made by `zod`.');

  const opened = mapGet(walk.open, definition);
  if (opened !== undefined) {
    if (opened.steps === walk.steps) {
      return unrepresentable(
        walk, path, 'A schema that contains itself without a property or item in between',
        'Put the recursion inside an object property or an array.',
      );
    }
    opened.name ??= `s${++walk.definitionCount}`;
    return describe({ ...dictionary(), $ref: `#/$defs/${opened.name}` }, schema);
  }
  walk.nodes++;
  if (walk.nodes > maximumNodes || walk.depth >= maximumDepth) {
    if (walk.nodes > maximumNodes + 1) return dictionary();
    walk.nodes = maximumNodes + 1;
    report(
      walk.problems, 'C_SCHEMA_UNREPRESENTABLE', path, `The schema has more than ${maximumNodes} parts or ${maximumDepth} levels.`,
      'Make it smaller, or recursive: refer to one schema through `z.lazy` or a getter.',
    );
    return dictionary();
  }

  const open: Open = { name: undefined, steps: walk.steps };
  mapSet(walk.open, definition, open);
  walk.depth++;
  let node = build(schema, definition, path, walk, slot);
  walk.depth--;
  mapDelete(walk.open, definition);

  if (open.name !== undefined) {
    walk.definitions[open.name] = node;
    const reference = dictionary();
    reference.$ref = `#/$defs/${open.name}`;
    moveDefault(node, reference);
    node = reference;
  }
  return describe(node, schema);
}

function describe(node: Node, schema: unknown): Node {
  const description = (schema as any).description;
  if (typeof description === 'string') node.description = description;
  return node;
}

function moveDefault(from: Node, to: Node): void {
  if (descriptorOf(from, 'default')) {
    to.default = from.default;
    delete from.default;
  }
}

/** The same, one step further into the data. */
function convertInside(schema: unknown, path: string, walk: Walk, slot = false): Node {
  walk.steps++;
  const node = convert(schema, path, walk, slot);
  walk.steps--;
  return node;
}

const notJson = 'Use a type that JSON has: string, number, boolean, null, array or object.';

function build(schema: unknown, definition: any, path: string, walk: Walk, slot: boolean): Node {
  const type = definition.type;
  if (definition.coerce === true) {
    effect(
      walk, path, `\`z.coerce.${typeof type === 'string' ? type : 'any'}\``,
      'Declare the type the data has, and convert it inside the callback.',
    );
  }
  const node = dictionary();
  switch (type) {
    case 'string':
      node.type = 'string';
      break;
    case 'number':
      node.type = 'number';
      break;
    case 'boolean':
      node.type = 'boolean';
      break;
    case 'null':
      node.type = 'null';
      break;
    case 'any':
    case 'unknown':
      break;
    case 'never':
      node.allOf = [false];
      break;
    case 'literal':
      buildValues(node, definition.values, path, walk);
      break;
    case 'enum':
      buildValues(node, enumValues(definition.entries), path, walk);
      break;
    case 'template_literal':
      node.type = 'string';
      putPattern(node, (schema as any)._zod.pattern, path, walk);
      break;
    case 'array':
      node.type = 'array';
      node.items = convertInside(definition.element, `${path}[]`, walk);
      break;
    case 'tuple':
      buildTuple(node, definition, path, walk);
      break;
    case 'object':
      buildObject(node, definition, path, walk);
      break;
    case 'record':
      buildRecord(node, definition, path, walk);
      break;
    case 'union':
      buildUnion(node, definition, path, walk);
      break;
    case 'intersection':
      return checked(buildIntersection(schema, path, walk), definition, type, path, walk);
    case 'nullable': {
      const inner = convert(definition.innerType, path, walk, slot);
      moveDefault(inner, node);
      node.anyOf = [inner, { ...dictionary(), type: 'null' }];
      break;
    }
    case 'optional':
    case 'readonly':
      return checked(convert(definition.innerType, path, walk, slot), definition, type, path, walk);
    case 'nonoptional': {
      const inner = convert(definition.innerType, path, walk, slot);
      delete inner.default;
      return checked(inner, definition, type, path, walk);
    }
    case 'lazy':
      return checked(convert((schema as any)._zod.innerType, path, walk, slot), definition, type, path, walk);
    case 'default':
    case 'prefault':
      return checked(buildDefault(definition, path, walk, slot), definition, type, path, walk);
    case 'pipe':
      return effect(walk, path, pipeName(definition), 'Declare the shape the data has, and convert it inside the callback.');
    case 'transform':
      return effect(walk, path, '`z.transform`', 'Declare the shape the data has, and convert it inside the callback.');
    case 'catch':
      return effect(walk, path, '`.catch`', 'Let wrong data fail, or describe it with a union.');
    case 'promise':
      return effect(walk, path, '`z.promise`', 'Callbacks run synchronously: describe the value itself.');
    case 'success':
      return effect(walk, path, '`z.success`', 'Describe the value itself.');
    case 'custom':
      return unrepresentable(walk, path, '`z.custom` or `z.instanceof`', notJson);
    case 'bigint':
      return definition.coerce === true ? node : unrepresentable(walk, path, 'A bigint', 'Use `z.int()`, or a string of digits.');
    case 'date':
      return definition.coerce === true ? node : unrepresentable(
        walk, path, '`z.date`',
        'Use `z.iso.datetime()` or `z.iso.date()`, and convert inside the callback.',
      );
    case 'undefined':
    case 'void':
      return unrepresentable(walk, path, `\`z.${type}\``, 'Use `.optional()` on the property.');
    case 'map':
      return unrepresentable(walk, path, '`z.map`', 'Use `z.record`, or an array of pairs.');
    case 'set':
      return unrepresentable(walk, path, '`z.set`', 'Use `z.array`.');
    case 'nan':
    case 'symbol':
    case 'function':
    case 'file':
      return unrepresentable(walk, path, `\`z.${type}\``, notJson);
    default:
      return unrepresentable(walk, path, typeof type === 'string' ? `The Zod type \`${type}\`` : 'An unknown Zod type', notJson);
  }
  return checked(node, definition, type, path, walk);
}

function pipeName(definition: any): string {
  if (typeof definition.transform === 'function') return '`z.codec` or `z.stringbool`';
  if (definitionOf(definition.in)?.type === 'transform') return '`z.preprocess`';
  return definitionOf(definition.out)?.type === 'transform' ? '`.transform`' : '`.pipe`';
}

/** Adds a keyword; a second value for it goes into `allOf`, so that both hold. */
function put(node: Node, keyword: string, value: unknown): void {
  if (descriptorOf(node, keyword) === undefined) {
    node[keyword] = value;
    return;
  }
  const more = dictionary();
  more[keyword] = value;
  node.allOf = append(node.allOf ?? [], more);
}

function refuseAll(node: Node): void {
  node.allOf = append(node.allOf ?? [], false);
}

function putPattern(node: Node, pattern: unknown, path: string, walk: Walk): void {
  const parts = regExpParts(pattern);
  if (parts === undefined) {
    unrepresentable(walk, path, 'A format without a pattern', 'Use `.regex()` with a literal pattern.');
    return;
  }
  let flags = '';
  for (let index = 0; index < parts.flags.length; index++) {
    const flag = parts.flags[index]!;
    // `g` and `d` change what a match reports, not whether there is one.
    if (flag !== 'g' && flag !== 'd') flags += flag;
  }
  if (flags === '' || flags === 'u') put(node, 'pattern', parts.source);
  else put(node, 'x-pattern', { source: parts.source, flags });
}

function buildValues(node: Node, values: unknown, path: string, walk: Walk): void {
  const list: unknown[] = [];
  if (isArray(values)) {
    for (let index = 0; index < values.length; index++) {
      const value: unknown = values[index];
      if (value === null || typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && isFinite(value))) {
        list[list.length] = value === 0 ? 0 : value;
      } else {
        unrepresentable(
          walk, path,
          `A literal that is ${typeof value === 'number' ? 'not a finite number' : typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`,
          notJson,
        );
      }
    }
  }
  if (list.length === 0) refuseAll(node);
  else if (list.length === 1) node.const = list[0];
  else node.enum = list;
}

/** The values of an enum. TypeScript's numeric enums also map numbers back to names; those entries are left out. */
function enumValues(entries: unknown): unknown[] {
  const values: unknown[] = [];
  if (!isObject(entries)) return values;
  const keys = ownKeys(entries);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (typeof key !== 'string' || !descriptorOf(entries, key)?.enumerable) continue;
    let names = false;
    for (let other = 0; other < keys.length && !names; other++) names = (entries as any)[keys[other]!] === +key;
    if (!names) values[values.length] = (entries as any)[key];
  }
  return values;
}

function optionalIn(schema: unknown): boolean {
  return (schema as any)?._zod?.optin !== undefined;
}

function buildTuple(node: Node, definition: any, path: string, walk: Walk): void {
  node.type = 'array';
  const items: Node[] = [];
  let required = 0;
  for (let index = 0; index < definition.items.length; index++) {
    items[index] = convertInside(definition.items[index], `${path}[${index}]`, walk);
    if (!optionalIn(definition.items[index])) required = index + 1;
  }
  if (items.length > 0) node.prefixItems = items;
  node.items = definition.rest ? convertInside(definition.rest, `${path}[]`, walk) : false;
  if (required > 0) node.minItems = required;
}

function buildObject(node: Node, definition: any, path: string, walk: Walk): void {
  const shape = definition.shape;
  const properties = dictionary();
  const required: string[] = [];
  node.type = 'object';
  node.properties = properties;
  const keys = ownKeys(shape);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (typeof key !== 'string' || key === '__proto__') {
      unrepresentable(
        walk, path, typeof key === 'string' ? 'The property `__proto__`' : 'A property named by a symbol',
        'Name properties with ordinary strings.',
      );
      continue;
    }
    properties[key] = convertInside(shape[key], member(path, key), walk, true);
    if (!optionalIn(shape[key])) required[required.length] = key;
  }
  if (required.length > 0) node.required = required;

  if (!definition.catchall) {
    node['x-unknownKeys'] = 'strip';
    return;
  }
  const catchall = definitionOf(definition.catchall);
  if (catchall?.type === 'never') node.additionalProperties = false;
  else if (catchall?.type === 'unknown' || catchall?.type === 'any') node.additionalProperties = true;
  else node.additionalProperties = convertInside(definition.catchall, `${path}.*`, walk);
}

function buildRecord(node: Node, definition: any, path: string, walk: Walk): void {
  const loose = definition.mode === 'loose';
  node.type = 'object';
  const values = convertInside(definition.valueType, `${path}.*`, walk);
  const names = definition.partial ? undefined : declaredKeys(definition.keyType);
  if (names !== undefined) {
    convertInside(definition.keyType, `${path}.*(key)`, walk);
    if (loose) {
      const properties = dictionary();
      for (let index = 0; index < names.length; index++) properties[names[index]!] = values;
      node.properties = properties;
    } else {
      node.propertyNames = { enum: names };
      node.additionalProperties = values;
    }
    if (names.length > 0 && !acceptsAbsence(definition.valueType, 0)) node.required = names;
    return;
  }
  const keys = convertKey(definition.keyType, `${path}.*(key)`, walk);
  const keywords = ownKeys(keys);
  const anyKey = keywords.length === 0 || (keywords.length === 1 && keys.type === 'string');
  if (anyKey) node.additionalProperties = values;
  else if (!loose) {
    node.propertyNames = keys;
    node.additionalProperties = values;
  } else if (typeof keys.pattern === 'string' && keywords.length === (keys.type === undefined ? 1 : 2)) {
    const patterns = dictionary();
    patterns[keys.pattern] = values;
    node.patternProperties = patterns;
  } else {
    unrepresentable(
      walk, path, 'A loose record whose keys are not described by one pattern',
      'Use `z.record`, or keys made by `z.string().regex()`.',
    );
  }
}

/** The keys a record must have: those its key schema lists, as property names. */
function declaredKeys(keyType: unknown): string[] | undefined {
  const definition = definitionOf(keyType);
  if (definition === undefined) return undefined;
  switch (definition.type) {
    case 'literal':
      return keyNames(definition.values);
    case 'enum':
      return keyNames(enumValues(definition.entries));
    case 'readonly':
    case 'optional':
    case 'nullable':
    case 'nonoptional':
      return declaredKeys(definition.innerType);
    case 'union': {
      let names: string[] = [];
      for (let index = 0; index < definition.options.length; index++) {
        const more = declaredKeys(definition.options[index]);
        if (more === undefined) return undefined;
        for (let other = 0; other < more.length; other++) if (!includes(names, more[other]!)) names = append(names, more[other]!);
      }
      return names;
    }
    default:
      return undefined;
  }
}

function keyNames(values: unknown): string[] {
  const names: string[] = [];
  if (isArray(values)) {
    for (let index = 0; index < values.length; index++) {
      const value: unknown = values[index];
      if ((typeof value === 'string' || typeof value === 'number') && value !== '__proto__') names[names.length] = `${value}`;
    }
  }
  return names;
}

/** The IR for a property name; names that are numbers in JavaScript are strings of digits in JSON. */
function convertKey(keyType: unknown, path: string, walk: Walk): Node {
  const definition = definitionOf(keyType);
  const node = dictionary();
  switch (definition?.type) {
    case 'number': {
      if (definition.check !== undefined || (isArray(definition.checks) && definition.checks.length > 0) || definition.coerce === true) break;
      // Zod accepts a name written as a plain decimal; 308 digits keep it finite.
      node.pattern = '^-?\\d{1,308}(?:\\.\\d+)?$';
      return node;
    }
    case 'literal':
    case 'enum': {
      const names = declaredKeys(keyType)!;
      if (names.length === 0) refuseAll(node);
      else node.enum = names;
      return node;
    }
    case 'union': {
      const options: Node[] = [];
      for (let index = 0; index < definition.options.length; index++) options[index] = convertKey(definition.options[index], path, walk);
      node.anyOf = options;
      return node;
    }
    case 'readonly':
      return convertKey(definition.innerType, path, walk);
    case 'string':
    case 'template_literal':
    case 'any':
    case 'unknown':
    case 'never':
    case 'pipe':
    case 'transform':
    case 'catch':
      return convertInside(keyType, path, walk);
  }
  return unrepresentable(walk, path, 'This key schema of a record', 'Use strings, patterns, enums or literals as keys.');
}

/** Whether a record accepts a listed key to be missing, because its value schema accepts `undefined`. */
function acceptsAbsence(schema: unknown, depth: number): boolean {
  const definition = definitionOf(schema);
  if (definition === undefined || depth > maximumDepth) return false;
  switch (definition.type) {
    case 'any':
    case 'unknown':
    case 'optional':
      return true;
    case 'nullable':
    case 'readonly':
      return acceptsAbsence(definition.innerType, depth + 1);
    case 'lazy':
      return acceptsAbsence((schema as any)._zod.innerType, depth + 1);
    case 'union':
      for (let index = 0; index < definition.options.length; index++) if (acceptsAbsence(definition.options[index], depth + 1)) return true;
      return false;
    case 'intersection':
      return acceptsAbsence(definition.left, depth + 1) && acceptsAbsence(definition.right, depth + 1);
    default:
      return false;
  }
}

function buildUnion(node: Node, definition: any, path: string, walk: Walk): void {
  const tagged = typeof definition.discriminator === 'string';
  // Exactly one branch of `z.xor` may match; a tagged union also says `inclusive: false`, but its tags already exclude each other.
  const keyword = !tagged && definition.inclusive === false ? 'oneOf' : 'anyOf';
  const options: Node[] = [];
  for (let index = 0; index < definition.options.length; index++) {
    options[index] = convert(definition.options[index], `${path}.${keyword}[${index}]`, walk, false);
  }
  if (options.length === 0) refuseAll(node);
  else node[keyword] = options;
  if (tagged) node['x-discriminator'] = definition.discriminator;
}

/**
 * An intersection refuses an unknown key only when every side refuses it, while `allOf` refuses it when one does.
 * So strict sides give up their refusal: if all are strict it moves to the whole, else they strip, and the other sides decide.
 */
function buildIntersection(schema: unknown, path: string, walk: Walk): Node {
  const sides: { schema: unknown; path: string }[] = [];
  collectSides(schema, path, sides, 0);
  const nodes: Node[] = [];
  let strict = 0;
  for (let index = 0; index < sides.length; index++) {
    const side = sides[index]!;
    const inner = isObject(side.schema) ? unwrapped(side.schema) : undefined;
    const kind = inner === undefined ? undefined : definitionOf(inner)?.type;
    let node = convert(side.schema, side.path, walk, false);
    if (kind === 'record' && node.type === 'object' && (node.propertyNames !== undefined || node.patternProperties !== undefined)) {
      unrepresentable(walk, side.path, 'An intersection with a record that restricts its keys', 'Use one object with `.catchall()`.');
    }
    if (kind === 'object' && definitionOf(definitionOf(inner).catchall)?.type === 'never') {
      if (node.type !== 'object') {
        unrepresentable(
          walk, side.path, 'An intersection with a strict object that is recursive or nullable',
          'Merge the sides into one `z.strictObject`.',
        );
      } else {
        strict++;
        delete node.additionalProperties;
        node['x-unknownKeys'] = 'strip';
      }
    }
    nodes[index] = node;
  }
  const whole = dictionary();
  if (strict > 0 && strict === nodes.length) {
    const known = dictionary();
    for (let index = 0; index < nodes.length; index++) {
      const keys = ownKeys(nodes[index]!.properties);
      for (let other = 0; other < keys.length; other++) known[keys[other] as string] = true;
    }
    whole.type = 'object';
    whole.properties = known;
    whole.additionalProperties = false;
  }
  whole.allOf = nodes;
  return whole;
}

function collectSides(schema: unknown, path: string, sides: { schema: unknown; path: string }[], depth: number): void {
  const definition = definitionOf(schema);
  const plain = !isArray(definition?.checks) || definition.checks.length === 0;
  if (definition?.type === 'intersection' && depth < maximumDepth && (plain || depth === 0)) {
    collectSides(definition.left, `${path}.allOf[0]`, sides, depth + 1);
    collectSides(definition.right, `${path}.allOf[1]`, sides, depth + 1);
  } else {
    sides[sides.length] = { schema, path };
  }
}

function unwrapped(schema: unknown): unknown {
  for (let depth = 0; depth < maximumDepth; depth++) {
    const definition = definitionOf(schema);
    switch (definition?.type) {
      case 'readonly':
      case 'optional':
      case 'nonoptional':
      case 'nullable':
        schema = definition.innerType;
        continue;
      case 'lazy':
        schema = (schema as any)._zod.innerType;
        continue;
    }
    break;
  }
  return schema;
}

function buildDefault(definition: any, path: string, walk: Walk, slot: boolean): Node {
  const name = `.${definition.type}`;
  const before = walk.problems.length;
  const node = convert(definition.innerType, path, walk, slot);
  if (walk.side === 'output') {
    report(
      walk.problems, 'C_SCHEMA_EFFECT', path, `\`${name}\` fills in a value, which only input schemas may do.`,
      'Return the value from the callback.',
    );
    return node;
  }
  if (!slot) {
    report(
      walk.problems, 'C_SCHEMA_EFFECT', path, `\`${name}\` has a meaning only on a property of an object.`,
      'Move it to the property.',
    );
    return node;
  }
  if (definition.defaultIsFunction === true) {
    effect(walk, path, `\`${name}\` with a function`, 'Give the default as a constant.');
    return node;
  }
  try {
    const value = copyJson(definition.defaultValue);
    // Zod calls a function for every read; without the mark that our copy of Zod sets, two different answers give it away.
    if (!sameJson(value, copyJson(definition.defaultValue))) throw new NotJson('', 'a different value each time');
    if (walk.problems.length === before && !walk.hostOnly && !stands(definition, value)) {
      effect(
        walk, path, `\`${name}\` with a value that its own schema would refuse or change`,
        'Give a default that the schema accepts as it is.',
      );
      return node;
    }
    node.default = value;
  } catch (error) {
    const what = error instanceof NotJson ? error.what : 'a value that could not be read';
    effect(walk, path, `\`${name}\` with ${what}`, 'Give the default as a JSON constant.');
  }
  return node;
}

/** Whether Zod itself accepts the default, and for `.default`, which skips validation, leaves it as it is. */
function stands(definition: any, value: unknown): boolean {
  const result = definition.innerType._zod.run({ value: copyForZod(value), issues: [] }, { async: false });
  if (!isArray(result?.issues) || result.issues.length > 0) return false;
  return definition.type === 'prefault' || sameJson(copyJson(result.value), value);
}

// Zod takes only objects with the ordinary prototype for records.
function copyForZod(value: any): any {
  if (!isObject(value)) return value;
  const copy: any = isArray(value) ? [] : {};
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (key !== 'length' || !isArray(value)) copy[key] = copyForZod((value as any)[key]);
  }
  return copy;
}

/** Applies the checks of a definition: its own, when it is a format, and those added to it. */
function checked(node: Node, definition: any, type: string, path: string, walk: Walk): Node {
  if (definition.check !== undefined) applyCheck(node, definition, type, path, walk);
  const checks = definition.checks;
  if (isArray(checks)) {
    for (let index = 0; index < checks.length; index++) applyCheck(node, definitionOf(checks[index]), type, path, walk);
  }
  return node;
}

function applyCheck(node: Node, check: any, type: string, path: string, walk: Walk): void {
  const name = check?.check;
  if (name === 'custom' || check === undefined) {
    effect(
      walk, path, '`.refine`, `.superRefine` or `.check`',
      'Check it inside `execute` and throw, or express it with `.min()`, `.max()` or `.regex()`.',
    );
    return;
  }
  if (name === 'overwrite') {
    effect(
      walk, path, 'A check that rewrites the value, such as `.trim` or `.toLowerCase`,',
      'Accept the value as it comes, and rewrite it inside the callback.',
    );
    return;
  }
  if (typeof check.when === 'function' && !addedByZod(check, 'when')) {
    effect(walk, path, 'A check with a `when` condition', 'Let the check hold always, or describe the cases with a union.');
    return;
  }
  if (type === 'number' && applyNumberCheck(node, check)) return;
  if (type === 'string') {
    if (applyLengthCheck(node, check, 'minLength', 'maxLength')) return;
    if (name === 'string_format') return applyFormat(node, check, path, walk);
  }
  if (type === 'array' || type === 'tuple') {
    if (applyLengthCheck(node, check, 'minItems', 'maxItems')) return;
  }
  unrepresentable(walk, path, `The check \`${typeof name === 'string' ? name : 'unknown'}\` on this type`, 'Check it inside the callback.');
}

/** Zod adds some members to a definition after the author's, so they come last. */
function addedByZod(check: object, added: string): boolean {
  const keys = ownKeys(check);
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index];
    if (key === added) return true;
    if (key !== 'checks' && key !== 'when') return false;
  }
  return false;
}

/** Zod compares a length with any number; data counts in whole ones, so a bound that is none becomes the nearest that is. */
function applyLengthCheck(node: Node, check: any, atLeast: string, atMost: string): boolean {
  const kind = check.check;
  if (kind !== 'min_length' && kind !== 'max_length' && kind !== 'length_equals') return false;
  const value = kind === 'min_length' ? check.minimum : kind === 'max_length' ? check.maximum : check.length;
  if (typeof value !== 'number') return false;
  // A comparison with NaN is false, whatever the length.
  if (value !== value) refuseAll(node);
  else if (kind === 'min_length') {
    if (value === Infinity) refuseAll(node);
    else if (value > 0) put(node, atLeast, ceil(value));
  } else if (kind === 'max_length') {
    if (value < 0) refuseAll(node);
    else if (value !== Infinity) put(node, atMost, floor(value));
  } else if (!isSafeInteger(value) || value < 0) refuseAll(node);
  else {
    put(node, atLeast, value);
    put(node, atMost, value);
  }
  return true;
}

function applyNumberCheck(node: Node, check: any): boolean {
  const value = check.value;
  switch (check.check) {
    case 'greater_than':
    case 'less_than': {
      if (typeof value !== 'number') return false;
      const above = check.check === 'greater_than';
      if (isFinite(value)) put(node, above ? (check.inclusive ? 'minimum' : 'exclusiveMinimum') : check.inclusive ? 'maximum' : 'exclusiveMaximum', value);
      else if (value !== (above ? -Infinity : Infinity)) refuseAll(node);
      return true;
    }
    case 'multiple_of':
      if (typeof value !== 'number') return false;
      if (isFinite(value) && value !== 0) put(node, 'x-multipleOf', value);
      else if (value === 0 || value !== value) refuseAll(node);
      return true;
    case 'number_format':
      return applyNumberFormat(node, check.format);
    default:
      return false;
  }
}

function applyNumberFormat(node: Node, format: unknown): boolean {
  switch (format) {
    case 'safeint':
      return range(node, 'integer', -safeInteger, safeInteger);
    case 'int32':
      return range(node, 'integer', -2147483648, 2147483647);
    case 'uint32':
      return range(node, 'integer', 0, 4294967295);
    case 'float32':
      return range(node, 'number', -3.4028234663852886e38, 3.4028234663852886e38);
    case 'float64':
      return true;
    default:
      return false;
  }
}

function range(node: Node, type: string, minimum: number, maximum: number): true {
  if (type === 'integer') node.type = type;
  put(node, 'minimum', minimum);
  put(node, 'maximum', maximum);
  return true;
}

/** Formats whose pattern, as Zod supplies it, is the whole check. */
const patternFormats = [
  'regex', 'lowercase', 'uppercase', 'email', 'uuid', 'guid', 'nanoid', 'cuid', 'cuid2', 'ulid', 'xid', 'ksuid', 'emoji', 'datetime',
  'date', 'time', 'duration', 'ipv4', 'mac', 'cidrv4', 'e164',
];

function applyFormat(node: Node, check: any, path: string, walk: Walk): void {
  const format = check.format;
  switch (format) {
    case 'starts_with':
      return put(node, 'pattern', `^${escaped(`${check.prefix}`)}`);
    case 'ends_with':
      return put(node, 'pattern', `${escaped(`${check.suffix}`)}$`);
    case 'includes': {
      const skip = isSafeInteger(check.position) && check.position > 0 ? `^[\\s\\S]{${check.position},}` : '';
      return put(node, 'pattern', skip + escaped(`${check.includes}`));
    }
    case 'url':
      walk.hostOnly = true;
      if (check.normalize) {
        effect(walk, path, '`normalize` on `z.url`', 'Accept the address as it comes.');
        return;
      }
      return putFormat(node, 'url', check);
    case 'base64':
      walk.hostOnly = true;
      return put(node, 'pattern', '^(?:[0-9A-Za-z+/]{4})*(?:[0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$');
    case 'base64url':
      walk.hostOnly = true;
      return put(node, 'pattern', '^(?:[0-9A-Za-z_-]{4})*(?:[0-9A-Za-z_-]{2,3})?$');
    case 'ipv6':
    case 'cidrv6':
    case 'credit_card':
    case 'iban':
    case 'jwt':
      walk.hostOnly = true;
      return putFormat(node, format, check);
  }
  if (typeof check.fn === 'function') {
    // `z.stringFormat` and its kin: a pattern that Zod took from the author's own regular expression is the whole check.
    if (check.pattern !== undefined && addedByZod(check, 'pattern')) putPattern(node, check.pattern, path, walk);
    else effect(walk, path, '`z.stringFormat` with a function', 'Give the format as a regular expression.');
    return;
  }
  if (typeof format === 'string' && includes(patternFormats, format)) {
    const first = descriptorOf(node, 'pattern') === undefined && descriptorOf(node, 'x-pattern') === undefined;
    putPattern(node, check.pattern, path, walk);
    // For people and models: the pattern decides.
    const known = annotation(format);
    if (first && known !== undefined) node.format = known;
  } else unrepresentable(walk, path, `The string format \`${typeof format === 'string' ? format : 'unknown'}\``, 'Use `.regex()` with a literal pattern.');
}

/** Adds a check that only the host can run. Its parameters stay beside it, so a second one gets a node of its own. */
/** The name that JSON Schema has for a format of Zod's. */
function annotation(format: string): string | undefined {
  switch (format) {
    case 'email':
    case 'uuid':
    case 'date':
    case 'time':
    case 'duration':
    case 'ipv4':
      return format;
    case 'datetime':
      return 'date-time';
    default:
      return undefined;
  }
}

function putFormat(node: Node, format: string, check: any): void {
  const target = descriptorOf(node, 'x-format') === undefined ? node : dictionary();
  if (target !== node) node.allOf = append(node.allOf ?? [], target);
  target['x-format'] = format;
  if (format === 'url') {
    target.format = 'uri';
    const hostname = regExpParts(check.hostname);
    const protocol = regExpParts(check.protocol);
    if (hostname !== undefined) target['x-hostname'] = hostname;
    if (protocol !== undefined) target['x-protocol'] = protocol;
  }
  if (format === 'jwt' && typeof check.alg === 'string') target['x-algorithm'] = check.alg;
}

function escaped(text: string): string {
  let pattern = '';
  for (let index = 0; index < text.length; index++) {
    const letter = text[index]!;
    pattern += matches(/[\\^$.*+?()[\]{}|/]/, letter) && codeAt(letter, 0) !== 47 ? `\\${letter}` : letter;
  }
  return pattern;
}
