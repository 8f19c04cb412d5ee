/** Work of a known length. */
const state = new Int32Array(1).fill(1);

/**
 * Work whose time is proportional to `turns` (xorshift, Marsaglia 2003); its result is stored, so that no compiler removes it.
 * It costs the same if called rarely as in a loop; a multiplication instead took six times as long in V8.
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

/** @returns nanoseconds of one turn: the minimum of many looks, because other processes may use the core during some. */
export function nanosecondsPerTurn(): number {
  const [calls, turns] = [100, 1_000];
  const looks = Array.from({ length: 300 }, () => {
    const since = performance.now();
    for (let i = 0; i < calls; i++) spin(turns);
    return performance.now() - since;
  });
  return (Math.min(...looks) * 1e6) / (calls * turns);
}
