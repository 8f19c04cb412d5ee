import { UsageError } from "../../shared/errors.ts";
import { meanInterval } from "../analysis/statistics.ts";

/** A promise about latency, as `p99<50ms`. */
export interface Slo {
  readonly percentile: 50 | 90 | 99 | 99.9;
  readonly limitMs: number;
}

/** @throws UsageError for anything but `p50`, `p90`, `p99` or `p99.9`, `<`, a number and `ms` or `s`. */
export function parseSlo(text: string): Slo {
  const [, p, limit, unit] = /^p(50|90|99|99\.9)<(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? [];
  if (!p || Number(limit) <= 0)
    throw new UsageError(`--slo is "${text}": write it as p99<50ms, with p50, p90, p99 or p99.9`);
  return { percentile: Number(p) as Slo["percentile"], limitMs: Number(limit) * (unit === "s" ? 1e3 : 1) };
}

/** `p99 < 50 ms` */
export const promiseOf = ({ percentile, limitMs }: Slo): string => `p${percentile} < ${limitMs} ms`;

/** What was seen at one rate. */
export interface Trial {
  readonly kept: boolean;
  /** Why it was not kept. */
  readonly why: string;
}

/** What one start found: the highest rate that keeps a promise lies between `low`, which kept it, and `high`, which did not. */
export interface Bracket {
  readonly low: number;
  /** Null where no rate broke it. */
  readonly high: number | null;
  readonly reason: string;
}

/** What several starts found: the highest rate that keeps a promise, with its 95 % interval; the reason is the last one's. */
export interface Capacity extends Bracket {
  readonly rate: number;
  readonly starts: number;
}

/** Starts of a server that make an interval. */
export const STARTS = 3;

/** Width of the bracket at which the search ends, as a ratio. */
const PRECISION = 1.04;
/** The majority of tries at a rate decides, so that one hiccup of the host does not. */
const TRIALS = 3;
const MOST_RATES = 16;
/** Part of the first rate below which there is no use in trying: something else than the rate breaks the promise. */
const LEAST_RATE = 0.001;

/**
 * Bisection on the logarithm of the rate.
 * @param attempt one run at a rate, of known length, so the search takes at most 48 of them
 * @param guess where it begins: what a closed loop reached, or what an earlier start kept
 * @param step ratio of the first two rates where the guess is broken; squared up to 2 until one is kept
 */
export async function searchCapacity(
  attempt: (rate: number) => Promise<Trial>,
  guess: number,
  step: number,
): Promise<Bracket> {
  let low = 0;
  let high: number | null = null;
  let reason = "it was kept at every rate tried";
  let rate = guess;
  for (let i = 0; i < MOST_RATES && (high === null || high / low > PRECISION) && rate > LEAST_RATE * guess; i++) {
    const { kept, why } = await majority(() => attempt(rate));
    if (kept) low = rate;
    else {
      high = rate;
      reason = `at ${rate.toFixed(1)} requests/s ${why}`;
    }
    if (high === null) rate = low * 1.1;
    else if (low > 0) rate = Math.sqrt(low * high);
    else {
      rate = high / step;
      step = Math.min(2, step ** 2);
    }
  }
  return { low, high, reason };
}

/** From the geometric means of what each start kept, and of what it did not; of one start its own bracket. */
export function capacityOf(starts: readonly Bracket[]): Capacity {
  const lows = starts.map(({ low }) => low);
  const highs = starts.flatMap(({ high }) => high ?? []);
  const { reason } = starts.at(-1) as Bracket;
  const least = Math.min(...lows);
  const isBroken = highs.length === starts.length;
  if (starts.length === 1 || least === 0) {
    return { rate: least, low: least, high: isBroken ? Math.max(...highs) : null, starts: starts.length, reason };
  }
  const { estimate, low } = meanInterval(lows, true);
  return { rate: estimate, low, high: isBroken ? meanInterval(highs, true).high : null, starts: starts.length, reason };
}

async function majority(attempt: () => Promise<Trial>): Promise<Trial> {
  const trials: Trial[] = [];
  while (true) {
    trials.push(await attempt());
    for (const kept of [true, false]) {
      const agreeing = trials.filter((trial) => trial.kept === kept);
      if (agreeing.length > TRIALS / 2) return agreeing[0] as Trial;
    }
  }
}
