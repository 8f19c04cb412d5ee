import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type Also, failuresOf, gateDeciding, gateOf, verdictBy, worst } from "../../bench/judge/gate.ts";
import { outcomesOf, type Sides } from "../../bench/judge/outcomes.ts";
import type { Turns } from "../../bench/keep/manifest.ts";
import type { Window } from "../../bench/keep/slices.ts";
import type { Scenario } from "../../bench/plan/plan.ts";
import {
  failureLine,
  type GateReport,
  gateMarkdown,
  gateReport,
  gateText,
  type Judged,
} from "../../bench/tell/gate.ts";
import { known } from "./known.ts";
import { present, times } from "./values.ts";

test("a gate says slower only if it is certain and above the limit, and not slower only if it is certain", () => {
  const verdict = (estimate: number, low: number, upper: number) =>
    verdictBy({ ratio: { estimate, low, high: 2 }, upper }, 0.05);
  expect(verdict(1.06, 1.01, 1.12)).toBe("slower");
  expect(verdict(1.06, 0.99, 1.12)).toBe("undecided");
  expect(verdict(1.04, 1.01, 1.08)).toBe("undecided");
  expect(verdict(1.04, 1.03, 1.049)).toBe("not slower");
  expect(verdict(0.5, 0.4, 0.6)).toBe("not slower");
  expect(verdict(1, 0, Number.POSITIVE_INFINITY)).toBe("undecided");
  expect(verdict(Number.NaN, Number.NaN, Number.NaN)).toBe("undecided");
  expect(worst(["not slower", "undecided", "slower"])).toBe("slower");
  expect(worst(["not slower", "undecided"])).toBe("undecided");
  expect(worst(["not slower"])).toBe("not slower");
});

describe("the comparison of two targets", () => {
  type Costs = Readonly<Record<string, number>>;
  const scenario: Scenario = { name: "/", endpoint: "/", connections: 8, rate: null };
  /** Four rounds in each restart; in the last one, a burst hits all targets except the first. */
  const windowsOf = (restarts: readonly Costs[], seen: (name: string) => boolean = () => true): Window[] =>
    restarts.flatMap((costs, i) =>
      [1, 2, 3, 4].flatMap((round) =>
        Object.entries(costs).map(([name, us], n): Window => {
          const cost = us * (1 + round / 10) * (round === 4 && n > 0 ? 2 : 1);
          const window = { restart: i + 1, scenario: "/", name, round, counts: 1, seconds: cost / 1e3 };
          return {
            ...window,
            requests: 1_000,
            cpuUs: seen(name) ? cost * 1e3 : null,
            databaseUs: null,
            poolerUs: null,
          };
        }),
      ),
    );
  const turnsOf = (restarts: number, change: (restart: number) => Partial<Turns> = () => ({})): Turns[] =>
    times(restarts, (i) => ({
      ...{ restart: i + 1, scenario: "/", name: "main", windowMs: 50, requests: 4_000, errors: 0, failed: {} },
      ...{ restUsPerSecond: null, ...change(i + 1) },
    }));
  const sides: Sides = { first: "HEAD", second: "main", copy: null };
  const outcomeOf = (windows: readonly Window[], of = sides, turns: readonly Turns[] = [], share = 1) =>
    present(outcomesOf([scenario], { windows, turns }, of, { family: 1, share })[0]);
  /** HEAD costs 10 % more, whatever a restart does to both. */
  const tenth = [1, 1.1, 0.9, 1.05].map((of, i) => ({ HEAD: 22 * of * (1 + i / 1e3), main: 20 * of }));

  test("of two, restart by restart", () => {
    const other = windowsOf([{ HEAD: 1, main: 9 }]).map((window) => ({ ...window, scenario: "/other" }));
    const windows = [...windowsOf(tenth), ...other];
    const one = outcomeOf(windows, sides, turnsOf(4));
    expect(one).toMatchObject({ endpoint: "/", by: "cpu", state: "different", guard: null });
    expect(one.ratio.estimate).toBeCloseTo(1.1, 2);
    expect(one.logRatios).toHaveLength(4);
    for (const ln of one.logRatios) expect(Math.exp(ln)).toBeCloseTo(1.1, 2);
    for (const [i, us] of one.base.entries()) expect(us / (tenth[i]?.main as number)).toBeWithin(1, 1.5);
    const early = outcomeOf(windows, sides, [], 0.03);
    expect(early.ratio.high).toBeGreaterThan(one.ratio.high); // because more looks follow
  });

  test("of three: a copy of the second guards, and the first is compared with both", () => {
    const copied = { ...sides, copy: "main#2" };
    const of = (copy: number) =>
      outcomeOf(
        windowsOf(tenth.map((costs, i) => ({ ...costs, "main#2": costs.main * copy * (1 + i / 1e3) }))),
        copied,
      );
    const [equal, unequal] = [of(1), of(1.05)];
    expect([equal.guard?.state, unequal.guard?.state]).toEqual(["equivalent", "different"]);
    expect(unequal.guard?.ratio.estimate).toBeCloseTo(1.05, 2);
    expect(unequal.ratio.estimate).toBeCloseTo(1.1 / Math.sqrt(1.05), 2);
    const gates = [equal, unequal].map((one) => gateOf([one], 0.05));
    expect(gates.map(({ verdict, suspect }) => [verdict, suspect?.endpoint ?? null])).toEqual([
      ["slower", null],
      ["not measured", "/"],
    ]);
    expect(gateOf([unequal], null)).toMatchObject({ verdict: null, verdicts: [null] });
  });

  test("a branch may have the name of a copy", () => {
    const windows = windowsOf(tenth.map(({ HEAD, main }) => ({ "fix#12": HEAD, "fix#1": main, "fix#1#2": main })));
    const named = { first: "fix#12", second: "fix#1", copy: "fix#1#2" };
    const { ratio, guard } = outcomeOf(windows, named);
    expect([ratio.estimate, guard?.ratio.estimate]).toEqual([expect.closeTo(1.1, 2), expect.closeTo(1, 6)]);
  });

  test("restarts with failed requests do not count", () => {
    const failed = turnsOf(4, (restart) => ({ errors: restart === 2 ? 41 : 1 }));
    const one = outcomeOf(windowsOf(tenth), sides, failed);
    expect([one.logRatios.length, one.base.length]).toEqual([3, 3]);
    const all = turnsOf(4, () => ({ errors: 41 }));
    const none = outcomeOf(windowsOf(tenth), sides, all);
    expect([none.logRatios, none.state]).toEqual([[], "undecided"]);
  });

  test("one whose cost fell in every restart was still warming", () => {
    const fell = windowsOf(tenth).map((one) => ({
      ...one,
      cpuUs: one.cpuUs && one.cpuUs * (one.name === "main" && one.round > 2 ? 0.8 : 1),
    }));
    expect(outcomeOf(fell).isWarming).toBe(true);
  });

  test("a server that waits is also compared by time, because CPU time does not show waiting", () => {
    const waiting = windowsOf(tenth).map((one) => ({
      ...one,
      cpuUs: 1e3 * one.seconds * (one.name === "HEAD" ? 1 / 22 : 1 / 20), // 1 µs and little of a core
      seconds: one.seconds * (one.name === "HEAD" ? 2 : 1),
    }));
    const one = outcomeOf(waiting);
    expect([one.by, one.isWaiting, one.time?.ratio.estimate]).toEqual(["cpu", true, expect.closeTo(2.2, 1)]);
    expect(gateOf([one], 0.05).verdict).toBe("slower");
    expect(gateOf([{ ...one, isWaiting: false }], 0.05).verdict).not.toBe("slower");
  });

  test("a server that gets the CPU in some windows only does not wait", () => {
    const disturbed = windowsOf(tenth).map((one) => ({ ...one, seconds: one.seconds * (one.round > 1 ? 3 : 1) }));
    expect(outcomeOf(disturbed).isWaiting).toBe(false);
  });

  test("a window without requests, because the host gave no CPU time, does not count", () => {
    const windows = windowsOf(tenth).map((one, i) => (i === 2 ? { ...one, requests: 0, cpuUs: 0 } : one));
    const { ratio, time } = outcomeOf(windows);
    expect([ratio.estimate, time?.ratio.estimate]).toEqual([expect.closeTo(1.1, 2), expect.closeTo(1.1, 2)]);
  });

  test("by requests/s if the CPU time of one is not known", () => {
    const windows = windowsOf(tenth, (name) => name !== "main");
    const { by, time, isWaiting, ratio } = outcomeOf(windows);
    expect([by, time, isWaiting, ratio.estimate]).toEqual(["rate", null, false, expect.closeTo(1.1, 2)]);
  });

  test("a gate is decided if it is not undecided, and ends early if one endpoint is slower", () => {
    const { isDecided, isEnough } = gateDeciding(0.05);
    const slower = outcomeOf(windowsOf(tenth));
    const equal = { ...slower, ratio: { estimate: 1, low: 0.99, high: 1.01 }, upper: 1.01 };
    const open = { ...slower, ratio: { estimate: 1.06, low: 0.99, high: 1.2 }, upper: 1.2 };
    expect([slower, equal, open].map((one) => [isDecided(one), isEnough(one)])).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });
});

test("targets whose requests fail, by status", () => {
  const turn = { restart: 1, scenario: "/", windowMs: 25, restUsPerSecond: null, requests: 2_050 };
  const turns: Turns[] = [
    { ...turn, name: "HEAD", errors: 40, failed: { 500: 40 } },
    { ...turn, name: "HEAD", restart: 2, errors: 17, failed: { 500: 16, "no answer": 1 } },
    { ...turn, name: "main", errors: 1, failed: { 500: 1 } },
  ];
  const [one, ...others] = failuresOf(turns);
  expect(others).toEqual([]);
  expect(failureLine(present(one))).toBe("HEAD: 57 of 4,100 requests failed (500: 56, no answer: 1)");
  expect(failureLine({ ...present(one), failed: { 500: 57 } })).toBe("HEAD: 57 of 4,100 requests failed (500)");
});

test("the record of a run merges the copies of one side and matches the schema", () => {
  const { manifest, slices, windows } = known({
    endpoints: ["/plain"],
    restarts: 4,
    twin: "bun-raw",
    factor: ({ name }) => (name === "node-raw" ? 0.8 : 1),
  });
  const [base, head] = ["bun-raw", "node-raw"].map((name) => ({ name, commit: null })) as [
    GateReport["base"],
    GateReport["head"],
  ];
  const sides = { first: head.name, second: base.name, copy: "bun-raw#2" };
  const scenario = { ...(manifest.plan.scenarios[0] as Scenario) };
  const outcomes = outcomesOf([scenario], { windows, turns: manifest.turns }, sides, { family: 1, share: 1 });
  const light = slices.map((slice) => ({ ...slice, rssBytes: slice.name === base.name ? 40e6 : 80e6 }));
  const of = (also: Also) =>
    gateReport({ manifest, slices: light }, { base, head }, gateOf(outcomes, 0.05), { failAbove: 0.05, also });
  const report = of({});
  expect(report).toMatchObject({ verdict: "slower", restarts: 4, seconds: 300, taken: 0.01, run: manifest.run });
  expect(report.machine).toStartWith("2 × Some CPU");
  expect(report.endpoints[0]?.cpuUs?.base).toBeWithin(9.5, 10.5);
  expect(report.endpoints[0]?.cpuUs?.ratio).toBeWithin(1.17, 1.23);
  expect(report.endpoints[0]?.guard?.ratio).toBeWithin(0.97, 1.03);
  expect(report.rssBytes?.base).toBeCloseTo(Math.sqrt(40e6 * 80e6), 0);
  expect(report.rssBytes?.head).toBeCloseTo(80e6, 0);
  expect([report.rssBytes?.verdict, of({ memory: 0.1 }).rssBytes?.verdict]).toEqual([null, "slower"]);
  expect(of({ p99: 0.9 }).endpoints[0]?.p99Ms?.verdict).toBe("not slower");
  const isRecord = new Ajv2020({ strictTypes: false, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync("docs/gate.schema.json", "utf8")),
  );
  expect([isRecord(JSON.parse(JSON.stringify(report))), isRecord.errors]).toEqual([true, null]);
});

const measure = (base: number, ratio: number, half: number | null, verdict: Judged["verdict"] = null): Judged => ({
  base,
  head: base * ratio,
  ratio,
  low: half && ratio - half,
  high: half && ratio + half,
  verdict,
});
const NO_CAUSE = { kernelUs: null, bytes: null, switches: null, collectorUs: null, childUs: null };
const REPORT: GateReport = {
  version: 2,
  verdict: "slower",
  reason: null,
  failAbove: 0.05,
  base: { name: "main", commit: "a" },
  head: { name: "HEAD", commit: "b" },
  run: "2026-01-01T00:00:00.000Z",
  machine: "4 × a CPU",
  restarts: 6,
  seconds: 123.4,
  taken: 0.031,
  endpoints: [
    {
      endpoint: "/",
      verdict: "slower",
      cpuUs: measure(20, 1.1, 0.02, "slower"),
      perSecond: measure(48_000, 0.91, 0.02),
      waiting: false,
      p99Ms: { ...measure(1.5, 1.2, 0.3), rate: 4_000 },
      ...{
        kernelUs: measure(8, 1.01, 0.005),
        bytes: measure(120, 1.09, 0.001),
        switches: null,
        collectorUs: measure(2, 1.5, 0.1),
        childUs: { base: 0, head: 3_000 },
      },
      guard: { ratio: 0.998, low: 0.99, high: 1.006 },
      warming: true,
    },
    {
      endpoint: "POST /a",
      verdict: "not slower",
      cpuUs: measure(2_000, 0.99, 0.01, "not slower"),
      perSecond: measure(300, 1, 0.01, "not slower"),
      waiting: true,
      p99Ms: null,
      ...NO_CAUSE,
      guard: { ratio: 1, low: null, high: null },
      warming: false,
    },
  ],
  rssBytes: measure(80e6, 1.01, 0.02),
  peakRssBytes: null,
  startupMs: measure(95.4, 1, null),
};

test("what a change did, for a terminal and as Markdown", () => {
  expect(gateText(REPORT)).toMatchSnapshot();
  expect(gateMarkdown(REPORT)).toMatchSnapshot();
  const headline = (changes: Partial<GateReport>) => gateText({ ...REPORT, ...changes }).split("\n")[0];
  expect(headline({ verdict: null })).toBe("HEAD against main");
  expect(headline({})).toBe("HEAD against main: slower: / by about 10 % (8.0 to 12 %) of the CPU time");
  expect(headline({ verdict: "not slower" })).toBe("HEAD against main: not slower by more than 5 % at any endpoint");
  expect(headline({ verdict: "failed", reason: "why" })).toBe("HEAD against main: failed: why");
  expect(headline({ verdict: "not measured", reason: "why" })).toBe("HEAD against main: not measured: why");
});
