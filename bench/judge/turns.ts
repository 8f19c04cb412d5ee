/** What servers cost and answered in their windows: from windows to one number per server and restart. */
import type { Window } from "../keep/slices.ts";
import { drifts, type Interval, type Measured, mean, median, polish, stateOf } from "./statistics.ts";

/** A complete layout of servers × restarts. */
export interface Layout {
  readonly restarts: readonly number[];
  /** ln value against the mean of all in that restart. */
  readonly measured: readonly Measured[];
  /** ln of that mean, by restart. */
  readonly common: readonly number[];
  /** How much each changed from the first half of a restart's rounds to the second, ln scale, restart by restart. */
  readonly changes: ReadonlyMap<string, readonly number[]>;
}

/** CPU µs per request of a window, and its requests per second; null if not known. */
export const costOf = ({ cpuUs, requests }: Window): number | null => (cpuUs && requests > 0 ? cpuUs / requests : null);
export const rateOf = ({ requests, seconds }: Window): number | null => (requests > 0 ? requests / seconds : null);

/**
 * The level of each server in a restart, from the ln values of its windows and those of others in the same rounds, by which
 * the host cancels; robust, because a compiler, a collector or the host hits single windows. Servers that have not been in as many restarts as others are left out.
 * @param windows of one scenario, those that count
 */
export function layoutOf(windows: readonly Window[], value: (window: Window) => number | null): Layout {
  const cells = new Map<number, Map<string, Map<number, number>>>();
  for (const window of windows) {
    const of = value(window);
    if (of === null || !window.counts) continue;
    const byName = cells.getOrInsertComputed(window.restart, () => new Map<string, Map<number, number>>());
    byName.getOrInsertComputed(window.name, () => new Map<number, number>()).set(window.round, Math.log(of));
  }
  const seen = [...cells.values()].flatMap((byName) => [...byName.keys()]);
  const times = [...Map.groupBy(seen, (name) => name)].map(([name, of]) => ({ name, times: of.length }));
  const most = Math.max(0, ...times.map((one) => one.times));
  const names = times.flatMap((one) => (one.times === most ? [one.name] : [])).sort();
  const whole = [...cells].filter(([, byName]) => names.every((name) => byName.has(name))).sort(([a], [b]) => a - b);
  const perRestart = whole.map(([, byName]) => {
    const all = names.map((name) => byName.get(name) as Map<number, number>);
    const rounds = [...(all[0] ?? new Map<number, number>()).keys()]
      .filter((round) => all.every((of) => of.has(round)))
      .sort((a, b) => a - b);
    const series = all.map((of) => rounds.map((round) => of.get(round) as number));
    const { rows, columns } = polish(series);
    const level = mean(rows);
    return {
      common: level + median(columns),
      relative: rows.map((row) => row - level),
      changes: series.map((of) => changeOf(of.map((ln, round) => ln - (columns[round] as number)))),
    };
  });
  return {
    restarts: whole.map(([restart]) => restart),
    measured: names.map((name, i) => ({ name, perRestart: perRestart.map(({ relative }) => relative[i] as number) })),
    common: perRestart.map(({ common }) => common),
    changes: new Map(names.map((name, i) => [name, perRestart.map(({ changes }) => changes[i] as number)])),
  };
}

/** @param series ln cost of each server, round by round @returns how well their levels are known, ln scale: about one standard error of a median */
export function errorOf(series: readonly (readonly number[])[]): number {
  const { rows, columns } = polish(series);
  const residuals = series.flatMap((of, i) =>
    of.map((ln, r) => Math.abs(ln - (rows[i] as number) - (columns[r] as number))),
  );
  return (MEDIAN_ERROR * mean(residuals)) / Math.sqrt(columns.length);
}
/** Of n normal values, whose mean distance from their middle is 0.8 sd: 1.25 sd ÷ √n. */
const MEDIAN_ERROR = 1.57;

/** How much a cost changed from the first half of a restart's rounds to the second, ln scale. */
function changeOf(costs: readonly number[]): number {
  const half = Math.floor(costs.length / 2);
  return half === 0 ? 0 : median(costs.slice(-half)) - median(costs.slice(0, half));
}

/** A change of less is not worth more warm-up. */
export const TOLERANCE = 0.03;

/** @returns how much servers were seen to change, −0.1 for 10 % less, and what none of the others can have changed by. */
export function changesIn({ changes }: Layout) {
  const found = [...drifts(changes)].map(([name, change]) => {
    const by = change.estimate - 1;
    const isChanging = Math.abs(by) > TOLERANCE && stateOf(change) === "different";
    return { name, by, isChanging, most: mostOf(change) };
  });
  return {
    warming: new Map(found.flatMap(({ name, by, isChanging }) => (isChanging ? [[name, by] as const] : []))),
    noChangeAbove: Math.max(0, ...found.flatMap(({ isChanging, most }) => (isChanging ? [] : [most]))),
  };
}

const mostOf = ({ low, high }: Interval) => Math.expm1(Math.max(Math.abs(Math.log(low)), Math.abs(Math.log(high))));

/** @returns the values of one server by restart, in the unit of the windows; ratios of two servers' means are those of `compare`. */
export function levelsOf({ restarts, measured, common }: Layout, name: string): Map<number, number> {
  const of = measured.find((one) => one.name === name)?.perRestart ?? [];
  return new Map(of.map((relative, r) => [restarts[r] as number, Math.exp(relative + (common[r] as number))]));
}
