/** When a server is called steady: the rule on series of known truth, and how often it is wrong. */
import { describe, expect, test } from "bun:test";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { drifts } from "../../bench/judge/statistics.ts";
import { changeOf, isChanging, isSteady, noiseOf, relativeCosts } from "../../bench/judge/steadiness.ts";
import { SCHEDULES } from "../../bench/self-test/scheduled.ts";
import { times } from "./values.ts";

const random = generateMersenne53Randomizer();
/** Box & Muller 1958. */
const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
/** Student's t with 3 degrees of freedom, of variance 1: windows have tails as heavy. */
const heavy = () => normal() / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3) / Math.sqrt(3);

describe("ten servers, windows with heavy tails on a host that slows all down, now more, now less", () => {
  const [SERVERS, ROUNDS, RESTARTS, RUNS] = [10, 12, 4, 500];
  const NOISE = [0.04, 0.08];

  /** ln costs, round by round. @param costs of the first, without noise; the others are flat */
  function seriesOf(costs: readonly number[], sd: number): number[][] {
    const host = costs.map(() => 0.2 * Math.abs(normal()));
    return times(SERVERS, (i) =>
      costs.map((cost, n) => (i === 0 ? cost : 0) + (host[n] as number) * (0.9 + 0.2 * random.next()) + sd * heavy()),
    );
  }

  /** Which servers a run calls changing, and the largest change that it says none of the others had, ln scale. */
  function run(costs: readonly number[], sd: number) {
    const restarts = times(RESTARTS, () => seriesOf(costs, sd));
    const looks = restarts.map(isSteady);
    const changes = restarts.map((series) => relativeCosts(series).map(changeOf));
    const found = drifts(new Map(times(SERVERS, (i) => [`${i}`, changes.map((of) => of[i] as number)])));
    const changing = times(SERVERS, (i) => {
      const { change, swing } = found.get(`${i}`) ?? expect.unreachable();
      const isUnsteady = looks.filter(({ each }) => !each[i]).length > RESTARTS / 2;
      return isUnsteady || change.low > 1 || change.high < 1 || swing > 0.1;
    });
    const others = [...found.values()].filter((_, i) => !changing[i]);
    const limits = others.flatMap(({ change }) => [Math.abs(Math.log(change.low)), Math.abs(Math.log(change.high))]);
    return { changing, limit: Math.max(...limits) };
  }

  const share = (seed: number, isSo: () => boolean) => {
    random.seed(seed);
    return times(RUNS, isSo).filter(Boolean).length / RUNS;
  };
  const flat = times(ROUNDS, () => 0);

  test("that do not change: a look at 8 rounds finds a change in about one of five", () => {
    for (const sd of NOISE)
      expect(share(1, () => !isSteady(seriesOf(flat.slice(0, 8), sd)).all)).toBeWithin(0.15, 0.28);
  });

  test("that do not change: 3 % of them look changing, and in at most 7 % of runs one is called that", () => {
    for (const sd of NOISE) {
      expect(share(2, () => !isSteady(seriesOf(flat, sd)).each[0])).toBeLessThan(0.05);
      expect(share(3, () => run(flat, sd).changing.some(Boolean))).toBeLessThan(0.07);
    }
  });

  test("one alone that does not change looks changing in 10 %", () => {
    for (const sd of NOISE) expect(share(4, () => !isSteady([flat.map(() => sd * heavy())]).all)).toBeLessThan(0.1);
  });

  test.each([
    ["in the middle", 1 / 2],
    ["before the last third", 2 / 3],
  ])(
    "a step after the warm-up, %s of the rounds, is seen if it is larger than the run says that any was",
    (_, place) => {
      const step = (by: number) => times(ROUNDS, (n) => (n >= place * ROUNDS ? by : 0));
      const missed = (by: number, sd: number) =>
        share(5, () => {
          const { changing, limit } = run(step(by), sd);
          return !changing[0] && Math.abs(by) > limit;
        });
      for (const sd of NOISE) {
        for (const by of [0.03, -0.08, 0.15]) expect(missed(by, sd)).toBeLessThan(0.05);
        for (const by of [-0.25, 0.25]) expect(share(6, () => run(step(by), sd).changing[0] as boolean)).toBe(1);
      }
    },
  );

  const PER_WINDOW = 800;
  const schedules = Object.entries(SCHEDULES).filter(([name]) => !name.startsWith("flat"));
  test.each(schedules)("%s: whenever the rounds begin, a change in them is seen if it is larger", (_, { factor }) => {
    for (const sd of NOISE) {
      const missed = share(7, () => {
        const begin = 130_000 * random.next();
        const costs = times(ROUNDS, (n) => Math.log(factor(begin + n * PER_WINDOW)));
        const { changing, limit } = run(costs, sd);
        return !changing[0] && Math.abs(changeOf(costs)) > limit;
      });
      expect(missed).toBeLessThan(0.02);
    }
  });
});

test("the noise is what is left beside a trend, and one step or burst does not change it", () => {
  random.seed(8);
  const flat = times(40, () => times(9, () => 0.04 * normal()));
  const sloping = flat.map((costs) => costs.map((cost, i) => cost - 0.1 * i));
  const stepping = flat.map((costs, j) => costs.map((cost, i) => cost + (j % 4 === 0 && i > 4 ? 0.5 : 0)));
  const bursting = flat.map((costs, j) => costs.map((cost, i) => cost + (j % 4 === 0 && i === 4 ? 0.5 : 0)));
  for (const series of [flat, sloping, stepping, bursting]) expect(noiseOf(series)).toBeWithin(0.034, 0.048);
  expect(noiseOf([])).toBe(Number.POSITIVE_INFINITY);
  expect(noiseOf([[0, 1]])).toBe(Number.POSITIVE_INFINITY);
});

test("a change is one of more than 3 % and more than the noise explains, with three rounds on each side", () => {
  const step = (before: number, after: number, by: number) => times(before + after, (i) => (i < before ? 0 : by));
  expect(isChanging(step(3, 3, 0.029), 0.001)).toBe(false);
  expect(isChanging(step(3, 3, 0.04), 0.001)).toBe(true);
  expect(isChanging(step(3, 3, 0.04), 0.02)).toBe(false);
  expect(isChanging(step(8, 4, -0.06), 0.02)).toBe(true);
  expect(isChanging(step(5, 1, 1), 0.02)).toBe(false);
  expect(isChanging([0, 0, 0, 1, 1], 0.02)).toBe(false);
  expect(
    isChanging(
      times(12, (i) => 0.02 * i),
      0.02,
    ),
  ).toBe(true); // a trend
});

test("a burst in one window is no change", () => {
  for (const at of times(8, (i) => i)) {
    const bursting = times(8, (i) => (i === at ? 0.8 : 0.001 * (i % 3)));
    expect([isChanging(bursting, 0.01), Math.abs(changeOf(bursting)) < 0.002]).toEqual([false, true]);
    const { each, all } = isSteady([bursting, ...times(4, (j) => times(8, (i) => 0.001 * ((i + j) % 3)))]);
    expect([all, ...each]).toEqual(times(6, () => true));
  }
});

test("what a round does to all cancels, and the one that changes is named", () => {
  const host = [0, 0.5, 0.1, 0.9, 0, 0.3];
  const series = [0, 1, 2].map((level) => host.map((by) => level + by));
  expect(relativeCosts(series)).toEqual(
    [-1, 0, 1].map((level) => host.map(() => expect.closeTo(level, 9) as unknown as number)),
  );
  const changing = series.map((costs, i) => costs.map((cost, n) => cost + (i === 2 && n > 2 ? 0.2 : 0)));
  expect(isSteady(changing)).toEqual({ each: [true, true, false], all: false });
  expect(relativeCosts([host])).toEqual([host]); // alone nothing is known of the host
  expect(isSteady([])).toEqual({ each: [], all: true });
});

test("how a cost changed is known by the medians of its first and its last rounds", () => {
  expect(changeOf([10, 12, 11, 14, 13, 90])).toBe(3);
  expect(changeOf([10, 10, 99, 14, 14])).toBe(4); // the one in the middle belongs to neither
  expect([changeOf([5]), changeOf([])]).toEqual([0, 0]);
});
