// Copies of plain JSON data, taken without running anybody's `toJSON`.

import { descriptorOf, dictionary, isArray, isFinite, isObject, ownKeys, prototypeOf } from './intrinsics.js';
import { member } from './problems.js';

const objectPrototype = Object.prototype;
/** With the manifest around it this stays under the 128 levels at which common JSON readers stop. */
const maximumDepth = 120;

/** Thrown by `copyJson` inside the SDK; `path` leads to the value that is not JSON, `what` says what it is. */
export class NotJson {
  constructor(
    readonly path: string,
    readonly what: string,
  ) {}
}

/** A deep copy of JSON data, or a thrown `NotJson`. Objects come back without a prototype. */
export function copyJson(value: unknown, path = '', depth = 0): any {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!isFinite(value)) throw new NotJson(path, 'a number that is not finite');
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      throw new NotJson(path, value === undefined ? 'undefined' : `a ${typeof value}`);
  }
  if (value === null) return null;
  if (depth >= maximumDepth) throw new NotJson(path, 'nested too deeply, or a cycle');
  if (isArray(value)) {
    const list: unknown[] = [];
    for (let index = 0; index < value.length; index++) list[index] = copyJson(element(value, index, path), `${path}[${index}]`, depth + 1);
    return list;
  }
  const prototype = prototypeOf(value as object);
  if (prototype !== null && prototype !== objectPrototype) throw new NotJson(path, 'an instance of a class');
  const copy = dictionary();
  const keys = ownKeys(value as object);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    const descriptor = descriptorOf(value as object, key);
    if (!descriptor?.enumerable) continue;
    if (typeof key !== 'string') throw new NotJson(path, 'an object with a symbol as key');
    if (descriptor.get || descriptor.set) throw new NotJson(member(path, key), 'a getter');
    copy[key] = copyJson(descriptor.value, member(path, key), depth + 1);
  }
  return copy;
}

function element(list: readonly unknown[], index: number, path: string): unknown {
  const descriptor = descriptorOf(list, index);
  if (!descriptor || descriptor.get || descriptor.set) throw new NotJson(`${path}[${index}]`, 'a hole or a getter');
  return descriptor.value;
}

/** Whether two values that `copyJson` returned are the same data; the order of keys does not matter. */
export function sameJson(left: any, right: any): boolean {
  if (left === right) return true;
  if (!isObject(left) || !isObject(right) || isArray(left) !== isArray(right)) return false;
  const keys = ownKeys(left);
  if (keys.length !== ownKeys(right).length) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (!descriptorOf(right, key) || !sameJson((left as any)[key], (right as any)[key])) return false;
  }
  return true;
}
