//! Schemas: what Zod says and what the host says (2.4, CB-25, CB-26).
//!
//! Zod runs nowhere in production: the compiler turns its schemas into data, and the host validates with that. So here
//! Zod itself, in a cell, gets the same values as the host, and both have to say the same.

use callcell_compiler::{CompileError, Diagnostic, Project, compile};
use callcell_runtime::{Bundle, CallErrorKind, DataSchema, partial_schema};
use callcell_tests::{call, engine};
use serde_json::{Map, Value, json};
use std::fmt::Write;

const IMPORTS: &str = "import { createTool } from '@eigenpal/automations';\nimport { z } from 'zod';\n";

fn compiled(source: &str) -> Result<callcell_compiler::Compilation, CompileError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let entry = folder.path().join("tools.ts");
    std::fs::write(&entry, source).expect("the project is written");
    compile(engine(), &Project::open(&entry).expect("the project opens"))
}

fn load(source: &str) -> Bundle {
    let compilation = compiled(source).unwrap_or_else(|error| panic!("{error}: {:#?}", error.diagnostics()));
    engine().load(compilation.bundle).expect("the bundle loads")
}

/// Schemas that refer to themselves, or that several rows use.
const DECLARATIONS: &str = "
const A = z.object({ a: z.string() });
const B = z.object({ b: z.number() });
const Node = z.object({ v: z.number(), get next() { return Node.nullable().optional(); } });
const Tree = z.object({ name: z.string(), get children() { return z.array(Tree); } });
const Lists = z.lazy(() => z.union([z.string(), z.array(Lists)]));
const Left = z.object({ kind: z.literal('left'), get right() { return Right.optional(); } });
const Right = z.strictObject({ kind: z.literal('right'), get left() { return Left.optional(); } });
const Json = z.lazy(() => z.union([z.string(), z.number(), z.null(), z.array(Json), z.record(z.string(), Json)]));
";

/// One row for each construct of the table "survive": a schema, and values that are interesting for it.
#[rustfmt::skip]
const SURVIVING: &[(&str, &str)] = &[
    // Strings.
    ("z.string()", r#"["", "a", "😀", "\u0000", "\ufffd"]"#),
    ("z.string().min(2)", r#"["", "a", "ab", "abc", "😀", "😀😀", "é"]"#),
    ("z.string().max(2)", r#"["", "a", "ab", "abc", "😀", "😀😀", "😀😀😀"]"#),
    ("z.string().length(2)", r#"["", "a", "ab", "abc", "😀", "😀😀", "😀😀😀"]"#),
    ("z.string().min(2).max(3)", r#"["", "a", "ab", "abc", "abcd", "😀😀😀"]"#),
    ("z.string().nonempty()", r#"["", " ", "a"]"#),
    ("z.string().regex(/^a+b?$/)", r#"["a", "aab", "ab\n", "b", "xa", "A"]"#),
    ("z.string().regex(/^abc$/i)", r#"["abc", "ABC", "aBc", "abcd"]"#),
    ("z.string().regex(/^b$/m)", r#"["b", "a\nb\nc", "a\u2028b", "ab"]"#),
    ("z.string().regex(/^a.b$/)", r#"["axb", "a\nb", "a\u2028b", "a\u0085b", "aéb"]"#),
    ("z.string().regex(/^a.b$/s)", r#"["axb", "a\nb", "ab"]"#),
    ("z.string().regex(/^.$/u)", r#"["a", "😀", "é", "\n", "ab", "e\u0301"]"#),
    ("z.string().regex(/^\\p{Lu}\\P{Lu}*$/u)", r#"["A", "Éa", "éa", "AB", "Ω1"]"#),
    ("z.string().regex(/^[^a]+$/)", r#"["b", "bc", "ba", "", "\n"]"#),
    ("z.string().regex(/^(?=.*\\d)(?!.*x)\\w+$/)", r#"["a1", "a", "a1x", "1", "é1"]"#),
    ("z.string().regex(/^(['\"]).*\\1$/)", r#"["'a'", "\"a\"", "'a\"", "''"]"#),
    ("z.string().regex(/(?<=\\$)\\d+\\b/)", r#"["$12", "12", "a$1b", "$"]"#),
    ("z.string().regex(/^\\s*\\S\\s*$/)", r#"["a", " a ", "\ufeffa", "\u0085", "\u00a0", "  "]"#),
    ("z.string().regex(/\\bcat\\b/)", r#"["cat", "a cat.", "concat", "écat", "cat_"]"#),
    ("z.string().startsWith('a.')", r#"["a.", "a.b", "ab", "xa."]"#),
    ("z.string().endsWith('(b)')", r#"["(b)", "a(b)", "(b)\n", "b"]"#),
    ("z.string().includes('o w')", r#"["hello world", "o w", "ow", "O W"]"#),
    ("z.string().includes('o', { position: 5 })", r#"["hello world", "hello", "oooooo", "aaaaao"]"#),
    ("z.string().lowercase()", r#"["abc", "aBc", "é", "É", "1", ""]"#),
    ("z.string().uppercase()", r#"["ABC", "aBc", "é", "É", "1", ""]"#),
    ("z.string().regex(/a/).regex(/c/).min(2).min(3)", r#"["abc", "ac", "cab", "bbb", "aaac"]"#),
    ("z.string().startsWith('a').endsWith('z').includes('m').max(6)", r#"["amz", "az", "amxz", "axxmxxz"]"#),
    // Formats.
    ("z.email()", r#"["a@b.co", "a.b+c@d-e.org", ".a@b.co", "a..b@c.de", "a@b", "a@b.c", "A_B@C.DE", "a@-b.co", "a'b@c.io"]"#),
    ("z.string().email()", r#"["a@b.co", "no@", "a b@c.de"]"#),
    ("z.email({ pattern: z.regexes.html5Email })", r#"["a@b", "a@b.co", "a@", "@b"]"#),
    ("z.uuid()", r#"["3f2b8c9e-1d2a-4b3c-8d4e-5f6a7b8c9d0e", "3F2B8C9E-1D2A-4B3C-8D4E-5F6A7B8C9D0E", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "3f2b8c9e-1d2a-9b3c-8d4e-5f6a7b8c9d0e", "3f2b8c9e1d2a4b3c8d4e5f6a7b8c9d0e"]"#),
    ("z.uuidv4()", r#"["3f2b8c9e-1d2a-4b3c-8d4e-5f6a7b8c9d0e", "3f2b8c9e-1d2a-7b3c-8d4e-5f6a7b8c9d0e"]"#),
    ("z.guid()", r#"["3f2b8c9e-1d2a-9b3c-0d4e-5f6a7b8c9d0e", "3f2b8c9e-1d2a-9b3c-0d4e-5f6a7b8c9d0"]"#),
    ("z.nanoid()", r#"["V1StGXR8_Z5jdHi6B-myT", "V1StGXR8_Z5jdHi6B-my", "V1StGXR8_Z5jdHi6B!myT"]"#),
    ("z.cuid2()", r#"["tz4a98xxat96iws9zmbrgj3a", "Tz4a", "a"]"#),
    ("z.ulid()", r#"["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA"]"#),
    ("z.xid()", r#"["9m4e2mr0ui3e8a215n4g", "9m4e2mr0ui3e8a215n4", "9m4e2mr0ui3e8a215n4z"]"#),
    ("z.ksuid()", r#"["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujtsYcgvSTl8PAuAdqWYSMnLO"]"#),
    ("z.emoji()", r#"["😀", "👍🏽", "a", "1", "😀a", "❤️"]"#),
    ("z.iso.date()", r#"["2024-02-29", "2023-02-29", "2024-13-01", "2024-1-1", "2000-02-29", "1900-02-29", "2024-04-31"]"#),
    ("z.iso.datetime()", r#"["2024-01-01T00:00:00Z", "2024-01-01T00:00Z", "2024-01-01T00:00:00.123456Z", "2024-01-01T00:00:00+01:00", "2024-01-01T24:00:00Z", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00"]"#),
    ("z.iso.datetime({ offset: true })", r#"["2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00-23:59", "2024-01-01T00:00:00+0100", "2024-01-01T00:00:00Z"]"#),
    ("z.iso.datetime({ local: true, precision: 3 })", r#"["2024-01-01T00:00:00.123", "2024-01-01T00:00:00.123Z", "2024-01-01T00:00:00.12", "2024-01-01T00:00:00"]"#),
    ("z.iso.time()", r#"["12:30", "12:30:15", "12:30:15.5", "24:00", "1:30", "12:60"]"#),
    ("z.iso.time({ precision: -1 })", r#"["12:30", "12:30:15"]"#),
    ("z.iso.duration()", r#"["P1D", "P1Y2M3DT4H5M6S", "PT", "P", "P1W", "-P1D", "PT0.5S", "P1Y1W"]"#),
    ("z.ipv4()", r#"["127.0.0.1", "255.255.255.255", "256.0.0.1", "1.2.3", "01.2.3.4"]"#),
    ("z.cidrv4()", r#"["10.0.0.0/8", "10.0.0.0/33", "10.0.0.0", "10.0.0.0/08"]"#),
    ("z.mac()", r#"["00:1A:2b:3c:4d:5e", "00-1A-2b-3c-4d-5e", "00:1a:2b:3c:4d:5e", "00:1a:2b:3c:4d"]"#),
    ("z.e164()", r#"["+12345678901", "12345678901", "+0123456789", "+1234567890123456"]"#),
    ("z.hostname()", r#"["example.com", "localhost", "-a.b", "a_b.c", "EXAMPLE.COM.", "a..b"]"#),
    ("z.hex()", r#"["abc", "ABC", "xyz", ""]"#),
    ("z.hash('md5')", r#"["d41d8cd98f00b204e9800998ecf8427e", "D41D8CD98F00B204E9800998ECF8427E", "d41d8cd98f00b204e9800998ecf8427", "g41d8cd98f00b204e9800998ecf8427e"]"#),
    ("z.stringFormat('id', /^id-\\d+$/)", r#"["id-7", "id-x", "id-"]"#),
    ("z.stringFormat('id', /^id-/).min(4)", r#"["id-7", "id-", "xd-7"]"#),
    ("z.creditCard()", r#"["4111111111111111", "4111 1111-1111 1111", "4111111111111112", "4111  1111 1111 1111", "000000000000", "00000000000", "-4111111111111111"]"#),
    ("z.iban()", r#"["DE89370400440532013000", "GB82WEST12345698765432", "DE88370400440532013000", "de89370400440532013000", "DE00370400440532013000"]"#),
    // Numbers.
    ("z.number()", r#"[0, -0.0, 1, 1.5, 1e308, -1e308, 5e-324, 9007199254740993, 18446744073709551615, 1.0]"#),
    ("z.number().gt(1)", r#"[1, 1.0000000000000002, 2, 0, -1]"#),
    ("z.number().gte(1)", r#"[1, 0.9999999999999999, 2, 0]"#),
    ("z.number().lt(1)", r#"[1, 0.9999999999999999, -1e308, 2]"#),
    ("z.number().lte(1)", r#"[1, 1.0000000000000002, 0]"#),
    ("z.number().min(-2.5).max(2.5)", r#"[-2.5, 2.5, -2.6, 2.51, 0]"#),
    ("z.number().gt(0).gte(0).lt(10).lte(9)", r#"[0, 1, 9, 9.5, 10, 5e-324]"#),
    ("z.number().positive()", r#"[0, -0.0, 5e-324, 1, -1]"#),
    ("z.number().nonnegative()", r#"[0, -0.0, -5e-324, 1, -1]"#),
    ("z.number().negative()", r#"[0, -0.0, -5e-324, 1, -1]"#),
    ("z.number().nonpositive()", r#"[0, -0.0, 5e-324, 1, -1]"#),
    ("z.number().max(Infinity).finite()", r#"[0, 1e308]"#),
    ("z.number().multipleOf(2)", r#"[0, -0.0, 2, -4, 3, 1e20, 1e308, 2.0000001, 0.5, 9007199254740993]"#),
    ("z.number().multipleOf(0.07)", r#"[0.07, 2.03, 0.08, 0, -0.14, 0.7, 0.0700001, 7e5, 1e15]"#),
    ("z.number().multipleOf(0.01)", r#"[0.1, 19.99, 4.35, 1.005, 1.1, 33.33, 0.015, 1e-3]"#),
    ("z.number().multipleOf(1e-10)", r#"[1e-10, 3e-10, 1.5e-10, 1, 0.1]"#),
    ("z.number().step(5).step(3)", r#"[15, 5, 3, 0, 30]"#),
    ("z.int()", r#"[0, 1, 1.5, 9007199254740991, 9007199254740992, -9007199254740991, -9007199254740992, 1e20, 1.0, -0.0]"#),
    ("z.number().int().min(3)", r#"[3, 2, 3.5, 9007199254740992]"#),
    ("z.number().safe()", r#"[9007199254740991, 9007199254740992, 1.5]"#),
    ("z.int32()", r#"[2147483647, 2147483648, -2147483648, -2147483649, 0.5, 1.0]"#),
    ("z.uint32()", r#"[0, -1, 4294967295, 4294967296, 0.5, -0.0]"#),
    ("z.float32()", r#"[3.4028234663852886e38, 3.4028234663852889e38, -3.4028234663852886e38, 1e39, 0.1]"#),
    ("z.float64()", r#"[1.7976931348623157e308, -1e308, 0.1]"#),
    // Other scalars.
    ("z.boolean()", r#"[true, false, 0, 1, "true"]"#),
    ("z.null()", r#"[null, 0, "null"]"#),
    ("z.literal('a')", r#"["a", "A", "", "aa"]"#),
    ("z.literal(7)", r#"[7, 7.0, "7", 8]"#),
    ("z.literal(0)", r#"[0, -0.0, false, null, ""]"#),
    ("z.literal(false)", r#"[false, true, 0, null]"#),
    ("z.literal(['a', 1, null, true])", r#"["a", 1, null, true, "1", 0, false]"#),
    ("z.enum(['a', 'b', ''])", r#"["a", "b", "", "c", "A"]"#),
    ("z.enum({ X: 1, 1: 'X', Y: 'a' })", r#"[1, "a", "X", "Y", "1"]"#),
    ("z.enum(['a', 'b', 'c']).exclude(['b'])", r#"["a", "b", "c"]"#),
    ("z.enum(['a', 'b', 'c']).extract(['b'])", r#"["a", "b", "c"]"#),
    ("z.templateLiteral(['id-', z.number()])", r#"["id-1", "id--1.5", "id-", "id-a", "id-1e5", "xid-1"]"#),
    ("z.templateLiteral([z.string(), '/', z.enum(['x', 'y']), z.literal(['.', '']), z.boolean().optional()])", r#"["a/x", "/y.", "a/b/x.true", "a/z", "\n/x"]"#),
    ("z.templateLiteral(['v', z.int(), '.', z.string().length(2)])", r#"["v1.ab", "v1.5.ab", "v1.a", "v-1.ab"]"#),
    ("z.never().optional()", r#"[null, 1, "x", {}]"#),
    ("z.array(z.any())", r#"[[], [null, 1, "x", [], {}], {}]"#),
    ("z.array(z.unknown())", r#"[[], [{ "deep": [1] }], "x"]"#),
    ("z.json()", r#"[null, { "a": [1, { "b": null }] }]"#),
    // Arrays.
    ("z.array(z.string())", r#"[[], ["a"], ["a", 1], [null], [["a"]]]"#),
    ("z.array(z.number()).min(2)", r#"[[], [1], [1, 2], [1, 2, "x"]]"#),
    ("z.array(z.number()).max(2)", r#"[[], [1, 2], [1, 2, 3]]"#),
    // Zod compares a length with whatever number it got.
    ("z.string().min(1.5)", r#"["", "a", "ab", "abc"]"#),
    ("z.string().max(1.5)", r#"["", "a", "ab"]"#),
    ("z.string().length(1.5).nullable()", r#"[null, "", "a", "ab"]"#),
    ("z.string().min(-1).max(Infinity)", r#"["", "a"]"#),
    ("z.string().max(-1).nullable()", r#"[null, "", "a"]"#),
    ("z.string().min(NaN).nullable()", r#"[null, "", "a"]"#),
    ("z.string().max(NaN).nullable()", r#"[null, "", "a"]"#),
    ("z.string().length(NaN).nullable()", r#"[null, "", "a"]"#),
    ("z.string().min(Infinity).nullable()", r#"[null, "", "a"]"#),
    ("z.array(z.number()).min(-Infinity).max(Infinity)", r#"[[], [1]]"#),
    ("z.array(z.number()).min(0.5)", r#"[[], [1]]"#),
    ("z.array(z.number()).max(-0.5).nullable()", r#"[null, [], [1]]"#),
    ("z.number().min(NaN).nullable()", r#"[null, 0, 1]"#),
    ("z.number().max(-Infinity).nullable()", r#"[null, 0, 1]"#),
    ("z.array(z.number()).length(2)", r#"[[1], [1, 2], [1, 2, 3]]"#),
    ("z.array(z.number()).nonempty()", r#"[[], [1]]"#),
    ("z.string().array().array().max(1)", r#"[[], [[]], [["a"]], [[], []], [[1]]]"#),
    ("z.array(A).min(1)", r#"[[{ "a": "x", "z": 1 }], [{ "a": "x" }, { "a": "y", "b": [] }], [{}], []]"#),
    ("z.tuple([z.string(), z.number()])", r#"[["a", 1], ["a"], ["a", 1, 2], [1, "a"], []]"#),
    ("z.tuple([z.string()], z.number())", r#"[["a"], ["a", 1, 2], ["a", "b"], []]"#),
    ("z.tuple([z.string(), z.number().optional()])", r#"[["a"], ["a", 1], ["a", null], []]"#),
    ("z.tuple([A, z.strictObject({})], A)", r#"[[{ "a": "x", "q": 1 }, {}], [{ "a": "x" }, {}, { "a": "y", "q": 1 }], [{ "a": "x" }, { "q": 1 }]]"#),
    ("z.tuple([])", r#"[[], [1]]"#),
    // Objects.
    ("A", r#"[{ "a": "x" }, { "a": "x", "b": 1 }, { "b": 1 }, { "a": null }, {}]"#),
    ("z.object({})", r#"[{}, { "a": 1 }, []]"#),
    ("z.strictObject({ a: z.string() })", r#"[{ "a": "x" }, { "a": "x", "b": 1 }, {}, { "constructor": 1, "a": "x" }]"#),
    ("A.strict()", r#"[{ "a": "x" }, { "a": "x", "b": 1 }]"#),
    ("z.looseObject({ a: z.string() })", r#"[{ "a": "x" }, { "z": { "deep": [1] }, "a": "x", "b": null }, {}]"#),
    ("A.loose()", r#"[{ "a": "x", "b": 1 }, { "a": 1 }]"#),
    ("z.strictObject({ a: z.string() }).strip()", r#"[{ "a": "x", "b": 1 }, { "b": 1 }]"#),
    ("A.catchall(z.number())", r#"[{ "a": "x" }, { "a": "x", "b": 1 }, { "a": "x", "b": "y" }, { "b": 1 }]"#),
    ("A.catchall(A)", r#"[{ "a": "x", "b": { "a": "y", "q": 1 } }, { "a": "x", "b": {} }]"#),
    ("A.catchall(z.never())", r#"[{ "a": "x" }, { "a": "x", "b": 1 }]"#),
    ("A.catchall(z.unknown())", r#"[{ "a": "x" }, { "a": "x", "b": [1] }, {}]"#),
    ("z.object({ a: A, 'b c': z.looseObject({}), '': z.strictObject({}) })", r#"[{ "a": { "a": "x", "q": 1 }, "b c": { "q": 1 }, "": {} }, { "a": { "a": "x" }, "b c": {}, "": { "q": 1 } }, { "a": {}, "b c": {}, "": {} }]"#),
    // Required: where such a property is missing, Zod finds what every object inherits, and the host finds nothing.
    ("z.object({ constructor: z.string(), toString: z.number() })", r#"[{ "constructor": "x", "toString": 1 }, { "constructor": "x" }, {}, { "constructor": "x", "toString": 1, "valueOf": 1 }]"#),
    ("z.object({ 2: z.string(), 1: z.number() })", r#"[{ "1": 1, "2": "x" }, { "2": "x", "1": 1, "0": 0 }, { "1": "x" }]"#),
    ("z.string().optional()", r#"["x", null, 1]"#),
    ("z.string().nullable()", r#"["x", null, 1]"#),
    ("A.nullish()", r#"[null, { "a": "x", "q": 1 }, {}]"#),
    ("z.string().optional().nonoptional()", r#"["x", null]"#),
    ("z.string().nullish().nonoptional()", r#"["x", null, 1]"#),
    ("z.string().exactOptional()", r#"["x", null]"#),
    ("z.object({ o: z.number().optional(), n: z.number().nullable(), u: z.number().nullish() })", r#"[{ "n": null }, { "o": 1, "n": 1, "u": null }, { "o": null, "n": 1 }, {}]"#),
    ("A.extend({ c: z.array(A) }).partial()", r#"[{}, { "a": "x" }, { "c": [{ "a": "x", "q": 1 }] }, { "a": null }, { "c": [{}] }]"#),
    ("z.object({ a: z.string(), b: z.string() }).partial({ a: true })", r#"[{ "b": "x" }, { "a": "x" }, { "a": "x", "b": "y" }]"#),
    ("z.object({ a: z.string(), b: z.string().optional() }).required()", r#"[{ "a": "x", "b": "y" }, { "a": "x" }]"#),
    ("z.object({ a: z.string(), b: z.number() }).pick({ a: true })", r#"[{ "a": "x", "b": "y" }, { "b": 1 }]"#),
    ("z.object({ a: z.string(), b: z.number() }).omit({ a: true })", r#"[{ "a": 1, "b": 2 }, { "a": "x" }]"#),
    ("A.extend({ a: z.number(), b: z.null() })", r#"[{ "a": 1, "b": null }, { "a": "x", "b": null }]"#),
    ("A.merge(z.strictObject({ b: z.number() }))", r#"[{ "a": "x", "b": 1 }, { "a": "x", "b": 1, "c": 1 }, { "a": "x" }]"#),
    ("A.safeExtend({ a: z.string().min(2) })", r#"[{ "a": "xy" }, { "a": "x" }]"#),
    ("A.keyof()", r#"["a", "b"]"#),
    // Records.
    ("z.record(z.string(), z.number())", r#"[{}, { "a": 1, "b": 2 }, { "a": "x" }, [], { "constructor": 1 }]"#),
    ("z.record(z.string(), A)", r#"[{ "k": { "a": "x", "q": 1 } }, { "k": {} }]"#),
    ("z.record(z.string().regex(/^k\\d$/), z.any())", r#"[{}, { "k1": null, "k2": [] }, { "k": 1 }]"#),
    ("z.record(z.string().min(2).max(3), z.number())", r#"[{ "ab": 1 }, { "a": 1 }, { "abcd": 1 }, { "😀😀": 1 }]"#),
    ("z.record(z.enum(['a', 'b']), z.string())", r#"[{ "a": "x", "b": "y" }, { "a": "x" }, { "a": "x", "b": "y", "c": "z" }, {}]"#),
    ("z.record(z.enum(['a', 'b']), z.string().optional())", r#"[{ "a": "x" }, {}, { "a": 1 }, { "c": "x" }]"#),
    ("z.record(z.literal(['a', 1]), z.number())", r#"[{ "a": 1, "1": 2 }, { "a": 1 }, { "a": 1, "1": "x" }]"#),
    ("z.record(z.number(), z.string())", r#"[{ "1": "x", "-1.5": "y" }, { "a": "x" }, { "1e5": "x" }, { "": "x" }, { " 1": "x" }]"#),
    ("z.record(z.templateLiteral(['k-', z.int()]), z.boolean())", r#"[{ "k-1": true }, { "k-": true }, { "k-1": 1 }]"#),
    ("z.record(z.union([z.literal('a'), z.string().regex(/^x/)]), z.number())", r#"[{ "a": 1, "x1": 2 }, { "x": 1 }, { "b": 1 }]"#),
    ("z.partialRecord(z.enum(['a', 'b']), A)", r#"[{}, { "a": { "a": "x", "q": 1 } }, { "c": { "a": "x" } }, { "a": {} }]"#),
    ("z.looseRecord(z.string().regex(/^n_/), z.number())", r#"[{ "n_a": 1, "other": "x" }, { "n_a": "x" }, {}]"#),
    // Unions.
    ("z.union([z.string(), z.number()])", r#"["x", 1, true, null]"#),
    ("z.union([A, B])", r#"[{ "a": "x", "b": 1, "c": 2 }, { "b": 1, "c": 2 }, { "a": 1, "b": 1 }, {}]"#),
    ("z.union([z.strictObject({ a: z.string() }), z.looseObject({ b: z.number() }), z.array(A)])", r#"[{ "a": "x" }, { "a": "x", "b": 1 }, { "a": "x", "c": 1 }, [{ "a": "x", "q": 1 }]]"#),
    ("z.union([z.string().min(3), z.string().max(1), z.literal('ab')])", r#"["abc", "a", "ab", "xy"]"#),
    ("z.union([z.string().optional(), A])", r#"["x", { "a": "x", "q": 1 }, null]"#),
    ("A.or(z.null()).or(z.array(z.number()))", r#"[{ "a": "x", "q": 1 }, null, [1], ["x"]]"#),
    ("z.xor([A, B])", r#"[{ "a": "x" }, { "b": 1, "q": 1 }, { "a": "x", "b": 1 }, {}]"#),
    ("z.discriminatedUnion('k', [z.object({ k: z.literal('a'), n: z.number() }), z.strictObject({ k: z.literal('b'), s: z.string() })])", r#"[{ "k": "a", "n": 1, "z": 1 }, { "k": "b", "s": "x" }, { "k": "b", "s": "x", "z": 1 }, { "k": "c" }, { "n": 1 }, { "k": "a", "s": "x" }]"#),
    ("z.discriminatedUnion('k', [z.object({ k: z.enum(['a', 'b']), n: z.number() }), z.object({ k: z.literal([1, null]), s: z.string().optional() })])", r#"[{ "k": "b", "n": 1 }, { "k": 1, "s": "x", "n": 1 }, { "k": null }, { "k": "1", "n": 1 }]"#),
    ("z.discriminatedUnion('k', [z.looseObject({ k: z.literal('a') }), z.discriminatedUnion('l', [z.object({ k: z.literal('b'), l: z.literal(1) }), z.object({ k: z.literal('b'), l: z.literal(2), m: A })])])", r#"[{ "k": "a", "q": 1 }, { "k": "b", "l": 1, "q": 1 }, { "k": "b", "l": 2, "m": { "a": "x", "q": 1 } }, { "k": "b", "l": 3 }]"#),
    // Intersections.
    ("z.intersection(A, B)", r#"[{ "a": "x", "b": 1, "c": 2 }, { "a": "x" }, { "b": 1 }]"#),
    ("A.and(z.looseObject({ b: z.number() }))", r#"[{ "a": "x", "b": 1, "c": 2 }, { "a": "x", "b": "y" }]"#),
    ("z.intersection(z.strictObject({ a: z.string() }), z.strictObject({ b: z.number() }))", r#"[{ "a": "x", "b": 1 }, { "a": "x", "b": 1, "c": 2 }, { "a": "x" }]"#),
    ("z.intersection(z.strictObject({ a: z.string() }), B)", r#"[{ "a": "x", "b": 1 }, { "a": "x", "b": 1, "c": 2 }]"#),
    ("z.intersection(z.object({ o: z.object({ x: z.number() }) }), z.object({ o: z.object({ y: z.number() }) }))", r#"[{ "o": { "x": 1, "y": 2, "z": 3 } }, { "o": { "x": 1 } }]"#),
    ("z.intersection(z.array(A), z.array(B))", r#"[[{ "a": "x", "b": 1, "c": 1 }], [{ "a": "x" }], []]"#),
    ("z.intersection(z.union([A, z.null()]), z.union([B, z.null()]))", r#"[{ "a": "x", "b": 1, "c": 1 }, null, { "a": "x" }]"#),
    ("z.intersection(A, z.record(z.string(), z.string()))", r#"[{ "a": "x", "b": "y" }, { "a": "x", "b": 1 }, {}]"#),
    ("z.string().min(2).and(z.string().max(3))", r#"["ab", "a", "abcd"]"#),
    ("A.and(B).and(z.strictObject({ c: z.null() }))", r#"[{ "a": "x", "b": 1, "c": null, "d": 1 }, { "a": "x", "b": 1 }]"#),
    // Recursion.
    ("Node", r#"[{ "v": 1, "q": 1, "next": { "v": 2, "q": 1, "next": null } }, { "v": 1 }, { "v": 1, "next": { "v": "x" } }]"#),
    ("Tree", r#"[{ "name": "r", "children": [{ "name": "c", "children": [], "q": 1 }], "q": 1 }, { "name": "r", "children": [{ "name": "c" }] }]"#),
    ("z.array(Tree).max(1)", r#"[[{ "name": "r", "children": [] }], [], [{}, {}]]"#),
    ("Lists", r#"["x", [], ["x", [["y"], []]], [1]]"#),
    ("z.union([Left, Right])", r#"[{ "kind": "left", "q": 1, "right": { "kind": "right", "left": { "kind": "left", "q": 1 } } }, { "kind": "right", "q": 1 }, { "kind": "left", "right": { "kind": "left" } }]"#),
    ("z.object({ json: Json })", r#"[{ "json": { "a": [1, null, { "b": "x" }] }, "q": 1 }, { "json": [true] }]"#),
    ("z.intersection(Node, z.looseObject({ w: z.number() }))", r#"[{ "v": 1, "w": 2, "next": { "v": 1, "q": 1 } }, { "v": 1 }]"#),
    // Without meaning at run time.
    ("A.readonly()", r#"[{ "a": "x", "q": 1 }, {}]"#),
    ("z.array(A).readonly()", r#"[[{ "a": "x", "q": 1 }], [{}]]"#),
    ("A.brand('x')", r#"[{ "a": "x", "q": 1 }, {}]"#),
    ("z.string().min(1).describe('text')", r#"["x", ""]"#),
    ("z.string().max(1).meta({ title: 'text', id: 'm' })", r#"["x", "xx"]"#),
    // Constant defaults.
    ("z.number().default(7)", r#"[1, null, "x"]"#),
    ("z.object({ a: z.number().default(1), b: z.array(z.string()).default(['d']) })", r#"[{}, { "a": 2 }, { "b": [], "q": 1 }, { "a": null }]"#),
    ("z.object({ a: z.number().default(1) }).default({ a: 5 })", r#"[{}, { "a": 2 }, { "a": "x" }, null]"#),
    ("z.object({ a: z.number().default(1), o: z.object({ c: z.string().default('d') }).prefault({}) }).prefault({})", r#"[{}, { "o": {} }, { "o": { "c": "x", "q": 1 } }, { "o": null }]"#),
    ("z.string().default('d').optional()", r#"["x", null]"#),
    ("z.string().default('d').nullable()", r#"["x", null, 1]"#),
    ("z.string().nullable().default(null)", r#"["x", null, 1]"#),
    ("z.string().optional().default('d')", r#"["x", null]"#),
    ("z.union([B.extend({ d: z.number().default(1) }), A.extend({ e: z.number().default(2) })])", r#"[{ "b": 1, "q": 1 }, { "a": "x" }, { "a": "x", "b": 1 }, {}]"#),
    ("z.array(z.object({ a: z.number().default(1), q: z.literal('k').default('k') }))", r#"[[], [{}, { "a": 2, "z": 1 }], [{ "q": "x" }]]"#),
    ("z.intersection(z.object({ a: z.number().default(1) }), z.object({ b: z.number().default(2) }))", r#"[{}, { "a": 3, "q": 1 }, { "b": "x" }]"#),
    ("z.record(z.string(), z.object({ a: z.boolean().default(false) }))", r#"[{ "k": {}, "l": { "a": true, "q": 1 } }, { "k": 1 }]"#),
];

/// Every schema gets these.
const COMMON: &str = r#"[
    null, true, false, 0, -0.0, 1, -1, 0.5, 3, 1e308, -1e308, 9007199254740992, 18446744073709551615, "", "a", "ab", "0", "1", " a ",
    "hello world", "😀", "é", "a\nb", "null", "2024-01-01", "true", [], [null], ["a"], [1, 2, 3], [[]], [{}], {}, { "a": 1 }, { "a": "x" },
    { "b": 1 }, { "a": "x", "b": 1 }, { "v": 1 }, { "k": "a" }, { "constructor": 1 }, { "toString": "x", "valueOf": null }, { "": "" }
]"#;

/// Patterns without the flag `u` count and class UTF-16 code units in JavaScript and code points here (SCHEMA-IR.md,
/// "Limits of exactness"), so these rows get no letter above U+FFFF.
const ON_CODE_UNITS: &[&str] = &[
    "z.string().regex(/^a.b$/)",
    "z.string().regex(/^a.b$/s)",
    "z.string().regex(/^\\s*\\S\\s*$/)",
    "z.string().includes('o', { position: 5 })",
    "z.templateLiteral(['v', z.int(), '.', z.string().length(2)])",
];

fn has_astral_letter(value: &Value) -> bool {
    value.to_string().chars().any(|letter| letter > '\u{ffff}')
}

/// A small generator, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }

    fn one_of<'a>(&mut self, values: &'a [Value]) -> &'a Value {
        &values[self.below(values.len())]
    }
}

/// The value with one thing changed, somewhere inside.
fn mutated(value: &Value, common: &[Value], random: &mut Random) -> Value {
    let here = random.below(3) == 0;
    match value {
        Value::Object(map) if !map.is_empty() && !here => {
            let mut map = map.clone();
            let name = map.keys().nth(random.below(map.len())).cloned().unwrap_or_default();
            let inner = mutated(&map[&name], common, random);
            map.insert(name, inner);
            map.into()
        }
        Value::Array(items) if !items.is_empty() && !here => {
            let mut items = items.clone();
            let index = random.below(items.len());
            items[index] = mutated(&items[index], common, random);
            items.into()
        }
        _ if random.below(6) == 0 => random.one_of(common).clone(),
        Value::Object(map) => changed_object(map, common, random),
        Value::Array(items) => changed_array(items, common, random),
        Value::String(text) => changed_text(text, random).into(),
        Value::Number(number) => changed_number(number.as_f64().unwrap_or_default(), random),
        _ => random.one_of(common).clone(),
    }
}

fn changed_object(map: &Map<String, Value>, common: &[Value], random: &mut Random) -> Value {
    let mut map = map.clone();
    let name = map.keys().nth(random.below(map.len())).cloned();
    match (random.below(5), name) {
        (0, Some(name)) => drop(map.shift_remove(&name)),
        (1, Some(name)) => {
            let value = map.shift_remove(&name).unwrap_or_default();
            map.insert(format!("{name}x"), value);
        }
        (2, Some(name)) => {
            // The same in another order.
            let value = map.shift_remove(&name).unwrap_or_default();
            map.insert(name, value);
        }
        (3, _) => drop(map.insert("zz".into(), random.one_of(common).clone())),
        _ => return Value::Array(vec![map.into()]),
    }
    map.into()
}

fn changed_array(items: &[Value], common: &[Value], random: &mut Random) -> Value {
    let mut items = items.to_vec();
    match random.below(5) {
        0 => drop(items.pop()),
        1 => items.push(random.one_of(common).clone()),
        2 => items.extend(items.last().cloned()),
        3 => items.reverse(),
        _ => return json!({ "0": items }),
    }
    items.into()
}

fn changed_text(text: &str, random: &mut Random) -> String {
    let count = text.chars().count();
    let at = text.char_indices().nth(random.below(count)).map_or(0, |(index, _)| index);
    let without = |text: &str| {
        let mut letters = text[at..].chars();
        letters.next();
        format!("{}{}", &text[..at], letters.as_str())
    };
    let letter = ["a", "Z", "0", "9", "😀", "é", " ", "\n", "-", ".", "_", "/", "\u{0}"][random.below(13)];
    match random.below(7) {
        0 => without(text),
        1 => format!("{}{letter}{}", &text[..at], &text[at..]),
        2 => format!("{text}{letter}"),
        3 => format!("{text}{text}"),
        4 => text.to_uppercase(),
        5 => text.to_lowercase(),
        _ => format!("{letter}{}", without(text)),
    }
}

fn changed_number(number: f64, random: &mut Random) -> Value {
    let numbers =
        [number + 1.0, number - 1.0, -number, number / 2.0, number * 10.0, number.next_up(), number.next_down()];
    let changed = numbers[random.below(numbers.len())];
    // As JSON numbers usually come: without a fraction where there is none.
    if changed.fract() == 0.0 && changed.abs() < 1e15 && random.below(4) > 0 {
        json!(changed as i64)
    } else {
        json!(changed)
    }
}

/// Numbers as JavaScript has them.
fn as_doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().map(|number| number + 0.0)),
        Value::Array(items) => items.iter().map(as_doubles).collect(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), as_doubles(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn list(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// What a row is tried with: arguments of its tool.
fn arguments(row: &str, values: &[Value], common: &[Value], random: &mut Random) -> Vec<Value> {
    let mut inputs: Vec<Value> = values.iter().chain(common).map(|value| json!({ "v": value })).collect();
    for value in values {
        for _ in 0..6 {
            inputs.push(json!({ "v": mutated(value, common, random) }));
        }
        let twice = mutated(&mutated(value, common, random), common, random);
        inputs.push(json!({ "zz": 1, "v": twice }));
    }
    inputs.extend([json!({}), json!({ "zz": 1 }), json!({ "V": 1 })]);
    inputs.retain(|input| !(ON_CODE_UNITS.contains(&row) && has_astral_letter(input)));
    inputs
}

/// A project with the schemas of all rows, and for each of them a tool that returns its input.
fn survivors() -> String {
    let mut source = format!("{IMPORTS}{DECLARATIONS}\nconst schemas = [\n");
    for (schema, _) in SURVIVING {
        writeln!(source, "  z.object({{ v: {schema} }}),").expect("text can be written");
    }
    source.push_str("];\n");
    for index in 0..SURVIVING.len() {
        writeln!(
            source,
            "export const s{index} = createTool({{ description: 'Echo.', inputSchema: schemas[{index}], \
             outputSchema: z.looseObject({{}}), execute: (input) => input }});"
        )
        .expect("text can be written");
    }
    source
}

// CB-25
#[test]
fn the_host_and_zod_say_the_same_about_every_value() {
    let mut source = survivors();
    source.push_str(
        "export const zod = createTool({ description: 'Asks Zod.', inputSchema: z.looseObject({}), outputSchema: z.looseObject({}),
           execute: ({ index, value }) => {
             const { success, data } = schemas[index].safeParse(value);
             return success ? { ok: true, data } : { ok: false };
           } });\n",
    );
    let bundle = load(&source);
    let common = list(COMMON);
    let mut random = Random(2024);
    let (mut pairs, mut differences) = (0, String::new());
    for (index, (schema, values)) in SURVIVING.iter().enumerate() {
        let mut verdicts = [0, 0];
        for input in arguments(schema, &list(values), &common, &mut random) {
            let asked = call(&bundle, "zod", &json!({ "index": index, "value": input }));
            let asked = asked.unwrap_or_else(|error| panic!("{} {input} under {schema}", error.code())).value;
            let zod = if asked["ok"] == true { Ok(as_doubles(&asked["data"])) } else { Err(()) };
            let host = match call(&bundle, &format!("s{index}"), &input) {
                Ok(outcome) => Ok(as_doubles(&outcome.value)),
                Err(error) if matches!(error.kind, CallErrorKind::InputSchema { .. }) => Err(error.to_string()),
                Err(error) => panic!("{} {input} under {schema}", error.code()),
            };
            pairs += 1;
            verdicts[usize::from(zod.is_ok())] += 1;
            let same = match (&zod, &host) {
                (Ok(zod), Ok(host)) => zod == host,
                (Err(()), Err(_)) => true,
                _ => false,
            };
            if !same {
                writeln!(differences, "{schema}\n  {input}\n  zod:  {zod:?}\n  host: {host:?}").expect("text");
            }
        }
        if verdicts.contains(&0) {
            writeln!(differences, "{schema}: {} refused, {} accepted", verdicts[0], verdicts[1]).expect("text");
        }
    }
    assert!(differences.is_empty(), "of {pairs} pairs:\n{differences}");
    assert!(pairs > 10_000, "{pairs}");
}

/// A part of a value: without some members at any depth, and without some items at the end.
fn part(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Array(items) => {
            items.iter().take(random.below(items.len() + 1)).map(|item| part(item, random)).collect()
        }
        Value::Object(map) => {
            let mut rest = Map::new();
            for (name, value) in map {
                if random.below(3) > 0 {
                    rest.insert(name.clone(), part(value, random));
                }
            }
            rest.into()
        }
        _ => value.clone(),
    }
}

// EV-33, EV-34
#[test]
fn any_part_of_what_a_zod_schema_accepts_fits_its_partial_schema() {
    let bundle = load(&survivors());
    let common = list(COMMON);
    let mut random = Random(7);
    let mut parts = 0;
    for (index, (row, values)) in SURVIVING.iter().enumerate() {
        let name = format!("s{index}");
        let declaration = bundle.manifest().callbacks.iter().find(|callback| callback.name == name);
        let declaration = declaration.expect("the row has a tool");
        let schema = declaration.input_schema.as_ref().expect("a tool has an input schema");
        let full = DataSchema::compile(schema).unwrap_or_else(|error| panic!("{error} {row}"));
        let derived = partial_schema(schema).unwrap_or_else(|error| panic!("{error} {row}"));
        let partial = DataSchema::compile(&derived).unwrap_or_else(|error| panic!("{error} {row}"));
        for input in arguments(row, &list(values), &common, &mut random) {
            let Ok(normal) = full.check(&input) else { continue };
            for _ in 0..3 {
                let part = part(&normal, &mut random);
                let checked =
                    partial.check(&part).unwrap_or_else(|violation| panic!("{violation}: {part} under {row}"));
                assert_eq!(*checked, part, "{row}");
                parts += 1;
            }
        }
    }
    assert!(parts > 8_000, "{parts}");
}

/// Formats for which Zod calls `URL` or `atob`, which a cell does not have. So Zod 4.6.7 was asked in Node 20: what it accepts,
/// and what it refuses.
#[rustfmt::skip]
const FORMATS: &[(&str, &str, &str)] = &[
    (
        "z.url()",
        r##"["https://example.com/x?y#z", "http:a", "HTTP://A.b", "mailto:a@b.c", "x:", "x:y z", "data:,", "file:///a", "http://user:pw@h:8080/", "http://[::1]/", "http://[1::]:80", "http://1.2.3.4", "http://0x7f.1", "http://256", "http://exa%41mple", "http:///a", "http:\\\\a", "https://m\u00fcnchen.de", "https://xn--mnchen-3ya.de", "https://a.\u00ad", "http://\u2603.net", "http://\u65e5\u672c\u8a9e", "http://a_b", "http://-a-", "http://a..b", "http://.", "http://a.", "a+b-c.d:x", "javascript:alert(1)", "blob:https://a.b/c", "ws://a", "ftp://a", "http://a:", "foo://a\u0000", "foo:///", "http://\ud83d\ude00.com", "http://a/\ud83d\ude00", "about:blank", "http://a#\u0000", "http://0300.1", "http://1e3", "http://\uff27\uff2f.com", "https://fa\u00df.de", "https://ab--cd.com", "https://-"]"##,
        r##"["http://h:65536", "http://h:99999999", "http://[::g]/", "http://1.2.3.256", "http://a b", "http://exa%20mple", "http://a%00b", "http://", "https://xn--a", "https://xn--", "https://\u00ad", "http://a<b", "http://a>b", "http://a^b", "http://a|b", "1http://a", "//a.b", "/x", "a", "", "?x", "#x", "http://a:b", "http://:80", "http://@", "http://a@", "http://a\u0000b", "foo://a b", "foo://[", "non-special://a<b", "http://1.2.3.4.5", "http://09", "http://a%", "http://a%zz", "http://\uff0541.com", "https://a\u200db", "https://\u05d0a", "https://\u0301a"]"##,
    ),
    (
        "z.httpUrl()",
        r##"["http://example.com", "https://example.com/x", "HTTPS://EXAMPLE.com", "http://m\u00fcnchen.de", "https:///a.com"]"##,
        r##"["http:example.com", "http:/example.com", "http:\\\\example.com", "ftp://example.com", "http://localhost", "http://a.b:80/", "http://1.2.3.4", "http://[::1]", "http://-a.com", "http://a_b.com", "http://example.com.", "http://ex ample.com"]"##,
    ),
    (
        "z.url({ hostname: /^[a-z]+\\.org$/, protocol: /^ftp|https$/ })",
        r##"["https://a.org", "https://A.ORG:1/", "ftps://a.org", "https://u@a.org", "ftp://a.org"]"##,
        r##"["http://a.org", "https://a.com"]"##,
    ),
    (
        "z.ipv6()",
        r##"["::", "::1", "2001:db8::ff00:42:8329", "2001:DB8::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "0000:0000:0000:0000:0000:0000:0000:0000", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8"]"##,
        r##"["::ffff:1.2.3.256", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "fe80::1%eth0", "[::1]", "::g", "1.2.3.4", "", "12345::", ":::", "::1.2.3", "::01.2.3.4", "::1 ", " ::1", "::1\n", "1:2:3:4:5:6:7:8::", "::1/64"]"##,
    ),
    (
        "z.cidrv6()",
        r##"["::/0", "::1/128", "2001:db8::/32"]"##,
        r##"["::/129", "::/", "::/01", "::/+1", "::", "::/1/2", "::/ 1", "::/1 ", "::/1e1", "::/0x1", "::/-1", "::/-0", "::g/1", "/1", "::/64.0", "::/00"]"##,
    ),
    (
        "z.base64()",
        r##"["", "QQ==", "QUI=", "QUJD", "QUJDRA==", "+/+/", "QR==", "QUK="]"##,
        r##"["Q", "QQ", "QQ=", "QQ===", "QUJD=", "QU JD", "QUJD\n", "-_-_", "====", "Q===", "\uff21"]"##,
    ),
    (
        "z.base64url()",
        r##"["", "QQ", "QUI", "QUJD", "-_-_", "QUJDRA", "QR"]"##,
        r##"["Q", "QQ==", "+/+/", "QQ ", "QUJDR"]"##,
    ),
    (
        "z.jwt()",
        r##"["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x", "eyJhbGciOiJub25lIn0.e30.x", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJub25lIn0..", "eyJhbGciOjF9.e30.x", "eyJhbGciOiJub25lIn0=.e30.x"]"##,
        r##"["eyJhbGciOiJub25lIn0.e30", "eyJhbGciOiJub25lIn0.e30.x.y", "eyJhbGciOiJIUzI1NiIsInR5cCI6IngifQ.e30.x", "eyJhbGciOiIifQ.e30.x", "WzFd.e30.x", "bnVsbA.e30.x", "e30.e30.x", "", "..", "eyJ0eXAiOiJKV1QifQ.e30.x", "a.b.c", "eyJhbGciOiJub25lIiwidHlwIjoiand0In0.e30.x", "eyJhbGciOiJub25lIiwidHlwIjpudWxsfQ.e30.x"]"##,
    ),
    (
        "z.jwt({ alg: 'HS256' })",
        r##"["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x", "eyJhbGciOiJIUzI1NiJ9.e30.x"]"##,
        r##"["eyJhbGciOiJub25lIn0.e30.x"]"##,
    ),
];

// CB-25
#[test]
fn formats_that_zod_cannot_check_in_a_cell_are_those_of_zod_elsewhere() {
    let mut source = IMPORTS.to_owned();
    for (index, (schema, ..)) in FORMATS.iter().enumerate() {
        writeln!(
            source,
            "export const s{index} = createTool({{ description: 'Echo.', inputSchema: z.object({{ v: {schema} }}), \
             outputSchema: z.looseObject({{}}), execute: (input) => input }});"
        )
        .expect("text can be written");
    }
    let bundle = load(&source);
    let mut differences = String::new();
    for (index, (schema, accepted, refused)) in FORMATS.iter().enumerate() {
        let (accepted, refused) = (list(accepted), list(refused));
        assert!(!accepted.is_empty() && !refused.is_empty(), "{schema}");
        for (text, zod) in accepted.iter().map(|text| (text, true)).chain(refused.iter().map(|text| (text, false))) {
            let host = match call(&bundle, &format!("s{index}"), &json!({ "v": text })) {
                Ok(outcome) => outcome.value == json!({ "v": text }),
                Err(error) if matches!(error.kind, CallErrorKind::InputSchema { .. }) => false,
                Err(error) => panic!("{} {text} under {schema}", error.code()),
            };
            if host != zod {
                writeln!(differences, "{schema} {text}: zod {zod}, host {host}").expect("text can be written");
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Rows of the table "fail schema compilation": a schema, and how the message calls what is wrong with it.
const EFFECTS: &[(&str, &str)] = &[
    ("z.string().refine(() => true)", REFINE),
    ("z.object({}).refine(() => true)", REFINE),
    ("z.string().superRefine(() => {})", REFINE),
    ("z.string().check(() => {})", REFINE),
    ("z.array(z.string()).check(z.refine(() => true))", REFINE),
    ("z.string().trim()", REWRITE),
    ("z.string().toLowerCase()", REWRITE),
    ("z.string().toUpperCase()", REWRITE),
    ("z.string().normalize()", REWRITE),
    ("z.string().slugify()", REWRITE),
    ("z.number().overwrite((value) => value + 1)", REWRITE),
    ("z.string().transform((value) => value)", "`.transform`"),
    ("z.preprocess((value) => value, z.string())", "`z.preprocess`"),
    ("z.string().pipe(z.string())", "`.pipe`"),
    ("z.codec(z.string(), z.number(), { decode: Number, encode: String })", "`z.codec` or `z.stringbool`"),
    ("z.stringbool()", "`z.codec` or `z.stringbool`"),
    ("z.coerce.string()", "`z.coerce.string`"),
    ("z.coerce.number()", "`z.coerce.number`"),
    ("z.coerce.boolean()", "`z.coerce.boolean`"),
    ("z.coerce.bigint()", "`z.coerce.bigint`"),
    ("z.coerce.date()", "`z.coerce.date`"),
    ("z.string().catch('x')", "`.catch`"),
    ("z.string().default(() => 'x')", "`.default` with a function"),
    ("z.string().prefault(() => 'x')", "`.prefault` with a function"),
    ("z.promise(z.string())", "`z.promise`"),
    ("z.success(z.string())", "`z.success`"),
];

const REFINE: &str = "`.refine`, `.superRefine` or `.check`";
const REWRITE: &str = "A check that rewrites the value, such as `.trim` or `.toLowerCase`,";

/// Rows of the table "fail as unrepresentable".
const UNREPRESENTABLE: &[(&str, &str)] = &[
    ("z.bigint()", "A bigint"),
    ("z.int64()", "A bigint"),
    ("z.uint64()", "A bigint"),
    ("z.symbol()", "`z.symbol`"),
    ("z.undefined()", "`z.undefined`"),
    ("z.void()", "`z.void`"),
    ("z.date()", "`z.date`"),
    ("z.map(z.string(), z.string())", "`z.map`"),
    ("z.set(z.string())", "`z.set`"),
    ("z.nan()", "`z.nan`"),
    ("z.custom(() => true)", "`z.custom` or `z.instanceof`"),
    ("z.instanceof(Date)", "`z.custom` or `z.instanceof`"),
    ("z.function()", "`z.function`"),
    ("z.file()", "`z.file`"),
    ("z.literal(1n)", "A literal that is a bigint"),
    ("z.literal(undefined)", "A literal that is undefined"),
];

/// A project with one tool on each line, and with one line for each row.
struct Failing {
    source: String,
    /// Code and message of each row.
    expected: Vec<(String, String)>,
}

impl Failing {
    fn new() -> Self {
        Self { source: IMPORTS.to_owned(), expected: Vec::new() }
    }

    /// `place` is the path from the schema to what is wrong.
    fn row(&mut self, side: &str, schema: &str, code: &str, place: &str, message: &str) {
        let name = format!("t{}", self.expected.len());
        let (input, output) = match side {
            "inputSchema" => (schema, "z.object({})"),
            _ => ("z.object({})", schema),
        };
        writeln!(
            self.source,
            "export const {name} = createTool({{ description: 'Fails.', inputSchema: {input}, outputSchema: {output}, execute: () => ({{}}) }});"
        )
        .expect("text can be written");
        self.expected.push((code.to_owned(), format!("`{name}.{side}{place}`: {message}")));
    }

    /// Every row is reported, on its own line, and nothing else is.
    fn check(&self) {
        let diagnostics = match compiled(&self.source) {
            Err(error @ CompileError::Diagnostics(_)) => error.diagnostics().to_vec(),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it compiles"),
        };
        let first = IMPORTS.lines().count() + 1;
        let shown = |line: usize| self.source.lines().nth(line - 1).unwrap_or_default();
        for (index, (code, message)) in self.expected.iter().enumerate() {
            let line = first + index;
            let found: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.line as usize == line).collect();
            assert_eq!(found.len(), 1, "{} {found:#?}", shown(line));
            assert_eq!((found[0].code.as_ref(), &found[0].message), (code.as_str(), message), "{}", shown(line));
            assert!(found[0].is_error() && found[0].help.is_some(), "{}", shown(line));
            assert_eq!(found[0].file, "tools.ts");
        }
        assert_eq!(diagnostics.len(), self.expected.len(), "{diagnostics:#?}");
    }
}

fn effect(construct: &str) -> String {
    format!("{construct} runs code or changes the value, which a schema that is only data cannot do.")
}

// CB-26
#[test]
fn schemas_that_run_code_do_not_compile_on_either_side() {
    let mut failing = Failing::new();
    for (schema, construct) in EFFECTS {
        for side in ["inputSchema", "outputSchema"] {
            // Of a default in an output schema, the side is what is wrong.
            if side == "inputSchema" || !construct.contains("fault`") {
                failing.row(side, &format!("z.object({{ a: {schema} }})"), "C_SCHEMA_EFFECT", ".a", &effect(construct));
            }
        }
    }
    failing.check();
}

// CB-26
#[test]
fn schemas_of_what_json_does_not_have_do_not_compile_on_either_side() {
    let mut failing = Failing::new();
    for (schema, construct) in UNREPRESENTABLE {
        for side in ["inputSchema", "outputSchema"] {
            let message = format!("{construct} has no meaning for JSON data.");
            failing.row(side, &format!("z.object({{ a: {schema} }})"), "C_SCHEMA_UNREPRESENTABLE", ".a", &message);
        }
    }
    failing.check();
}

// CB-26, D-21
#[test]
fn defaults_belong_to_properties_of_input_schemas() {
    let mut failing = Failing::new();
    for name in ["default", "prefault"] {
        failing.row(
            "outputSchema",
            &format!("z.object({{ a: z.string().{name}('x') }})"),
            "C_SCHEMA_EFFECT",
            ".a",
            &format!("`.{name}` fills in a value, which only input schemas may do."),
        );
        failing.row(
            "inputSchema",
            &format!("z.object({{ a: z.array(z.string().{name}('x')) }})"),
            "C_SCHEMA_EFFECT",
            ".a[]",
            &format!("`.{name}` has a meaning only on a property of an object."),
        );
    }
    failing.row(
        "inputSchema",
        "z.object({ a: z.string().min(3).default('x') })",
        "C_SCHEMA_EFFECT",
        ".a",
        &effect("`.default` with a value that its own schema would refuse or change"),
    );
    failing.check();
}

// CB-26
#[test]
fn a_problem_deep_in_a_schema_is_named_by_its_path() {
    let mut failing = Failing::new();
    for (schema, place) in [
        ("z.object({ 'b c': z.array(z.object({ d: WRONG })) })", "[\"b c\"][].d"),
        ("z.object({ a: z.tuple([z.string(), WRONG], z.string()) })", ".a[1]"),
        ("z.object({ a: z.tuple([z.string()], WRONG) })", ".a[]"),
        ("z.object({ a: z.record(z.string(), WRONG) })", ".a.*"),
        ("z.object({ a: z.string() }).catchall(WRONG)", ".*"),
        ("z.object({ a: z.union([z.string(), WRONG]) })", ".a.anyOf[1]"),
        ("z.object({ a: z.xor([z.string(), WRONG]) })", ".a.oneOf[1]"),
        ("z.object({ a: z.intersection(z.looseObject({}), z.object({ b: WRONG })) })", ".a.allOf[1].b"),
        ("z.object({ a: WRONG.nullable().optional().readonly() })", ".a"),
        ("z.object({ a: z.lazy(() => WRONG) })", ".a"),
    ] {
        failing.row(
            "inputSchema",
            &schema.replace("WRONG", "z.date()"),
            "C_SCHEMA_UNREPRESENTABLE",
            place,
            "`z.date` has no meaning for JSON data.",
        );
        failing.row(
            "outputSchema",
            &schema.replace("WRONG", "z.string().trim()"),
            "C_SCHEMA_EFFECT",
            place,
            &effect(REWRITE),
        );
    }
    failing.row(
        "inputSchema",
        "z.object({ a: z.record(z.string().trim(), z.string()) })",
        "C_SCHEMA_EFFECT",
        ".a.*(key)",
        &effect(REWRITE),
    );
    failing.check();
}
