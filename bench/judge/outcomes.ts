/** What two targets are to each other, restart after restart, until that is decided. */
import type { Turns } from "../keep/manifest.ts";
import type { Window } from "../keep/windows.ts";
import type { Scenario } from "../plan/plan.ts";
import { compare, contrast, ERROR_RATE, type Interval, mean, type State, spreadOver, stateOf } from "./statistics.ts";
import { changesIn, costOf, layoutOf, levelsOf, rateOf } from "./turns.ts";
import { isFailing } from "./verdict.ts";

/** What the first target is to the second at one scenario. */
export interface Outcome {
  readonly endpoint: string;
  /** What is compared: CPU time per request, or time per request if that is not known of both. */
  readonly by: "cpu" | "rate";
  /** ln(cost of the first ÷ of the second), one per restart. */
  readonly logRatios: readonly number[];
  /** CPU µs per request of the second, restart by restart; empty if it is not known. */
  readonly baseUs: readonly number[];
  readonly ratio: Interval;
  /** What the ratio is below, one-sided: that this holds at every endpoint needs no correction for their number. */
  readonly upper: number;
  readonly state: State;
  readonly smallestVisible: number;
  /** What a second copy of the second is to the first copy; null if there was none. */
  readonly guard: { readonly ratio: Interval; readonly state: State } | null;
  /** Whether the cost of one of them still changed while it was measured. */
  readonly isWarming: boolean;
}

/** Who is compared. */
export interface Sides {
  readonly first: string;
  readonly second: string;
  /** A second copy of the second; null if there is none. */
  readonly copy: string | null;
}

/** How sure it is to be. */
export interface Look {
  /** How many intervals are to hold at once. */
  readonly family: number;
  /** Part of the error rate that this look has. */
  readonly share: number;
}

interface Measurement {
  readonly windows: readonly Window[];
  readonly turns: readonly Turns[];
}

/** At each scenario; how much restarts vary is taken from all of them together. */
export function outcomesOf(
  scenarios: readonly Scenario[],
  measured: Measurement,
  sides: Sides,
  { family, share }: Look,
): Outcome[] {
  const tables = scenarios.map((scenario) => tableOf(scenario, measured, sides));
  const spread = spreadOver(tables.flatMap((table) => table?.comparison ?? []));
  const error = share * ERROR_RATE;
  const { first, second, copy } = sides;
  const base: Weights = copy === null ? { [second]: -1 } : { [second]: -0.5, [copy]: -0.5 };
  return tables.map((table, i) => {
    const endpoint = (scenarios[i] as Scenario).name;
    if (table === null) return { endpoint, ...NOT_MEASURED };
    const { comparison, ...known } = table;
    const of = (weights: Weights, by: number) => contrast(comparison, weights, spread, by);
    const { ratio, smallestVisible } = of({ [first]: 1, ...base }, error / family);
    const guard = copy === null ? null : of({ [copy]: 1, [second]: -1 }, (error * GUARD) / family).ratio;
    return {
      ...known,
      endpoint,
      ratio,
      upper: of({ [first]: 1, ...base }, error).upper,
      state: stateOf(ratio),
      smallestVisible,
      guard: guard && { ratio: guard, state: stateOf(guard) },
    };
  });
}

type Weights = Readonly<Record<string, number>>;

const NOT_MEASURED = {
  by: "cpu",
  logRatios: [],
  baseUs: [],
  ratio: { estimate: Number.NaN, low: Number.NaN, high: Number.NaN },
  upper: Number.NaN,
  state: "undecided",
  smallestVisible: Number.NaN,
  guard: null,
  isWarming: false,
} as const;

/** Part of the error rate with which two equal copies are taken for different ones: then nothing at all is said. */
const GUARD = 0.2;

/** @returns null if one of them was not measured in two restarts, as if it is gone */
function tableOf({ name }: Scenario, measured: Measurement, { first, second, copy }: Sides) {
  const turns = measured.turns.filter(({ scenario }) => scenario === name);
  // A restart in which requests failed does not count.
  const failed = new Set(turns.filter(isFailing).map(({ restart }) => restart));
  const windows = measured.windows.filter(({ scenario, restart }) => scenario === name && !failed.has(restart));
  const names = [first, second, ...(copy === null ? [] : [copy])];
  const known = layoutOf(windows, costOf);
  const isByCpu = names.every((one) => known.measured.some(({ name }) => name === one));
  const layout = isByCpu ? known : layoutOf(windows, (window) => 1 / (rateOf(window) ?? Number.NaN));
  const comparison = compare(layout.measured);
  const of = (one: string | null) => layout.measured.find(({ name }) => name === one)?.perRestart;
  const [head, base, again] = [of(first), of(second), of(copy)];
  if (!comparison || !head || !base || (copy !== null && !again)) return null;
  return {
    comparison,
    by: isByCpu ? ("cpu" as const) : ("rate" as const),
    logRatios: head.map((ln, r) => ln - mean([base, again ?? base].map((side) => side[r] as number))),
    baseUs: isByCpu ? [...levelsOf(layout, second).values()] : [],
    isWarming: changesIn(layout).warming.size > 0,
  };
}
