/** Whether a server is warm: pure functions over the cost of a request, window by window. */
import { mean, median } from "./statistics.ts";

/** One window of load on one target at one endpoint. */
export interface Window {
  /** Requests since its start at this endpoint, this window's included. */
  readonly requests: number;
  /** CPU µs per request, compilers and collectors included; of a server that does not tell, µs ÷ requests. */
  readonly costUs: number;
  /** The same of the reference, in the same window; null where there was none. */
  readonly referenceUs: number | null;
  /**
   * 0 right after a restart, when servers may use every core; then counts how often the server's slices at this endpoint
   * were about to begin.
   */
  readonly turn: number;
}

/** What is kept of a target's warm-up at an endpoint. */
export interface Warmth {
  readonly windows: Window[];
  /** Whether the rule below found no change when it was last asked; null before. */
  steady: boolean | null;
  turn: number;
}

/** Target -> endpoint -> how it got warm after a restart. */
export type Warmths = Record<string, Record<string, Warmth>>;

/** The latest windows are at least so many; and after how many a target that still changes is called warming. */
export const LEAST_WINDOWS = 3;
export const MOST_WINDOWS = 9;

/** A change of less is none. */
export const TOLERANCE = 0.03;
/**
 * The least size of a split, in standard errors: in flat series a rule that looks at 3 to 9 windows finds a change in about 2 % of looks,
 * and in 2,000 simulated runs with heavy tails it kept 1 % twice as long as needed (tests/unit/steadiness.test.ts).
 */
const CRITICAL = 2.8;
/** Standard deviation of a window as it usually is, and the number of values that this counts as. */
const USUAL_NOISE = 0.04;
const USUAL_WEIGHT = 4;

const haveReference = (windows: readonly Window[]) => windows.every(({ referenceUs }) => referenceUs !== null);

/** ln cost of each window ÷ the reference's: what the host did to both is not in it. */
export const relativeCosts = (windows: readonly Window[]): number[] =>
  windows.map(({ costUs, referenceUs }) => Math.log(costUs / (referenceUs ?? 1)));

/**
 * Standard deviation of one window, ln scale, from what two windows beside it do not foretell (second differences), so
 * that a slow descent is not taken for noise; by their median, so that a step or a burst is not either.
 * @param series of the targets that were loaded together
 */
export function noiseOf(series: readonly (readonly number[])[]): number {
  const surprises = series.flatMap((costs) =>
    costs.slice(2).map((cost, i) => Math.abs(cost - 2 * (costs[i + 1] as number) + (costs[i] as number))),
  );
  // The median of |x| of a normal variable is 0.6745 sd; a second difference has 6 times the variance of a window.
  const seen = surprises.length > 0 ? median(surprises) / 0.6745 / Math.sqrt(6) : USUAL_NOISE;
  const all = USUAL_WEIGHT + surprises.length;
  return Math.sqrt((USUAL_WEIGHT * USUAL_NOISE ** 2 + surprises.length * seen ** 2) / all);
}

/**
 * A change point in the latest half of the windows, at least three: a split whose two sides differ by more than 3 % and by
 * more than chance would have it (the likelihood ratio of a shift in the mean, Hawkins 1977; used on warm-up as in Barrett
 * et al. 2017, Virtual Machine Warmup Blows Hot and Cold; asked again after every window as in Laaber et al. 2020).
 * @param costs ln scale
 */
export function isChanging(costs: readonly number[], noise: number): boolean {
  const latest = costs.slice(-Math.max(LEAST_WINDOWS, Math.ceil(costs.length / 2)));
  return latest.slice(1).some((_, i) => {
    const [before, after] = [latest.slice(0, i + 1), latest.slice(i + 1)];
    const error = noise * Math.sqrt(1 / before.length + 1 / after.length);
    return Math.abs(mean(after) - mean(before)) > Math.max(TOLERANCE, CRITICAL * error);
  });
}

/**
 * How much a server's cost changed from its first turn at an endpoint to its second.
 * @returns ln of the last windows ÷ those before, by their medians; null without both, and without a reference: then the
 *   machine may be what changed
 */
export function changeOf(all: readonly Window[]): number | null {
  const costs = [1, 2].map((turn) => {
    const windows = all.filter((window) => window.turn === turn).slice(-LEAST_WINDOWS);
    return windows.length === LEAST_WINDOWS && haveReference(windows) ? median(relativeCosts(windows)) : Number.NaN;
  }) as [number, number];
  const change = costs[1] - costs[0];
  return Number.isNaN(change) ? null : change;
}

/** The latest third of the windows ÷ the third before it: less is more than noise. */
const CHEAPER = 0.8;

/** Whether a server got cheaper of late, at any endpoint: compilers take from seconds to minutes. */
export const isGettingCheaper = (endpoints: readonly Warmth[]): boolean =>
  endpoints.some(({ windows }) => {
    const third = Math.floor(windows.length / 3);
    if (third < LEAST_WINDOWS) return false;
    const cost = (from: number, to?: number) => median(windows.slice(from, to).map(({ costUs }) => costUs));
    return cost(-third) < CHEAPER * cost(-2 * third, -third);
  });

/** How long a server was slow after its start, at one endpoint. */
export interface Coldness {
  /** Cost of the first window ÷ of the last ones. */
  readonly coldToWarm: number;
  /** Requests, and CPU seconds that they took, until cost came within a tenth of the last ones' and stayed there. */
  readonly requests: number;
  readonly cpuSeconds: number;
}

/** Within this, ln scale, a window counts as warm: about twice the noise of a window. */
const NEARLY = 0.1;

/** Whether a server that rested after its first turn still costs more than it did then: it may have dropped compiled code. */
export const isColdAgain = (all: readonly Window[]): boolean => (changeOf(all) ?? 0) > NEARLY;

/** @returns the windows right after a restart that had a reference, on the same cores; none where they are fewer than four. */
export function descentOf(windows: readonly Window[]): readonly Window[] {
  const first = windows.filter(({ turn, referenceUs }) => turn === windows[0]?.turn && referenceUs !== null);
  return first.length >= 4 ? first : [];
}

/** @param all windows since a restart. @returns null where its descent was not seen. */
export function coldnessOf(all: readonly Window[]): Coldness | null {
  const windows = descentOf(all);
  if (windows.length === 0) return null;
  const costs = relativeCosts(windows);
  const warm = median(costs.slice(-LEAST_WINDOWS));
  // Two in a row, as one alone may be the host's.
  const cold = costs.findLastIndex(
    (cost, i) => cost > warm + NEARLY && (i === 0 || (costs[i - 1] as number) > warm + NEARLY),
  );
  const before = windows.slice(0, cold + 1);
  const done = (i: number) => (windows[i]?.requests ?? 0) - (windows[i - 1]?.requests ?? 0);
  return {
    coldToWarm: Math.exp((costs[0] as number) - warm),
    requests: before.at(-1)?.requests ?? 0,
    cpuSeconds: before.reduce((sum, { costUs }, i) => sum + (costUs * done(i)) / 1e6, 0),
  };
}
