// The built-in functions the SDK relies on, captured before any project code runs.
//
// The harvest walks values that a project made. Project code may have replaced methods on built-in
// prototypes by then, so nothing here is looked up on a prototype again after this module is evaluated.

const { apply } = Reflect;

export const ownKeys = Reflect.ownKeys;
export const isArray = Array.isArray;
export const isFinite = Number.isFinite as (value: unknown) => value is number;
export const isSafeInteger = Number.isSafeInteger;
export const { ceil, floor } = Math;
export const freeze = Object.freeze;
export const prototypeOf = Object.getPrototypeOf as (value: object) => object | null;
export const descriptorOf = Object.getOwnPropertyDescriptor as (
  value: object,
  key: PropertyKey,
) => PropertyDescriptor | undefined;

const createObject = Object.create as (prototype: null) => Record<string, any>;
const { parse, stringify } = JSON;
const stringTrim = String.prototype.trim;
const stringSlice = String.prototype.slice;
const stringCodeAt = String.prototype.charCodeAt;
const stringLower = String.prototype.toLowerCase;
const stringIndexOf = String.prototype.indexOf;
const regExpExec = RegExp.prototype.exec;
const regExpSource = descriptorOf(RegExp.prototype, 'source')!.get!;
const regExpFlags = descriptorOf(RegExp.prototype, 'flags')!.get!;
// `Function` itself does not exist in the guest.
const functionToString = (() => {}).toString;
const mapGetMethod = Map.prototype.get;
const mapSetMethod = Map.prototype.set;
const mapDeleteMethod = Map.prototype.delete;

/** An object without a prototype, so that keys such as `__proto__` and `constructor` are only data. */
export const dictionary = (): Record<string, any> => createObject(null);

export const trim = (text: string): string => apply(stringTrim, text, []);
export const slice = (text: string, from: number, to?: number): string => apply(stringSlice, text, [from, to]);
export const codeAt = (text: string, index: number): number => apply(stringCodeAt, text, [index]);
export const lowerCase = (text: string): string => apply(stringLower, text, []);
export const indexOf = (text: string, part: string): number => apply(stringIndexOf, text, [part]);
export const quote = (text: string): string => stringify(text);

/** The text that a JSON string stands for, or `undefined` for what is none. */
export function unquote(json: string): string | undefined {
  try {
    const text: unknown = parse(json);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The source text of a function. */
export const sourceOf = (callback: unknown): string => apply(functionToString, callback as () => void, []);

/** What `pattern`, which must carry neither `g` nor `y`, matches first in `text`. */
export const firstMatch = (pattern: RegExp, text: string): string | undefined => apply(regExpExec, pattern, [text])?.[0];

/** Whether `pattern`, which must carry neither `g` nor `y`, matches somewhere in `text`. */
export const matches = (pattern: RegExp, text: string): boolean => apply(regExpExec, pattern, [text]) !== null;

/** Source and flags of a regular expression, or `undefined` for anything else. */
export function regExpParts(value: unknown): { source: string; flags: string } | undefined {
  try {
    return { source: apply(regExpSource, value, []), flags: apply(regExpFlags, value, []) };
  } catch {
    return undefined;
  }
}

export const mapGet = <K, V>(map: Map<K, V>, key: K): V | undefined => apply(mapGetMethod, map, [key]) as V | undefined;
export const mapSet = <K, V>(map: Map<K, V>, key: K, value: V): void => void apply(mapSetMethod, map, [key, value]);
export const mapDelete = <K, V>(map: Map<K, V>, key: K): void => void apply(mapDeleteMethod, map, [key]);

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The elements of an array as a new array, or `undefined` for anything else and for what cannot be read. */
export function elements(value: unknown): unknown[] | undefined {
  try {
    if (!isArray(value)) return undefined;
    const list: unknown[] = [];
    for (let index = 0; index < value.length; index++) list[index] = value[index];
    return list;
  } catch {
    return undefined;
  }
}

/** `list` with `item` at its end, as a new array. */
export function append<T>(list: readonly T[], item: T): T[] {
  const longer: T[] = [];
  for (let index = 0; index < list.length; index++) longer[index] = list[index]!;
  longer[list.length] = item;
  return longer;
}

export function includes(list: readonly string[], item: string): boolean {
  for (let index = 0; index < list.length; index++) if (list[index] === item) return true;
  return false;
}

export function join(list: readonly string[], separator: string): string {
  let text = '';
  for (let index = 0; index < list.length; index++) text += (index ? separator : '') + list[index];
  return text;
}
