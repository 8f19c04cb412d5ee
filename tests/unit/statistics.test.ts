/** The statistics of bench/: published quantiles and small exact examples; simulations.test.ts has the error rates. */
import { describe, expect, test } from "bun:test";
import jStat from "jstat";
import {
  betweenRuns,
  type Comparison,
  compare,
  contrast,
  type Measured,
  mean,
  meanInterval,
  median,
  polish,
  pooledMeans,
  proportionInterval,
  shareOf,
  spreadOver,
  stateOf,
} from "../../bench/judge/statistics.ts";
import { costOf, layoutOf, levelsOf, rateOf } from "../../bench/judge/turns.ts";
import type { Window } from "../../bench/keep/slices.ts";
import { present, times } from "./values.ts";

const interval = (estimate: number, low: number, high: number, digits = 3) => ({
  estimate: expect.closeTo(estimate, digits) as unknown as number,
  low: expect.closeTo(low, digits) as unknown as number,
  high: expect.closeTo(high, digits) as unknown as number,
});

/** @param perRestart ln cost by target */
const measured = (perRestart: Readonly<Record<string, readonly number[]>>): Measured[] =>
  Object.entries(perRestart).map(([name, perRestart]) => ({ name, perRestart }));

/** To three digits as in Pearson & Hartley, Biometrika Tables for Statisticians. */
test.each([
  [2, 5, 3.64],
  [3, 3, 5.91],
  [3, 10, 3.88],
  [4, 6, 4.9],
  [5, 20, 4.23],
  [8, 24, 4.68],
  [10, 10, 5.6],
  [10, 40, 4.73],
  [12, 60, 4.81],
  [20, 120, 5.13],
])("studentized range of %d means, %d degrees of freedom: %d", (k, df, published) => {
  expect(Number(jStat.tukey.inv(0.95, k, df).toPrecision(3))).toBe(published);
});

describe("a comparison", () => {
  test("without noise returns the exact ratios, whatever a restart does to all", () => {
    const host = [0, 0.3];
    const costs = { a: Math.log(2), b: 0, c: Math.log(1.1) };
    const all = Object.entries(costs).map(([name, ln]) => ({ name, perRestart: host.map((by) => ln + by) }));
    const { restarts, standings, pairs, spread, smallestVisible } = present(compare(all));
    expect(pairs.map(({ a, b, ratio, state }) => [a, b, ratio, state])).toEqual([
      ["a", "b", interval(2, 2, 2, 9), "different"],
      ["a", "c", interval(2 / 1.1, 2 / 1.1, 2 / 1.1, 9), "different"],
      ["b", "c", interval(1 / 1.1, 1 / 1.1, 1 / 1.1, 9), "different"],
    ]);
    expect(standings).toEqual([
      { name: "b", ratioToBest: { estimate: 1, low: 1, high: 1 }, groups: "a", first: true },
      { name: "c", ratioToBest: interval(1.1, 1.1, 1.1, 9), groups: "b", first: false },
      { name: "a", ratioToBest: interval(2, 2, 2, 9), groups: "c", first: false },
    ]);
    expect([restarts, spread, smallestVisible]).toEqual([2, expect.closeTo(0, 6), expect.closeTo(0, 6)] as never);
  });

  // Residual squares 8 · 0.01², so s = 0.01 · √(8 ÷ 6); q(3, 6) = 4.339; half width q · s ÷ √4 = 0.02505.
  const chain = measured({
    c: [0.05, 0.03, 0.03, 0.05],
    a: [0.01, -0.01, 0.01, -0.01],
    b: [0.03, 0.03, 0.01, 0.01],
  });

  test("a chain of three, where only the ends are different", () => {
    const { standings, pairs, spread, smallestVisible } = present(compare(chain));
    expect(standings.map(({ name, groups }) => [name, groups])).toEqual([
      ["a", "a"],
      ["b", "ab"],
      ["c", "b"],
    ]);
    expect(pairs.map(({ a, b, state }) => `${a}${b} ${state}`)).toEqual([
      "ca different",
      "cb undecided",
      "ab undecided",
    ]);
    expect(pairs[0]?.ratio).toEqual(interval(Math.exp(0.04), Math.exp(0.01495), Math.exp(0.06505), 4));
    expect(standings[2]?.ratioToBest).toEqual(pairs[0]?.ratio as never);
    expect(spread).toBeCloseTo(0.011547, 6);
    expect(smallestVisible).toBeCloseTo(Math.expm1(0.02505 + (0.906 * 0.011547) / Math.SQRT2), 4); // t(0.8, 6) = 0.906
  });

  test("a target that is warming up has no letter, and differs from no other", () => {
    const { standings, pairs } = present(compare(chain, new Set(["a"])));
    expect(standings.map(({ name, groups, first }) => [name, groups, first])).toEqual([
      ["a", "", false],
      ["b", "a", true],
      ["c", "a", true],
    ]);
    expect(pairs.map(({ state }) => state)).toEqual(["undecided", "undecided", "undecided"]);
    expect(pairs[0]?.ratio).toEqual(compare(chain)?.pairs[0]?.ratio as never);
  });

  test("requires two targets and two restarts", () => {
    expect(compare(measured({ a: [1], b: [2] }))).toBeNull();
    expect(compare(measured({ a: [1, 1] }))).toBeNull();
    expect(compare([])).toBeNull();
  });

  test("of two targets is a t interval of the restarts, and so is their contrast", () => {
    const a = [0.05, 0.02, 0.06, 0.01];
    const both = present(compare(measured({ a, b: a.map(() => 0) })));
    const { estimate, low, high } = meanInterval(a.map(Math.exp));
    expect(both.pairs[0]?.ratio).toEqual(interval(estimate, low, high, 9));
    const of = (error: number) => contrast(both, { a: 1, b: -1 }, spreadOver([both]), error);
    expect(of(0.05).ratio).toEqual(interval(estimate, low, high, 9));
    expect(of(0.05).upper).toBeCloseTo(of(0.1).ratio.high, 9);
    expect(of(0.05 / 20).ratio.high).toBeGreaterThan(high);
    expect(of(0.05).smallestVisible).toBeGreaterThan(high / estimate - 1);
    // The interval is narrower if more tables give the spread.
    expect(contrast(both, { a: 1, b: -1 }, spreadOver([both, both]), 0.05).ratio.high).toBeLessThan(high);
  });

  test("three states; a difference within 3 % is one", () => {
    const state = (low: number, high: number) => stateOf({ estimate: (low + high) / 2, low, high });
    expect([state(1.01, 1.02), state(0.8, 0.9), state(1.001, 1.2)]).toEqual(times(3, () => "different"));
    expect([state(1 / 1.03, 1.03), state(1, 1.01)]).toEqual(times(2, () => "equivalent"));
    expect([state(0.97, 1.03), state(0.98, 1.031), state(0, Number.POSITIVE_INFINITY)]).toEqual(
      times(3, () => "undecided"),
    );
  });
});

describe("means", () => {
  test("and proportions have the values of R", () => {
    const { estimate, low, high } = meanInterval([1, 2, 3, 4, 5].map(Math.exp));
    expect([estimate, low, high].map(Math.log)).toEqual(Object.values(interval(3, 1.0368, 4.9632)));
    expect(meanInterval([1, 10, 100])).toEqual(interval(10, 0.0328, 3049, -1));
    expect(meanInterval([7])).toEqual({ estimate: expect.closeTo(7, 9), low: Number.NaN, high: Number.NaN });
    expect(proportionInterval(5, 50)).toEqual(interval(0.1, 0.0333, 0.2181));
    expect(proportionInterval(0, 10)).toEqual(interval(0, 0, 0.3085));
    expect(proportionInterval(10, 10)).toEqual(interval(1, 0.6915, 1));
  });

  test("of one value per target and restart match values by restart number; fewer than three have no interval", () => {
    // The host made restart 7 twice as expensive for all.
    const rows = [
      { 2: 10, 7: 20, 9: 10.2, 11: 9.9 },
      { 2: 10.1, 7: 20.2, 9: 10, 11: 9.8 },
      { 2: 9.9, 9: 10, 11: 10.1 },
    ].map((row) => Object.entries(row).map(([restart, us]) => [Number(restart), us] as const));
    const means = pooledMeans(rows.map((row) => new Map(row)));
    expect(pooledMeans(rows.map((row, i) => new Map(i === 1 ? row.toReversed() : row)))).toEqual(means);
    const [first, second, third] = means.map(present);
    expect(second?.estimate).toBeCloseTo((10.1 * 20.2 * 10 * 9.8) ** (1 / 4), 9);
    expect(third?.estimate).toBeCloseTo((9.9 * 10 * 10.1) ** (1 / 3), 9);
    for (const one of [first, third]) expect(one?.high).toBeGreaterThan(1.5 * (one?.estimate as number));
    expect(pooledMeans([new Map([1, 2].map((restart) => [restart, 4])), new Map()])).toEqual([
      { estimate: expect.closeTo(4, 9) as never, low: Number.NaN, high: Number.NaN },
      null,
    ]);
    expect(pooledMeans([new Map([1, 2, 3].map((restart) => [restart, 5]))])).toEqual([interval(5, 5, 5, 9)]);
    expect(pooledMeans([])).toEqual([]);
  });

  test("looks share the error rate; the last look gets most of it", () => {
    const shares = times(40, (i) => shareOf(i, false)).filter((share) => share > 0);
    expect(shares).toHaveLength(6);
    expect(shares.reduce((sum, share) => sum + share, shareOf(7, true))).toBeCloseTo(1, 9);
  });
});

test("polish finds the levels of rows and columns, even if single cells are outliers", () => {
  const [rows, columns] = [
    [1, 2, 4, 8],
    [0, 0.5, -0.5, 3, -3],
  ];
  const table = rows.map((row) => columns.map((column) => row + column));
  const wild = table.map((row, r) => row.map((cell, c) => (c === r ? cell + 100 : cell)));
  for (const cells of [table, wild]) {
    const found = polish(cells);
    expect(found.rows.map((row) => row - (found.rows[0] as number))).toEqual([0, 1, 3, 7]);
    expect(found.columns.map((column) => column - (found.columns[0] as number))).toEqual(columns);
  }
  expect(polish([[3, 5, 4]])).toEqual({ rows: [4], columns: [-1, 1, 0] });
});

describe("two runs", () => {
  const run = (means: readonly number[], spread: number, restarts: number) => {
    const effects = means.map((mean, i) => ({ name: `t${i}`, perRestart: [], mean, variance: spread ** 2 }));
    return { effects, spread, freedom: (means.length - 1) * (restarts - 1), restarts } as unknown as Comparison;
  };
  // Restarts predict differences with a variance of 0.02² ÷ 4 + 0.02² ÷ 16 = 1.25e-4.
  const before = run([0, 0, 0], 0.02, 4);
  const after = run([0.01, 0, -0.01], 0.02, 16);

  test("differ as their restarts predict, or by a standard deviation more", () => {
    const { ratio, sd } = present(betweenRuns([[before, after]]));
    // F of 2 and 2·3 + 2·15 = 36 degrees of freedom, whose quantiles have a closed form: 36/2 · ((1 − p)^(−2/36) − 1).
    const quantile = (p: number) => 18 * ((1 - p) ** (-1 / 18) - 1);
    expect(ratio).toEqual(interval(0.8, 0.8 / quantile(0.975), 0.8 / quantile(0.025)));
    expect(sd).toBe(0);
    const more = present(betweenRuns([[before, run([0.03, 0, -0.03], 0.02, 16)]]));
    expect(more.ratio.estimate).toBeCloseTo(9e-4 / 1.25e-4, 9);
    expect(more.sd).toBeCloseTo(Math.sqrt((9e-4 - 1.25e-4) / 2), 9);
    const tables = present(betweenRuns(times(2, () => [before, after] as const)));
    expect(tables.ratio.estimate).toBeCloseTo(ratio.estimate, 9);
    expect(tables.ratio.low).toBeGreaterThan(ratio.low);
  });

  test("are compared by the targets that both have, at least two", () => {
    const more = run([0.01, 0, -0.01, 5], 0.02, 16);
    expect(betweenRuns([[before, more]])?.ratio.estimate).toBe(present(betweenRuns([[before, after]])).ratio.estimate);
    expect(betweenRuns([[before, run([0.01], 0.02, 16)]])).toBeNull();
    expect(betweenRuns([])).toBeNull();
  });
});

describe("windows", () => {
  const US = { a: 10, b: 20, c: 15 };
  const ROUNDS = 6;
  /** The host's speed differs from round to round, equally for all servers. */
  const host = (restart: number, round: number) => 1 + ((restart * 3 + round * 5) % 7) / 5;
  const usual = (restart: number) => Math.exp(median(times(ROUNDS, (n) => Math.log(host(restart, n)))));
  const windowsOf = (restarts: number, change: (window: Window) => Partial<Window> = () => ({})): Window[] =>
    times(restarts, (r) =>
      times(ROUNDS, (n) =>
        Object.entries(US).map(([name, us]): Window => {
          const each = us * host(r, n);
          const [requests, round] = [1_000 + 10 * n, n + 1];
          const common = { restart: r + 1, scenario: "/", round, counts: 1, databaseUs: null, poolerUs: null };
          const one = { ...common, name, requests, cpuUs: each * requests, seconds: (each * requests) / 1e6 };
          return { ...one, ...change(one) };
        }),
      ).flat(),
    ).flat();
  const mid = mean(Object.values(US).map(Math.log));
  const relative = Object.values(US).map((us) => expect.closeTo(Math.log(us) - mid, 9) as unknown as number);

  test("the host's effect on a round cancels exactly", () => {
    const { restarts, measured, common, changes } = layoutOf(windowsOf(3), costOf);
    expect(restarts).toEqual([1, 2, 3]);
    expect(measured).toEqual(
      Object.keys(US).map((name, i) => ({ name, perRestart: times(3, () => relative[i] as number) })),
    );
    for (const [r, of] of common.entries()) expect(of).toBeCloseTo(mid + Math.log(usual(r)), 9);
    for (const of of changes.values()) expect(of).toEqual(times(3, () => expect.closeTo(0, 9) as unknown as number));
  });

  test("ratios of levels are those of the comparison, and levels are in the unit of the windows", () => {
    const noisy = windowsOf(4, ({ cpuUs, round, name, restart }) => ({
      cpuUs: (cpuUs as number) * (1 + ((round * 31 + restart * 17 + name.charCodeAt(0)) % 11) / 100),
    }));
    const layout = layoutOf(noisy, costOf);
    const { pairs } = present(compare(layout.measured));
    const level = (name: string) => mean([...levelsOf(layout, name).values()].map(Math.log));
    for (const { a, b, ratio } of pairs) expect(ratio.estimate).toBeCloseTo(Math.exp(level(a) - level(b)), 9);
    const ofA = levelsOf(layoutOf(windowsOf(1), costOf), "a");
    expect([...ofA]).toEqual([[1, expect.closeTo(10 * usual(0), 9) as never]]);
    expect(levelsOf(layout, "none").size).toBe(0);
    const rates = layoutOf(windowsOf(2), rateOf);
    expect(rates.measured[1]?.perRestart[0]).toBeCloseTo(-(layout.measured[1]?.perRestart[0] as number), 1);
  });

  test("bursts in single windows change next to nothing", () => {
    const bursting = windowsOf(3, ({ cpuUs, round, name }) =>
      (name === "a" && round === 2) || (name === "c" && round === 5) ? { cpuUs: 5 * (cpuUs as number) } : {},
    );
    const { measured, changes } = layoutOf(bursting, costOf);
    for (const [i, { perRestart }] of measured.entries())
      expect(perRestart).toEqual(times(3, () => relative[i] as number));
    for (const of of changes.values()) expect(of).toEqual(times(3, () => expect.closeTo(0, 9) as unknown as number));
  });

  test("a server that is not in as many restarts as others is left out", () => {
    const names = (windows: readonly Window[]) => {
      const { restarts, measured } = layoutOf(windows, costOf);
      return [restarts, measured.map(({ name }) => name), measured.map(({ perRestart }) => perRestart.length)];
    };
    const all = windowsOf(3);
    expect(names(all.filter(({ name, restart }) => name !== "b" || restart !== 2))).toEqual([
      [1, 2, 3],
      ["a", "c"],
      [3, 3],
    ]);
    // If one window lacks a value, its round lacks it; if all windows lack it, the server lacks it.
    expect(names(windowsOf(2, ({ name }) => (name === "b" ? { cpuUs: null } : {})))[1]).toEqual(["a", "c"]);
    const layout = layoutOf(
      windowsOf(2, ({ name, round }) => (name === "b" && round < 3 ? { requests: 0 } : {})),
      costOf,
    );
    expect(layout.measured[1]?.perRestart).toEqual(times(2, () => relative[1] as number));
    expect(names([])).toEqual([[], [], []]);
  });

  test("rounds before servers stop changing do not count", () => {
    const cold = windowsOf(2, ({ round, name, cpuUs }) =>
      round <= 2 ? { counts: 0, ...(name === "a" && { cpuUs: 9 * (cpuUs as number) }) } : {},
    );
    expect(layoutOf(cold, costOf)).toEqual(
      layoutOf(
        windowsOf(2).filter(({ round }) => round > 2),
        costOf,
      ),
    );
  });

  test("how much a server changes from the first half of its rounds to the second, restart by restart", () => {
    const rising = windowsOf(3, ({ name, round, restart, cpuUs }) =>
      name === "b" && round > 3 && restart > 1 ? { cpuUs: 1.2 * (cpuUs as number) } : {},
    );
    expect(layoutOf(rising, costOf).changes.get("b")).toEqual(
      [0, Math.log(1.2), Math.log(1.2)].map((by) => expect.closeTo(by, 9) as unknown as number),
    );
  });

  test("a window without requests has no cost and no rate, one without CPU time has no cost", () => {
    const [window] = windowsOf(1) as [Window];
    expect([costOf(window), rateOf(window)]).toEqual([expect.closeTo(10 * host(0, 0), 9), expect.any(Number)] as never);
    expect(costOf({ ...window, cpuUs: null })).toBeNull();
    expect([costOf({ ...window, requests: 0 }), rateOf({ ...window, requests: 0 })]).toEqual([null, null]);
  });
});
