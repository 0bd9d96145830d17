//! TypeScript as people write it in 2026, compiled and run: what each feature is worth, and what is refused instead.

use crate::project::{Files, probe, value};
use serde_json::{Value, json};

/// One feature: the module `probe.ts`, whose default export is called in a cell, and what that gives.
type Row<'t> = (&'t str, Value);

fn run(table: &[Row<'_>]) {
    for (source, expected) in table {
        assert_eq!(&value(&[("probe.ts", source)]), expected, "{source}");
    }
}

// CB-08, 2.1 step 5
#[test]
fn enums() {
    run(&[
        (
            "enum Level { Low, High = 5, Higher }
export default () => [Level.Low, Level.High, Level.Higher, Level[0], Level[6], Object.keys(Level)];",
            json!([0, 5, 6, "Low", "Higher", ["0", "5", "6", "Low", "High", "Higher"]]),
        ),
        (
            "enum Currency { Euro = 'EUR', Dollar = 'USD' }
export default () => [Currency.Euro, Object.entries(Currency)];",
            json!(["EUR", [["Euro", "EUR"], ["Dollar", "USD"]]]),
        ),
        (
            "enum Mixed { A = 1, B = 'b', C = `c${1}` as any, D = 'x'.length, E = 1 << 4, F = E | A, G = -1, 'two words' = 7 }
export default () => [Mixed.A, Mixed.B, Mixed.C, Mixed.D, Mixed.E, Mixed.F, Mixed[-1], Mixed['two words'], Mixed[7]];",
            json!([1, "b", "c1", 1, 16, 17, "G", 7, "two words"]),
        ),
        (
            "const enum Flag { None = 0, Read = 1 << 0, Write = 1 << 1, All = Read | Write }
export default () => [Flag.All, Flag['Write'], (Flag.All & Flag.Read) === Flag.Read];",
            json!([3, 2, true]),
        ),
        (
            "enum Part { One = 1 }
enum Part { Two = One + 1 }
declare enum Ambient { Gone }
namespace Part { export const both = () => Part.One + Part.Two; }
export default () => [Part.Two, Part[2], Part.both()];",
            json!([2, "Two", 3]),
        ),
    ]);
    let across = value(&[
        (
            "probe.ts",
            "import { Level, Flag, type Level as Kind } from './enums.ts';
import * as enums from './enums.ts';
const names: Record<Kind, string> = { [Level.Low]: 'low', [Level.High]: 'high' };
export default () => [names[Level.High], Flag.On, enums.Level[1], enums.Flag.On, Object.values(Level)];",
        ),
        ("enums.ts", "export enum Level { Low, High }\nexport const enum Flag { Off, On = 'on' }\n"),
    ]);
    assert_eq!(across, json!(["high", "on", "High", "on", ["Low", "High", 0, 1]]));
}

// 2.1 step 5
#[test]
fn namespaces() {
    run(&[
        (
            "namespace Money { export const rate = 2; export const double = (n: number) => n * rate; }
namespace Money { export const quadruple = (n: number) => Money.double(Money.double(n)); }
export default () => [Money.quadruple(3), Object.keys(Money)];",
            json!([12, ["rate", "double", "quadruple"]]),
        ),
        (
            "namespace A.B.C { export function f() { return 'deep'; } }
namespace A { export namespace B { export const g = 1; export enum E { X = 9 } } const hidden = 2; export class D { h = hidden; } }
import short = A.B;
import f = A.B.C.f;
export default () => [A.B.C.f(), f(), short.g, short.E.X, new A.D().h, 'hidden' in A];",
            json!(["deep", "deep", 1, 9, 2, false]),
        ),
        (
            "function build(n: number) { return build.prefix + n; }
namespace build { export const prefix = 'n'; }
class Shape { side = Shape.unit; }
namespace Shape { export const unit = 4; }
namespace OnlyTypes { export interface T { x: number } export type U = T; }
declare namespace Ambient { const x: number; }
const typed: OnlyTypes.U = { x: 1 };
export default () => [build(1), new Shape().side, typed.x];",
            json!(["n1", 4, 1]),
        ),
    ]);
    let across = value(&[
        ("probe.ts", "import { Outer } from './outer.ts';\nexport default () => [Outer.Inner.x, Outer.sum([1, 2])];"),
        (
            "outer.ts",
            "export namespace Outer { export namespace Inner { export const x = 1; } export const sum = (list: number[]) => list.reduce((a, b) => a + b, Inner.x); }",
        ),
    ]);
    assert_eq!(across, json!([1, 4]));
}

// 2.1 step 5: TypeScript binds a bare name in one block of a namespace to what another block exports
#[test]
fn blocks_of_one_namespace_see_each_others_exports() {
    run(&[
        (
            "namespace M { export const a = 1; }
namespace M { export const b = () => a; }
export default () => M.b();",
            json!(1),
        ),
        (
            "namespace M { export namespace N { export const a = 2; } }
namespace M { export const b = () => N.a; }
export default () => M.b();",
            json!(2),
        ),
        (
            "enum E { A = 3 }
namespace E { export const b = () => A; }
export default () => (E as any).b();",
            json!(3),
        ),
        (
            "const a = 'outer', c = 'own';
export namespace M { export const a = 'inner'; export function f() { return { a }; } export enum E { X = 7 } }
export namespace M { const c = 'block'; export const b = () => [a, c, f().a, E.X, ((a: string) => a)('parameter'), { a, c }, `${a}`]; }
namespace M.N { export const deep = () => a + f().a; }
namespace M { export const last = () => N.deep(); }
export default () => [M.b(), M.last(), a, c];",
            json!([
                ["inner", "block", "inner", 7, "parameter", { "a": "inner", "c": "block" }, "inner"],
                "innerinner",
                "outer",
                "own"
            ]),
        ),
        (
            "enum E { A = 1, B }
enum E { C = A + 10, D = B * 10 }
class K { static s = 1; }
namespace K { export const t = 2; }
namespace K { export const u = () => [t, K.s]; }
function f() { return f.x; }
namespace f { export const x = 4; }
namespace f { export const y = x + 1; }
export default () => [E.C, E.D, E[11], K.u(), f(), f.y];",
            json!([11, 20, "C", [2, 1], 4, 5]),
        ),
    ]);
}

// 2.1 step 5
#[test]
fn a_name_of_another_block_must_be_reachable() {
    let files = probe(&[(
        "probe.ts",
        "namespace M { export const a = 1; }
namespace M { export const b = (M: number) => a + M; }
export default () => M.b(1);",
    )]);
    let found = files.found();
    assert_eq!(
        found[0].to_string(),
        "probe.ts:2:47: C_SYNTAX: this name comes from another block of the namespace, whose own name means something else here"
    );
    assert_eq!(
        (found.len(), found[0].help.as_deref()),
        (1, Some("give the inner variable another name than the namespace"))
    );
}

// 2.1 step 5
#[test]
fn classes() {
    run(&[
        (
            "class Point { constructor(public x: number, protected readonly y = 2, private z?: number) { this.x *= 10; } sum() { return this.x + this.y; } }
class Named extends Point { label: string; constructor(readonly name: string) { super(1); this.label = name + this.y; } }
export default () => [new Point(1).sum(), Object.keys(new Point(1)), new Named('n').label, Object.keys(new Named('n'))];",
            json!([12, ["x", "y", "z"], "n2", ["x", "y", "z", "name", "label"]]),
        ),
        (
            "abstract class Base { abstract area(): number; abstract readonly kind: string; describe() { return `${this.kind} ${this.area()}`; } }
class Square extends Base { override readonly kind = 'square'; constructor(private side: number) { super(); } override area() { return this.side ** 2; } }
export default () => new Square(3).describe();",
            json!("square 9"),
        ),
        (
            "class Account {
  static #count = 0;
  #balance = 0;
  static { Account.#count = 10; }
  get balance(): number { return this.#balance; }
  set balance(value: number) { this.#balance = Math.max(0, value); }
  #add(n: number) { this.#balance += n; return this; }
  static open(n: number) { Account.#count++; return new Account().#add(n); }
  static is(value: object): value is Account { return #balance in value; }
  static get count() { return Account.#count; }
}
export default () => { const a = Account.open(5); a.balance -= 7; const b = Account.open(2); return [a.balance, b.balance, Account.count, Account.is(a), Account.is({}), Object.keys(a)]; };",
            json!([0, 2, 12, true, false, []]),
        ),
        (
            "class Lazy { value!: number; declare hint: string; optional?: string; static readonly list: readonly string[] = ['a']; ['computed' + 1] = 1; load() { this.value = 1; return this; } }
class Child extends Lazy { declare value: number; }
export default () => [Object.keys(new Lazy()), Lazy.list, new Child().load().value, 'hint' in new Lazy()];",
            json!([["value", "optional", "computed1"], ["a"], 1, false]),
        ),
        (
            "interface Timestamped { at: number }
type Constructor<T = object> = new (...values: any[]) => T;
function stamped<B extends Constructor>(base: B) { return class extends base implements Timestamped { at = 7; }; }
class User { constructor(public name: string) {} }
export default () => { const one = new (stamped(User))('Ada'); return [one.name, one.at, one instanceof User]; };",
            json!(["Ada", 7, true]),
        ),
        (
            "class Chain { private steps: string[] = []; add(step: string): this { this.steps.push(step); return this; } get text() { return this.steps.join('>'); }
  static from<T extends Chain>(this: new () => T): T { return new this(); } }
class Loud extends Chain { override get text() { return super.text.toUpperCase(); } }
export default () => Loud.from().add('a').add('b').text;",
            json!("A>B"),
        ),
        (
            "class Range { constructor(private from: number, private to: number) {} *[Symbol.iterator]() { for (let n = this.from; n < this.to; n++) yield n; } get [Symbol.toStringTag]() { return 'Range'; } }
export default () => [[...new Range(1, 4)], String(new Range(0, 0))];",
            json!([[1, 2, 3], "[object Range]"]),
        ),
    ]);
}

// ECMAScript's explicit resource management, lowered by the compiler
#[test]
fn using_declarations() {
    let resource = "const log: string[] = [];
const open = (name: string, fault = false) => ({ name, [Symbol.dispose]() { log.push(`close ${name}`); if (fault) throw new Error(`close ${name}`); } });
";
    let run = |table: &[Row<'_>]| {
        for (body, expected) in table {
            let source = format!("{resource}{body}");
            assert_eq!(&value(&[("probe.ts", &source)]), expected, "{body}");
        }
    };
    run(&[
        (
            "export default () => { { using a = open('a'), b = open('b'); using c = open('c'); log.push(a.name + b.name + c.name); } return log; };",
            json!(["abc", "close c", "close b", "close a"]),
        ),
        (
            "function early() { using a = open('a'); if (a) return 'returned'; using b = open('b'); return b.name; }
export default () => [early(), log];",
            json!(["returned", ["close a"]]),
        ),
        (
            "export default () => { for (using item of ['x', 'y', 'z'].map((name) => open(name))) { if (item.name === 'y') break; log.push(item.name); } return log; };",
            json!(["x", "close x", "close y"]),
        ),
        (
            "export default () => { for (let i = 0; i < 2; i++) { using r = open(String(i)); if (i === 0) continue; log.push(r.name); } return log; };",
            json!(["close 0", "1", "close 1"]),
        ),
        (
            "export default () => { { using nothing = null; using none = undefined; log.push(String(nothing) + String(none)); } return log; };",
            json!(["nullundefined"]),
        ),
        (
            "export default () => {
  try { using a = open('a', true); using b = open('b', true); throw new Error('body'); }
  catch (error) { const outer = error as SuppressedError; const inner = outer.suppressed as SuppressedError;
    return [outer instanceof SuppressedError, outer.name, outer.error.message, inner.error.message, inner.suppressed.message, log]; }
};",
            json!([true, "SuppressedError", "close a", "close b", "body", ["close b", "close a"]]),
        ),
        (
            "export default () => { try { using a = open('a', true); } catch (error) { return [(error as Error).name, (error as Error).message]; } };",
            json!(["Error", "close a"]),
        ),
        (
            "export default () => { try { using a = open('a'); throw undefined; } catch (error) { return [error === undefined, log]; } };",
            json!([true, ["close a"]]),
        ),
        (
            "export default () => { const names: string[] = []; for (const wrong of [{}, 1, 'text', { [Symbol.dispose]: 1 }] as any[]) { try { using it = wrong; names.push('kept'); } catch (error) { names.push((error as Error).name); } } return names; };",
            json!(["TypeError", "TypeError", "TypeError", "TypeError"]),
        ),
        (
            "export default () => { { using stack = new DisposableStack(); stack.use(open('a')); stack.defer(() => log.push('deferred')); stack.adopt('v', (v) => log.push('adopted ' + v)); } return log; };",
            json!(["adopted v", "deferred", "close a"]),
        ),
        (
            "using top = open('module');
log.push('top ' + top.name);
export const kept = 1;
export default () => log;",
            json!(["top module", "close module"]),
        ),
        (
            "class Held implements Disposable { static closed = 0; [Symbol.dispose]() { Held.closed += 1; } }
const nested = () => { using a = new Held(); const inner = () => { using b = new Held(); return Held.closed; }; return [inner(), Held.closed, a instanceof Held]; };
export default () => { switch (1) { case 1: { using c = new Held(); break; } } return [Held.closed, nested(), Held.closed]; };",
            json!([1, [1, 2, true], 3]),
        ),
    ]);
}

// CB-110, D-17
#[test]
fn types_in_every_place_disappear() {
    run(&[
        (
            "const palette = { red: [255, 0, 0], green: '#0f0' } satisfies Record<string, string | number[]>;
const roles = ['admin', 'user'] as const;
type Role = (typeof roles)[number];
const first: Role = roles[0];
export default () => [palette.green.toUpperCase(), palette.red.length, first, (<const T,>(value: T) => value)('x' as const)];",
            json!(["#0F0", 3, "admin", "x"]),
        ),
        (
            "function pick<const T extends readonly string[]>(list: T): T[number] { return list[0]!; }
const generic = <T,>(value: T): T[] => [value];
const bounded = <T extends { length: number }, K extends keyof T = keyof T>(value: T, key: K) => value[key];
const asserted = <number>(<unknown>'7');
const instance = new Map<string, Array<Map<string, number>>>([['a', []]]);
const partial = generic<string>;
export default () => [pick(['a', 'b']), generic(1), bounded('four', 'length'), asserted, instance.size, partial('s')];",
            json!(["a", [1], 4, "7", 1, ["s"]]),
        ),
        (
            "function over(value: string): string;
function over(value: number, times: number): number;
function over(value: string | number, times = 1): string | number { return typeof value === 'number' ? value * times : value + '!'; }
class Box { get(): number; get(fallback: string): string; get(fallback?: string): number | string { return fallback ?? 1; } }
export default () => [over('a'), over(2, 3), new Box().get(), new Box().get('f')];",
            json!(["a!", 6, 1, "f"]),
        ),
        (
            "type Cat = { kind: 'cat'; lives: number }; type Dog = { kind: 'dog' }; type Pet = Cat | Dog;
const isCat = (pet: Pet): pet is Cat => pet.kind === 'cat';
function assertCat(pet: Pet): asserts pet is Cat { if (!isCat(pet)) throw new Error('no cat'); }
function assert(condition: unknown, message?: string): asserts condition { if (!condition) throw new Error(message); }
function exhaustive(value: never): never { throw new Error(`unexpected ${value}`); }
const speak = (pet: Pet) => { switch (pet.kind) { case 'cat': return 'meow'; case 'dog': return 'woof'; default: return exhaustive(pet); } };
export default () => { const pet = { kind: 'cat', lives: 9 } as Pet; assertCat(pet); assert(pet.lives > 0); return [pet.lives, speak({ kind: 'dog' })]; };",
            json!([9, "woof"]),
        ),
        (
            "type Event<Name extends string> = `on${Capitalize<Name>}`;
type Handlers<T> = { readonly [K in keyof T as Event<K & string>]?: (value: T[K]) => void };
type Pair = [first: string, second?: number, ...rest: boolean[]];
type Unwrap<T> = T extends Promise<infer U extends string> ? U : T extends (infer V)[] ? V : never;
type Getter = { get x(): number; set x(value: number | string) };
interface Callable { (value: number): string; new (value: string): Date; readonly [key: `data-${string}`]: unknown; method?<T>(this: Window, ...values: T[]): void }
declare const window: Window; declare function fetch(url: string): Promise<unknown>; declare let later: number; declare global { interface Window { x: 1 } }
const handler: Handlers<{ click: number }> = { onClick: () => {} };
const pair: Pair = ['a', 1, true];
let u: Unwrap<string[]> = 'u'; let unique: unique symbol | undefined; let key: keyof typeof pair; abstract class Empty {}
export default () => [Object.keys(handler), pair, u, typeof unique, typeof key!];",
            json!([["onClick"], ["a", 1, true], "u", "undefined", "undefined"]),
        ),
        (
            "let definite!: string;
const set = () => { definite = 'set'; };
export default function (this: void, optional?: number, ...rest: string[]) { set(); const maybe: string | null = definite; return [maybe!.length, (maybe as any as string)!, optional ?? 'none', rest.length]; }",
            json!([3, "set", "none", 0]),
        ),
        (
            "import type Default from 'nowhere';
import type { Inline, default as Again } from 'nowhere';
import { type A, type B as C } from 'nowhere/else';
import type * as all from 'node:fs';
export type { A }; export { type C }; export type Mine = Default | Inline | Again | all.Stats; export interface Also { x: import('more').X }
export default () => 'types are gone';",
            json!("types are gone"),
        ),
        (
            "const value = { a: { b: [{ c: 1 }] } } as { a?: { b?: { c?: number }[]; f?(): number; g?: Record<string, number> } };
let missing: number | null = null; let zero = 0; let empty = ''; const options: { retries?: number } = {};
export default () => { missing ??= 5; zero ||= 6; empty &&= 'never'; options.retries ??= 3; return [value?.a?.b?.[0]?.c, value.a?.f?.() ?? 'no f', value.a?.g?.['k'] ?? null, missing, zero, empty, options.retries, delete value?.a?.b]; };",
            json!([1, "no f", null, 5, 6, "", 3, true]),
        ),
    ]);
}

// CB-04, CB-07, CB-08, CB-09, CB-10
#[test]
fn the_library_of_2026() {
    run(&[
        (
            "const date = /(?<year>\\d{4})-(?<month>\\d{2})/d;
export default () => { const { groups, indices } = date.exec('on 2026-12')!; return [groups!.year, indices!.groups!.month, '2026-12'.replace(date, '$<month>/$<year>'), /\\p{Script=Greek}/u.test('α'), /^.$/su.test('\\n')]; };",
            json!(["2026", [8, 10], "12/2026", true, true]),
        ),
        (
            "const items = [{ k: 'a', n: 1 }, { k: 'b', n: 2 }, { k: 'a', n: 3 }];
export default () => [Object.groupBy(items, (item) => item.k).a!.map((item) => item.n), [...Map.groupBy(items, (item) => item.n > 1)].map(([key, list]) => [key, list.length])];",
            json!([[1, 3], [[false, 1], [true, 2]]]),
        ),
        (
            "function* naturals() { let n = 0; while (true) yield n++; }
export default () => [naturals().filter((n) => n % 2 === 1).map((n) => n * n).drop(1).take(3).toArray(), naturals().take(5).reduce((a, b) => a + b), naturals().some((n) => n > 3), Iterator.from([1, 2]).flatMap((n) => [n, n]).toArray(), new Set([1, 2]).values().find((n) => n > 1)];",
            json!([[9, 25, 49], 10, true, [1, 1, 2, 2], 2]),
        ),
        (
            "const a = new Set([1, 2, 3]), b = new Set([3, 4]);
export default () => [[...a.union(b)], [...a.intersection(b)], [...a.difference(b)], [...a.symmetricDifference(b)], new Set([1]).isSubsetOf(a), a.isSupersetOf(new Set([2])), a.isDisjointFrom(new Set([9]))];",
            json!([[1, 2, 3, 4], [3], [1, 2], [1, 2, 4], true, true, true]),
        ),
        (
            "const list = Object.freeze([3, 1, 2]);
export default () => [list.toSorted(), list.toReversed(), list.toSpliced(1, 1, 9, 9), list.with(-1, 0), list.at(-1), list.findLast((n) => n > 1), list.findLastIndex((n) => n === 3), list];",
            json!([[1, 2, 3], [2, 1, 3], [3, 9, 9, 2], [3, 1, 0], 2, 2, 0, [3, 1, 2]]),
        ),
        (
            "export default () => { const cause = new Error('inner'); const outer = new Error('outer', { cause }); const all = new AggregateError([cause, outer], 'both');
  return [(outer.cause as Error).message, all.errors.length, Object.hasOwn({ x: 1 }, 'x'), 'a-b-c'.replaceAll('-', ''), 'ab\\ud800'.isWellFormed(), 1_000n ** 2n === 1_000_000n, structuredCloneIsThere()]; };
const structuredCloneIsThere = () => typeof (globalThis as any).structuredClone;",
            json!(["inner", 2, true, "abc", false, true, "undefined"]),
        ),
        (
            "const log: unknown[] = [];
outer: for (const [key, { n = 1, ...rest }] of Object.entries({ a: { m: 1 }, b: { n: 2, o: 3 } } as Record<string, any>)) { if (n === 2) break outer; log.push(key, n, rest); }
export default () => { const { length, [length - 1]: last } = [1, 2, 3] as any; return [length, last, ((a, b = a, { c } = { c: b }) => a + b + c)(1), `${[1, 2]}`, ((...n: number[]) => Math.max(...n))(1, 5), log]; };",
            json!([3, 3, 3, "1,2", 5, ["a", 1, { "m": 1 }]]),
        ),
    ]);
}

// CB-09: the engine takes the flag `v` and answers wrongly, so neither a literal nor a text made into one may have it
#[test]
fn regular_expressions_with_sets_are_refused() {
    let found = probe(&[("probe.ts", "export default () => /[\\p{L}--[a-z]]/v.test('x');")]).found();
    assert_eq!(
        found[0].to_string(),
        "probe.ts:1:22: C_SYNTAX: the engine has no regular expressions with the flag `v`"
    );
    assert_eq!(found.len(), 1);
    run(&[
        (
            "const tried = (make: () => unknown) => { try { make(); return 'made'; } catch (error) { return (error as Error).name; } };
export default () => [
  tried(() => new RegExp('a', 'v')), tried(() => RegExp('a', 'gv')), tried(() => new RegExp(/a/u, 'v')), tried(() => /a/.compile('a', 'v')),
  tried(() => new (class extends RegExp {})('a', 'v')), tried(() => Reflect.construct(/a/.constructor as any, ['a', 'v'])),
  tried(() => new RegExp('a', { toString: () => 'v' } as any)), tried(() => new RegExp('a', 'u')), tried(() => RegExp('v')), tried(() => /a/.compile('b', 'g')),
];",
            json!([
                "SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError", "made",
                "made", "made"
            ]),
        ),
        (
            "class Word extends RegExp { first(text: string) { return this.exec(text)?.[0]; } }
export default () => [
  new RegExp('a', 'g') instanceof RegExp, /a/ instanceof RegExp, /a/.constructor === RegExp, RegExp.prototype === Object.getPrototypeOf(/a/), RegExp.name, RegExp.length,
  new Word('[a-z]+').first('12ab'), 'a1b2'.split(/\\d/), [...'aXbX'.matchAll(/X/g)].length, RegExp(/a/g).flags, 'a.b'.replace(new RegExp('[.]', 'g'), '-'), RegExp[Symbol.species] === RegExp,
];",
            json!([true, true, true, true, "RegExp", 2, "ab", ["a", "b", ""], 2, "g", "a-b", true]),
        ),
    ]);
}

// CB-09, 2.1 step 2: of ECMAScript 2025, which the parser knows and the engine does not
#[test]
fn regular_expressions_that_the_engine_lacks_are_refused() {
    for (source, report) in [
        (
            r"export default () => /(?<y>\d{4})|(?<y>\d{2})y/;",
            "probe.ts:1:35: C_SYNTAX: the engine does not know two groups of one name, `y`",
        ),
        (
            "export default () => /(?i:a)b/;",
            "probe.ts:1:25: C_SYNTAX: the engine has no modifiers in regular expressions, such as `(?i:…)`",
        ),
        (
            "export default () => /a(?:b(?-s:.))/;",
            "probe.ts:1:30: C_SYNTAX: the engine has no modifiers in regular expressions, such as `(?i:…)`",
        ),
    ] {
        let found: Vec<_> = probe(&[("probe.ts", source)]).found().iter().map(ToString::to_string).collect();
        assert_eq!(found, [report], "{source}");
    }
}

// CB-07, CB-10: generators and promises inside, plain data outside
#[test]
fn helpers_may_use_what_callbacks_may_not_be() {
    run(&[(
        "async function never(): Promise<number> { await null; return 1; }
function* pairs<T>(list: T[]): Generator<[T, T], void, undefined> { for (let i = 1; i < list.length; i++) yield [list[i - 1]!, list[i]!]; }
const described = (value: unknown) => value instanceof Promise;
export default () => [[...pairs([1, 2, 3])], typeof never, described(1)];",
        json!([[[1, 2], [2, 3]], "function", false]),
    )]);
}

/// What is refused: the source, its place and code, the message and the help.
type Refusal = (&'static str, &'static [&'static str], &'static str);

fn refuse(table: &[Refusal]) {
    for (source, report, help) in table {
        let found = Files::one(source).found();
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(said, *report, "{source}");
        assert_eq!(found[0].help.as_deref().unwrap_or_default(), *help, "{source}");
    }
}

// 2.1 step 2, 2.5
#[test]
fn what_cannot_become_a_module_is_refused_with_what_to_write_instead() {
    refuse(&[
        (
            "declare const d: any;\n@d\nexport class A {}\n",
            &["a.ts:2:1: C_SYNTAX: a decorator cannot be compiled to ES2022 JavaScript"],
            "call a function instead",
        ),
        (
            "declare const d: any;\nexport class A {\n  @d() method() {}\n}\n",
            &["a.ts:3:3: C_SYNTAX: a decorator cannot be compiled to ES2022 JavaScript"],
            "call a function instead",
        ),
        (
            "declare const d: any;\nexport class A {\n  constructor(@d p: number) {}\n}\n",
            &["a.ts:3:15: C_SYNTAX: a decorator cannot be compiled to ES2022 JavaScript"],
            "call a function instead",
        ),
        (
            "export class A {\n  static accessor x = 1;\n}\n",
            &["a.ts:2:3: C_SYNTAX: an `accessor` field cannot be compiled to ES2022 JavaScript"],
            "write a getter and a setter",
        ),
        (
            "export async function f() {\n  await using x = null;\n}\n",
            &["a.ts:2:3: C_SYNTAX: an `await using` declaration cannot be compiled to ES2022 JavaScript"],
            "callbacks run synchronously: write `using`",
        ),
        (
            "export async function f(all: any[]) {\n  for (await using x of all) x;\n}\n",
            &["a.ts:2:8: C_SYNTAX: an `await using` declaration cannot be compiled to ES2022 JavaScript"],
            "callbacks run synchronously: write `using`",
        ),
        (
            "export const a = 1;\nexport const b = <b>bold</b>;\n",
            &["a.ts:2:18: C_SYNTAX: JSX cannot be compiled to ES2022 JavaScript"],
            "callbacks have no JSX; build the value with functions and objects",
        ),
        (
            "export const b = <></>;\n",
            &["a.ts:1:18: C_SYNTAX: JSX cannot be compiled to ES2022 JavaScript"],
            "callbacks have no JSX; build the value with functions and objects",
        ),
        ("export const b = <T>(x: T) => <i>{x}</i>;\n", &["a.ts:1:38: C_SYNTAX: Unterminated regular expression"], ""),
        (
            "const a = 1;\nexport = a;\n",
            &["a.ts:2:1: C_SYNTAX: `export =` cannot be compiled to ES2022 JavaScript"],
            "use `export default`",
        ),
        (
            "export as namespace Mine;\n",
            &["a.ts:1:1: C_SYNTAX: `export as namespace` cannot be compiled to ES2022 JavaScript"],
            "export the names themselves",
        ),
        (
            "import x = require('./x.ts');\nx;\n",
            &["a.ts:1:1: C_IMPORT_UNSUPPORTED (require): `import … = require(…)` is not available"],
            "use a static relative import at the top of the file",
        ),
        (
            "const a = await 1;\n",
            &["a.ts:1:11: C_TOP_LEVEL_AWAIT: a module cannot use top-level `await`"],
            "modules are evaluated synchronously, without network or timers; write the value as a constant",
        ),
        (
            "export default { a: [await Promise.resolve(1)] };\n",
            &["a.ts:1:22: C_TOP_LEVEL_AWAIT: a module cannot use top-level `await`"],
            "modules are evaluated synchronously, without network or timers; write the value as a constant",
        ),
        (
            "for await (const x of []) x;\n",
            &["a.ts:1:1: C_TOP_LEVEL_AWAIT: a module cannot use top-level `await`"],
            "modules are evaluated synchronously, without network or timers; write the value as a constant",
        ),
        (
            "export class A { static x = await 1; }\n",
            &["a.ts:1:29: C_TOP_LEVEL_AWAIT: a module cannot use top-level `await`"],
            "modules are evaluated synchronously, without network or timers; write the value as a constant",
        ),
        (
            "export namespace N { export let x = 1; }\n",
            &["a.ts:1:33: C_SYNTAX: a variable that a namespace exports cannot be compiled to ES2022 JavaScript"],
            "export a `const`, or make the namespace a module",
        ),
        (
            "import defer * as x from './x.ts';\nx;\n",
            &[
                "a.ts:1:1: C_SYNTAX: an import phase cannot be compiled to ES2022 JavaScript",
                "a.ts:1:26: C_IMPORT_UNSUPPORTED (missing-module): `./x.ts` names no file: there is no `x.ts`",
            ],
            "write a plain `import`",
        ),
        (
            "export const f = () => { with (Math) {} };\n",
            &["a.ts:1:26: C_SYNTAX: 'with' statements are not allowed"],
            "",
        ),
        (
            "export const f = (x: any) => { delete x; };\n",
            &["a.ts:1:39: C_SYNTAX: Delete of an unqualified identifier in strict mode."],
            "",
        ),
        (
            "export const old = 010;\n",
            &["a.ts:1:20: C_SYNTAX: '0'-prefixed octal literals and octal escape sequences are deprecated"],
            "for octal literals use the '0o' prefix instead",
        ),
        (
            "export const f = () => { yield 1; };\n",
            &["a.ts:1:26: C_SYNTAX: A 'yield' expression is only allowed in a generator body."],
            "Either remove this `yield` or change the enclosing function to a generator function (`function*`)",
        ),
        ("export const a: number = ;\n", &["a.ts:1:26: C_SYNTAX: Unexpected token"], ""),
        (
            "export const a = 1;\nexport const a = 2;\n",
            &["a.ts:1:14: C_SYNTAX: Identifier `a` has already been declared"],
            "",
        ),
        (
            "export const f = () => new.target;\n",
            &["a.ts:1:24: C_SYNTAX: Unexpected new.target expression"],
            "new.target is only allowed in constructors, functions, and class field initializers",
        ),
        ("return 1;\n", &["a.ts:1:1: C_SYNTAX: A 'return' statement can only be used within a function body."], ""),
        ("export const a = 1 as const as;\n", &["a.ts:1:31: C_SYNTAX: Unexpected token"], ""),
        (
            "export { missing };\n",
            &["a.ts:1:10: C_SYNTAX: the module has no `missing` to export"],
            "declare or import it, or correct the name",
        ),
        (
            "export const r = /(?<a>x)(?<a>y)/;\n",
            &["a.ts:1:22: C_SYNTAX: Invalid regular expression: Duplicated capturing group names"],
            "Duplicate names must be in different alternatives",
        ),
        ("export const r = /[/;\n", &["a.ts:1:18: C_SYNTAX: Unterminated regular expression"], ""),
        ("export const s = 'no end\n", &["a.ts:1:18: C_SYNTAX: Unterminated string"], ""),
        (
            "class A { #x; } \nexport const f = (a: A) => a.#x;\n",
            &["a.ts:2:30: C_SYNTAX: Private identifier '#x' is not allowed outside class bodies"],
            "",
        ),
    ]);
}

// CB-54: what runs later in a cell is known by its place in the TypeScript, lowered code too
#[test]
fn lowered_code_keeps_its_places() {
    let files = probe(&[(
        "probe.ts",
        "enum E { A = 1 }
namespace N { export const x = 1; }
class P { constructor(private p: number) {} [Symbol.dispose]() {} }

const fail = (): never => {
  using nothing = new P(E.A + N.x);
  throw new Error('no');
};
export default () => 1;
fail();
",
    )]);
    assert_eq!(files.places(), ["probe.ts:7:13 C_TOP_LEVEL_THREW"]);
}
