// `exactDiff`, `llmJudge` and `weightedScore`: the ready-made evaluators and the ready-made pass rule.

import {
  append, dictionary, elements, firstMatch, includes, isArray, isFinite, isObject, matches, ownKeys, quote, slice, trim, unquote,
} from './intrinsics.js';
import { checkCallback, Declaration, declare, isBlank, shown } from './declaration.js';
import { listed, member, Problems, readOptions, report } from './problems.js';

const optionsCode = 'C_EXACT_DIFF_OPTIONS';
const pathCode = 'C_EXACT_DIFF_RULE_PATH';
const globalOptions = ['paths', 'unorderedPaths', 'numericTolerance', 'allowExtraFields'];
const ruleFields = ['ignore', 'order', 'items', 'matchBy', 'allowExtraFields', 'numericTolerance'];
const maximumPathDepth = 64;

export function exactDiff(options: unknown): Declaration {
  const problems: Problems = [];
  const given = readOptions(options, ['select', 'options'], '`exactDiff`', optionsCode, '', problems);
  checkCallback(given.select, '`select`', 'C_DECLARATION_INVALID', 'select', problems);
  const settings = given.options === undefined ? undefined : readComparison(given.options, problems);
  return declare({ kind: 'exactDiff', select: given.select, options: settings, problems });
}

function readComparison(value: unknown, problems: Problems): Record<string, any> {
  const given = readOptions(value, append(globalOptions, 'rules'), '`exactDiff`', optionsCode, 'options', problems);
  const settings = dictionary();
  if (given.rules !== undefined) {
    for (let index = 0; index < globalOptions.length; index++) {
      const name = globalOptions[index]!;
      if (given[name] !== undefined) {
        report(
          problems, 'C_EXACT_DIFF_MIXED', `options.${name}`, `\`${name}\` and \`rules\` cannot be combined.`,
          `Say it as a rule, or leave \`rules\` out.`,
        );
      }
    }
    settings.rules = readRules(given.rules, problems);
  }
  if (given.paths !== undefined) settings.paths = readPaths(given.paths, 'paths', problems);
  if (given.unorderedPaths !== undefined) settings.unorderedPaths = readPaths(given.unorderedPaths, 'unorderedPaths', problems);
  if (given.numericTolerance !== undefined) settings.numericTolerance = tolerance(given.numericTolerance, 'options.numericTolerance', problems);
  if (given.allowExtraFields !== undefined) settings.allowExtraFields = flag(given.allowExtraFields, 'allowExtraFields', 'options', problems);
  return settings;
}

function readRules(value: unknown, problems: Problems): Record<string, any> {
  const rules = dictionary();
  if (!isObject(value) || isArray(value)) {
    report(
      problems, optionsCode, 'options.rules', '`rules` must be an object from paths to rules.',
      'Write `rules: { total: { numericTolerance: 0.01 } }`.',
    );
    return rules;
  }
  let paths: (string | symbol)[] = [];
  try {
    paths = ownKeys(value);
  } catch {
    report(problems, optionsCode, 'options.rules', '`rules` could not be read: reading it threw.', 'Give a plain object.');
  }
  const taken = dictionary();
  for (let index = 0; index < paths.length; index++) {
    const written = paths[index]!;
    if (typeof written !== 'string') continue;
    const path = trim(written);
    const where = member('options.rules', written);
    const place = checkPath(path, false, where, problems);
    if (place === undefined) continue;
    if (taken[place] !== undefined) {
      report(problems, pathCode, where, `The place ${shown(path)} has two rules.`, 'Put both into one rule.');
      continue;
    }
    taken[place] = true;
    rules[path] = readRule(readMember(value, written), path, where, problems);
  }
  return rules;
}

function readMember(value: object, key: string): unknown {
  try {
    return (value as any)[key];
  } catch {
    return undefined;
  }
}

function readRule(value: unknown, path: string, where: string, problems: Problems): Record<string, any> {
  const given = readOptions(value, ruleFields, 'A rule', optionsCode, where, problems);
  const rule = dictionary();
  if (given.ignore !== undefined) {
    if (given.ignore !== true) {
      report(problems, optionsCode, `${where}.ignore`, '`ignore` can only be `true`.', 'Leave `ignore` out to compare the path.');
    } else if (ownKeys(given).length > 1) {
      report(
        problems, optionsCode, `${where}.ignore`, '`ignore` stands alone in its rule.',
        'Remove the other settings, or remove `ignore`.',
      );
    } else if (path === '$') {
      report(problems, optionsCode, `${where}.ignore`, 'The whole projection cannot be ignored.', 'Ignore single paths.');
    }
    rule.ignore = true;
  }
  if (given.order !== undefined) rule.order = choice(given.order, ['ordered', 'unordered'], 'order', where, problems);
  if (given.items !== undefined) rule.items = choice(given.items, ['at-least', 'at-most', 'exactly'], 'items', where, problems);
  if (given.matchBy !== undefined) {
    rule.matchBy = readMatchBy(given.matchBy, `${where}.matchBy`, problems);
    if (given.order !== 'unordered') {
      report(
        problems, optionsCode, `${where}.matchBy`, '`matchBy` requires unordered comparison.',
        "Add `order: 'unordered'` to the same rule.",
      );
    }
  }
  if (given.allowExtraFields !== undefined) rule.allowExtraFields = flag(given.allowExtraFields, 'allowExtraFields', where, problems);
  if (given.numericTolerance !== undefined) rule.numericTolerance = tolerance(given.numericTolerance, `${where}.numericTolerance`, problems);
  if (matches(/\[\]$/, path)) {
    const arrayOnly = ['order', 'items', 'matchBy'];
    for (let index = 0; index < arrayOnly.length; index++) {
      const name = arrayOnly[index]!;
      if (given[name] === undefined) continue;
      report(
        problems, optionsCode, `${where}.${name}`, `\`${name}\` describes an array, but ${shown(path)} names its items.`,
        `Put it on the array path \`${arrayPath(path)}\`, not the item path \`${path}\`.`,
      );
    }
  }
  return rule;
}

function choice(value: unknown, allowed: readonly string[], name: string, where: string, problems: Problems): unknown {
  if (typeof value !== 'string' || !includes(allowed, value)) {
    report(problems, optionsCode, `${where}.${name}`, `\`${name}\` has an unknown value.`, `Use one of ${listed(allowed)}.`);
  }
  return typeof value === 'string' ? value : null;
}

function flag(value: unknown, name: string, where: string, problems: Problems): boolean {
  if (typeof value !== 'boolean') report(problems, optionsCode, `${where}.${name}`, `\`${name}\` must be true or false.`, 'Use a boolean.');
  return value === true;
}

function tolerance(value: unknown, where: string, problems: Problems): number {
  if (typeof value === 'number' && isFinite(value) && value >= 0) return value;
  report(
    problems, optionsCode, where, '`numericTolerance` must be a finite number of at least 0.',
    'Give the largest absolute difference that still matches.',
  );
  return 0;
}

function readMatchBy(value: unknown, where: string, problems: Problems): unknown {
  const many = isArray(value);
  const list = many ? (elements(value) ?? []) : [value];
  let paths: string[] = [];
  if (list.length === 0) report(problems, optionsCode, where, '`matchBy` names no path.', 'Name the field that identifies an item.');
  for (let index = 0; index < list.length; index++) {
    const path = list[index];
    const at = many ? `${where}[${index}]` : where;
    if (typeof path !== 'string' || !matches(/^[^.[\]$,\s]+(?:\.[^.[\]$,\s]+)*$/, path)) {
      report(
        problems, optionsCode, at, 'A `matchBy` path is a dotted name inside the item.',
        "Write `matchBy: 'sku'` or `matchBy: ['supplier.id', 'sku']`.",
      );
    } else if (includes(paths, path)) {
      report(problems, optionsCode, at, `\`matchBy\` names ${shown(path)} twice.`, 'Name each path once.');
    } else {
      paths = append(paths, path);
    }
  }
  return many ? paths : (paths[0] ?? null);
}

function readPaths(value: unknown, name: 'paths' | 'unorderedPaths', problems: Problems): string[] {
  let paths: string[] = [];
  const where = `options.${name}`;
  const list = elements(value);
  if (list === undefined || list.length === 0) {
    report(
      problems, optionsCode, where, `\`${name}\` must be a non-empty array of paths.`,
      `Leave \`${name}\` out, or list at least one path.`,
    );
    return paths;
  }
  const taken = dictionary();
  for (let index = 0; index < list.length; index++) {
    const written = list[index];
    const at = `${where}[${index}]`;
    const path = typeof written === 'string' ? trim(written) : '';
    const place = checkPath(path, name === 'paths', at, problems);
    if (place === undefined) continue;
    if (name === 'unorderedPaths' && matches(/\[\]$/, path)) {
      report(problems, optionsCode, at, '`unorderedPaths` names arrays, not their items.', `Write \`${arrayPath(path)}\`.`);
    } else if (taken[place] !== undefined) {
      report(problems, pathCode, at, `The path ${shown(path)} is listed twice.`, 'List it once.');
    } else {
      taken[place] = true;
      paths = append(paths, path);
    }
  }
  return paths;
}

// A path is `$` or a name, then names behind dots; behind each any number of `[]`. Names in brackets are JSON strings.
const namedSegment = /^[^.[\]$\s]+/;
const quotedSegment = /^\["(?:[^"\\]|\\.)*"\]/;
const itemMarks = /^(?:\[\])+/;
const itemOrIndexMarks = /^(?:\[\d*\])+/;

/** `lineItems` for `lineItems[]`: the array that the items of a path stand in. */
const arrayPath = (path: string): string => firstMatch(/^.*?(?=(?:\[\])+$)/s, path) ?? path;

/** The place that a path names, in its one spelling; `undefined` with a problem for what is no path. */
function checkPath(path: string, indexes: boolean, where: string, problems: Problems): string | undefined {
  const place = placeOf(path, indexes);
  if (place === undefined) {
    report(
      problems, pathCode, where, `${shown(path)} is not a path of the projection.`,
      'Write `$`, `total`, `supplier.taxId`, `lineItems`, `lineItems[].sku` or `["a.b"]`.' + (indexes ? '' : ' Indexes are not allowed.'),
    );
  }
  return place;
}

function placeOf(path: string, indexes: boolean): string | undefined {
  const marksPattern = indexes ? itemOrIndexMarks : itemMarks;
  let place = '';
  let rest = path;
  if (rest[0] === '$') {
    const marks = firstMatch(marksPattern, slice(rest, 1)) ?? '';
    rest = slice(rest, 1 + marks.length);
    if (rest === '') return `$${marks}`;
    if (rest[0] === '.') rest = slice(rest, 1);
    else if (rest[0] !== '[') return undefined;
    if (marks !== '') place = `$${marks}`;
  }
  for (let depth = 1; depth <= maximumPathDepth; depth++) {
    let segment = firstMatch(namedSegment, rest);
    if (segment !== undefined) {
      place += place === '' ? segment : `.${segment}`;
    } else {
      segment = firstMatch(quotedSegment, rest);
      const name = segment === undefined ? undefined : unquote(slice(segment, 1, segment.length - 1));
      if (segment === undefined || name === undefined) return undefined;
      // `["a"]` is the same place as `a`.
      if (firstMatch(namedSegment, name) !== name) place += `[${quote(name)}]`;
      else place += place === '' ? name : `.${name}`;
    }
    const marks = firstMatch(marksPattern, slice(rest, segment.length)) ?? '';
    place += marks;
    rest = slice(rest, segment.length + marks.length);
    if (rest === '') return place;
    if (rest[0] === '.') rest = slice(rest, 1);
    else if (rest[0] !== '[') return undefined;
  }
  return undefined;
}

const minimumPrompt = 10;
const maximumPrompt = 131072;

export function llmJudge(options: unknown): Declaration {
  const problems: Problems = [];
  const { prompt, select, model } = readOptions(options, ['prompt', 'select', 'model'], '`llmJudge`', 'C_DECLARATION_INVALID', '', problems);
  if (typeof prompt !== 'string' || trim(prompt).length < minimumPrompt || prompt.length > maximumPrompt) {
    report(
      problems, 'C_JUDGE_PROMPT_LENGTH', 'prompt', `The prompt must be a string of ${minimumPrompt} to ${maximumPrompt} characters.`,
      'Say in the prompt what the judge shall score.',
    );
  }
  checkCallback(select, '`select`', 'C_DECLARATION_INVALID', 'select', problems);
  if (model !== undefined && isBlank(model)) {
    report(
      problems, 'C_JUDGE_MODEL_INVALID', 'model', '`model` must name a configured model.',
      'Leave `model` out to use the configured selection.',
    );
  }
  return declare({ kind: 'llmJudge', prompt, select, model: isBlank(model) ? undefined : model, problems });
}

export function weightedScore(options: unknown): Declaration {
  const problems: Problems = [];
  const given = readOptions(options, ['weights', 'threshold'], '`weightedScore`', 'C_DECLARATION_INVALID', '', problems);
  const weights = dictionary();
  let names: (string | symbol)[] | undefined;
  try {
    names = isObject(given.weights) && !isArray(given.weights) ? ownKeys(given.weights) : undefined;
  } catch {
    names = undefined;
  }
  if (names === undefined || names.length === 0) {
    report(
      problems, 'C_WEIGHTS_INVALID', 'weights', '`weights` must give at least one score a weight.',
      'Write `weights: { fields: 2, meaning: 1 }`.',
    );
  } else {
    let total = 0;
    let valid = true;
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!;
      if (typeof name !== 'string') continue;
      const weight = readMember(given.weights, name);
      if (typeof weight !== 'number' || !isFinite(weight) || weight < 0) {
        valid = false;
        report(
          problems, 'C_WEIGHTS_INVALID', member('weights', name), `The weight of ${shown(name)} must be a finite number of at least 0.`,
          'Give a number such as 1.',
        );
      } else {
        weights[name] = weight;
        total += weight;
      }
    }
    if (valid && !(total > 0 && isFinite(total))) {
      report(
        problems, 'C_WEIGHTS_INVALID', 'weights', 'The weights must have a positive, finite sum.',
        'Give at least one score a weight above 0.',
      );
    }
  }
  const threshold = given.threshold;
  if (typeof threshold !== 'number' || !(threshold >= 0 && threshold <= 1)) {
    report(
      problems, 'C_THRESHOLD_INVALID', 'threshold', '`threshold` must be a number from 0 to 1.',
      'Give the score from which the evaluation passes, such as 0.9.',
    );
  }
  return declare({ kind: 'weightedScore', weights, threshold, problems });
}
