/** Error rates of the statistics in simulated runs of known truth. */
import { describe, expect, test } from "bun:test";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import jStat from "jstat";
import { mainEffects } from "../../bench/judge/effects.ts";
import { gateDeciding, gateOf } from "../../bench/judge/gate.ts";
import { type Outcome, outcomesOf } from "../../bench/judge/outcomes.ts";
import {
  betweenRuns,
  type Comparison,
  compare,
  drifts,
  type Measured,
  mean,
  meanInterval,
  pooledMeans,
  shareOf,
  smallestVisible,
  stateOf,
} from "../../bench/judge/statistics.ts";
import type { Row, Table } from "../../bench/judge/tables.ts";
import { costOf, layoutOf } from "../../bench/judge/turns.ts";
import type { Window } from "../../bench/keep/slices.ts";
import type { Scenario } from "../../bench/plan/plan.ts";
import { SERVERS } from "../harness.ts";
import { present, times } from "./values.ts";

const RUNS = 2_000;
const random = generateMersenne53Randomizer();

/** Runs with reproducible random values. */
function seeded<T>(seed: number, runs: number, run: (i: number) => T): T[] {
  random.seed(seed);
  jStat.setRandom(() => random.next());
  return times(runs, run);
}

/** The share of runs with true. In 2,000 runs, a share of 5 % is known to ±1 %. */
const share = (seed: number, run: (i: number) => boolean, runs = RUNS) =>
  seeded(seed, runs, run).filter(Boolean).length / runs;

const zeros = (n: number) => times(n, () => 0);

/** The cost of targets in each restart. @param effects ln cost of each @param sdOf between restarts, ln scale */
const measure = (effects: readonly number[], restarts: number, sdOf: (i: number) => number): Measured[] =>
  effects.map((effect, i) => ({ name: `t${i}`, perRestart: times(restarts, () => effect + sdOf(i) * jStat.randn()) }));
const simulate = (effects: readonly number[], restarts: number, sd: number): Comparison =>
  present(compare(measure(effects, restarts, () => sd)));
const anyDifferent = ({ pairs }: Comparison) => pairs.some(({ state }) => state === "different");

const GRID = [2, 3, 5, 8, 12].flatMap((targets) => [3, 5, 10, 20].map((restarts) => [targets, restarts] as const));

describe("runs with one number per target and restart", () => {
  test.each([0.01, 0.05, 0.2])("spread %d: in 95 % of runs every interval covers the true ratio", (sd) => {
    const cells = GRID.map(([targets, restarts]) =>
      share(sd * 1e3, () => {
        const effects = times(targets, () => 0.1 * jStat.randn());
        return simulate(effects, restarts, sd).pairs.every(({ a, b, ratio }) => {
          const truth = Math.exp((effects[+a.slice(1)] as number) - (effects[+b.slice(1)] as number));
          return ratio.low <= truth && truth <= ratio.high;
        });
      }),
    );
    expect(Math.min(...cells)).toBeGreaterThan(0.93);
    expect(Math.max(...cells)).toBeLessThan(0.98);
    expect(mean(cells)).toBeWithin(0.94, 0.97);
  });

  test("without a difference, at most 5 % of runs report one", () => {
    const cells = GRID.map(([targets, restarts]) =>
      share(1, () => anyDifferent(simulate(zeros(targets), restarts, 0.05))),
    );
    expect(Math.max(...cells)).toBeLessThan(0.065);
    expect(mean(cells)).toBeLessThan(0.05);
  });

  test("the smallest visible difference is seen in 80 % of runs", () => {
    const cells = GRID.map(([targets, restarts]) => {
      // A report uses the spread that it finds; this test uses the true spread.
      const factors = seeded(2, 200, () => {
        const found = simulate(zeros(targets), restarts, 0.05);
        return Math.log1p(found.smallestVisible) / Math.log1p(smallestVisible(found.spread, targets, restarts));
      });
      const effects = [Math.log1p(smallestVisible(0.05, targets, restarts)) * mean(factors), ...zeros(targets - 1)];
      return share(3, () => simulate(effects, restarts, 0.05).pairs[0]?.state === "different");
    });
    expect(Math.min(...cells)).toBeGreaterThan(0.75);
    expect(Math.max(...cells)).toBeLessThan(0.9);
  });

  test("the spread is the spread of restarts", () => {
    const found = seeded(5, RUNS, () => simulate(zeros(5), 10, 0.02).spread ** 2);
    // In one run of a hundred the noisiest target does not count.
    expect(mean(found) / 0.02 ** 2).toBeWithin(0.97, 1.01);
  });

  test("one target three times as noisy as nine others: at most 7 % of runs report a false difference", () => {
    const cells = [5, 10].map((restarts) =>
      share(4, () => anyDifferent(present(compare(measure(zeros(10), restarts, (i) => (i === 0 ? 0.045 : 0.015)))))),
    );
    expect(Math.max(...cells)).toBeLessThan(0.075);
  });

  test("one target ten times as noisy as nine others hides none of their differences", () => {
    const noisy = (effects: readonly number[], restarts: number) =>
      present(compare(measure(effects, restarts, (i) => (i === 9 ? 0.5 : 0.05))));
    for (const restarts of [4, 5, 10]) {
      expect(share(6, () => anyDifferent(noisy(zeros(10), restarts)))).toBeLessThan(0.075);
      const visible = Math.log1p(smallestVisible(0.05, 10, restarts));
      const seen = share(7, () => noisy([1.1 * visible, ...zeros(9)], restarts).pairs[0]?.state === "different");
      expect(seen).toBeGreaterThan(0.75);
    }
  });
});

describe("runs of windows, some with bursts, on a host whose speed varies", () => {
  const ROUNDS = 8;
  /** Standard deviations of a restart and of a window on two noisy cores, ln scale. */
  const [RESTART, WINDOW] = [0.023, 0.08];

  /** @param effects ln cost of each @param drift added to the ln cost from the second half of the rounds on */
  function windowsLike(effects: readonly number[], restarts: number, drift: (i: number) => number = () => 0): Window[] {
    return times(restarts, (r) => {
      const levels = effects.map((effect) => effect + RESTART * jStat.randn());
      // If the host slows one server down by 10 %, it slows another down by 9 to 11 %.
      const feels = effects.map(() => 0.9 + 0.2 * random.next());
      return times(ROUNDS, (n) => {
        const host = 0.2 * Math.abs(jStat.randn());
        return levels.map((level, i): Window => {
          const burst = random.next() < 0.05 ? 1 + 2 * random.next() : 1;
          const late = n >= ROUNDS / 2 ? drift(i) : 0;
          const ln = level + late + host * (feels[i] as number) + WINDOW * jStat.randn();
          const common = { restart: r + 1, scenario: "/", round: n + 1, counts: 1, seconds: 0.025 };
          const cpuUs = 1e3 * Math.exp(ln) * burst;
          return { ...common, name: `t${i}`, requests: 1e3, cpuUs, databaseUs: null, poolerUs: null };
        });
      }).flat();
    }).flat();
  }
  const measuredIn = (windows: readonly Window[]) => layoutOf(windows, costOf);
  const compared = (effects: readonly number[], restarts: number) =>
    present(compare(measuredIn(windowsLike(effects, restarts)).measured));

  test.each([3, 5, 10])("ten equal servers, %d restarts: at most 5 % of runs report a difference", (restarts) => {
    expect(share(17, () => anyDifferent(compared(zeros(10), restarts)), 1_000)).toBeLessThan(0.065);
  });

  test("the difference that is reported as detectable is detected in 80 % of runs", () => {
    const visible = mean(seeded(18, 200, () => Math.log1p(compared(zeros(10), 5).smallestVisible)));
    const seen = share(19, () => compared([visible, ...zeros(9)], 5).pairs[0]?.state === "different", 1_000);
    expect(seen).toBeWithin(0.74, 0.88);
    console.log(
      `5 restarts of ${ROUNDS} windows: differences below ${(Math.expm1(visible) * 100).toFixed(1)} % are not detectable`,
    );
  });

  test("a cost that changes by a quarter in the middle of the rounds is found, in the right server", () => {
    const changing = (by: number, seed: number) =>
      seeded(seed, 500, () =>
        [...drifts(measuredIn(windowsLike(zeros(10), 5, (i) => (i === 0 ? by : 0))).changes)]
          .filter(([, change]) => stateOf(change) === "different")
          .map(([name]) => name),
      );
    const found = changing(Math.log(1.25), 20);
    expect(found.filter((names) => names.includes("t0")).length / 500).toBeGreaterThan(0.85);
    expect(found.filter((names) => names.some((name) => name !== "t0")).length / 500).toBeLessThan(0.07);
  });
});

describe("a cost that changes while it is measured", () => {
  /** Standard deviation of the medians of halves of a restart's rounds, ln scale. */
  const NOISE = 0.05;
  const changes = (restarts: number, ofFirst: (restart: number) => number) =>
    new Map(times(11, (i) => [`t${i}`, times(restarts, (j) => (i === 0 ? ofFirst(j) : 0) + NOISE * jStat.randn())]));
  const changing = (by: number, restarts: number) =>
    seeded(11, RUNS, () =>
      [...drifts(changes(restarts, () => by))]
        .filter(([, change]) => stateOf(change) === "different")
        .map(([name]) => name),
    );

  test("is found: 15 % in four restarts, in the right target", () => {
    const found = changing(-Math.log(1.15), 4);
    expect(found.filter((names) => names.includes("t0")).length / RUNS).toBeGreaterThan(0.85);
    expect(found.filter((names) => names.some((name) => name !== "t0")).length / RUNS).toBeLessThan(0.06);
  });

  test("is reported in at most 1 % of tables if it does not change", () => {
    for (const restarts of [2, 4, 16])
      expect(changing(0, restarts).filter((names) => names.length > 0).length / RUNS).toBeLessThan(0.015);
  });

  test("needs two restarts with measurements", () => {
    const [once, twice] = [[0.1], [0.1, 0.2]];
    expect(drifts(new Map([["a", once]])).size).toBe(0);
    const seen = drifts(new Map(Object.entries({ a: once, b: twice })));
    expect([...seen.keys()]).toEqual(["b"]);
  });
});

describe("means of one value per target and restart", () => {
  const rowOf = (values: readonly number[]) => new Map(values.map((value, r) => [r + 1, value]));
  const cover = (seed: number, ofRestart: number, of: (i: number) => number, restarts: number) => {
    const covered = seeded(seed, RUNS, () => {
      const speeds = times(restarts, () => ofRestart * jStat.randn());
      const rows = times(10, (i) => rowOf(speeds.map((speed) => Math.exp(speed + of(i) * jStat.randn()))));
      const intervals = pooledMeans(rows).map((interval) => present(interval));
      return intervals.filter(({ low, high }) => low <= 1 && 1 <= high).length / 10;
    });
    return mean(covered);
  };

  test.each([3, 4, 16])(
    "%d restarts: 95 % of intervals contain the true value, whether the host's speed is common or not",
    (restarts) => {
      expect(cover(12, 0, () => 0.1, restarts)).toBeWithin(0.94, 0.985);
      expect(cover(13, 0.1, () => 0.05, restarts)).toBeWithin(0.93, 0.985);
      expect(cover(14, 0.05, (i) => (i === 0 ? 0.3 : 0.1), restarts)).toBeWithin(0.93, 0.985);
    },
  );

  test("have narrower intervals than each target alone", () => {
    const rows = seeded(15, 10, () => times(4, () => Math.exp(0.1 * jStat.randn())));
    const width = ({ low, high }: { low: number; high: number }) => Math.log(high / low);
    const alone = mean(rows.map((values) => width(meanInterval(values))));
    expect(mean(pooledMeans(rows.map(rowOf)).map((one) => width(present(one)))) / alone).toBeLessThan(0.8);
  });
});

test("two runs that differ as their restarts predict have a ratio of 1, others show how much more they vary", () => {
  const between = (sd: number) =>
    seeded(21, RUNS, () => {
      const run = (restarts: number) =>
        simulate(
          times(10, () => sd * jStat.randn()),
          restarts,
          0.03,
        );
      return present(betweenRuns(times(4, () => [run(4), run(8)] as const)));
    });
  const equal = between(0);
  expect(mean(equal.map(({ ratio }) => ratio.estimate))).toBeWithin(0.97, 1.03);
  expect(equal.filter(({ ratio }) => ratio.low <= 1 && 1 <= ratio.high).length / RUNS).toBeWithin(0.93, 0.97);
  const more = between(0.04);
  expect(Math.sqrt(mean(more.map(({ sd }) => sd ** 2)))).toBeWithin(0.039, 0.041);
  expect(more.filter(({ ratio }) => ratio.low > 1).length / RUNS).toBe(1);
});

test("choices in eight tables without a difference: at most 5 % of runs report any difference", () => {
  const rows = SERVERS.map((name) => {
    const [runtime, framework] = name.split("-");
    const driver = runtime === "bun" ? "bun:sqlite" : "better-sqlite3";
    const choices = { server: name, chosenDriver: null, settings: null, twinOf: null };
    return { name, runtime, framework, driver, workers: 1, ...choices } as unknown as Row;
  });
  const run = () =>
    times(8, () => {
      const measured = SERVERS.map((name) => ({ name, perRestart: times(4, () => 0.05 * jStat.randn()) }));
      const table = { comparison: present(compare(measured)), throughput: null, by: "cpu", rows };
      return mainEffects(table as unknown as Table, 8);
    }).flat();
  const runs = seeded(22, RUNS, run);
  expect(runs[0]).toHaveLength(8 * 13); // bun ÷ node with each of five frameworks, and on each runtime four frameworks ÷ raw
  const wrong = runs.filter((effects) => effects.some(({ cpu }) => stateOf(present(cpu)) === "different"));
  // Less than 5 %, because choices share servers, so they are not independent.
  expect(wrong.length / RUNS).toBeWithin(0.002, 0.05);
});

describe("a gate: a head, a base and its copy, restart after restart", () => {
  /** Standard deviations between restarts at each endpoint, as on several machines; ln scale. */
  const SPREADS = [0.014, 0.039, 0.02, 0.03, 0.025];
  const sides = { first: "head", second: "base", copy: "copy" };

  /** The verdict of a gate. @param slower ln cost of head ÷ base at the first endpoint; 0 at the others */
  function verdictOf(slower: number, endpoints: number, restarts: number, limit: number): string {
    const scenarios = times(endpoints, (e) => ({ name: `/${e}` }) as Scenario);
    const windows: Window[] = [];
    const { isDecided, isEnough } = gateDeciding(limit);
    const decided = new Map<number, Outcome>();
    for (let r = 1; r <= restarts; r++) {
      for (const [e, { name: scenario }] of scenarios.entries())
        for (const name of Object.values(sides)) {
          const level = (name === "head" && e === 0 ? slower : 0) + (SPREADS[e] as number) * jStat.randn();
          const cost = { cpuUs: 1e3 * Math.exp(level), requests: 1, seconds: 1e-3, databaseUs: null, poolerUs: null };
          windows.push({ restart: r, scenario, name, round: 1, counts: 1, ...cost });
        }
      const share = shareOf(r, r === restarts);
      if (share === 0) continue;
      const look = outcomesOf(scenarios, { windows, turns: [] }, sides, { family: endpoints, share });
      for (const [i, one] of look.entries())
        if (!decided.has(i) && (isDecided(one) || r === restarts)) decided.set(i, one);
      if ([...decided.values()].some(isEnough)) break;
    }
    return String(gateOf([...decided.values()], limit).verdict);
  }
  const verdicts = (seed: number, slower: number, endpoints: number, restarts: number, limit = 0.05, runs = 300) => {
    const all = seeded(seed, runs, () => verdictOf(Math.log1p(slower), endpoints, restarts, limit));
    return (verdict: string) => all.filter((one) => one === verdict).length / runs;
  };

  test.each([
    [1, 4],
    [3, 6],
    [5, 12],
  ])(
    "%d endpoints, %d restarts: equal copies are never slower, and one slower by the limit never passes",
    (endpoints, restarts) => {
      const equal = verdicts(31, 0, endpoints, restarts);
      expect(equal("slower")).toBeLessThan(0.025);
      expect(equal("not measured")).toBeLessThan(0.025);
      expect(verdicts(32, 0.05, endpoints, restarts)("not slower")).toBeLessThan(0.07);
      expect(verdicts(33, 0.1, endpoints, restarts)("not slower")).toBe(0);
    },
  );

  test("most equal copies pass, and most that cost a tenth more do not", () => {
    expect(verdicts(34, 0, 3, 6)("not slower")).toBeGreaterThan(0.6);
    expect(verdicts(35, 0.1, 3, 6)("slower")).toBeGreaterThan(0.9);
  });
});
