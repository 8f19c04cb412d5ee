/** Clean-up after an error or without one: nothing stays because something else could not be ended. */

/** Waits for all, also if some fail. @returns their errors */
export async function errorsOf(ends: readonly (Promise<unknown> | undefined)[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(ends);
  return settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
}

/**
 * Calls `use`, then ends what it has used, also after an error.
 * @param end begins to end all of it @param tell gets each error that is not thrown
 * @throws the error of `use`, else the first one of `end`; the next one becomes its cause
 */
export async function thenEnd<T>(
  use: () => Promise<T>,
  end: () => readonly (Promise<unknown> | undefined)[],
  tell: (error: unknown) => void = () => {},
): Promise<T> {
  const [used] = await Promise.allSettled([use()]);
  const errors = await errorsOf(end());
  if (used.status === "rejected") errors.unshift(used.reason);
  else if (errors.length === 0) return used.value;
  const [first, ...others] = errors;
  for (const one of others) tell(one);
  if (first instanceof Error && others.length > 0) first.cause ??= others[0];
  throw first;
}

/** Ends what was begun before an error. @throws that error */
export const endAfter = (error: unknown, ...ends: readonly (Promise<unknown> | undefined)[]): Promise<never> =>
  thenEnd(
    () => Promise.reject(error),
    () => ends,
  );
