// Raw JSON Schema: passed through to the IR, once it is known to be plain data that needs nothing from outside.
//
// The only change is a `$schema` where it is missing. It tells the host which draft to read, and that the schema is raw.

import { codeAt, dictionary, includes, isArray, isObject, ownKeys } from './intrinsics.js';
import { copyJson, NotJson } from './json.js';
import { member, Problems, report, under } from './problems.js';

const dialects = [
  'https://json-schema.org/draft/2020-12/schema', 'https://json-schema.org/draft/2020-12/schema#',
  'http://json-schema.org/draft-07/schema', 'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft-07/schema', 'https://json-schema.org/draft-07/schema#',
];

const draft2020 = dialects[0]!;
const draft07 = dialects[3]!;
/** Keywords that only one of the two drafts knows; a validator of the other would ignore them silently. */
const onlyDraft07 = ['dependencies', 'additionalItems'];
const onlyDraft2020 = [
  'prefixItems', 'dependentSchemas', 'dependentRequired', 'unevaluatedProperties', 'unevaluatedItems', 'minContains', 'maxContains', '$dynamicRef',
];

const reserved = [
  'x-unknownKeys', 'x-pattern', 'x-multipleOf', 'x-format', 'x-hostname', 'x-protocol', 'x-algorithm', 'x-discriminator',
];

const mapsOfSchemas = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];
const data = ['const', 'enum', 'default', 'examples', 'required', 'type', 'dependentRequired'];

/** A copy of a raw JSON Schema object, with problems for what cannot be honoured. */
export function compileRawSchema(value: unknown, path: string, problems: Problems): Record<string, any> {
  if (!isObject(value) || isArray(value)) {
    report(problems, 'C_DECLARATION_INVALID', path, 'A schema must be a Zod schema or a JSON Schema object.', 'Use `z.object({ … })`.');
    return dictionary();
  }
  if (isObject((value as any)._def) && (value as any)._zod === undefined) {
    report(problems, 'C_SCHEMA_UNSUPPORTED', path, 'This is a schema of Zod 3.', 'Import `z` from `zod` version 4.');
    return dictionary();
  }
  let schema: Record<string, any>;
  try {
    schema = copyJson(value);
  } catch (error) {
    const where = error instanceof NotJson ? under(path, error.path) : path;
    const what = error instanceof NotJson ? error.what : 'something that could not be read';
    report(
      problems, 'C_SCHEMA_UNSUPPORTED', where, `A raw JSON Schema must be plain JSON data; this is ${what}.`,
      'Write the schema as a literal, or use Zod.',
    );
    return dictionary();
  }
  const drafts: Drafts = { draft07: undefined, draft2020: undefined };
  inspect(schema, path, problems, drafts);
  settleDraft(schema, problems, drafts);
  return schema;
}

/** Where a keyword of only one draft was met. */
interface Drafts {
  draft07: string | undefined;
  draft2020: string | undefined;
}

function settleDraft(schema: Record<string, any>, problems: Problems, { draft07: older, draft2020: newer }: Drafts): void {
  const declared = schema.$schema;
  if (declared === undefined) schema.$schema = older === undefined ? draft2020 : draft07;
  const wrong = schema.$schema === dialects[0] || schema.$schema === dialects[1] ? older : newer;
  if (wrong !== undefined && (declared === undefined || includes(dialects, declared))) {
    report(
      problems, 'C_SCHEMA_UNSUPPORTED', wrong,
      declared === undefined ? 'The schema mixes keywords of draft-07 and draft 2020-12.' : 'The draft that `$schema` names does not know this keyword.',
      'Use the keywords of one draft.',
    );
  }
}

function inspect(schema: unknown, path: string, problems: Problems, drafts: Drafts): void {
  if (!isObject(schema)) return;
  if (isArray(schema)) {
    for (let index = 0; index < schema.length; index++) inspect(schema[index], `${path}[${index}]`, problems, drafts);
    return;
  }
  const keys = ownKeys(schema) as string[];
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    const value = (schema as any)[key];
    const where = member(path, key);
    if (includes(onlyDraft07, key) || (key === 'items' && isArray(value))) drafts.draft07 ??= where;
    if (includes(onlyDraft2020, key)) drafts.draft2020 ??= where;
    if (key === '$schema') {
      if (typeof value !== 'string' || !includes(dialects, value)) {
        report(
          problems, 'C_SCHEMA_UNSUPPORTED', where, 'The schema names a dialect that is not supported.',
          'Use draft 2020-12 or draft-07, or leave `$schema` out.',
        );
      }
    } else if (key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef') {
      if (typeof value !== 'string' || codeAt(value, 0) !== 35) {
        report(
          problems, 'C_SCHEMA_UNSUPPORTED', where, 'The schema refers to something outside itself.',
          'Copy the schema into `$defs` and refer to it as `#/$defs/name`.',
        );
      }
    } else if (includes(reserved, key)) {
      report(problems, 'C_SCHEMA_UNSUPPORTED', where, `The keyword \`${key}\` is reserved.`, 'Leave it out of raw JSON Schemas.');
    } else if (includes(mapsOfSchemas, key) && isObject(value) && !isArray(value)) {
      const names = ownKeys(value) as string[];
      for (let other = 0; other < names.length; other++) inspect((value as any)[names[other]!], member(where, names[other]!), problems, drafts);
    } else if (!includes(data, key)) {
      inspect(value, where, problems, drafts);
    }
  }
}
