// `createTool`: a function of the project that a model may call.

import { checkCallback, Declaration, declare, isBlank } from './declaration.js';
import { Problems, readOptions, report } from './problems.js';

const maximumDescription = 4096;

export function createTool(options: unknown): Declaration {
  const problems: Problems = [];
  const { description, inputSchema, outputSchema, execute } = readOptions(
    options, ['description', 'inputSchema', 'outputSchema', 'execute'], '`createTool`', 'C_DECLARATION_INVALID', '', problems,
  );
  if (isBlank(description)) {
    report(
      problems, 'C_DECLARATION_INVALID', 'description', 'A tool needs a description.',
      'Say in a sentence what the tool does; the model reads it.',
    );
  } else if (description.length > maximumDescription) {
    report(
      problems, 'C_DECLARATION_INVALID', 'description', `The description is longer than ${maximumDescription} characters.`,
      'Shorten it.',
    );
  }
  if (inputSchema === undefined) {
    report(problems, 'C_DECLARATION_INVALID', 'inputSchema', 'A tool needs an input schema.', 'Give `inputSchema: z.object({ … })`.');
  }
  if (outputSchema === undefined) {
    report(
      problems, 'C_DECLARATION_INVALID', 'outputSchema', 'A tool needs an output schema.',
      'Give `outputSchema: z.strictObject({ … })`.',
    );
  }
  checkCallback(execute, '`execute`', 'C_DECLARATION_INVALID', 'execute', problems);
  return declare({ kind: 'tool', description, inputSchema, outputSchema, execute, standIn: false, problems });
}
