/** Error rates of the statistics in simulated runs of known truth. */
import { describe, expect, test } from "bun:test";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import jStat from "jstat";
import {
  type Comparison,
  compare,
  type Duet,
  drifts,
  mean,
  meanInterval,
  pooledMeans,
  sequentialRatio,
  smallestVisible,
  stateOf,
} from "../../bench/judge/statistics.ts";
import { present, times } from "./values.ts";

const RUNS = 2_000;
const random = generateMersenne53Randomizer();

/** The same every time. */
function seeded<T>(seed: number, runs: number, run: (i: number) => T): T[] {
  random.seed(seed);
  jStat.setRandom(() => random.next());
  return times(runs, run);
}

/** Of 2,000 runs: a share of 5 % is known to ±1 %. */
const share = (seed: number, run: (i: number) => boolean) => seeded(seed, RUNS, run).filter(Boolean).length / RUNS;

function shuffled(n: number): number[] {
  const order = times(n, (i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}

interface Model {
  /** ln cost of each target. */
  readonly effects: readonly number[];
  readonly blocks: number;
  /** Duets of each two neighbours in a random ring of all targets. */
  readonly cycles: number;
  /** Sd between the restarts of target i, ln scale. */
  readonly restartSd: (i: number) => number;
  /** Sd of one duet within a block, ln scale. */
  readonly duetSd: number;
}

/** @param noise of one duet, and what it counts */
function duetsLike(
  { effects, blocks, cycles, restartSd, duetSd }: Model,
  noise = () => ({ by: duetSd * jStat.randn(), weight: 1 }),
) {
  const names = effects.map((_, i) => `t${i}`);
  const duets: Duet[] = [];
  for (let block = 0; block < blocks; block++) {
    const levels = effects.map((effect, i) => effect + restartSd(i) * jStat.randn());
    const ring = shuffled(effects.length);
    for (const [place, i] of ring.entries()) {
      const j = ring[(place + 1) % ring.length] as number;
      for (let cycle = 0; cycle < cycles; cycle++) {
        const { by, weight } = noise();
        const logRatio = (levels[i] as number) - (levels[j] as number) + by;
        duets.push({ block, a: names[i] as string, b: names[j] as string, logRatio, weight });
      }
    }
  }
  return { names, duets };
}

function simulate(model: Model): Comparison {
  const { names, duets } = duetsLike(model);
  return present(compare(names, duets));
}

const even = (effects: readonly number[], blocks: number, cycles: number, sd: number): Model => ({
  effects,
  blocks,
  cycles,
  restartSd: () => sd,
  duetSd: sd,
});
const zeros = (n: number) => times(n, () => 0);
const anyDifferent = ({ pairs }: Comparison) => pairs.some(({ state }) => state === "different");

const GRID = [2, 3, 5, 8, 12].flatMap((targets) => [3, 5, 10, 20].map((blocks) => [targets, blocks] as const));

describe("simulated runs", () => {
  test.each([0.01, 0.05, 0.2])("spread %d: in 95 % of runs every interval covers the true ratio", (sd) => {
    const cells = GRID.map(([targets, blocks]) =>
      share(sd * 1e3, (run) => {
        const effects = times(targets, () => 0.1 * jStat.randn());
        return simulate(even(effects, blocks, 1 + (run % 2), sd)).pairs.every(({ a, b, ratio }) => {
          const truth = Math.exp((effects[+a.slice(1)] as number) - (effects[+b.slice(1)] as number));
          return ratio.low <= truth && truth <= ratio.high;
        });
      }),
    );
    expect(Math.min(...cells)).toBeGreaterThan(0.93);
    expect(Math.max(...cells)).toBeLessThan(0.98);
    expect(mean(cells)).toBeWithin(0.94, 0.97);
  });

  test("without a difference 5 % of runs call one, at most", () => {
    const cells = GRID.map(([targets, blocks]) =>
      share(1, () => anyDifferent(simulate(even(zeros(targets), blocks, 1, 0.05)))),
    );
    expect(Math.max(...cells)).toBeLessThan(0.065);
    expect(mean(cells)).toBeLessThan(0.05);
  });

  test("the smallest visible difference is seen in 80 % of runs", () => {
    const cells = GRID.map(([targets, blocks]) => {
      // What is reported follows the spread found; here it is wanted at the true one. A cycle of duets of variance 1
      // gives effects of variance (S + 1) ÷ 12.
      const spread = 0.05 * Math.sqrt(1 + (targets + 1) / 12);
      const factors = seeded(2, 200, () => {
        const found = simulate(even(zeros(targets), blocks, 1, 0.05));
        return Math.log1p(found.smallestVisible) / Math.log1p(smallestVisible(found.spread, targets, blocks));
      });
      const effects = [Math.log1p(smallestVisible(spread, targets, blocks)) * mean(factors), ...zeros(targets - 1)];
      return share(3, () => simulate(even(effects, blocks, 1, 0.05)).pairs[0]?.state === "different");
    });
    expect(Math.min(...cells)).toBeGreaterThan(0.75);
    expect(Math.max(...cells)).toBeLessThan(0.9);
  });

  test("one target three times as noisy as nine others: 7 % of runs call a difference that is none, at most", () => {
    const cells = [5, 10].flatMap((blocks) =>
      [0, 0.015].map((duetSd) =>
        share(4, () =>
          anyDifferent(
            simulate({ effects: zeros(10), blocks, cycles: 1, restartSd: (i) => (i === 0 ? 0.045 : 0.015), duetSd }),
          ),
        ),
      ),
    );
    expect(Math.max(...cells)).toBeLessThan(0.075);
  });

  describe("duets with tails as heavy as Student's t with 3 degrees of freedom, in periods in which all are slow and noisy", () => {
    const model: Model = { effects: zeros(10), blocks: 4, cycles: 2, restartSd: () => 0.015, duetSd: 0 };
    const heavy = () => jStat.randn() / Math.hypot(jStat.randn(), jStat.randn(), jStat.randn());
    /** One duet in four is slow by 30 % or more, and as much noisier. */
    const noise = (isWeighted: boolean) => () => {
      const slowness = random.next() < 0.25 ? 0.3 + 0.5 * random.next() : 0;
      const weight = isWeighted ? 1 / (1 + (slowness / 0.1) ** 2) : 1;
      return { by: 0.03 * (1 + 5 * slowness) * heavy(), weight };
    };
    const runs = (isWeighted: boolean) =>
      seeded(10, RUNS, () => {
        const { names, duets } = duetsLike(model, noise(isWeighted));
        return present(compare(names, duets));
      });
    const [plain, weighted] = [runs(false), runs(true)];

    test("95 % of runs call no difference that is none", () => {
      for (const all of [plain, weighted]) expect(all.filter(anyDifferent).length / RUNS).toBeLessThan(0.06);
    });

    test("weights that fall with the slowness let it see more", () => {
      const sight = (all: Comparison[]) => mean(all.map(({ smallestVisible }) => smallestVisible));
      expect(sight(weighted) / sight(plain)).toBeLessThan(0.95);
    });
  });

  test("what age does to servers cancels: each is once the older and once the younger of two", () => {
    const { names, duets } = duetsLike(even(zeros(11), 2, 2, 0));
    const older = duets.map((duet) => ({ ...duet, logRatio: duet.logRatio + 0.2 }));
    for (const { mean } of present(compare(names, older)).effects) expect(mean).toBeCloseTo(0, 9);
  });

  describe("a cost that changes while it is measured", () => {
    /** As medians of three windows of a turn vary, less those of another. */
    const NOISE = 0.05;
    const changes = (blocks: number, ofFirst: (block: number) => number) =>
      new Map(times(11, (i) => [`t${i}`, times(blocks, (j) => (i === 0 ? ofFirst(j) : 0) + NOISE * jStat.randn())]));
    const changing = (by: number, blocks: number) =>
      seeded(11, RUNS, () =>
        [...drifts(changes(blocks, () => by))]
          .filter(([, { change }]) => change.low > 1 || change.high < 1)
          .map(([name]) => name),
      );

    test("is found: 15 % in four blocks, in the right target", () => {
      const found = changing(-Math.log(1.15), 4);
      expect(found.filter((names) => names.includes("t0")).length / RUNS).toBeGreaterThan(0.9);
      expect(found.filter((names) => names.some((name) => name !== "t0")).length / RUNS).toBeLessThan(0.06);
    });

    test("one that does not is called changing in 5 % of tables, at most", () => {
      for (const blocks of [2, 4, 16])
        expect(changing(0, blocks).filter((names) => names.length > 0).length / RUNS).toBeLessThan(0.06);
    });

    test("one that goes up in some blocks and down in others swings; of others 5 % of tables call one that, at most", () => {
      const swinging = (by: number) =>
        seeded(16, RUNS, () =>
          [...drifts(changes(4, () => (random.next() < 0.5 ? -by : by)))]
            .filter(([, { swing }]) => swing > 0.1)
            .map(([name]) => name),
        );
      expect(swinging(0.3).filter((names) => names.includes("t0")).length / RUNS).toBeGreaterThan(0.9);
      expect(swinging(0.3).filter((names) => names.some((name) => name !== "t0")).length / RUNS).toBeLessThan(0.05);
      expect(swinging(0).filter((names) => names.length > 0).length / RUNS).toBeLessThan(0.05);
    });

    test("needs two blocks in which it was seen", () => {
      expect(drifts(new Map([["a", [0.1]]])).size).toBe(0);
      expect([
        ...drifts(
          new Map([
            ["a", [0.1]],
            ["b", [0.1, 0.2]],
          ]),
        ).keys(),
      ]).toEqual(["b"]);
    });
  });

  describe("means of one value per target and block", () => {
    const cover = (seed: number, ofBlock: number, of: (i: number) => number, blocks: number) => {
      const covered = seeded(seed, RUNS, () => {
        const speeds = times(blocks, () => ofBlock * jStat.randn());
        const rows = times(10, (i) => speeds.map((speed) => Math.exp(speed + of(i) * jStat.randn())));
        return (
          pooledMeans(rows)
            .map((interval) => present(interval))
            .filter(({ low, high }) => low <= 1 && 1 <= high).length / 10
        );
      });
      return mean(covered);
    };

    test.each([3, 4, 16])(
      "%d blocks: 95 % of intervals hold the truth, whether the host's speed is common or not",
      (blocks) => {
        expect(cover(12, 0, () => 0.1, blocks)).toBeWithin(0.94, 0.985);
        expect(cover(13, 0.1, () => 0.05, blocks)).toBeWithin(0.93, 0.985);
        expect(cover(14, 0.05, (i) => (i === 0 ? 0.3 : 0.1), blocks)).toBeWithin(0.93, 0.985);
      },
    );

    test("are narrower than each by itself, and of two blocks the least and the most", () => {
      const rows = seeded(15, 10, () => times(4, () => Math.exp(0.1 * jStat.randn())));
      const width = ({ low, high }: { low: number; high: number }) => Math.log(high / low);
      const alone = mean(rows.map((values) => width(meanInterval(values, true))));
      expect(mean(pooledMeans(rows).map((one) => width(present(one)))) / alone).toBeLessThan(0.8);
      expect(pooledMeans([[4, 1], [3, 3], []])).toEqual([
        {
          estimate: expect.closeTo(2, 9) as never,
          low: expect.closeTo(1, 9) as never,
          high: expect.closeTo(4, 9) as never,
          isRange: true,
        },
        {
          estimate: expect.closeTo(3, 9) as never,
          low: expect.closeTo(3, 9) as never,
          high: expect.closeTo(3, 9) as never,
          isRange: true,
        },
        null,
      ]);
    });
  });

  test("the components are those of the model", () => {
    const model: Model = { effects: zeros(5), blocks: 10, cycles: 2, restartSd: () => 0.02, duetSd: 0.03 };
    const found = seeded(5, RUNS, () => simulate(model).components);
    expect(mean(found.map(({ between }) => between ** 2))).toBeCloseTo(0.02 ** 2, 5);
    expect(mean(found.map(({ within }) => (within as number) ** 2))).toBeCloseTo(0.03 ** 2, 5);
  });

  /** Block of the first look with `wanted`, or Infinity. */
  function firstLook(wanted: string, mean: number, sd: number, blocks: number): number {
    const values: number[] = [];
    while (values.length < blocks) {
      values.push(mean + sd * jStat.randn());
      if (stateOf(sequentialRatio(values, 1, values.length === blocks)) === wanted) return values.length;
    }
    return Number.POSITIVE_INFINITY;
  }

  test("sequential: looks after each of 40 blocks, and a last one, call a false state in 5 % of runs, at most", () => {
    expect(share(6, () => firstLook("different", 0, 0.015, 40) <= 40)).toBeLessThan(0.05);
    expect(share(7, () => firstLook("equivalent", Math.log(1.03), 0.015, 40) <= 40)).toBeLessThan(0.05);
  });

  test("sequential: at a spread of 1.5 %, 12 blocks show a difference of 5 %, and that there is none", () => {
    expect(share(8, () => firstLook("different", Math.log(1.05), 0.015, 12) <= 12)).toBeGreaterThan(0.95);
    expect(share(9, () => firstLook("equivalent", 0, 0.015, 12) <= 12)).toBeGreaterThan(0.95);
  });
});
