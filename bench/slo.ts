import { UsageError } from "../shared/errors.ts";

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

/** Highest rate that keeps a promise: it lies between `low`, which kept it, and `high`, which did not. */
export interface Capacity {
  readonly low: number;
  /** Null where no rate broke it. */
  readonly high: number | null;
  readonly reason: string;
}

/** Width of the interval at which the search ends, as a ratio. */
const PRECISION = 1.04;
/** Of one rate: the majority decides, so that one hiccup of the host does not. */
const TRIALS = 3;
const MOST_RATES = 16;

/**
 * Bisection on the logarithm of the rate, from `most`, about what a closed loop reached.
 * @param attempt one run at a rate, of known length, so the search takes at most 48 of them
 */
export async function searchCapacity(attempt: (rate: number) => Promise<Trial>, most: number): Promise<Capacity> {
  let low = 0;
  let high: number | null = null;
  let reason = "it was kept at every rate tried";
  let rate = most;
  for (let i = 0; i < MOST_RATES && (high === null || high / low > PRECISION); i++) {
    const { kept, why } = await majority(() => attempt(rate));
    if (kept) low = rate;
    else {
      high = rate;
      reason = `at ${rate.toFixed(1)} requests/s ${why}`;
    }
    if (high === null) rate = low * 1.1;
    else rate = low === 0 ? high / 2 : Math.sqrt(low * high);
  }
  return { low, high, reason };
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
