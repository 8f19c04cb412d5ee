/** What two targets are to each other, restart after restart, until that is decided. */
import type { Turns } from "../keep/manifest.ts";
import type { Window } from "../keep/windows.ts";
import type { Scenario } from "../plan/plan.ts";
import { type Interval, type State, sequentialRatio, sequentialSmallestVisible, stateOf } from "./statistics.ts";
import { costOf, layoutOf, levelsOf, rateOf } from "./turns.ts";
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
  readonly state: State;
  readonly smallestVisible: number;
  /** What a second copy of the second is to the first copy; null if there was none. */
  readonly guard: { readonly ratio: Interval; readonly state: State } | null;
  /** Restarts in which one of them still changed when the rounds that count began. */
  readonly warming: number;
}

/** Who is compared. */
export interface Sides {
  readonly first: string;
  readonly second: string;
  /** A second copy of the second; null if there is none. */
  readonly copy: string | null;
}

/** How sure it is to be. */
export interface Looks {
  /** How many intervals are to hold at once, with 95 %. */
  readonly family: number;
  /** Whether no other look follows. */
  readonly isLast: boolean;
}

/** @param measured of the run so far. */
export function outcomeAt(
  { name }: Scenario,
  measured: { readonly windows: readonly Window[]; readonly turns: readonly Turns[] },
  { first, second, copy }: Sides,
  { family, isLast }: Looks,
): Outcome {
  const turns = measured.turns.filter(({ scenario }) => scenario === name);
  // A restart in which requests failed does not count.
  const failed = new Set(turns.filter(isFailing).map(({ restart }) => restart));
  const windows = measured.windows.filter(({ scenario, restart }) => scenario === name && !failed.has(restart));
  const names = [first, second, ...(copy === null ? [] : [copy])];
  const known = layoutOf(windows, costOf);
  const isByCpu = names.every((one) => known.measured.some(({ name }) => name === one));
  const layout = isByCpu ? known : layoutOf(windows, (window) => 1 / (rateOf(window) ?? Number.NaN));
  // Without one of them, as if it is gone, nothing can be said.
  const isWhole = names.every((one) => layout.measured.some(({ name }) => name === one));
  const of = (one: string) => (isWhole && layout.measured.find(({ name }) => name === one)?.perRestart) || [];
  const ofCopy = copy === null ? null : of(copy);
  const logRatios = of(first).map((ln, r) => {
    const base = of(second)[r] as number;
    return ln - (ofCopy ? (base + (ofCopy[r] as number)) / 2 : base);
  });
  const ratio = sequentialRatio(logRatios, family, isLast);
  const guard =
    ofCopy &&
    sequentialRatio(
      ofCopy.map((ln, r) => ln - (of(second)[r] as number)),
      family,
      isLast,
    );
  return {
    endpoint: name,
    by: isByCpu ? "cpu" : "rate",
    logRatios,
    baseUs: isByCpu ? [...levelsOf(layout, second).values()] : [],
    ratio,
    state: stateOf(ratio),
    smallestVisible: sequentialSmallestVisible(logRatios, family, isLast),
    guard: guard && { ratio: guard, state: stateOf(guard) },
    warming: new Set(turns.filter(({ steady }) => !steady).map(({ restart }) => restart)).size,
  };
}
