// `createAgent` and its chain. Every method returns a new definition and leaves the receiver as it was.

import { append, dictionary, elements, freeze, includes, isArray, isObject, isSafeInteger, matches, ownKeys } from './intrinsics.js';
import {
  AgentRecord, checkCallback, Declaration, declare, EvaluatorEntry, guard, isBlank, isToolName, PassRecord, pathFault, recordOf, shown,
  ToolEntry, ToolRecord, unsupportedCalls,
} from './declaration.js';
import { listed, member, nearest, Problem, Problems, readOptions, report, under } from './problems.js';

const invalid = 'C_DECLARATION_INVALID';
const maximumTools = 64;
const maximumEvaluators = 32;

export class Definition extends Declaration {
  withFilesystem(options?: unknown): Definition {
    const record = agentRecord(this);
    const problems: Problems = [];
    const given = options === undefined ? dictionary() : readOptions(options, ['cwd'], '`withFilesystem`', invalid, 'filesystem', problems);
    const cwd = given.cwd ?? null;
    const fault = cwd === null ? undefined : pathFault(cwd);
    if (fault === 'invalid') {
      report(
        problems, invalid, 'filesystem.cwd', '`cwd` must be null or a project-relative directory.',
        'Write `cwd: null` for an empty working directory.',
      );
    } else if (fault === 'escape') {
      report(
        problems, 'C_PATH_ESCAPE', 'filesystem.cwd', `${shown(cwd)} leaves the project.`,
        'Name a directory inside the project, without `..`.',
      );
    }
    if (record.filesystem !== null) {
      report(
        problems, 'C_FILESYSTEM_TWICE', 'filesystem', '`withFilesystem` was called twice.',
        'Call it once, with the working directory you mean.',
      );
    }
    return extended(record, problems, { filesystem: { cwd: typeof cwd === 'string' ? cwd : null } });
  }

  defineEvaluator(name: unknown, evaluator: unknown): Definition {
    const record = agentRecord(this);
    const problems: Problems = [];
    const valid = typeof name === 'string' && matches(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, name);
    const path = typeof name === 'string' ? member('evaluators', name) : `evaluators[${record.evaluatorCalls}]`;
    if (!valid) {
      report(
        problems, 'C_EVALUATOR_NAME_INVALID', path,
        typeof name === 'string' ? `${shown(name)} is not an evaluator name.` : 'The name of an evaluator must be a string.',
        'Start with a letter and use only letters, digits, `_` and `-`, at most 64 characters.',
      );
    }
    if (record.passDefined) {
      report(
        problems, 'C_EVALUATORS_CLOSED', path, 'An evaluator was added after the pass rule.',
        'Call every `defineEvaluator` before `defineEvalPass`.',
      );
    }
    const duplicate = valid && includes(record.evaluatorNames, name);
    if (duplicate) {
      report(problems, 'C_EVALUATOR_DUPLICATE', path, `The evaluator ${shown(name)} exists already.`, 'Give each evaluator its own name.');
    }
    if (record.evaluatorNames.length === maximumEvaluators) {
      report(problems, 'C_EVALUATOR_LIMIT', path, `A definition has at most ${maximumEvaluators} evaluators.`, 'Combine some of them.');
    }
    const entry = readEvaluator(evaluator, valid ? name : '', path, problems);
    return extended(record, problems, {
      evaluators: valid && !duplicate && entry !== undefined ? append(record.evaluators, entry) : record.evaluators,
      evaluatorNames: valid && !duplicate ? append(record.evaluatorNames, name) : record.evaluatorNames,
      evaluatorCalls: record.evaluatorCalls + 1,
    });
  }

  defineEvalPass(rule: unknown): Definition {
    const record = agentRecord(this);
    const problems: Problems = [];
    if (record.passDefined) {
      report(problems, 'C_EVAL_PASS_TWICE', 'pass', '`defineEvalPass` was called twice.', 'Keep one pass rule.');
    }
    if (record.evaluatorNames.length === 0) {
      report(
        problems, 'C_EVAL_PASS_WITHOUT_EVALUATORS', 'pass', 'There is a pass rule but no evaluator.',
        'Call `defineEvaluator` first, or leave the pass rule out.',
      );
    }
    return extended(record, problems, { pass: readPass(rule, record, problems), passDefined: true });
  }
}

// What people expect from other libraries. Answering with a problem is kinder than "not a function".
const unsupported = ['asTool', 'run', 'generate', 'stream', 'invoke', 'chat', 'ask', 'send', 'reply', 'followUp', 'continueConversation'];

for (let index = 0; index < unsupported.length; index++) {
  const name = unsupported[index]!;
  Object.defineProperty(Definition.prototype, name, {
    configurable: true,
    value(this: unknown): unknown {
      const record = recordOf(this);
      const standIn: ToolRecord | undefined = name !== 'asTool' ? undefined : {
        kind: 'tool', description: '', inputSchema: undefined, outputSchema: undefined, execute: undefined, standIn: true, problems: [],
      };
      unsupportedCalls[unsupportedCalls.length] = {
        method: name,
        receiver: record?.kind === 'agent' ? record : undefined,
        standIn,
        message: `\`.${name}()\` is not part of the SDK.`,
        help: name === 'asTool' ? 'Share a tool made by `createTool`.' : 'Definitions are only declared here; the platform runs them.',
      };
      return standIn === undefined ? this : declare(standIn);
    },
  });
}
freeze(Definition.prototype);
freeze(Declaration.prototype);

export function createAgent(options: unknown): Definition {
  const problems: Problems = [];
  const given = readOptions(
    options,
    ['name', 'instructions', 'model', 'inputSchema', 'outputSchema', 'tools', 'skills', 'resources', 'limits'],
    '`createAgent`', invalid, '', problems,
  );
  const named = typeof given.name === 'string' && given.name.length <= 128 && matches(/^[a-z0-9][a-z0-9_-]*$/, given.name);
  if (!named) {
    report(
      problems, invalid, 'name', 'An agent needs a name of lower-case letters, digits, `-` and `_`.',
      "Write `name: 'invoice-reviewer'`, at most 128 characters.",
    );
  }
  if (isBlank(given.instructions)) {
    report(problems, invalid, 'instructions', 'An agent needs instructions.', 'Say what the agent shall do.');
  }
  if (given.model !== undefined && isBlank(given.model)) {
    report(problems, invalid, 'model', '`model` must name a configured model.', 'Leave `model` out to use the configured selection.');
  }
  return new Definition(guard, {
    kind: 'agent',
    origin: freeze({}),
    name: named ? given.name : undefined,
    instructions: given.instructions,
    model: isBlank(given.model) ? undefined : given.model,
    inputSchema: given.inputSchema,
    outputSchema: given.outputSchema,
    tools: given.tools === undefined ? [] : readTools(given.tools, problems),
    skills: given.skills === undefined ? [] : readPathList(given.skills, 'skills', problems),
    resources: given.resources === undefined ? [] : readPathList(given.resources, 'resources', problems),
    limits: given.limits === undefined ? undefined : readLimits(given.limits, problems),
    filesystem: null,
    evaluators: [],
    evaluatorNames: [],
    evaluatorCalls: 0,
    pass: null,
    passDefined: false,
    problems,
  });
}

function agentRecord(value: unknown): AgentRecord {
  const record = recordOf(value);
  if (record?.kind !== 'agent') throw new TypeError('Call this method on a definition made by createAgent.');
  return record;
}

function extended(record: AgentRecord, problems: Problems, changes: Partial<AgentRecord>): Definition {
  let all: Problem[] = record.problems;
  for (let index = 0; index < problems.length; index++) all = append(all, problems[index]!);
  return new Definition(guard, { ...record, ...changes, problems: all });
}

function readTools(value: unknown, problems: Problems): ToolEntry[] {
  const entries: ToolEntry[] = [];
  if (!isObject(value) || recordOf(value) !== undefined) {
    report(problems, invalid, 'tools', '`tools` must be an object or an array of tools.', 'Write `tools: { calculateTotal }`.');
    return entries;
  }
  try {
    const keys = isArray(value) ? undefined : ownKeys(value);
    const count = keys === undefined ? (value as unknown[]).length : keys.length;
    if (count > maximumTools) report(problems, invalid, 'tools', `An agent has at most ${maximumTools} tools.`, 'Remove some of them.');
    for (let index = 0; index < count && index < maximumTools; index++) {
      const key = keys === undefined ? undefined : keys[index]!;
      if (typeof key === 'symbol') continue;
      const path = key === undefined ? `tools[${index}]` : member('tools', key);
      const tool = (value as any)[key ?? index];
      if (key !== undefined && !isToolName(key)) {
        report(
          problems, invalid, path, `${shown(key)} is not a tool name.`,
          'Start with a letter or `_` and use only letters, digits, `_` and `-`, at most 64 characters.',
        );
      } else if (recordOf(tool)?.kind !== 'tool') {
        report(problems, invalid, path, 'This is not a tool.', 'Use the result of `createTool`.');
      } else {
        entries[entries.length] = { key, path, tool };
      }
    }
  } catch {
    report(problems, invalid, 'tools', '`tools` could not be read: reading it threw.', 'Give a plain object or array.');
  }
  return entries;
}

function readPathList(value: unknown, name: 'skills' | 'resources', problems: Problems): string[] {
  const paths: string[] = [];
  const list = elements(value);
  if (list === undefined) {
    report(problems, invalid, name, `\`${name}\` must be an array of project-relative paths.`, `Write \`${name}: ['${name}/invoices']\`.`);
    return paths;
  }
  for (let index = 0; index < list.length; index++) {
    const path = list[index];
    const fault = pathFault(path);
    if (fault === undefined) paths[paths.length] = path as string;
    else if (fault === 'escape') {
      report(
        problems, 'C_PATH_ESCAPE', `${name}[${index}]`, `${shown(path as string)} leaves the project.`,
        'Name something inside the project, without `..`.',
      );
    } else {
      report(problems, invalid, `${name}[${index}]`, 'This is not a path.', 'Give a project-relative path.');
    }
  }
  return paths;
}

function readLimits(value: unknown, problems: Problems): Record<string, number> {
  const names = ['maxTurns', 'maxTokens', 'timeoutMs'];
  const given = readOptions(value, names, '`limits`', invalid, 'limits', problems);
  const limits = dictionary();
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!;
    const limit = given[name];
    if (limit === undefined) continue;
    if (isSafeInteger(limit) && limit > 0) limits[name] = limit;
    else report(problems, invalid, `limits.${name}`, `\`${name}\` must be a positive whole number.`, 'Leave it out to use the platform limit.');
  }
  return limits;
}

function readEvaluator(value: unknown, name: string, path: string, problems: Problems): EvaluatorEntry | undefined {
  const record = recordOf(value);
  if (record?.kind === 'exactDiff' || record?.kind === 'llmJudge') {
    for (let index = 0; index < record.problems.length; index++) {
      const problem = record.problems[index]!;
      problems[problems.length] = { ...problem, path: under(path, problem.path) };
    }
    return {
      name,
      type: record.kind,
      callback: record.select,
      options: record.kind === 'exactDiff' ? record.options : undefined,
      prompt: record.kind === 'llmJudge' ? record.prompt : undefined,
      model: record.kind === 'llmJudge' ? record.model : undefined,
    };
  }
  if (typeof value !== 'function') {
    report(
      problems, 'C_EVALUATOR_INVALID', path, 'An evaluator is a function, or what `exactDiff` or `llmJudge` returns.',
      'Write `({ actual, expected }) => …`.',
    );
    return undefined;
  }
  checkCallback(value, 'The evaluator', 'C_EVALUATOR_INVALID', path, problems);
  return { name, type: 'callback', callback: value, options: undefined, prompt: undefined, model: undefined };
}

function readPass(rule: unknown, agent: AgentRecord, problems: Problems): PassRecord | null {
  const record = recordOf(rule);
  if (record?.kind === 'weightedScore') {
    for (let index = 0; index < record.problems.length; index++) {
      const problem = record.problems[index]!;
      problems[problems.length] = { ...problem, path: under('pass', problem.path) };
    }
    const names = ownKeys(record.weights) as string[];
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!;
      // Without any evaluator that alone is the problem.
      if (agent.evaluatorNames.length === 0 || includes(agent.evaluatorNames, name)) continue;
      const meant = nearest(name, agent.evaluatorNames);
      report(
        problems, 'C_WEIGHTS_UNKNOWN_SCORE', member('pass.weights', name), `There is no evaluator ${shown(name)}.`,
        meant === undefined ? `The evaluators are ${listed(agent.evaluatorNames)}.` : `Did you mean \`${meant}\`?`,
      );
    }
    return { type: 'weighted', weights: record.weights, threshold: record.threshold };
  }
  if (typeof rule !== 'function') {
    report(
      problems, invalid, 'pass', 'A pass rule is a function, or what `weightedScore` returns.',
      'Write `weightedScore({ weights, threshold })`.',
    );
    return null;
  }
  checkCallback(rule, 'The pass rule', invalid, 'pass', problems);
  return { type: 'predicate', callback: rule };
}
