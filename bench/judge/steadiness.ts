/** Whether servers are warm: pure functions over what a request cost, round by round. */
import { median } from "./statistics.ts";

/** A change of less is not worth more warm-up. */
export const TOLERANCE = 0.03;
/**
 * The least size of a split, in standard errors. A look at 8 rounds of ten servers that do not change finds a change
 * in about one of five; it costs half as many rounds again (tests/unit/steadiness.test.ts).
 */
const CRITICAL = 3.2;
/** Rounds on each side of a split, at least. */
const LEAST_SIDE = 3;

/** ln cost of each target, round by round, less what the round made of all of them: the host cancels. */
export function relativeCosts(series: readonly (readonly number[])[]): number[][] {
  const rounds = series[0]?.length ?? 0;
  const common = Array.from({ length: rounds }, (_, r) =>
    series.length > 1 ? median(series.map((of) => of[r] as number)) : 0,
  );
  return series.map((of) => of.map((cost, r) => cost - (common[r] as number)));
}

/**
 * Standard deviation of one window, ln scale, from what two rounds beside it do not foretell (second differences), so
 * that a slow descent is not taken for noise; by their median, so that a step or a burst is not either.
 */
export function noiseOf(series: readonly (readonly number[])[]): number {
  const surprises = series.flatMap((costs) =>
    costs.slice(2).map((cost, i) => Math.abs(cost - 2 * (costs[i + 1] as number) + (costs[i] as number))),
  );
  // The median of |x| of a normal variable is 0.6745 sd; a second difference has 6 times the variance of a window.
  return surprises.length > 0 ? median(surprises) / 0.6745 / Math.sqrt(6) : Number.POSITIVE_INFINITY;
}

/**
 * A change point: a split whose two sides differ by more than 3 % and by more than chance would have it (the likelihood
 * ratio of a shift, Hawkins 1977; used on warm-up as in Barrett et al. 2017, Virtual Machine Warmup Blows Hot and Cold), by
 * medians, as a burst of a compiler or a collector is no change. A trend is one in the middle.
 * @param costs ln scale
 */
export function isChanging(costs: readonly number[], noise: number): boolean {
  return costs.slice(LEAST_SIDE, 1 - LEAST_SIDE || undefined).some((_, i) => {
    const [before, after] = [costs.slice(0, i + LEAST_SIDE), costs.slice(i + LEAST_SIDE)];
    const error = noise * Math.sqrt(1 / before.length + 1 / after.length);
    return Math.abs(median(after) - median(before)) > Math.max(TOLERANCE, CRITICAL * error);
  });
}

/** @param series ln cost of each target, round by round @returns of each target whether its cost stays, and whether all do */
export function isSteady(series: readonly (readonly number[])[]): { readonly each: boolean[]; readonly all: boolean } {
  const relative = relativeCosts(series);
  const noise = noiseOf(relative);
  const each = relative.map((costs) => !isChanging(costs, noise));
  return { each, all: each.every(Boolean) };
}

/** @returns how much a target's cost changed from the first half of its rounds to the second, ln scale. */
export function changeOf(costs: readonly number[]): number {
  const half = Math.floor(costs.length / 2);
  return half === 0 ? 0 : median(costs.slice(-half)) - median(costs.slice(0, half));
}
