// Types of `@eigenpal/automations`. They need only `lib: ["ES2022"]` and `types: []`.
//
// Callbacks are synchronous: one argument in, plain JSON data out.

import type { z } from 'zod';

/** A raw JSON Schema, draft 2020-12 or draft-07. Callbacks see `unknown` where one is used. */
export type JsonSchema = { readonly [keyword: string]: unknown };

type Scalar = string | number | boolean | null | undefined;

/** `T` with every property and array readonly, at any depth. */
export type DeepReadonly<T> = unknown extends T
  ? T
  : T extends Scalar | ((...args: never[]) => unknown)
    ? T
    : T extends readonly (infer Item)[]
      ? number extends T['length']
        ? // Not the mapped type below: it would be worked out at once, without end for a recursive type.
          readonly DeepReadonly<Item>[]
        : { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T extends object
        ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
        : T;

/** `T` with every property optional, at any depth; arrays hold partial items. */
export type DeepPartial<T> = unknown extends T
  ? T
  : T extends Scalar | ((...args: never[]) => unknown)
    ? T
    : T extends readonly (infer Item)[]
      ? DeepPartial<Item>[]
      : T extends object
        ? { [K in keyof T]?: DeepPartial<T[K]> | undefined }
        : T;

declare const output: unique symbol;
declare const names: unique symbol;
declare const tool: unique symbol;
declare const kind: unique symbol;

type InputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown;
type ResultOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : { [key: string]: unknown };
/** A promise is never a result, even where the schema alone would allow an object. */
type Synchronous<T> = T & { then?: never };
/** What a selector may return: anything but promises and generators. */
type Selected<T> = T extends PromiseLike<unknown> | { next(...args: never[]): unknown } ? never : T;

/** What `createTool` returns. */
export interface Tool {
  readonly [tool]: true;
}

/** Declares a function that the model may call. Its name is the export, or the key in `tools`. */
export declare function createTool<
  const Input extends z.ZodType | JsonSchema,
  const Output extends z.ZodType | JsonSchema,
>(options: {
  /** What the tool does, for the model; at most 4096 characters. */
  description: string;
  /** Must describe an object. */
  inputSchema: Input;
  /** Must describe an object. */
  outputSchema: Output;
  /** Runs with the validated input. Not async, not a generator. */
  execute: (input: InputOf<Input>) => Synchronous<ResultOf<Output>>;
}): Tool;

/** What evaluators and judge selectors receive. `expected` is partial, because an example may leave fields out. */
export interface EvaluationData<Output> {
  readonly actual: DeepReadonly<Output>;
  readonly expected?: DeepReadonly<DeepPartial<Output>> | undefined;
}

/** What `exactDiff` returns. */
export interface ExactDiff<Output> {
  readonly [output]?: (output: Output) => void;
  readonly [kind]: 'exactDiff';
}

/** What `llmJudge` returns. */
export interface LlmJudge<Output> {
  readonly [output]?: (output: Output) => void;
  readonly [kind]: 'llmJudge';
}

/** What `weightedScore` returns; `Names` are the scores it weighs. */
export interface WeightedScore<Names extends string> {
  readonly [names]: Names;
}

/** A callback that returns a finite score from 0 to 1, or `exactDiff` or `llmJudge`. */
export type Evaluator<Output> = ((data: EvaluationData<Output>) => number) | ExactDiff<Output> | LlmJudge<Output>;

type Count = 0 | 1 | 2 | 3 | 4;
type Less = [0, 0, 1, 2, 3];
type Special = '.' | '[' | ']' | '$' | ' ' | '\t' | '\n' | '\r' | '"' | '\\';
/** The path of a member; names with special characters are quoted, as in `["a.b"]`. */
type Member<At extends string, Name extends string> = Name extends '' | `${string}${Special}${string}`
  ? `${At}["${Name}"]`
  : At extends ''
    ? Name
    : `${At}.${Name}`;
/** The paths below `At`, where a `T` stands: so many names more, and so many arrays in arrays. */
type Below<T, At extends string, Names extends Count, Arrays extends Count = 4> = unknown extends T
  ? `${At}.${string}` | `${At}[]${string}`
  : T extends Scalar
    ? never
    : T extends readonly (infer Item)[]
      ? Arrays extends 0
        ? never
        : `${At}[]` | Below<Item, `${At}[]`, Names, Less[Arrays]>
      : Names extends 0
        ? never
        : {
            // Behind any name at all, anything is a path already.
            [Name in keyof T & (string | number)]-?:
              | Member<At, `${Name}`>
              | ({} extends { [Key in Name]: unknown } ? never : Below<T[Name], Member<At, `${Name}`>, Less[Names]>);
          }[keyof T & (string | number)];
type BelowRoot<T> = T extends readonly unknown[] ? Below<T, '$', 4> : Below<T, '', 4>;

/** The paths of a projection, to four levels: `$`, `total`, `lineItems`, `lineItems[]`, `lineItems[].sku`. */
export type RulePath<Projection> = unknown extends Projection ? string : '$' | BelowRoot<Projection>;

/** Paths that may also name an item by its index: `lineItems[0].sku`. */
type Indexed<Path extends string> = Path extends `${infer Before}[]${infer After}`
  ? `${Before}${'[]' | `[${number}]`}${Indexed<After>}`
  : Path;

/** How one place of the projection is compared. A setting also holds below its path, except `matchBy`. */
export type ComparisonRule =
  | { ignore: true }
  | ({
      ignore?: never;
      /** Default `true`. */
      allowExtraFields?: boolean;
      /** Largest absolute difference that still matches. */
      numericTolerance?: number;
      /** Default `'at-least'`: expected items first, more may follow. */
      items?: 'at-least' | 'at-most' | 'exactly';
    } & (
      | { order?: 'ordered' | 'unordered'; matchBy?: never }
      | { order: 'unordered'; matchBy: string | readonly string[] }
    ));

/** Rules by path, or settings for the whole projection; never both. */
export type ComparisonOptions<Projection> =
  | {
      rules?: { readonly [Path in RulePath<Projection>]?: ComparisonRule };
      paths?: never;
      unorderedPaths?: never;
      numericTolerance?: never;
      allowExtraFields?: never;
    }
  | {
      rules?: never;
      /** Compare only these. */
      paths?: readonly Indexed<RulePath<Projection>>[];
      /** Arrays whose order does not count. */
      unorderedPaths?: readonly Exclude<RulePath<Projection>, `${string}[]`>[];
      numericTolerance?: number;
      allowExtraFields?: boolean;
    };

/** Selects the same part of the actual and of the expected output, and compares the two. */
export declare function exactDiff<Output, Projection>(options: {
  /** Runs once for each side, so nested values may be missing. */
  select: (output: DeepReadonly<DeepPartial<Output>>) => Selected<Projection>;
  options?: ComparisonOptions<Projection>;
}): ExactDiff<Output>;

/** Lets a model score what `select` discloses to it. The model is called outside the callback. */
export declare function llmJudge<Output, Disclosed = unknown>(options: {
  /** 10 to 131072 characters. */
  prompt: string;
  /** Returns what the model may see, and nothing else. */
  select: (data: EvaluationData<Output>) => Selected<Disclosed>;
  /** A configured model of the organization; left out, the configured selection. */
  model?: string;
}): LlmJudge<Output>;

/** Passes when the weighted mean of the listed scores reaches the threshold, which counts as reached. */
export declare function weightedScore<const Weights extends { readonly [name: string]: number }>(options: {
  /** Finite, at least 0, with a sum above 0. Scores that are not listed do not contribute. */
  weights: Weights;
  /** From 0 to 1. */
  threshold: number;
}): WeightedScore<keyof Weights & string>;

/** The scores a predicate sees: exactly the registered names. */
export type Scores<Names extends string> = { readonly [Name in Names]: number };

/** A pass rule: `weightedScore`, or a predicate. */
export type PassRule<Names extends string> = WeightedScore<Names> | ((scores: Scores<Names>) => boolean);

type Mode = 'plain' | 'filesystem';

interface WithFilesystem<Definition> {
  /** Gives the agent sandbox tools for files and commands. `cwd` is a project-relative directory; null is an empty one. */
  withFilesystem(options?: { cwd?: string | null }): Definition;
}

type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never;
/** `Name` if it is one literal that is not taken yet. */
type FreshName<Name extends string, Taken extends string> = {} extends { [Key in Name]: unknown }
  ? never
  : true extends IsUnion<Name>
    ? never
    : Name extends Taken
      ? never
      : Name;

interface Evaluations<Output, Names extends string, Kind extends Mode> {
  /** Adds an evaluator. Names are literal and unique, letters first, at most 64 characters; at most 32 evaluators. */
  defineEvaluator<const Name extends string>(
    name: FreshName<Name, Names>,
    evaluator: Evaluator<Output>,
  ): AgentDefinition<Output, Names | Name, Kind>;
  /** Finishes the evaluations. */
  defineEvalPass(rule: [Names] extends [never] ? never : PassRule<Names>): FinishedDefinition<Output, Names, Kind>;
}

interface AgentBrand<Output, Names extends string> {
  readonly [output]?: Output;
  readonly [names]?: Names;
}

/** An agent. Every method returns a new definition and leaves this one as it is. */
export type AgentDefinition<Output, Names extends string = never, Kind extends Mode = 'plain'> = AgentBrand<Output, Names> &
  Evaluations<Output, Names, Kind> &
  (Kind extends 'plain' ? WithFilesystem<AgentDefinition<Output, Names, 'filesystem'>> : unknown);

/** An agent whose evaluations are complete. */
export type FinishedDefinition<Output, Names extends string, Kind extends Mode = 'plain'> = AgentBrand<Output, Names> &
  (Kind extends 'plain' ? WithFilesystem<FinishedDefinition<Output, Names, 'filesystem'>> : unknown);

/** Declares an agent. */
export declare function createAgent<
  const InputSchema extends z.ZodType | JsonSchema | undefined = undefined,
  const OutputSchema extends z.ZodType | JsonSchema | undefined = undefined,
>(options: {
  /** Lower-case letters, digits, `-` and `_`; at most 128 characters. */
  name: string;
  instructions: string;
  /** A configured model of the organization; left out, the configured selection. */
  model?: string;
  inputSchema?: InputSchema;
  /** Types the evaluators. Left out or raw, they see `unknown`. */
  outputSchema?: OutputSchema;
  /** At most 64, by name; tools in an array are named by their export. */
  tools?: { readonly [name: string]: Tool } | readonly Tool[];
  /** Project-relative directories. */
  skills?: readonly string[];
  /** Project-relative paths. */
  resources?: readonly string[];
  /** Guards of inference and tools; evaluations have their own. */
  limits?: { maxTurns?: number; maxTokens?: number; timeoutMs?: number };
}): AgentDefinition<InputOf<OutputSchema>>;
