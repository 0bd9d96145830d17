export { createTool, createAgent, exactDiff, llmJudge, weightedScore } from 'callcell:sdk';
