// The harvest: from the exports of a project's entry module to a manifest of plain data and the list of its callbacks.
//
// Exports are anybody's values. Only declarations are read, through their private field; nothing else is touched,
// and no callback is invoked.

import { append, dictionary, includes, mapGet, mapSet, ownKeys } from './intrinsics.js';
import { AgentRecord, callProblems, EvaluatorEntry, isToolName, recordOf, shown, ToolRecord } from './declaration.js';
import { member, Problem, Problems, report, under } from './problems.js';
import { compileSchema, describesObject, Side } from './schema.js';

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
  /** Problems already reported; definitions of one chain share them. */
  seen: Map<Problem, true>;
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
    report(state.problems, 'C_DECLARATION_INVALID', '', 'The exports could not be read: reading them threw.', 'Export only what `createTool` and `createAgent` return.');
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
      report(state.problems, 'C_DECLARATION_INVALID', member('', name), `The export ${shown(name)} could not be read.`, 'Give it a value at the top level of the module.');
      continue;
    }
    const record = recordOf(value);
    if (record?.kind === 'tool' && !record.standIn) collect(tools, record, name);
    else if (record?.kind === 'agent') collect(agents, record, name);
    if (record?.kind === 'tool' || record?.kind === 'agent') found = true;
  }

  for (let index = 0; index < callProblems.length; index++) reportOnce(state, callProblems[index]!, '');
  for (let index = 0; index < tools.length; index++) {
    const { record, names } = tools[index]!;
    mapSet(state.tools, record, preferred(names, false));
    for (let other = 0; other < names.length; other++) addTool(state, record, names[other]!, member('', names[other]!));
  }
  for (let index = 0; index < agents.length; index++) addAgent(state, agents[index]!.record, agents[index]!.names);
  if (!found) {
    report(state.problems, 'C_NO_DEFINITION', '', 'The module exports no tool and no agent.', 'Export what `createTool` or `createAgent` returns.');
  }
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

function reportOnce(state: State, problem: Problem, path: string): void {
  if (mapGet(state.seen, problem)) return;
  mapSet(state.seen, problem, true);
  state.problems[state.problems.length] = { ...problem, path: under(path, problem.path) };
}

/** Adds a callback and returns the name it got: `name`, or with `@export` in front of the first dot when `name` is taken by another function. */
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
    report(state.problems, 'C_DECLARATION_INVALID', path, `${shown(name)} is not a tool name.`, 'Start with a letter or `_` and use only letters, digits, `_` and `-`, at most 64 characters.');
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
  const { ir, complete } = compiled(state, schema, side, path);
  if (complete && !describesObject(ir, ir)) {
    report(state.problems, 'C_DECLARATION_INVALID', path, `The ${side} schema of a tool must describe an object.`, 'Wrap it: `z.object({ value: … })`.');
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
    entry.pass = { type: 'weighted', weights: agent.pass.weights, threshold: typeof agent.pass.threshold === 'number' ? agent.pass.threshold : null };
  } else if (agent.pass?.type === 'predicate') {
    entry.pass = { type: 'predicate', callback: addCallback(state, agent.pass.callback, 'pass-rule', `${name}.pass`, `${name}@${exported}.pass`) };
  }
  if (agent.evaluatorNames.length > 0 && !agent.passDefined) {
    report(state.problems, 'C_EVAL_PASS_MISSING', path, `The export ${shown(exported)} has evaluators but no pass rule.`, 'Finish the chain with `defineEvalPass`, or do not export it.');
  }
  state.agents[state.agents.length] = entry;
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
    if (key === undefined) {
      report(state.problems, 'C_DECLARATION_INVALID', under(path, where), 'A tool in an array is named by its export, but this one is not exported.', 'Name it: `tools: { calculateTotal }`.');
    } else if (includes(keys, key)) {
      report(state.problems, 'C_DECLARATION_INVALID', under(path, where), `The agent has two tools named ${shown(key)}.`, 'Give each tool its own name.');
    } else {
      keys = append(keys, key);
      tools[key] = exportName ?? addTool(state, record, `${name}.tools.${key}`, under(path, where), `${name}@${exported}.tools.${key}`);
    }
  }
  return tools;
}
