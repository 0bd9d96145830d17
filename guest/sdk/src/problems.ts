// Problems are data: a wrong declaration never throws, so one compile reports everything that is wrong.
//
// The path of a problem in a manifest. The host looks it up in the TypeScript, so it follows what the author wrote.
//
//   path   := "" | export step*         "" is the module as a whole
//   export := word | quoted             the exported name; `default` where the default export is one of several names
//   step   := "." word | quoted | "[" index "]" | part
//   word   := letters, digits, `_`, `$` and `-`, but no digit or `-` first
//   quoted := "[" JSON string "]"       for other names: `agent.tools["not ok"]`
//   part   := "[]" | ".*" | ".*(key)"   in schemas: the items of an array, the values and the keys of a record
//
// Behind the export stand option names: `tool.execute`, `agent.skills[0]`, `agent.limits.maxTurns`. The methods of a chain are
//   evaluators.NAME or evaluators[N]    `defineEvaluator` with that name, or the N-th call (from 0) when its name is not a string
//   pass, filesystem                    the argument of `defineEvalPass`, of `withFilesystem`
//   NAME                                a method that does not exist, such as `asTool`
// and the options of `exactDiff`, `llmJudge` and `weightedScore` follow their place: `agent.evaluators.fields.options.rules.total`.
// Inside a schema come its properties, tuple positions `[0]`, and `.anyOf[0]`, `.oneOf[0]`, `.allOf[0]` for the sides of unions and
// intersections; raw JSON Schemas are walked by their own keys.
// A path names the deepest option that is wrong. When a name stands twice, as in C_EVALUATOR_DUPLICATE, the later one is meant.
// A tool that is exported is named by its export, a tool that is not by its place in the first agent that has it.

import { codeAt, descriptorOf, dictionary, includes, isArray, isObject, join, lowerCase, matches, ownKeys, quote } from './intrinsics.js';

/** One thing wrong with a declaration. `path` is relative to the record that holds the problem. */
export interface Problem {
  code: string;
  path: string;
  message: string;
  help: string;
}

export type Problems = Problem[];

export function report(problems: Problems, code: string, path: string, message: string, help: string): void {
  problems[problems.length] = { code, path, message, help };
}

/** `base` with the member `name` behind it: `a.b`, or `a["b c"]` when `name` is not a plain word. */
export function member(base: string, name: string): string {
  if (!matches(/^[A-Za-z_$][\w$-]*$/, name)) return `${base}[${quote(name)}]`;
  return base === '' ? name : `${base}.${name}`;
}

/** `base` and a path relative to it, as one path. */
export function under(base: string, path: string): string {
  if (path === '' || base === '') return base + path;
  return codeAt(path, 0) === 91 ? base + path : `${base}.${path}`;
}

/** The names as text: `` `a`, `b` ``. */
export function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : `\`${join(names, '`, `')}\``;
}

/** The name out of `names` that `name` was probably meant to be, at most two letters away. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (let index = 0; index < names.length; index++) {
    const distance = editDistance(lowerCase(name), lowerCase(names[index]!), bestDistance);
    if (distance < bestDistance) {
      best = names[index];
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(left: string, right: string, limit: number): number {
  if (left.length > 64 || right.length > 64) return limit;
  let above: number[] = [];
  for (let column = 0; column <= right.length; column++) above[column] = column;
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = above[column - 1]! + (codeAt(left, row - 1) === codeAt(right, column - 1) ? 0 : 1);
      const removed = above[column]! + 1;
      const inserted = current[column - 1]! + 1;
      current[column] = replaced < removed ? (replaced < inserted ? replaced : inserted) : removed < inserted ? removed : inserted;
    }
    above = current;
  }
  return above[right.length]!;
}

/**
 * The own enumerable members of an options object, copied into a dictionary.
 *
 * Anything but an object, an unknown key and a getter that throws become problems with `code` at `path`; the rest is still read.
 * Members that are `undefined` count as left out.
 */
export function readOptions(
  value: unknown,
  allowed: readonly string[],
  what: string,
  code: string,
  path: string,
  problems: Problems,
): Record<string, any> {
  const options = dictionary();
  if (!isObject(value) || isArray(value)) {
    report(problems, code, path, `${what} takes one object of options.`, `Pass an object with ${listed(allowed)}.`);
    return options;
  }
  try {
    const keys = ownKeys(value);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!;
      if (typeof key !== 'string' || !descriptorOf(value, key)?.enumerable) continue;
      if (includes(allowed, key)) {
        const option = (value as Record<string, unknown>)[key];
        if (option !== undefined) options[key] = option;
        continue;
      }
      const meant = nearest(key, allowed);
      report(
        problems,
        code,
        member(path, key),
        `${what} has no option \`${key}\`.`,
        meant === undefined ? `The options are ${listed(allowed)}.` : `Did you mean \`${meant}\`?`,
      );
    }
  } catch {
    report(problems, code, path, `The options of ${what} could not be read: reading them threw.`, 'Pass a plain object without getters.');
  }
  return options;
}
