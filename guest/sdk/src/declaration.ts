// Declaration records: what the functions of the package return.
//
// To a project a declaration is an opaque frozen object. The record sits in a private field, so only the SDK
// can read or make one, and no getter or proxy of a project stands between a declaration and the harvest.

import { freeze, isObject, matches, prototypeOf, descriptorOf, slice } from './intrinsics.js';
import { Problems, report } from './problems.js';

export interface ToolRecord {
  kind: 'tool';
  description: unknown;
  inputSchema: unknown;
  outputSchema: unknown;
  execute: unknown;
  /** Set on the stand-in that an unsupported API returns; the harvest skips it. */
  standIn: boolean;
  problems: Problems;
}

export interface ExactDiffRecord {
  kind: 'exactDiff';
  select: unknown;
  options: Record<string, any> | undefined;
  problems: Problems;
}

export interface LlmJudgeRecord {
  kind: 'llmJudge';
  select: unknown;
  prompt: unknown;
  model: string | undefined;
  problems: Problems;
}

export interface WeightedScoreRecord {
  kind: 'weightedScore';
  weights: Record<string, number>;
  threshold: unknown;
  problems: Problems;
}

export interface ToolEntry {
  /** The key in `tools`, or `undefined` when `tools` is an array. */
  key: string | undefined;
  /** Where the entry stands, relative to the definition. */
  path: string;
  tool: unknown;
}

export interface EvaluatorEntry {
  name: string;
  type: 'callback' | 'exactDiff' | 'llmJudge';
  /** The evaluator itself, or the selector of `exactDiff` and `llmJudge`. */
  callback: unknown;
  options: Record<string, any> | undefined;
  prompt: unknown;
  model: string | undefined;
}

export type PassRecord =
  | { type: 'weighted'; weights: Record<string, number>; threshold: unknown }
  | { type: 'predicate'; callback: unknown };

export interface AgentRecord {
  kind: 'agent';
  /** The same for all definitions of one chain. */
  origin: object;
  name: string | undefined;
  instructions: unknown;
  model: string | undefined;
  inputSchema: unknown;
  outputSchema: unknown;
  tools: readonly ToolEntry[];
  skills: readonly string[];
  resources: readonly string[];
  limits: Record<string, number> | undefined;
  filesystem: { cwd: string | null } | null;
  evaluators: readonly EvaluatorEntry[];
  /** Every name that `defineEvaluator` was given, also of evaluators that were refused. */
  evaluatorNames: readonly string[];
  /** How often `defineEvaluator` was called. */
  evaluatorCalls: number;
  pass: PassRecord | null;
  /** Whether `defineEvalPass` was called, even with a rule that was refused. */
  passDefined: boolean;
  problems: Problems;
}

export type DeclarationRecord = ToolRecord | ExactDiffRecord | LlmJudgeRecord | WeightedScoreRecord | AgentRecord;

const key = freeze({});

export class Declaration {
  #record: DeclarationRecord;

  constructor(guard: unknown, record: DeclarationRecord) {
    if (guard !== key) throw new TypeError('Declarations are made by createTool and createAgent.');
    this.#record = record;
    freeze(this);
  }

  static recordOf(value: unknown): DeclarationRecord | undefined {
    return isObject(value) && #record in value ? value.#record : undefined;
  }
}

export const declare = (record: DeclarationRecord): Declaration => new Declaration(key, record);
export const recordOf = Declaration.recordOf;
/** Lets a subclass of `Declaration` be constructed. */
export const guard: unknown = key;

/** A call of a method that does not exist, such as `.asTool()`. The harvest finds out which export it belongs to. */
export interface UnsupportedCall {
  method: string;
  receiver: AgentRecord | undefined;
  /** What the call returned, if that is not its receiver. */
  standIn: ToolRecord | undefined;
  message: string;
  help: string;
}

export const unsupportedCalls: UnsupportedCall[] = [];

const asyncPrototype = prototypeOf(async () => {});
const generatorPrototype = prototypeOf(function* () {});
const asyncGeneratorPrototype = prototypeOf(async function* () {});

/** Reports what keeps `callback` from being a synchronous callback; `code` is for everything but async and generators. */
export function checkCallback(callback: unknown, what: string, code: string, path: string, problems: Problems): void {
  if (typeof callback !== 'function') {
    report(problems, code, path, `${what} must be a function.`, 'Give a synchronous function.');
    return;
  }
  try {
    const prototype = prototypeOf(callback);
    if (prototype === asyncPrototype) {
      report(
        problems, 'C_CALLBACK_ASYNC', path, `${what} is async.`,
        'Callbacks run synchronously: drop `async`; pass fetched data in as input.',
      );
    } else if (prototype === generatorPrototype || prototype === asyncGeneratorPrototype) {
      report(
        problems, 'C_CALLBACK_GENERATOR', path, `${what} is a generator.`,
        'Callbacks run synchronously: drop the `*` and return one value; pass fetched data in as input.',
      );
    } else if (descriptorOf(callback, 'prototype')?.writable === false) {
      report(problems, code, path, `${what} is a class.`, 'Give a function, not a class.');
    }
  } catch {
    report(problems, code, path, `${what} could not be examined: it is a proxy that threw.`, 'Give an ordinary function.');
  }
}

/** What is wrong with a project-relative path: `escape`, `invalid`, or nothing. */
export function pathFault(path: unknown): 'escape' | 'invalid' | undefined {
  if (typeof path !== 'string' || !matches(/\S/, path) || matches(/\0/, path)) return 'invalid';
  if (matches(/^[\\/]|^[A-Za-z]:|(?:^|[\\/])\.\.(?:[\\/]|$)/, path)) return 'escape';
  return undefined;
}

export const isBlank = (value: unknown): boolean => typeof value !== 'string' || !matches(/\S/, value);

/** The first 40 characters of a text for a message. */
export const shown = (text: string): string => `\`${text.length > 40 ? `${slice(text, 0, 40)}…` : text}\``;

export const isToolName = (name: string): boolean => matches(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, name);

