/** When a server is called warm: the rule on series of known truth, and how often it is wrong. */
import { describe, expect, test } from "bun:test";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { compare, type Duet, drifts, median } from "../../bench/judge/statistics.ts";
import {
  changeOf,
  coldnessOf,
  isChanging,
  isColdAgain,
  isGettingCheaper,
  LEAST_WINDOWS,
  MOST_WINDOWS,
  noiseOf,
  type Window,
} from "../../bench/judge/steadiness.ts";
import { SCHEDULES } from "../../bench/self-test/scheduled.ts";
import { times } from "./values.ts";

const RUNS = 2_000;
const random = generateMersenne53Randomizer();
/** Box & Muller 1958. */
const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
/** Student's t with 3 degrees of freedom, of variance 1: duets have tails as heavy. */
const heavy = () => normal() / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3) / Math.sqrt(3);

/** What warm-up does with a server: the least number of requests, then windows until the rule finds no change. */
const LEAST_REQUESTS = 100_000;
const PER_WINDOW = 5_000;

interface Outcome {
  readonly steady: boolean;
  readonly windows: number;
  /** Requests when it ended. */
  readonly requests: number;
}

/**
 * @param costs ln cost of a window that begins after so many requests, without noise
 * @param others series that are loaded together with it, flat
 */
function warmUp(costs: (requests: number) => number, sd: number, least = LEAST_REQUESTS, others = 5): Outcome {
  const series = times(1 + others, (): number[] => []);
  for (let n = 1; n <= MOST_WINDOWS; n++) {
    const requests = least + (n - 1) * PER_WINDOW;
    for (const [i, seen] of series.entries()) seen.push((i === 0 ? costs(requests) : 0) + sd * heavy());
    if (n < LEAST_WINDOWS) continue;
    if (!isChanging(series[0] as number[], noiseOf(series)))
      return { steady: true, windows: n, requests: requests + PER_WINDOW };
  }
  return { steady: false, windows: MOST_WINDOWS, requests: least + MOST_WINDOWS * PER_WINDOW };
}

const share = (seed: number, isSo: () => boolean) => {
  random.seed(seed);
  return times(RUNS, isSo).filter(Boolean).length / RUNS;
};

describe("2,000 series each, with tails as heavy as those of duets", () => {
  const NOISE = [0.02, 0.04, 0.06];

  test("of flat ones at most 5 % are kept twice as long as needed, or called warming", () => {
    for (const sd of NOISE) {
      expect(share(1, () => warmUp(() => 0, sd).windows >= 2 * LEAST_WINDOWS)).toBeLessThan(0.05);
      expect(share(2, () => !warmUp(() => 0, sd).steady)).toBeLessThan(0.01);
    }
  });

  test("alone, too, where the noise is known from one series only", () => {
    expect(share(3, () => warmUp(() => 0, 0.04, LEAST_REQUESTS, 0).windows >= 2 * LEAST_WINDOWS)).toBeLessThan(0.05);
  });

  const schedules = Object.entries(SCHEDULES).filter(([name]) => !name.startsWith("flat"));
  test.each(schedules)("%s: at most 5 % are called steady too early", (name, { factor, settles }) => {
    const cost = (requests: number) => {
      const inside = times(50, (i) => factor(requests + (i * PER_WINDOW) / 50));
      return Math.log(inside.reduce((sum, one) => sum + one) / inside.length);
    };
    const isWrong = ({ steady, requests }: Outcome) => {
      // What is measured then: four windows.
      const measured = times(4, (i) => Math.exp(cost(requests + i * PER_WINDOW)));
      return steady && Math.abs(Math.log(median(measured) / settles)) > 0.03;
    };
    for (const sd of NOISE) {
      const wrong = share(4, () => isWrong(warmUp(cost, sd)));
      // A saw-tooth looks flat where its windows are: see below.
      if (!name.includes("saw-tooth")) expect(wrong).toBeLessThan(0.05);
    }
  });

  test("a saw-tooth that never ends is found while it is measured, or its mean is right: at most 5 % are neither", () => {
    const { factor, settles } = SCHEDULES["a saw-tooth that never ends"] as (typeof SCHEDULES)[string];
    const names = times(7, (i) => `t${i}`);
    const PER_DUET = 6_000;
    const run = (sd: number) => {
      let warming = false;
      const changes = names.map((): number[] => []);
      const duets = times(4, (block) => {
        // Where in its period it is when its turn begins differs from block to block, and so does it in its second turn.
        let requests = 100_000 + Math.floor(random.next() * 40_000);
        const next = (n: number) => {
          const inside = times(20, (i) => factor(requests + (i * n) / 20));
          requests += n;
          return Math.log(inside.reduce((sum, one) => sum + one) / inside.length / settles);
        };
        const turns = times(2, () => {
          const windows = names.map((_, i) =>
            times(LEAST_WINDOWS, () => (i === 0 ? next(PER_WINDOW) : 0) + sd * heavy()),
          );
          if (isChanging(windows[0] as number[], noiseOf(windows))) warming = true;
          const shifts = times(2, () => next(PER_DUET));
          requests += Math.floor(random.next() * 40_000);
          return { windows, shifts };
        });
        for (const [i, of] of changes.entries()) {
          const [first, second] = turns.map(({ windows }) => median(windows[i] as number[])) as [number, number];
          of.push(second - first);
        }
        return names.flatMap((a, i) => {
          const b = names[(i + 1) % names.length] as string;
          return times(2, (n): Duet => {
            // t0 plays with the last as the younger, and with t1 as the older of two.
            const shift = a === "t0" ? (turns[1]?.shifts[n] ?? 0) : b === "t0" ? -(turns[0]?.shifts[n] ?? 0) : 0;
            return { block, a, b, logRatio: shift + sd * heavy() };
          });
        });
      }).flat();
      const found = drifts(new Map(names.map((name, i) => [name, changes[i] as number[]])));
      const { swing, change } = found.get("t0") ?? expect.unreachable();
      const effect = compare(names, duets)?.effects[0]?.mean ?? Number.NaN;
      const isFound = warming || swing > 0.1 || change.low > 1 || change.high < 1;
      return isFound || Math.abs(effect * (7 / 6)) <= 0.03;
    };
    // Blocks are not many, nor is the noise small: found or right in 19 of 20 runs at what a duet usually varies by.
    for (const sd of [0.02, 0.03]) expect(share(7, () => !run(sd))).toBeLessThan(0.05);
  });

  test("changes that come after the least number of requests are waited for", () => {
    const wrong = (change: (requests: number) => number, sd: number) =>
      share(5, () => {
        const { steady, requests } = warmUp(change, sd);
        return steady && Math.abs(change(requests) - change(1e9)) > 0.03;
      });
    const step = (at: number, by: number) => (requests: number) => (requests < LEAST_REQUESTS + at ? by : 0);
    for (const sd of NOISE) {
      // In the middle of the third window; and down on a slope of 5 % per window, 40 % in all.
      expect(wrong(step(2 * PER_WINDOW, Math.log(1 / 0.6)), sd)).toBeLessThan(0.05);
      expect(wrong(step(PER_WINDOW, Math.log(1.5)), sd)).toBeLessThan(0.05);
    }
  });
});

test("the noise is what is left beside a trend, and one step or burst does not change it", () => {
  random.seed(6);
  const flat = times(40, () => times(9, () => 0.04 * normal()));
  const sloping = flat.map((costs) => costs.map((cost, i) => cost - 0.1 * i));
  const stepping = flat.map((costs, j) => costs.map((cost, i) => cost + (j % 4 === 0 && i > 4 ? 0.5 : 0)));
  for (const series of [flat, sloping, stepping]) expect(noiseOf(series)).toBeWithin(0.034, 0.048);
  expect(noiseOf([])).toBeCloseTo(0.04, 9);
});

test("a change is one of more than 3 % and more than the noise explains", () => {
  expect(isChanging([0, 0, 0.029], 0.001)).toBe(false);
  expect(isChanging([0, 0, 0.04], 0.001)).toBe(true);
  expect(isChanging([0, 0, 0.04], 0.02)).toBe(false);
  expect(isChanging([1, 1, 1, 0, 0, 0], 0.02)).toBe(false); // only the latest half counts
  expect(isChanging([1, 1, 1, 1, 0, 0], 0.02)).toBe(true);
});

test("a server that rested is cold until a window is nearly what it was in its first turn", () => {
  const after = (...costs: number[]) =>
    isColdAgain(
      [[10, 10, 11], costs].flatMap((turn, i) =>
        turn.map((costUs, n) => ({ requests: n + 1, costUs, referenceUs: 1, turn: i + 1 })),
      ),
    );
  expect(after(40, 22, 10)).toBe(true);
  expect(after(40, 22, 10, 10.5)).toBe(false);
  expect(after(10, 5, 5)).toBe(false); // warmer than before: the change is told as one
  expect(after(40, 22)).toBe(false); // not known yet
});

test("a server gets cheaper where a third of its windows costs less than the third before, at any endpoint", () => {
  const at = (...costs: number[]) => ({
    windows: costs.map((costUs, i) => ({ requests: i + 1, costUs, referenceUs: null, turn: 0 })),
    steady: null,
    turn: 0,
  });
  const flat = at(90, 12, 12, 11, 12, 11, 11, 12, 11);
  expect(isGettingCheaper([flat])).toBe(false);
  expect(isGettingCheaper([flat, at(90, 60, 50, 40, 30, 31, 20, 22, 18)])).toBe(true);
  expect(isGettingCheaper([at(40, 40, 40, 40, 4, 4)])).toBe(false); // too few to tell from noise
  expect(isGettingCheaper([at(40, 40, 40, 40, 40, 40, 4, 40, 40)])).toBe(false); // one window
  expect(isGettingCheaper([at(10, 10, 10, 10, 10, 10, 20, 20, 20)])).toBe(false); // dearer
  expect(isGettingCheaper([])).toBe(false);
});

test("how a server's cost changed is known by the windows of its two turns", () => {
  const windows = (first: number[], second: number[]): Window[] =>
    [[50, 40], first, second].flatMap((costs, turn) =>
      costs.map((costUs, i) => ({ requests: i + 1, costUs, referenceUs: 1, turn })),
    );
  expect(changeOf(windows([10, 11, 10], [14, 15, 14]))).toBeCloseTo(Math.log(1.4), 9);
  expect(changeOf(windows([30, 10, 11, 10], [10, 10, 10]))).toBeCloseTo(0, 9);
  expect(changeOf(windows([10, 10, 10], [14, 14]))).toBeNull();
  expect(changeOf(windows([10, 10, 10], []))).toBeNull();
  expect(changeOf(windows([10, 10, 10], [14, 14, 14]).map((one) => ({ ...one, referenceUs: null })))).toBeNull();
});

test("how long a server was slow: requests and CPU time until it cost as much as in the end", () => {
  const windows: Window[] = [40, 20, 11, 10, 10, 10].map((costUs, i) => ({
    requests: 1_000 * (i + 1),
    costUs: costUs * 2, // the host slows both
    referenceUs: 2,
    turn: 0,
  }));
  expect(coldnessOf(windows)).toEqual({
    coldToWarm: expect.closeTo(4, 9) as never,
    requests: 2_000,
    cpuSeconds: expect.closeTo(0.12, 9) as never,
  });
  expect(coldnessOf(windows.slice(-4))).toMatchObject({
    coldToWarm: expect.closeTo(1.1, 9),
    requests: 0,
    cpuSeconds: 0,
  });
  expect(coldnessOf(windows.slice(0, 3))).toBeNull();
  // What it costs on cores that it shares, and what was not seen beside a reference, is left out.
  const others = windows.slice(0, 3).map((one) => ({ ...one, turn: 1 }));
  expect(coldnessOf([...windows, ...others])).toEqual(coldnessOf(windows));
  expect(coldnessOf(windows.map((one) => ({ ...one, referenceUs: null })))).toBeNull();
});
