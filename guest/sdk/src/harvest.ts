// The harvest: from the exports of a project's entry module to a manifest of plain data and the list of its callbacks.
//
// Exports are anybody's values. Only declarations are read, through their private field; nothing else is touched,
// and no callback is invoked.

import { append, codeAt, dictionary, includes, isFinite, mapGet, mapSet, ownKeys, slice, sourceOf } from './intrinsics.js';
import { AgentRecord, EvaluatorEntry, isToolName, recordOf, shown, ToolRecord, UnsupportedCall, unsupportedCalls } from './declaration.js';
import { member, Problem, Problems, report, under } from './problems.js';
import { compileSchema, describesObject, Side } from './schema.js';

/** Most UTF-16 code units of a predicate's source. */
const maximumSource = 16 * 1024;

export type CallbackKind = 'tool' | 'evaluator' | 'diff-selector' | 'judge-selector' | 'pass-rule';

export interface Harvest {
  /** Plain JSON data. */
  manifest: Record<string, any>;
  /** The callbacks, in the order of `manifest.callbacks`. */
  callbacks: Function[];
}

interface State {
  callbacks: Function[];
  entries: Record<string, any>[];
  /** The position of each callback by its name. */
  positions: Map<string, number>;
  /** The callback name of each exported tool. */
  tools: Map<ToolRecord, string>;
  agents: Record<string, any>[];
  problems: Problems;
  /** What was reported already: problems, and entries with a problem. Definitions of one chain share them. */
  seen: Map<object, true>;
  /** The schemas compiled so far, so that one used in two places is compiled and reported once. */
  schemas: Map<unknown, Compiled[]>;
}

interface Compiled {
  ir: Record<string, any>;
  side: Side;
  complete: boolean;
}

export function harvest(namespace: object): Harvest {
  const state: State = {
    callbacks: [], entries: [], positions: new Map(), tools: new Map(), agents: [], problems: [], seen: new Map(), schemas: new Map(),
  };
  try {
    walk(namespace, state);
  } catch {
    report(
      state.problems, 'C_DECLARATION_INVALID', '', 'The exports could not be read: reading them threw.',
      'Export only what `createTool` and `createAgent` return.',
    );
  }
  return {
    manifest: { format: 1, callbacks: state.entries, agents: state.agents, problems: state.problems },
    callbacks: state.callbacks,
  };
}

interface Export<Record> {
  record: Record;
  names: string[];
}

function walk(namespace: object, state: State): void {
  const tools: Export<ToolRecord>[] = [];
  const standIns: Export<ToolRecord>[] = [];
  const agents: Export<AgentRecord>[] = [];
  let found = false;
  const names = ownKeys(namespace);
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!;
    if (typeof name !== 'string') continue;
    let value: unknown;
    try {
      value = (namespace as any)[name];
    } catch {
      report(
        state.problems, 'C_DECLARATION_INVALID', member('', name), `The export ${shown(name)} could not be read.`,
        'Give it a value at the top level of the module.',
      );
      continue;
    }
    const record = recordOf(value);
    if (record?.kind === 'tool') collect(record.standIn ? standIns : tools, record, name);
    else if (record?.kind === 'agent') collect(agents, record, name);
    if (record?.kind === 'tool' || record?.kind === 'agent') found = true;
  }

  for (let index = 0; index < unsupportedCalls.length; index++) {
    const call = unsupportedCalls[index]!;
    const base = baseOf(call, standIns, agents);
    report(state.problems, 'C_UNSUPPORTED_API', base === '' ? '' : member(base, call.method), call.message, call.help);
  }
  for (let index = 0; index < tools.length; index++) {
    const { record, names } = tools[index]!;
    mapSet(state.tools, record, preferred(names, false));
    for (let other = 0; other < names.length; other++) addTool(state, record, names[other]!, member('', names[other]!));
  }
  for (let index = 0; index < agents.length; index++) addAgent(state, agents[index]!.record, agents[index]!.names);
  if (!found) {
    report(
      state.problems, 'C_NO_DEFINITION', '', 'The module exports no tool and no agent.',
      'Export what `createTool` or `createAgent` returns.',
    );
  }
}

/** Where a call of a method that does not exist shows: where its result went, else its definition, else another of the chain. */
function baseOf(call: UnsupportedCall, standIns: readonly Export<ToolRecord>[], agents: readonly Export<AgentRecord>[]): string {
  for (let index = 0; index < standIns.length; index++) {
    if (standIns[index]!.record === call.standIn) return member('', preferred(standIns[index]!.names, false));
  }
  let relative = '';
  let exact = '';
  for (let index = 0; index < agents.length; index++) {
    const { record, names } = agents[index]!;
    const path = member('', preferred(names, true));
    for (let tool = 0; call.standIn !== undefined && tool < record.tools.length; tool++) {
      const entry = record.tools[tool]!;
      if (recordOf(entry.tool) === call.standIn) return under(path, entry.path);
    }
    if (record === call.receiver) exact = path;
    if (relative === '' && record.origin === call.receiver?.origin) relative = path;
  }
  return exact === '' ? relative : exact;
}

function collect<Record>(list: Export<Record>[], record: Record, name: string): void {
  for (let index = 0; index < list.length; index++) {
    if (list[index]!.record === record) {
      list[index]!.names = append(list[index]!.names, name);
      return;
    }
  }
  list[list.length] = { record, names: [name] };
}

/** Of the names of one export: `default`, or the first that is not. */
function preferred(names: readonly string[], byDefault: boolean): string {
  for (let index = 0; index < names.length; index++) if ((names[index] === 'default') === byDefault) return names[index]!;
  return names[0]!;
}

/** Whether this is the first time that `key` is asked for. */
function first(state: State, key: object): boolean {
  if (mapGet(state.seen, key)) return false;
  mapSet(state.seen, key, true);
  return true;
}

function reportOnce(state: State, problem: Problem, path: string): void {
  if (!first(state, problem)) return;
  state.problems[state.problems.length] = { ...problem, path: under(path, problem.path) };
}

/** Adds a callback and returns the name it got: `name`, or `alternative` (with `@export` in it) where another function has that name. */
function addCallback(state: State, callback: unknown, kind: CallbackKind, name: string, alternative: string): string {
  const taken = mapGet(state.positions, name);
  if (taken !== undefined) {
    if (state.callbacks[taken] === callback && state.entries[taken]!.kind === kind) return name;
    return name === alternative ? name : addCallback(state, callback, kind, alternative, alternative);
  }
  if (typeof callback !== 'function') return name;
  mapSet(state.positions, name, state.callbacks.length);
  state.callbacks[state.callbacks.length] = callback;
  const entry = dictionary();
  entry.name = name;
  entry.kind = kind;
  state.entries[state.entries.length] = entry;
  return name;
}

function addTool(state: State, tool: ToolRecord, name: string, path: string, alternative = name): string {
  for (let index = 0; index < tool.problems.length; index++) reportOnce(state, tool.problems[index]!, path);
  if (!isToolName(name) && path === member('', name)) {
    report(
      state.problems, 'C_DECLARATION_INVALID', path, `${shown(name)} is not a tool name.`,
      'Start with a letter or `_` and use only letters, digits, `_` and `-`, at most 64 characters.',
    );
  }
  const input = tool.inputSchema === undefined ? undefined : objectSchema(state, tool.inputSchema, 'input', `${path}.inputSchema`);
  const output = tool.outputSchema === undefined ? undefined : objectSchema(state, tool.outputSchema, 'output', `${path}.outputSchema`);
  const added = addCallback(state, tool.execute, 'tool', name, alternative);
  const position = mapGet(state.positions, added);
  if (position !== undefined) {
    const entry = state.entries[position]!;
    if (typeof tool.description === 'string') entry.description = tool.description;
    if (input !== undefined) entry.inputSchema = input;
    if (output !== undefined) entry.outputSchema = output;
  }
  return added;
}

function objectSchema(state: State, schema: unknown, side: Side, path: string): Record<string, any> {
  const result = compiled(state, schema, side, path);
  const { ir, complete } = result;
  if (complete && !describesObject(ir, ir) && first(state, result)) {
    report(
      state.problems, 'C_DECLARATION_INVALID', path, `The ${side} schema of a tool must describe an object.`,
      'Wrap it: `z.object({ value: … })`.',
    );
  }
  return ir;
}

function compiled(state: State, schema: unknown, side: Side, path: string): Compiled {
  const known = mapGet(state.schemas, schema) ?? [];
  for (let index = 0; index < known.length; index++) if (known[index]!.side === side) return known[index]!;
  const before = state.problems.length;
  const ir = compileSchema(schema, side, path, state.problems);
  const result = { ir, side, complete: state.problems.length === before };
  mapSet(state.schemas, schema, append(known, result));
  return result;
}

const evaluatorKinds: Record<EvaluatorEntry['type'], CallbackKind> = { callback: 'evaluator', exactDiff: 'diff-selector', llmJudge: 'judge-selector' };

function addAgent(state: State, agent: AgentRecord, names: readonly string[]): void {
  const exported = preferred(names, true);
  const path = member('', exported);
  const name = agent.name ?? exported;
  for (let index = 0; index < agent.problems.length; index++) reportOnce(state, agent.problems[index]!, path);

  const entry = dictionary();
  entry.name = name;
  entry.export = exported;
  entry.aliases = others(names, exported);
  entry.filesystem = agent.filesystem;
  entry.instructions = typeof agent.instructions === 'string' ? agent.instructions : '';
  if (agent.model !== undefined) entry.model = agent.model;
  entry.tools = addTools(state, agent, name, exported, path);
  if (agent.inputSchema !== undefined) entry.inputSchema = compiled(state, agent.inputSchema, 'input', `${path}.inputSchema`).ir;
  if (agent.outputSchema !== undefined) entry.outputSchema = compiled(state, agent.outputSchema, 'output', `${path}.outputSchema`).ir;
  entry.skills = agent.skills;
  entry.resources = agent.resources;
  if (agent.limits !== undefined) entry.limits = agent.limits;

  const evaluators: Record<string, any>[] = [];
  for (let index = 0; index < agent.evaluators.length; index++) {
    const evaluator = agent.evaluators[index]!;
    const row = dictionary();
    row.name = evaluator.name;
    row.type = evaluator.type;
    row.callback = addCallback(
      state, evaluator.callback, evaluatorKinds[evaluator.type], `${name}.evaluators.${evaluator.name}`, `${name}@${exported}.evaluators.${evaluator.name}`,
    );
    if (evaluator.options !== undefined) row.options = evaluator.options;
    if (typeof evaluator.prompt === 'string') row.prompt = evaluator.prompt;
    if (evaluator.model !== undefined) row.model = evaluator.model;
    evaluators[index] = row;
  }
  entry.evaluators = evaluators;

  entry.pass = null;
  if (agent.pass?.type === 'weighted') {
    entry.pass = { type: 'weighted', weights: agent.pass.weights, threshold: isFinite(agent.pass.threshold) ? agent.pass.threshold : null };
  } else if (agent.pass?.type === 'predicate') {
    const { callback } = agent.pass;
    const added = addCallback(state, callback, 'pass-rule', `${name}.pass`, `${name}@${exported}.pass`);
    entry.pass = { type: 'predicate', callback: added, source: sourceText(callback) };
  }
  if (agent.evaluatorNames.length > 0 && !agent.passDefined) {
    report(
      state.problems, 'C_EVAL_PASS_MISSING', path, `The export ${shown(exported)} has evaluators but no pass rule.`,
      'Finish the chain with `defineEvalPass`, or do not export it.',
    );
  }
  state.agents[state.agents.length] = entry;
}

/** The source of a predicate, for display (EV-103). */
function sourceText(callback: unknown): string {
  if (typeof callback !== 'function') return '';
  const text = sourceOf(callback);
  if (text.length <= maximumSource) return text;
  const last = codeAt(text, maximumSource - 1);
  // Not between the halves of a character.
  return slice(text, 0, last >= 0xd800 && last <= 0xdbff ? maximumSource - 1 : maximumSource);
}

function others(names: readonly string[], except: string): string[] {
  let rest: string[] = [];
  for (let index = 0; index < names.length; index++) if (names[index] !== except) rest = append(rest, names[index]!);
  return rest;
}

function addTools(state: State, agent: AgentRecord, name: string, exported: string, path: string): Record<string, string> {
  const tools = dictionary();
  let keys: string[] = [];
  for (let index = 0; index < agent.tools.length; index++) {
    const { key: written, path: where, tool } = agent.tools[index]!;
    const record = recordOf(tool) as ToolRecord;
    if (record.standIn) continue;
    const exportName = mapGet(state.tools, record);
    const key = written ?? exportName;
    if (key === undefined || includes(keys, key)) {
      if (!first(state, agent.tools[index]!)) continue;
      const code = 'C_DECLARATION_INVALID';
      const at = under(path, where);
      if (key !== undefined) {
        report(state.problems, code, at, `The agent has two tools named ${shown(key)}.`, 'Give each tool its own name.');
      } else {
        const message = 'A tool in an array is named by its export, but this one is not exported.';
        report(state.problems, code, at, message, 'Name it: `tools: { calculateTotal }`.');
      }
    } else {
      keys = append(keys, key);
      tools[key] = exportName ?? addTool(state, record, `${name}.tools.${key}`, under(path, where), `${name}@${exported}.tools.${key}`);
    }
  }
  return tools;
}
