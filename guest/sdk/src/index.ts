// The module `callcell:sdk`: what a project may import as `@eigenpal/automations`, and the harvest for the guest.

export { createTool } from './tool.js';
export { createAgent } from './agent.js';
export { exactDiff, llmJudge, weightedScore } from './evaluators.js';
export { harvest } from './harvest.js';
