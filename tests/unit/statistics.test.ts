/** The statistics of bench/: published quantiles and small exact examples; simulations.test.ts has the error rates. */
import { describe, expect, test } from "bun:test";
import jStat from "jstat";
import {
  comparable,
  compare,
  type Duet,
  meanInterval,
  proportionInterval,
  sequentialInterval,
  sequentialRatio,
  sequentialSmallestVisible,
  stateOf,
} from "../../bench/judge/statistics.ts";
import { present, times } from "./values.ts";

const interval = (estimate: number, low: number, high: number, digits = 3) => ({
  estimate: expect.closeTo(estimate, digits) as unknown as number,
  low: expect.closeTo(low, digits) as unknown as number,
  high: expect.closeTo(high, digits) as unknown as number,
});

/** Every pair once in every block. @param levels of each block: ln cost by target. */
function allPairs(levels: readonly Readonly<Record<string, number>>[]): Duet[] {
  return levels.flatMap((level, block) =>
    Object.entries(level).flatMap(([a, of], i, all) =>
      all.slice(i + 1).map(([b, other]) => ({ block, a, b, logRatio: of - other })),
    ),
  );
}

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

describe("small examples", () => {
  test("duets without noise give the ratios back", () => {
    const cost = { a: Math.log(2), b: 0, c: Math.log(1.1) };
    const { blocks, standings, pairs, spread, components } = present(compare(["a", "b", "c"], allPairs([cost, cost])));
    expect(pairs.map(({ a, b, ratio, state }) => [a, b, ratio, state])).toEqual([
      ["a", "b", interval(2, 2, 2, 9), "different"],
      ["a", "c", interval(2 / 1.1, 2 / 1.1, 2 / 1.1, 9), "different"],
      ["b", "c", interval(1 / 1.1, 1 / 1.1, 1 / 1.1, 9), "different"],
    ]);
    expect(standings).toEqual([
      { name: "b", ratioToBest: { estimate: 1, low: 1, high: 1 }, rank: [1, 1], groups: "a", first: true },
      { name: "c", ratioToBest: interval(1.1, 1.1, 1.1, 9), rank: [2, 2], groups: "b", first: false },
      { name: "a", ratioToBest: interval(2, 2, 2, 9), rank: [3, 3], groups: "c", first: false },
    ]);
    expect([blocks, spread, components.between, components.within]).toEqual([
      2,
      ...times(3, () => expect.closeTo(0, 6) as unknown as number),
    ]);
  });

  // Residual squares 8 · 0.01², so s = 0.01 · √(8 ÷ 6); q(3, 6) = 4.339; half width q · s ÷ √4 = 0.02505.
  const chain = [
    { a: 0.01, b: 0.03, c: 0.05 },
    { a: -0.01, b: 0.03, c: 0.03 },
    { a: 0.01, b: 0.01, c: 0.03 },
    { a: -0.01, b: 0.01, c: 0.05 },
  ];

  test("a chain of three, of which only the ends are different", () => {
    const { standings, pairs, spread, smallestVisible, components } = present(
      compare(["c", "a", "b"], allPairs(chain).reverse()),
    );
    expect(standings.map(({ name, rank, groups }) => [name, rank, groups])).toEqual([
      ["a", [1, 2], "a"],
      ["b", [1, 3], "ab"],
      ["c", [2, 3], "b"],
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
    expect(components).toEqual({ between: expect.closeTo(spread, 6), within: expect.closeTo(0, 6) });
  });

  test("a block counts only where its duets connect all targets", () => {
    const whole = allPairs(chain);
    const split = [
      { block: 9, a: "a", b: "b", logRatio: 5 },
      { block: 9, a: "c", b: "gone", logRatio: 5 },
    ];
    expect(compare(["a", "b", "c"], [...split, ...whole])).toEqual(compare(["a", "b", "c"], whole));
    expect(compare(["a", "b", "c", "gone"], [...split, ...whole])).toBeNull();
    expect(compare(["a", "b", "c"], allPairs(chain.slice(0, 1)))).toBeNull();
    expect(compare(["a"], whole)).toBeNull();
    expect(compare([], [])).toBeNull();
  });

  test("targets that nothing joins to the others in two blocks are left out of a comparison", () => {
    const whole = allPairs(chain);
    const pair = [8, 9].map((block) => ({ block, a: "gone", b: "twin", logRatio: 0 }));
    const once = { block: 0, a: "gone", b: "c", logRatio: 1 };
    const targets = ["a", "b", "c", "gone", "twin"];
    expect(comparable(targets, [...pair, once, ...whole])).toEqual(["a", "b", "c"]);
    const often = Array.from({ length: chain.length }, (_, block) => ({ ...once, block }));
    expect(comparable(targets, [...often, ...whole])).toEqual(["a", "b", "c", "gone"]);
    expect(comparable(targets, pair)).toEqual(["gone", "twin"]);
    expect(comparable(targets, pair.slice(1))).toEqual([]);
    expect(comparable([], [])).toEqual([]);
  });

  test("two targets: a t interval of the blocks, and without a second duet no sd within", () => {
    const logRatios = [0.05, 0.02, 0.06, 0.01];
    const duets = logRatios.map((logRatio, block) => ({ block, a: "a", b: "b", logRatio }));
    const { pairs, components } = present(compare(["a", "b"], duets));
    const { estimate, low, high } = meanInterval(logRatios.map(Math.exp), true);
    expect(pairs[0]?.ratio).toEqual(interval(estimate, low, high, 9));
    expect(components.within).toBeNull();
  });

  test("three states; a difference within 3 % is one", () => {
    const state = (low: number, high: number) => stateOf({ estimate: (low + high) / 2, low, high });
    expect([state(1.01, 1.02), state(0.8, 0.9), state(1.001, 1.2)]).toEqual(times(3, () => "different"));
    expect([state(0.97, 1.03), state(1, 1.01)]).toEqual(times(2, () => "equivalent"));
    expect([state(0.97, 1.04), state(0.96, 1.03), state(0, Number.POSITIVE_INFINITY)]).toEqual(
      times(3, () => "undecided"),
    );
  });

  test("means and proportions are those of R", () => {
    expect(meanInterval([1, 2, 3, 4, 5])).toEqual(interval(3, 1.0368, 4.9632));
    expect(meanInterval([1, 10, 100], true)).toEqual(interval(10, 0.0328, 3049, -1));
    expect(meanInterval([7])).toEqual({ estimate: 7, low: Number.NaN, high: Number.NaN });
    expect(proportionInterval(5, 50)).toEqual(interval(0.1, 0.0333, 0.2181));
    expect(proportionInterval(0, 10)).toEqual(interval(0, 0, 0.3085));
    expect(proportionInterval(10, 10)).toEqual(interval(1, 0.6915, 1));
  });

  test("a sequential interval ends where the Bayes factor of the t-test is 100, and the last is a t interval", () => {
    const values = [0.01, 0.03, -0.02, 0.04, 0.02, 0.01];
    const n = values.length;
    const { estimate, low, high } = sequentialInterval(values);
    const variance = values.reduce((total, value) => total + (value - estimate) ** 2, 0) / (n - 1);
    for (const limit of [low, high]) {
      const t2 = (n * (estimate - limit) ** 2) / variance / (n - 1);
      const factor = (1 + n * 4) ** -0.5 * ((1 + t2) / (1 + t2 / (1 + n * 4))) ** (n / 2);
      expect(factor).toBeCloseTo(100, 5);
    }
    expect(sequentialSmallestVisible(values)).toBeGreaterThan(Math.expm1(high - estimate));
    const last = sequentialInterval(values, 1, true);
    expect(last.high - estimate).toBeCloseTo(2.757 * Math.sqrt(variance / n), 4); // t of 5 degrees of freedom, 0.98
    for (const few of [[], [0.5], [0.5, 0.6]]) {
      const { low, high } = sequentialInterval(few);
      expect([low, high, stateOf(sequentialRatio(few)), sequentialSmallestVisible(few)].map(String)).toEqual(
        few.length > 0
          ? ["-Infinity", "Infinity", "undecided", "Infinity"]
          : [expect.anything(), expect.anything(), "undecided", "Infinity"],
      );
    }
  });
});
