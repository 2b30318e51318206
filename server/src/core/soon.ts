/**
 * What is usually known at once. Whoever needs it waits only if it is a promise: an asynchronous function that has nothing
 * to wait for costs a small call about 1 KB of memory and two turns of the microtask queue.
 */
export type Soon<Value> = Value | Promise<Value>

/** `use` of the value: now if it is known, else once it is. Throws, or rejects, what `use` throws. */
export function whenKnown<Value, Next>(value: Soon<Value>, use: (value: Value) => Soon<Next>): Soon<Next> {
  return value instanceof Promise ? value.then(use) : use(value)
}
