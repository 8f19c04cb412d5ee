/** Work of a known length. */
const state = new Int32Array(1).fill(1);

/**
 * Work whose time grows with `turns` (xorshift, Marsaglia 2003); its result is kept, so that no compiler leaves it out.
 * It costs the same called now and then as in a loop; a multiplication in its place took six times as long in V8.
 */
export function spin(turns: number): void {
  let x = state[0] as number;
  for (let i = 0; i < turns; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  state[0] = x;
}

/** @returns nanoseconds of one turn: the fastest of many looks, as others may have had the core in the rest. */
export function nanosecondsPerTurn(): number {
  const [calls, turns] = [100, 1_000];
  const looks = Array.from({ length: 300 }, () => {
    const since = performance.now();
    for (let i = 0; i < calls; i++) spin(turns);
    return performance.now() - since;
  });
  return (Math.min(...looks) * 1e6) / (calls * turns);
}
