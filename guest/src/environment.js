// What a script finds around it. Evaluated once, before anything else, with QuickJS's own globals still in place.
// Returns the two functions that put the guarded clock in place for compilation and take it away for calls.
(function (refuseClock) {
  'use strict';
  const keep = new Set([
    'AggregateError', 'Array', 'ArrayBuffer', 'AsyncDisposableStack', 'BigInt', 'BigInt64Array', 'BigUint64Array', 'Boolean',
    'DataView', 'Date', 'DisposableStack', 'Error', 'EvalError', 'FinalizationRegistry', 'Float16Array', 'Float32Array',
    'Float64Array', 'Infinity', 'Int16Array', 'Int32Array', 'Int8Array', 'InternalError', 'Iterator', 'JSON', 'Map', 'Math',
    'NaN', 'Number', 'Object', 'Promise', 'Proxy', 'RangeError', 'ReferenceError', 'Reflect', 'RegExp', 'Set', 'String',
    'SuppressedError', 'Symbol', 'SyntaxError', 'TypeError', 'URIError', 'Uint16Array', 'Uint32Array', 'Uint8Array',
    'Uint8ClampedArray', 'WeakMap', 'WeakRef', 'WeakSet', 'console', 'decodeURI', 'decodeURIComponent', 'encodeURI',
    'encodeURIComponent', 'escape', 'globalThis', 'isFinite', 'isNaN', 'parseFloat', 'parseInt', 'undefined', 'unescape',
  ]);
  for (const name of Reflect.ownKeys(globalThis)) {
    if (typeof name === 'string' && !keep.has(name)) delete globalThis[name];
  }
  // Code from text would pass by the import checks and the async checks (D-28).
  for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    delete Object.getPrototypeOf(sample).constructor;
  }

  const { apply, construct } = Reflect;
  const property = (value) => ({ value, writable: true, enumerable: false, configurable: true });

  // The engine takes the flag `v` and then reads sets, strings and negated classes wrongly: no answer is better than a wrong one.
  // Literals with the flag are the compiler's to refuse.
  const NativeRegExp = RegExp;
  const hasSets = Object.getOwnPropertyDescriptor(RegExp.prototype, 'unicodeSets').get;
  const nativeCompile = RegExp.prototype.compile;
  const refuseSets = () => { throw new SyntaxError("regular expressions have no flag 'v' here: use 'u'"); };
  const withoutSets = (expression) => apply(hasSets, expression, []) ? refuseSets() : expression;
  const GuardedRegExp = new Proxy(NativeRegExp, {
    construct: (target, values, newTarget) => withoutSets(construct(target, values, newTarget)),
    apply: (target, receiver, values) => withoutSets(apply(target, receiver, values)),
  });
  Object.defineProperty(globalThis, 'RegExp', property(GuardedRegExp));
  Object.defineProperty(NativeRegExp.prototype, 'constructor', property(GuardedRegExp));
  Object.defineProperty(NativeRegExp.prototype, 'compile', property({
    compile(pattern, flags) {
      const text = flags === undefined ? undefined : `${flags}`;
      for (let index = 0; text !== undefined && index < text.length; index++) if (text[index] === 'v') refuseSets();
      return apply(nativeCompile, this, [pattern, text]);
    },
  }.compile));

  const NativeDate = Date;
  const nativeNow = Date.now;
  const refuse = (what) => {
    if (refuseClock()) throw new Error(what + ' is disabled while a project is compiled: pass the time in as input');
  };
  const guardedNow = { now() { refuse('Date.now()'); return nativeNow(); } }.now;
  const GuardedDate = new Proxy(NativeDate, {
    construct(target, values, newTarget) {
      if (values.length === 0) refuse('new Date()');
      return construct(target, values, newTarget);
    },
    apply() { refuse('Date()'); return NativeDate(); },
  });
  const put = (date, now) => {
    Object.defineProperty(globalThis, 'Date', property(date));
    Object.defineProperty(NativeDate.prototype, 'constructor', property(date));
    Object.defineProperty(NativeDate, 'now', property(now));
  };
  return {
    guard: () => put(GuardedDate, guardedNow),
    release: () => put(NativeDate, nativeNow),
  };
})
