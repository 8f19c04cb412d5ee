/** Calls `next` with `value`. Awaits only a promise, because a promise per request costs CPU time. */
export function settle<T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
