/** Compares two targets, again after each restart, until the result is decided. */
import jStat from "jstat";
import type { Turns } from "../keep/manifest.ts";
import type { Window } from "../keep/slices.ts";
import type { Scenario } from "../plan/plan.ts";
import { compare, contrast, ERROR_RATE, type Interval, mean, type State, spreadOver, stateOf } from "./statistics.ts";
import { changesIn, costOf, type Layout, layoutOf, levelsOf, rateOf } from "./turns.ts";
import { isFailing } from "./verdict.ts";

/** Cost of the first target ÷ cost of the second, by one measure. */
export interface Compared {
  /** ln(cost of the first ÷ of the second), one per restart. */
  readonly logRatios: readonly number[];
  /** Cost of the second in each restart: CPU µs per request, or seconds per request. */
  readonly base: readonly number[];
  readonly ratio: Interval;
  /** One-sided upper limit of the ratio, not corrected for the number of endpoints: see `verdictBy`. */
  readonly upper: number;
  readonly state: State;
  readonly smallestVisible: number;
  /** A/A check: cost of the second's copy ÷ cost of the second; null if there is no copy. */
  readonly guard: { readonly ratio: Interval; readonly state: State } | null;
}

/** The first target compared with the second at one scenario. */
export interface Outcome extends Compared {
  readonly endpoint: string;
  /** What is compared: CPU time per request, or time per request if the CPU time of one is unknown. */
  readonly by: "cpu" | "rate";
  /** The comparison by time per request, if `by` is CPU time; null if not measured. */
  readonly time: Compared | null;
  /** Whether one of them uses less than 85 % of a core in nine of ten windows: it waits for something, and CPU time does not show waiting. */
  readonly isWaiting: boolean;
  /** Whether the cost of one of them still changed while it was measured. */
  readonly isWarming: boolean;
}

export interface Sides {
  readonly first: string;
  readonly second: string;
  /** A copy of the second, for an A/A check; null if there is none. */
  readonly copy: string | null;
}

export interface Look {
  /** Number of simultaneous intervals (Bonferroni). */
  readonly family: number;
  /** Share of the error rate for this look. */
  readonly share: number;
}

interface Measurement {
  readonly windows: readonly Window[];
  readonly turns: readonly Turns[];
}

/** One outcome per scenario; the variance of restarts is pooled over all scenarios. */
export function outcomesOf(scenarios: readonly Scenario[], measured: Measurement, sides: Sides, look: Look): Outcome[] {
  const seen = scenarios.map((scenario) => seenAt(scenario, measured, sides));
  const [cpu = [], time = []] = (["cpu", "time"] as const).map((by) =>
    comparedOf(
      seen.map((one) => one[by]),
      sides,
      look,
    ),
  );
  return seen.map(({ endpoint, isWaiting, isWarming }, i) => {
    const [byCpu = null, byTime = null] = [cpu[i], time[i]];
    const common = { endpoint, isWaiting, isWarming };
    if (byCpu) return { ...common, ...byCpu, by: "cpu", time: byTime };
    return { ...common, ...(byTime ?? NOT_MEASURED), by: byTime ? "rate" : "cpu", time: null };
  });
}

const NOT_MEASURED: Compared = {
  logRatios: [],
  base: [],
  ratio: { estimate: Number.NaN, low: Number.NaN, high: Number.NaN },
  upper: Number.NaN,
  state: "undecided",
  smallestVisible: Number.NaN,
  guard: null,
};

/** Share of the error rate for the A/A check. If two equal copies come out different, the gate has no result. */
const GUARD = 0.2;

type Weights = Readonly<Record<string, number>>;

/** @param layouts by scenario; null if a target was not measured there in two restarts, e.g. because it ended */
function comparedOf(
  layouts: readonly (Layout | null)[],
  { first, second, copy }: Sides,
  { family, share }: Look,
): (Compared | null)[] {
  const comparisons = layouts.map((layout) => layout && compare(layout.measured));
  const spread = spreadOver(comparisons.flatMap((one) => one ?? []));
  const error = share * ERROR_RATE;
  const weights: Weights = { [first]: 1, [second]: copy === null ? -1 : -0.5, ...(copy !== null && { [copy]: -0.5 }) };
  return layouts.map((layout, i) => {
    const comparison = comparisons[i];
    if (!layout || !comparison) return null;
    const { ratio, smallestVisible } = contrast(comparison, weights, spread, error / family);
    const guard =
      copy === null ? null : contrast(comparison, { [copy]: 1, [second]: -1 }, spread, (error * GUARD) / family).ratio;
    const of = (name: string) => layout.measured.find((one) => one.name === name)?.perRestart ?? [];
    const [base, again] = [of(second), of(copy ?? second)];
    return {
      logRatios: of(first).map((ln, r) => ln - mean([base[r] as number, again[r] as number])),
      base: [...levelsOf(layout, second).values()],
      ratio,
      upper: contrast(comparison, weights, spread, error).upper,
      state: stateOf(ratio),
      smallestVisible,
      guard: guard && { ratio: guard, state: stateOf(guard) },
    };
  });
}

/** A server that uses less than this share of a core waits for something. */
const AT_LIMIT = 0.85;
/** Windows in which it is seen: other work takes the CPU away from most windows on a busy machine, but not from the best. */
const BEST_WINDOWS = 0.9;

function seenAt({ name }: Scenario, measured: Measurement, { first, second, copy }: Sides) {
  const turns = measured.turns.filter(({ scenario }) => scenario === name);
  // A restart in which requests failed does not count.
  const failed = new Set(turns.filter(isFailing).map(({ restart }) => restart));
  const windows = measured.windows.filter(({ scenario, restart }) => scenario === name && !failed.has(restart));
  const names = [first, second, ...(copy === null ? [] : [copy])];
  const whole = (layout: Layout) =>
    names.every((one) => layout.measured.some(({ name }) => name === one)) ? layout : null;
  const cpu = whole(layoutOf(windows, costOf));
  const time = whole(
    layoutOf(windows, (window) => {
      const rate = rateOf(window);
      return rate && 1 / rate;
    }),
  );
  const busy = (side: string) =>
    jStat.percentile(
      windows.flatMap(({ name, cpuUs, seconds }) => (name === side && cpuUs ? [cpuUs / 1e6 / seconds] : [])),
      BEST_WINDOWS,
    );
  const layout = cpu ?? time;
  return {
    endpoint: name,
    cpu,
    time,
    isWaiting: cpu !== null && names.some((one) => busy(one) < AT_LIMIT),
    isWarming: layout !== null && changesIn(layout).warming.size > 0,
  };
}
