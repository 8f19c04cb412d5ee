/** The search for the highest rate that keeps a promise. */
import type { Capacity } from "../keep/manifest.ts";
import { meanInterval } from "./statistics.ts";

/** One attempt at one rate. */
export interface Trial {
  /** Null if the promise was broken while other work used the CPU, because that says nothing about the server. */
  readonly kept: boolean | null;
  /** Why it was not kept. */
  readonly why: string;
}

/** The result of one restart: the highest rate that keeps a promise lies between `low`, which kept it, and `high`, which did not. */
export interface Bracket {
  readonly low: number;
  /** Null if no rate broke it. */
  readonly high: number | null;
  readonly reason: string;
}

/** Restarts of each server, enough for an interval. */
export const STARTS = 3;

/** The search ends when `high` ÷ `low` is at most this. */
const PRECISION = 1.04;
/** Attempts at a rate that must agree, so that a single disturbance by the host does not decide. */
const AGREEING = 2;
/** Maximum attempts at a rate; if they do not agree by then, the result is unknown. */
const MOST_TRIES = 6;
const MOST_RATES = 16;
/** The search ends below this share of the closed loop's rate, because something other than the rate then breaks the promise. */
const LEAST_RATE = 0.01;

/**
 * Bisection on the logarithm of the rate.
 * @param attempt loads the server at a rate
 * @param closed requests/s of a closed loop
 * @param keptBefore rate that an earlier restart kept; the search begins there
 */
export async function searchCapacity(
  attempt: (rate: number) => Promise<Trial>,
  closed: number,
  keptBefore = 0,
): Promise<Bracket> {
  let low = 0;
  let high: number | null = null;
  let reason = "the promise was kept at every rate tried";
  let rate = keptBefore || closed;
  /** Factor by which the rate is lowered until one keeps the promise; squared after each attempt, up to 2. */
  let step = keptBefore ? 1.1 : 2;
  for (let i = 0; i < MOST_RATES && (high === null || high / low > PRECISION) && rate > LEAST_RATE * closed; i++) {
    const { kept, why } = await agreed(() => attempt(rate));
    if (kept) low = rate;
    else {
      reason = `at ${rate.toFixed(1)} requests/s ${why}`;
      if (kept === null) break;
      high = rate;
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

/** From the geometric means of `low` and of `high` over restarts; a single restart keeps its own bracket. Restarts without a result do not count. */
export function capacityOf(all: readonly Bracket[]): Capacity {
  const known = all.filter(({ low, high }) => low > 0 || high !== null);
  const starts = known.length > 0 ? known : all;
  const lows = starts.map(({ low }) => low);
  const highs = starts.flatMap(({ high }) => high ?? []);
  const { reason } = starts.at(-1) as Bracket;
  const least = Math.min(...lows);
  const isBroken = highs.length === starts.length;
  if (starts.length === 1 || least === 0) {
    return { rate: least, low: least, high: isBroken ? Math.max(...highs) : null, starts: starts.length, reason };
  }
  const { estimate, low } = meanInterval(lows);
  return { rate: estimate, low, high: isBroken ? meanInterval(highs).high : null, starts: starts.length, reason };
}

/** @returns the result on which several attempts agree; one with `kept: null` if they do not. */
async function agreed(attempt: () => Promise<Trial>): Promise<Trial> {
  const trials: Trial[] = [];
  for (let n = 1; ; n++) {
    const trial = await attempt();
    trials.push(trial);
    const alike = trials.filter(({ kept }) => kept === trial.kept).length;
    if (trial.kept !== null && alike === AGREEING) return trial;
    if (n === MOST_TRIES) return { kept: null, why: trials.findLast(({ kept }) => !kept)?.why ?? "" };
  }
}
