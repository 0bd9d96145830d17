// The scope that a block with `using` declarations is lowered to (ECMAScript 2026, DisposeResources). The transformer writes
//
//   var scope = usingCtx();
//   try { const file = scope.u(open()); … } catch (error) { scope.e = error } finally { scope.d() }
//
// `e` keeps its first state, an object of our own, until something was thrown, because anything may be thrown.
const { dispose } = Symbol;
const { apply } = Reflect;
const SuppressedErrorHere = SuppressedError;

export default function usingCtx() {
  const nothing = {};
  const resources = [];
  return {
    e: nothing,
    u(value) {
      if (value === null || value === undefined) return value;
      if (typeof value !== 'object' && typeof value !== 'function') {
        throw new TypeError('A `using` declaration takes an object, null or undefined.');
      }
      const method = value[dispose];
      if (typeof method !== 'function') throw new TypeError('The value of a `using` declaration has no method [Symbol.dispose].');
      resources[resources.length] = { value, method };
      return value;
    },
    d() {
      for (let index = resources.length - 1; index >= 0; index--) {
        const { value, method } = resources[index];
        try {
          apply(method, value, []);
        } catch (error) {
          this.e = this.e === nothing ? error : new SuppressedErrorHere(error, this.e);
        }
      }
      if (this.e !== nothing) throw this.e;
    },
  };
}
