/** Whole measurements in simulated time, from the plan to the report, with known noise. */
import { beforeEach, describe, expect, test } from "bun:test";
import { globSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type LocalSpec, parseTarget, SERVERS, type TargetSpec } from "../../bench/ask/targets.ts";
import { type RunOptions, run } from "../../bench/commands/run.ts";
import { ON_DISK } from "../../bench/host/folders.ts";
import { OWNER } from "../../bench/host/owner.ts";
import { median } from "../../bench/judge/statistics.ts";
import { analyse } from "../../bench/judge/tables.ts";
import { manifestOf } from "../../bench/keep/manifest.ts";
import { readSlices, readWindows } from "../../bench/keep/slices.ts";
import { GeneratorEnded } from "../../bench/load/pausable.ts";
import { atRates, makePlan, type Plan, unique } from "../../bench/plan/plan.ts";
import { GATE_SECONDS, PAIR_ENDPOINTS, pairAmount } from "../../bench/plan/presets.ts";
import { compareUntilDecided, measure } from "../../bench/run/measure.ts";
import type { Session } from "../../bench/run/session.ts";
import { testGates } from "../../bench/self-test/gates.ts";
import { type Bench, HANDICAP, selfTest } from "../../bench/self-test/self-test.ts";
import { gatesTable, selfTestTable } from "../../bench/tell/lines.ts";
import { resultsIn, scratch } from "../harness.ts";
import { type Cost, resume, seed, simulate, type World } from "../simulation.ts";

const newFile = resultsIn(scratch());
beforeEach(() => seed(1));

const OPTIONS = { urls: [], names: [], servers: [], connections: 100, preset: "quick", seed: 1 } as const;
const ENDPOINTS = ["/plain", "/sqlite/random-5fields/5"];
const THREE = ["bun-raw", "bun-hono", "node-express"];
const planOf = (servers: readonly string[], endpoints: readonly string[] = ENDPOINTS, minutes = 1) =>
  makePlan({ ...OPTIONS, servers, endpoints, minutes }, SERVERS);
const pairPlan = (specs: readonly TargetSpec[], endpoints: readonly string[]): Plan => ({
  ...planOf([], endpoints),
  targets: unique(specs),
  amount: pairAmount("read"),
});

/** The noise of a virtual machine whose host sometimes takes its cores away. */
const NOISY = { restart: 0.015, window: 0.05, host: 0.1 };
const QUIET = { restart: 0, window: 0, host: 0 };
const COSTS: Record<string, number> = { "bun-raw": 40, "bun-hono": 50, "node-express": 100 };
const known: Cost = ({ name }, endpoint) => (COSTS[name] as number) * (endpoint === "/plain" ? 1 : 2);

describe("a run", () => {
  const measured = async (world: World, plan = planOf(THREE), seconds = 60) => {
    const session = await simulate(plan, newFile(), world);
    await measure(session, { seconds });
    return session;
  };

  test("makes as many restarts as fit into its time, at least two", async () => {
    const { manifest } = await measured({ cost: known, noise: NOISY });
    const { restarts, seconds } = manifest;
    expect(restarts).toBeGreaterThan(3);
    expect(seconds.total).toBeWithin(60 - (1.3 * 60) / restarts, 60);
    const short = await measured({ cost: known, noise: NOISY }, planOf(THREE), 1);
    expect(short.manifest.restarts).toBe(2);
    expect(short.manifest.seconds.total).toBeGreaterThan(1);
  });

  test("leaves no server idle so long that it closes connections, while the generators of others start", async () => {
    const session = await simulate(planOf(THREE, ["/plain"]), newFile(), { cost: known, noise: QUIET });
    let late = 0;
    const now = () => session.now() + late;
    const idle: number[] = [];
    const player: Session["player"] = async (of, game) => {
      late += 3_000;
      const one = await session.player(of, game);
      let since = now();
      const play = async (ms?: number) => {
        idle.push(now() - since);
        const played = await one.play(ms);
        since = now();
        return played;
      };
      return { ...one, play };
    };
    await measure({ ...session, now, player }, { seconds: 1 });
    expect(Math.max(...idle)).toBeWithin(3_000, 3_500);
  });

  test("gives every server a window in each round, in a new order per round, and a slice in each restart", async () => {
    const session = await measured({ cost: known, noise: NOISY });
    const { windows, slices, manifest, results } = session;
    expect([...Map.groupBy(slices, ({ restart }) => restart).values()].map((of) => of.length)).toEqual(
      Array(manifest.restarts).fill(THREE.length * ENDPOINTS.length),
    );
    const rounds = Map.groupBy(windows, ({ restart, scenario, round }) => `${restart} ${scenario} ${round}`);
    for (const of of rounds.values()) expect(of.map(({ name }) => name).sort()).toEqual(THREE.toSorted());
    const counted = windows.filter(({ counts, name }) => counts && name === "bun-raw").length;
    // 200 ms in windows of 25 ms; the first two do not count. More if levels are not known yet.
    expect(counted / manifest.restarts / ENDPOINTS.length).toBeWithin(6, 19);
    expect(manifest.turns).toHaveLength(slices.length);
    expect([readSlices(results, manifest.run), readWindows(results, manifest.run)].map(({ length }) => length)).toEqual(
      [slices.length, windows.length],
    );
    expect(manifestOf(results, manifest.run)).toMatchObject({ restarts: manifest.restarts, left: [] });
  });

  test("finds the CPU time per request, whatever the host does to all servers", async () => {
    const wrong = { ratios: 0, changes: 0 };
    for (let i = 1; i <= 20; i++) {
      seed(i);
      const session = await measured({ cost: known, noise: { ...NOISY, host: 0.3 } }, { ...planOf(THREE), seed: i });
      const tables = analyse(session, session.manifest);
      expect(tables.map(({ endpoint, by }) => `${endpoint} ${by}`)).toEqual(ENDPOINTS.map((one) => `${one} cpu`));
      for (const { rows, comparison } of tables) {
        expect(rows.map(({ name }) => name)).toEqual(THREE);
        const isTrue = ({ a, b, ratio: { low, high } }: NonNullable<typeof comparison>["pairs"][number]) => {
          const truth = (COSTS[a] as number) / (COSTS[b] as number);
          return low <= truth && truth <= high;
        };
        if (!comparison?.pairs.every(isTrue)) wrong.ratios++;
        if (rows.some(({ warming }) => warming)) wrong.changes++;
      }
    }
    // In 40 tables, 2 are expected to have a false ratio.
    for (const many of Object.values(wrong)) expect(many).toBeLessThanOrEqual(6);
  });

  test("ends when no scenario is open, and loads only open ones", async () => {
    const session = await simulate(planOf(THREE), newFile(), { cost: known, noise: NOISY });
    const { scenarios } = session.manifest.plan;
    const after: number[] = [];
    const { manifest, windows } = session;
    await measure(session, {
      seconds: 3_600,
      open: () => scenarios.slice(manifest.restarts < 2 ? 0 : manifest.restarts < 4 ? 1 : 2),
      after: () => void after.push(manifest.restarts),
    });
    expect(after).toEqual([1, 2, 3, 4]);
    const restarts = (wanted: string | undefined) => [
      ...new Set(windows.flatMap(({ scenario, restart }) => (scenario === wanted ? [restart] : []))),
    ];
    expect(scenarios.map(({ name }) => restarts(name))).toEqual([
      [1, 2],
      [1, 2, 3, 4],
    ]);
  });

  test("at fixed rates loads one server after the other, with one slice each", async () => {
    const plan = atRates(planOf(THREE, ["/plain"]), [100, 1_000]);
    const { windows, slices, manifest } = await measured({ cost: known, noise: NOISY }, plan);
    expect(slices.length).toBe(manifest.restarts * 2 * THREE.length);
    expect(windows.length).toBe(slices.length);
    expect(new Set(slices.map(({ kind, requests, seconds }) => `${kind} ${requests / seconds}`))).toEqual(
      new Set(["open 100", "open 1000"]),
    );
    const tables = analyse({ slices, windows }, manifest);
    expect(tables.map(({ rate, load, noChangeAbove }) => [rate, load, noChangeAbove])).toEqual([
      [100, "open", null],
      [1_000, "open", null],
    ]);
    expect(tables[0]?.rows.map(({ name }) => name)).toEqual(THREE);
  });

  test("at fixed rates failed requests are kept by status", async () => {
    const session = await simulate(atRates(planOf(THREE, ["/plain"]), [100, 1_000]), newFile(), {
      cost: known,
      noise: QUIET,
    });
    const load: Session["load"] = async (...args) => {
      const seen = await session.load(...args);
      return { ...seen, errors: 3, failed: { "503": 2, "no answer": 1 } };
    };
    await measure({ ...session, load }, { seconds: 1 });
    const { turns } = session.manifest;
    expect(turns).not.toEqual([]);
    for (const { errors, failed } of turns) expect([errors, failed]).toEqual([3, { "503": 2, "no answer": 1 }]);
  });

  test("names a server that crashes, and continues with the others", async () => {
    // It crashes in the windows of its second restart: earlier it gets 8,000 warm-up requests at each of two routes, and 50 % more.
    const cost: Cost = (spec, endpoint, n, restart) =>
      spec.name === "bun-hono" && restart === 2 && n > 21_000 ? null : known(spec, endpoint, n, restart);
    const { manifest, windows, slices, up } = await measured({ cost, noise: NOISY });
    const [{ scenario } = { scenario: "" }] = manifest.left;
    expect(manifest.left).toEqual([{ name: "bun-hono", restart: 2, scenario, reason: "it crashed" }]);
    expect(manifest.restarts).toBeGreaterThan(3);
    expect(up).toEqual([]);
    const last = (name: string) => Math.max(...windows.flatMap((one) => (one.name === name ? [one.restart] : [])));
    expect(THREE.map(last)).toEqual([manifest.restarts, expect.any(Number), manifest.restarts]);
    expect(last("bun-hono")).toBeLessThan(3);
    const tables = analyse({ windows, slices }, manifest);
    for (const { apart, comparison } of tables) {
      expect(apart).toEqual(["bun-hono"]);
      expect(comparison?.restarts).toBe(manifest.restarts);
    }
  });

  test("names a server that does not start again, and throws if it does not start at all", async () => {
    const cost =
      (restart: number): Cost =>
      (spec, endpoint, n, now) =>
        spec.name === "bun-hono" && now === restart ? null : known(spec, endpoint, n, now);
    const { manifest } = await measured({ cost: cost(3), noise: NOISY });
    expect(manifest.left).toEqual([{ name: "bun-hono", restart: 3, scenario: null, reason: "bun-hono did not start" }]);
    await expect(measured({ cost: cost(1), noise: NOISY })).rejects.toThrow("bun-hono did not start");
  });

  test("stops a server that answers wrongly after its second start, and does not measure it", async () => {
    const failing = Bun.serve({ port: 0, fetch: () => new Response("no", { status: 500 }) });
    const session = await simulate(planOf(THREE), newFile(), { cost: known, noise: NOISY });
    const running = new Set<string>();
    let starts = 0;
    const start: Session["start"] = async (...given) => {
      const target = await session.start(...given);
      running.add(target.url);
      const stop = async () => void running.delete(target.url);
      if (target.name !== "bun-hono" || ++starts !== 2) return { ...target, stop };
      const url = Object.assign(new URL(target.url), { port: failing.port }).href;
      return { ...target, url, stop };
    };
    const all = { ...session, start };
    await measure(all, { seconds: 60 });
    await failing.stop(true);
    const { manifest, windows, slices } = session;
    const reason =
      'bun-hono answers /plain with status 500 "no": only answers with status 2xx are loaded: fix it, or leave it out';
    expect(manifest.left).toEqual([{ name: "bun-hono", restart: 2, scenario: null, reason }]);
    expect(manifest.restarts).toBeGreaterThan(2);
    for (const seen of [windows, slices])
      expect(new Set(seen.flatMap(({ name, restart }) => (name === "bun-hono" ? [restart] : [])))).toEqual(
        new Set([1]),
      );
    expect([...running, ...all.up]).toEqual([]);
  });

  describe("whose servers cannot all be stopped", () => {
    /** bun-hono, which starts first, cannot be stopped; the others take a moment. */
    const unstoppable = async (cost: Cost) => {
      const session = await simulate(planOf(THREE), newFile(), { cost, noise: QUIET });
      const stopped: string[] = [];
      const start: Session["start"] = async (...given) => {
        const target = await session.start(...given);
        const stop = async () => {
          if (target.name === "bun-hono") throw new Error("bun-hono stays");
          await sleep(20);
          stopped.push(target.name);
        };
        return { ...target, stop };
      };
      return { session: { ...session, start }, stopped };
    };

    test.each(["while it measures", "while it starts"])(
      "fails by its own error %s, and stops all others",
      async (when) => {
        const { session, stopped } = await unstoppable((spec, endpoint, ...at) => {
          const isNow = when === "while it starts" ? spec.name === "bun-raw" : endpoint !== "start";
          if (isNow) throw new Error("the real reason");
          return known(spec, endpoint, ...at);
        });
        const error: Error = await measure(session, { seconds: 60 }).then(
          () => expect.unreachable(),
          (error) => error,
        );
        expect([error.message, (error.cause as Error).message]).toEqual(["the real reason", "bun-hono stays"]);
        expect(session.manifest.remarks).toEqual(["A clean-up failed: bun-hono stays"]);
        expect(stopped.sort()).toEqual(when === "while it starts" ? ["node-express"] : ["bun-raw", "node-express"]);
        expect(session.up).toEqual([]);
      },
    );

    test("fails by their error if nothing else failed, and stops all others", async () => {
      const { session, stopped } = await unstoppable(known);
      await expect(measure(session, { seconds: 60 })).rejects.toThrow("bun-hono stays");
      expect(stopped.sort()).toEqual(["bun-raw", "node-express"]);
    });

    test("leaves out one that is gone, with the reason", async () => {
      const crashing: Cost = ({ name }, _, n) => (name === "bun-hono" && n > 14_000 ? null : 50);
      const { session } = await unstoppable(crashing);
      await expect(measure(session, { seconds: 60 })).resolves.toBeUndefined();
      expect(session.manifest.left).toMatchObject([{ name: "bun-hono", restart: 1, reason: "it crashed" }]);
      expect(session.manifest.remarks).toEqual(["A clean-up failed: bun-hono stays"]);
    });
  });

  test("that is resumed and fails leaves no store behind", async () => {
    const folders = () => globSync(`${ON_DISK}/http-benchmark-contents-${OWNER}-*`);
    const failing: LocalSpec = { kind: "local", name: "x", command: ["false"], env: { STORE: "sqlite" } };
    const plan: Plan = { ...planOf([]), workload: "content", targets: [failing] };
    const { manifest, save, results } = await simulate(plan, newFile(), { cost: known, noise: QUIET });
    save();
    expect(folders()).toEqual([]);
    const options = { resume: manifest.run, results } as RunOptions;
    await expect(run([], options, new AbortController().signal)).rejects.toThrow("x did not start");
    expect(folders()).toEqual([]);
  });

  test("whose engine and stores cannot be closed keeps its own error", async () => {
    const session = await simulate(planOf(THREE), newFile(), { cost: known, noise: QUIET });
    const stays = (what: string) => ({ close: () => Promise.reject(new Error(`the ${what} stays`)) }) as never;
    const failed = async () => {
      await using _ = Object.assign(session, { engine: stays("container"), stores: stays("database") });
      throw new Error("the real reason");
    };
    await expect(failed()).rejects.toThrow("the real reason");
    const remarks = ["A clean-up failed: the container stays", "A clean-up failed: the database stays"];
    expect([session.manifest.remarks, session.engine, session.stores]).toEqual([remarks, null, null]);
  });

  describe("in which the generator of bun-hono ends", () => {
    /** @param when the number of the window in restart 2 that fails; 0: it does not start */
    const lost = async (when: number, hasResult: boolean) => {
      const session = await simulate(planOf(THREE, ["/plain"]), newFile(), { cost: known, noise: NOISY });
      session.sizes.set("bun-hono /plain", 1);
      const ended = () => Promise.reject(new GeneratorEnded("it was killed"));
      const player: Session["player"] = async (of, game) => {
        const one = await session.player(of, game);
        if (game.target.name !== "bun-hono" || game.restart !== 2) return one;
        if (when === 0) return ended();
        let windows = 0;
        const play = () => (++windows >= when ? ended() : one.play());
        return { ...one, play, end: () => (hasResult || windows < when ? one.end() : ended()) };
      };
      await measure({ ...session, player }, { seconds: 30 });
      const own = session.windows.filter(({ name, restart }) => name === "bun-hono" && restart === 2);
      return { session, own };
    };
    const text = "bun-hono at /plain in restart 2: it was killed; its windows from then on do not count";

    test.each([
      [5, false],
      [5, true],
      [1, false],
      [0, false],
    ])("in window %p keeps the windows before, and goes on", async (when, hasResult) => {
      const { session, own } = await lost(when, hasResult);
      const { manifest, windows, slices, results } = session;
      expect(own.map(({ round, counts }) => [round, counts])).toEqual(
        [1, 2, 3, 4].slice(0, Math.max(0, when - 1)).map((round) => [round, Number(round > 2)]),
      );
      expect([manifest.remarks, manifest.left]).toEqual([[text], []]);
      expect(manifest.restarts).toBeGreaterThan(2);
      expect(readWindows(results, manifest.run)).toHaveLength(windows.length);
      const of = <Row extends { name: string; restart: number }>(rows: readonly Row[]) =>
        new Set(rows.flatMap(({ name, restart }) => (name === "bun-hono" ? [restart] : []))).size;
      expect([of(slices), of(manifest.turns)]).toEqual([
        manifest.restarts - Number(when === 0),
        manifest.restarts - Number(!hasResult),
      ]);
      const [table] = analyse(session, manifest);
      if (when === 5) expect([table?.apart, table?.comparison?.restarts]).toEqual([[], manifest.restarts]);
    });

    test("with those of all others says why nothing can be measured", async () => {
      const session = await simulate(planOf(THREE, ["/plain"]), newFile(), { cost: known, noise: NOISY });
      const player = () => Promise.reject(new GeneratorEnded("it was killed"));
      await expect(measure({ ...session, player }, { seconds: 30 })).rejects.toThrow("it was killed");
    });
  });

  test("ends if no server is left", async () => {
    const cost: Cost = (_, __, n, restart) => (restart === 2 && n > 9_000 ? null : 50);
    await expect(measured({ cost, noise: NOISY })).rejects.toThrow("is gone at");
  });

  test("that was interrupted continues with the next restart, for the time that is left", async () => {
    const results = newFile();
    const controller = new AbortController();
    const world = { cost: known, noise: NOISY };
    const stopping: Cost = (spec, endpoint, n, restart) => {
      if (restart === 3 && session.windows.some((one) => one.restart === 3)) controller.abort();
      return known(spec, endpoint, n, restart);
    };
    const session: Session = await simulate(planOf(THREE), results, { ...world, cost: stopping }, controller.signal);
    await expect(measure(session, { seconds: 60 })).rejects.toThrow();
    const { run } = session.manifest;
    const before = manifestOf(results, run);
    expect(before?.restarts).toBe(2);
    const again = await resume(run, results, world);
    expect(again.windows).toHaveLength(session.windows.length);
    const looks: number[] = [];
    const now = (what: string) => {
      const [, restart] = /^restart (\d+): machine speed$/.exec(what) ?? [];
      if (restart) looks.push(Number(restart));
    };
    await measure({ ...again, progress: { ...again.progress, now } }, { seconds: 60 });
    const { manifest, windows } = again;
    const restarts = (wanted: string) => [
      ...new Set(windows.flatMap(({ scenario, restart }) => (scenario === wanted ? [restart] : []))),
    ];
    const [half, whole] = ENDPOINTS.map(restarts).toSorted((a, b) => a.length - b.length) as [number[], number[]];
    // The measured part of the third restart counts.
    expect(whole).toEqual(Array.from({ length: manifest.restarts + 1 }, (_, i) => i + 1));
    expect(half).toEqual(whole.filter((restart) => restart !== 3));
    // None was kept of the first part; after that, one after each restart, with its number.
    expect(looks).toEqual([0, ...whole.slice(3)]);
    expect(manifest.seconds.total).toBeWithin(before?.seconds.total as number, 60);
    expect(manifest.fingerprints).toEqual([]);
  });
});

describe("a pair", () => {
  const pair = (...names: string[]) => names.map((name) => parseTarget(name, SERVERS));
  const compared = async (names: readonly string[], limitSeconds: number, world: World) => {
    const session = await simulate(pairPlan(pair(...names), ["/plain"]), newFile(), world);
    const [one] = await compareUntilDecided(session, { limitSeconds });
    return { ...(one ?? expect.unreachable()), session };
  };

  test("is restarted until the result is decided or the time is up", async () => {
    const cost: Cost = ({ name }) => ({ "node-express": 100, "bun-raw": 50 })[name] ?? 50;
    const clear = await compared(["bun-raw", "node-express"], 90, { cost, noise: NOISY });
    expect([clear.state, clear.by]).toEqual(["different", "cpu"]);
    expect(clear.ratio.estimate).toBeWithin(0.46, 0.54);
    expect(clear.base).toHaveLength(clear.logRatios.length);
    expect(clear.session.manifest.seconds.total).toBeLessThan(45);
    const close = await compared(["bun-raw", "bun-hono"], 30, { cost, noise: NOISY });
    expect(close.state).not.toBe("different");
    expect(close.session.manifest.seconds.total).toBeLessThan(31);
  });

  test("bursts in single windows do not count", async () => {
    const world = (more: number): World => {
      let windows = 0;
      const cost: Cost = ({ name }, _, n) => (name === "bun-hono" && n > 15_000 && ++windows % 7 === 0 ? more : 1) * 50;
      return { cost, noise: { ...QUIET, restart: 0.004 } };
    };
    const { ratio, session } = await compared(["bun-hono", "bun-raw"], 60, world(4));
    const dear = session.windows.filter(({ cpuUs, requests }) => (cpuUs as number) / requests > 100);
    expect(dear.length).toBeGreaterThan(5);
    expect(ratio.estimate).toBeWithin(0.99, 1.01);
  });

  test.each(["bun-raw", "bun-hono"])(
    "is compared by the windows whose CPU time is known, if the counter of %s falls in some",
    async (name) => {
      const plan = { ...pairPlan(pair("bun-raw", "bun-hono"), ["/plain"]), amount: planOf([]).amount };
      const session = await simulate(plan, newFile(), { cost: known, noise: { ...QUIET, restart: 0.004 } });
      let windows = 0;
      const player: Session["player"] = async (of, game) => {
        const one = await session.player(of, game);
        const play = async (ms?: number) => {
          const played = await one.play(ms);
          return game.target.name === name && ++windows % 3 === 0 ? { ...played, cpuUs: null } : played;
        };
        return { ...one, play };
      };
      const [outcome] = await compareUntilDecided({ ...session, player }, { limitSeconds: 30 });
      expect(outcome).toMatchObject({ by: "cpu", state: "different" });
      expect(outcome?.ratio.estimate).toBeWithin(0.76, 0.84);
      const { results, manifest } = session;
      const kept = readWindows(results, manifest.run).filter((one) => one.name === name && one.cpuUs === null);
      expect(kept).toHaveLength(Math.floor(windows / 3));
      // They do not make the rounds go on to their limit.
      expect(session.windows.length / 2 / manifest.restarts).toBeLessThan(20);
    },
  );

  test("is not measured if one of the two is gone", async () => {
    const cost: Cost = ({ name }, _, n) => (name === "bun-raw" && n > 16_000 ? null : 50);
    const { logRatios, state, session } = await compared(["bun-hono", "bun-raw"], 20, { cost, noise: NOISY });
    expect([logRatios, state]).toEqual([[], "undecided"]);
    expect(session.manifest.left).toMatchObject([{ name: "bun-raw", restart: 1, scenario: "/plain" }]);
  });
});

const benchOf = (endpoints: readonly string[], seconds: number, cost: Cost): Bench => ({
  limitSeconds: seconds * endpoints.length,
  use: async (specs, use) => use(await simulate(pairPlan(specs, endpoints), newFile(), { cost, noise: NOISY })),
});

/** A server that spins for as many more µs per request as its environment says. */
const spinning: Cost = (spec, endpoint) => {
  const more: Record<string, number> = JSON.parse((spec.kind === "local" && spec.env.HANDICAP_US) || "{}");
  return 50 + (more[endpoint.replace(/\/\d+$/, "/:size")] ?? 0);
};

test("self-test: finds 5 % more work, and no difference between equal servers", async () => {
  const findings = await selfTest(benchOf(PAIR_ENDPOINTS, 90, spinning), SERVERS, () => {});
  console.log(selfTestTable(findings));
  const said = (more: number, wanted: string) =>
    findings.filter(({ handicap, outcome }) => handicap === more && outcome === wanted).length;
  expect(findings).toHaveLength(40);
  expect(said(0, "same")).toBeGreaterThanOrEqual(18);
  expect(said(HANDICAP, "slower")).toBeGreaterThanOrEqual(18);
});

test("gates: at most 2.5 % of equal commits fail; with 5 % more work, at most one in ten passes", async () => {
  const endpoints = ["/plain", "/html", "/b"];
  const findings = await testGates(benchOf(endpoints, GATE_SECONDS, spinning), "bun-raw", 20, 0.02, () => {});
  console.log(gatesTable(findings));
  const verdicts = (more: number, wanted: string) =>
    findings.filter(({ handicap, verdict }) => handicap === more && verdict === wanted).length;
  expect(verdicts(0, "slower")).toBeLessThanOrEqual(1);
  expect(verdicts(HANDICAP, "slower")).toBeGreaterThanOrEqual(18);
  expect(verdicts(HANDICAP, "not slower")).toBe(0);
});

/** Factor of the cost of a request, by the number of requests so far; `settles` is the final or average factor. */
const SCHEDULES: Readonly<Record<string, { readonly settles: number; factor(request: number): number }>> = {
  flat: { settles: 1, factor: () => 1 },
  "flat at 1.3": { settles: 1.3, factor: () => 1.3 },
  "flat at 1.2": { settles: 1.2, factor: () => 1.2 },
  "down 40 % after 30,000": { settles: 1, factor: (n) => (n < 30_000 ? 1 / 0.6 : 1) },
  "up 30 % after 60,000": { settles: 1.3, factor: (n) => (n < 60_000 ? 1 : 1.3) },
  "two plateaus": { settles: 1, factor: (n) => (n < 20_000 ? 2 : n < 50_000 ? 1.4 : 1) },
  "up 30 % after 120,000": { settles: 1.3, factor: (n) => (n < 120_000 ? 1 : 1.3) },
  "a saw-tooth that never ends": { settles: 1.2, factor: (n) => 1 + (0.4 * (n % 40_000)) / 40_000 },
};

describe("servers of known schedule", () => {
  const factorOf = (name: string, n: number) => SCHEDULES[name]?.factor(n) ?? 1;
  const cost: Cost = ({ name }, _, n) => 30 * factorOf(name, n);
  const specs = Object.keys(SCHEDULES).map((name): LocalSpec => ({ kind: "local", name, command: [], env: {} }));
  const settlesAt = (name: string) => SCHEDULES[name]?.settles as number;

  /** The true factor of a server in the windows that count, from the number of requests that it has answered. */
  function truth({ windows }: Session, name: string, before: number): number {
    const own = windows.filter((one) => one.name === name);
    const factors = [...Map.groupBy(own, ({ restart }) => restart).values()].flatMap((of) => {
      let n = before;
      return of.flatMap(({ requests, counts }) => {
        n += requests;
        return counts ? [factorOf(name, n - requests / 2)] : [];
      });
    });
    return median(factors);
  }

  // The cost changes before the rounds that count, at their beginning, in their middle, at their end, or after them.
  test.each([15_000, 18_500, 20_000, 32_000, 34_000, 38_000, 40_000, 78_000, 80_000, 130_000])(
    "cost what they do at their age, within 3 %%, or are called warming: %d requests of warm-up",
    async (warmup) => {
      const options = {
        ...OPTIONS,
        preset: "standard",
        endpoints: ["/plain"],
        minutes: 10,
        warmup,
        once: true,
      } as const;
      const plan = { ...makePlan(options, SERVERS), targets: specs };
      const session = await simulate(plan, newFile(), { cost, noise: { ...NOISY, restart: 0.004 } });
      await measure(session, { seconds: 600 });
      const [table] = analyse(session, session.manifest);
      const wrong = specs.flatMap(({ name }) => {
        const [flat = ""] = Object.keys(SCHEDULES).filter(
          (one) => one.startsWith("flat") && settlesAt(one) === settlesAt(name),
        );
        const pair = table?.comparison?.pairs.find(({ a, b }) => [a, b].sort().join() === [name, flat].sort().join());
        if (!pair) return name.startsWith("flat") ? [] : [`${name} is not compared`];
        const now = truth(session, name, warmup) / settlesAt(name);
        const { estimate, low, high } = pair.ratio;
        const shown = pair.a === name ? now : 1 / now;
        const isTrue = Math.abs(estimate / shown - 1) <= 0.03 || (low <= shown && shown <= high);
        const isWarming = Boolean(table?.rows.find((row) => row.name === name)?.warming);
        return isTrue || isWarming ? [] : [`${name}: ${estimate.toFixed(3)}, not ${shown.toFixed(3)}`];
      });
      expect(wrong).toEqual([]);
    },
  );
});
