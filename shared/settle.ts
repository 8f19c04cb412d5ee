/** Calls `next` with `value` once it is there: at once, without a promise, unless `value` is one. */
export function settle<T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
