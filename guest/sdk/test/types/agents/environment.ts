// What does not exist for callbacks: neither Node's types nor the browser's are there (CB-54 to CB-58, CB-96 to CB-104).

// @ts-expect-error 2591 Node
process.env;
// @ts-expect-error 2591 Node
Buffer.from('x');
// @ts-expect-error 2591 Node
require('decimal.js');
// @ts-expect-error 2304 Node
__dirname;
// @ts-expect-error 2304 network
fetch('https://example.com');
// @ts-expect-error 2304 browser
window.location;
// @ts-expect-error 2584 browser
document.title;
// @ts-expect-error 2304 browser
localStorage.x;
// @ts-expect-error 2304 browser
new URL('https://example.com');
// @ts-expect-error 2304 timers
setTimeout(() => {}, 1);
// @ts-expect-error 2304 timers
setInterval(() => {}, 1);
// @ts-expect-error 2304 jobs
queueMicrotask(() => {});
// @ts-expect-error 7017 nothing behind globalThis either
globalThis.fetch;
// @ts-expect-error 2882 Node's modules
import 'node:fs';
// @ts-expect-error 2307 packages
import Decimal from 'decimal.js';

// What does exist.
export const exists = [JSON.stringify(Math.max(1, 2)), /x/.test('x'), new Map(), [1].at(0), Object.hasOwn({}, 'a')];
export type Unused = typeof Decimal;
