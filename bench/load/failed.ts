/** Status -> number of failed requests; "no answer" if a socket failed. */
export type Failed = Readonly<Record<string, number>>;

/** @returns the failed requests of all */
export function sumOf(all: readonly Failed[]): Failed {
  const statuses = new Set(all.flatMap((failed) => Object.keys(failed)));
  return Object.fromEntries(
    [...statuses].map((status) => [status, all.reduce((sum, failed) => sum + (failed[status] ?? 0), 0)]),
  );
}
