/** Reduces windows to one cost or rate per server and restart. */
import type { Window } from "../keep/slices.ts";
import { drifts, type Interval, type Measured, mean, median, polish, stateOf } from "./statistics.ts";

/** A complete layout of servers × restarts. */
export interface Layout {
  readonly restarts: readonly number[];
  /** ln value minus the mean of all servers in that restart. */
  readonly measured: readonly Measured[];
  /** That mean by restart, ln scale. */
  readonly common: readonly number[];
  /** Change of each server from the first half of the rounds to the second, by restart, ln scale. */
  readonly changes: ReadonlyMap<string, readonly number[]>;
}

/** CPU µs per request of a window, and its requests per second; null if not known. */
export const costOf = ({ cpuUs, requests }: Window): number | null => (cpuUs && requests > 0 ? cpuUs / requests : null);
export const rateOf = ({ requests, seconds }: Window): number | null => (requests > 0 ? requests / seconds : null);

/**
 * The level of each server in each restart, by a median polish of the ln values of servers × rounds. The host cancels, because it
 * affects all servers of a round. Single windows hit by a compiler, a garbage collector or the host have little effect, because
 * medians are robust. Servers with fewer restarts than others are left out; then restarts without a round in which all have a value.
 * @param windows those of one scenario
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
  const common = whole.flatMap(([restart, byName]) => {
    const all = names.map((name) => byName.get(name) as Map<number, number>);
    const rounds = [...(all[0] ?? new Map<number, number>()).keys()].filter((round) =>
      all.every((of) => of.has(round)),
    );
    return rounds.length === 0 ? [] : [{ restart, all, rounds: rounds.sort((a, b) => a - b) }];
  });
  if (common.length === 0) return { restarts: [], measured: [], common: [], changes: new Map() };
  const perRestart = common.map(({ all, rounds }) => {
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
    restarts: common.map(({ restart }) => restart),
    measured: names.map((name, i) => ({ name, perRestart: perRestart.map(({ relative }) => relative[i] as number) })),
    common: perRestart.map(({ common }) => common),
    changes: new Map(names.map((name, i) => [name, perRestart.map(({ changes }) => changes[i] as number)])),
  };
}

/** @param series ln cost of each server, by round @returns the standard error of their levels, ln scale: about that of a median */
export function errorOf(series: readonly (readonly number[])[]): number {
  const { rows, columns } = polish(series);
  const residuals = series.flatMap((of, i) =>
    of.map((ln, r) => Math.abs(ln - (rows[i] as number) - (columns[r] as number))),
  );
  return (MEDIAN_ERROR * mean(residuals)) / Math.sqrt(columns.length);
}
/** For n normal values the mean absolute deviation is 0.8 sd, and the standard error of the median 1.25 sd ÷ √n. */
const MEDIAN_ERROR = 1.57;

/** Change from the first half of the rounds to the second, ln scale. */
function changeOf(costs: readonly number[]): number {
  const half = Math.floor(costs.length / 2);
  return half === 0 ? 0 : median(costs.slice(-half)) - median(costs.slice(0, half));
}

/** A smaller change of cost does not count as warming. */
export const TOLERANCE = 0.03;

/** @returns the change of each warming server, −0.1 for 10 % less, and an upper bound for the change of all others. */
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

/** @returns the values of one server by restart, in the unit of the windows; two servers have the same ratio as in `compare`. */
export function levelsOf({ restarts, measured, common }: Layout, name: string): Map<number, number> {
  const of = measured.find((one) => one.name === name)?.perRestart ?? [];
  return new Map(of.map((relative, r) => [restarts[r] as number, Math.exp(relative + (common[r] as number))]));
}
