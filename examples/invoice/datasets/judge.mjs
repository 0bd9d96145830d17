// A judge without a model, for trying evaluations without an account: `node datasets/judge.mjs [PORT]`, then
// `CALLCELL_JUDGE_URL=http://127.0.0.1:8807/v1 CALLCELL_JUDGE_MODELS=word-judge callcell eval …`.
//
// It speaks the protocol of OpenAI's chat completions and scores the share of the expected words that the actual text has.

import { createServer } from 'node:http';

const port = Number(process.argv[2] ?? 8807);
const words = (value) => new Set(String(value ?? '').toLowerCase().match(/[\p{L}\p{N}.,-]+/gu) ?? []);

function judge(user) {
  const data = JSON.parse(user.slice(user.indexOf('\n') + 1, user.lastIndexOf('\n')));
  const expected = words(data.expected ?? JSON.stringify(data.facts));
  const actual = words(data.actual ?? data.summary);
  const missing = [...expected].filter((word) => !actual.has(word));
  const score = expected.size === 0 ? 1 : (expected.size - missing.length) / expected.size;
  const rationale = missing.length === 0 ? 'Every expected fact is there.' : `Missing: ${missing.slice(0, 8).join(', ')}`;
  return { rationale, score };
}

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    try {
      const { model, messages } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const content = JSON.stringify(judge(messages.at(-1).content));
      const usage = { prompt_tokens: Math.ceil(Buffer.concat(chunks).length / 4), completion_tokens: Math.ceil(content.length / 4) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ model, choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }], usage }));
    } catch (error) {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: { message: String(error) } }));
    }
  });
}).listen(port, '127.0.0.1', () => console.error(`word-judge listens on http://127.0.0.1:${port}/v1`));
