/** The parts of bench/, one by one. */
import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ENDPOINTS } from "../../bench/ask/endpoints.ts";
import { parseTarget } from "../../bench/ask/targets.ts";
import { changesOf, commitOf } from "../../bench/host/commit.ts";
import { type Cores, halves, parseCpuList, pinned, splitCores } from "../../bench/host/cores.ts";
import { freePort } from "../../bench/host/free-port.ts";
import { groupOf, membersOf, newGroup, usedBy } from "../../bench/host/group.ts";
import { readMachine } from "../../bench/host/machine/identity.ts";
import { meterOf, together } from "../../bench/host/meter.ts";
import { family, isBusy, isStopped, statOf, threadTimes } from "../../bench/host/proc.ts";
import { type Bracket, capacityOf, searchCapacity } from "../../bench/judge/capacity.ts";
import { analyse, NOTHING } from "../../bench/judge/tables.ts";
import { type Evidence, explain, verdictOf } from "../../bench/judge/verdict.ts";
import type { Manifest } from "../../bench/keep/manifest.ts";
import type { Slice, Verdict, Window } from "../../bench/keep/slices.ts";
import { combine, overlap } from "../../bench/load/agents.ts";
import { type FortioResult, type Load, load, toLoad } from "../../bench/load/fortio.ts";
import { binned, type Histogram, merge, percentile } from "../../bench/load/histogram.ts";
import { sizeOfRequest, startPausable } from "../../bench/load/pausable.ts";
import { atRates, endpointsOf, isPaused, makePlan, type Options, orderOf, unique } from "../../bench/plan/plan.ts";
import { parseSlo } from "../../bench/plan/slo.ts";
import { changesSince } from "../../bench/run/environment.ts";
import { needPgbouncer } from "../../bench/run/stores/pooler.ts";
import { clocksOf, type Target } from "../../bench/run/targets/target.ts";
import { watch, watchCores } from "../../bench/run/usage.ts";

import { gatesTable, outcome } from "../../bench/tell/lines.ts";
import { notesOf } from "../../bench/tell/tables.ts";
import { must, needs, run, SERVERS, scratch, testIf, until } from "../harness.ts";

const OPTIONS: Options = {
  urls: [],
  names: [],
  servers: [],
  endpoints: [],
  connections: 100,
  preset: "quick",
  seed: 1,
};
const plan = (options: Partial<Options>) => makePlan({ ...OPTIONS, ...options }, SERVERS);

describe("plan", () => {
  test("by default all servers and the eight endpoints", () => {
    const { targets, scenarios } = plan({});
    expect(targets.map((target) => target.name)).toEqual(SERVERS);
    expect(scenarios.map(({ name, endpoint }) => [name, endpoint])).toEqual(ENDPOINTS.map((one) => [one, one]));
    expect(ENDPOINTS).toHaveLength(8);
  });

  test("a twin is a second copy of one of the servers, in standard and full runs of local servers", () => {
    expect(plan({}).targets).toHaveLength(10);
    const { targets } = plan({ preset: "standard" });
    expect(targets).toHaveLength(11);
    const { twinOf, name, ...twin } = targets[10] as (typeof targets)[0];
    expect([name, targets.find((one) => one.name === twinOf)]).toEqual([
      `${twinOf}#2`,
      { ...twin, name: twinOf } as never,
    ]);
    const running = plan({ preset: "full", urls: ["http://a"] });
    expect([running.targets.length, running.amount.twin]).toEqual([1, false]);
    expect(plan({ preset: "full", once: true }).targets).toHaveLength(10);
  });

  test("a run lasts as long as its preset, or as --minutes says", () => {
    const minutes = (options: Partial<Options>) => plan(options).amount.minutes;
    expect([minutes({}), minutes({ preset: "standard" }), minutes({ preset: "full" })]).toEqual([5, 15, 90]);
    expect(minutes({ minutes: 0 })).toBe(0);
    const seconds = (options: Partial<Options>) => plan(options).amount.soloSeconds;
    expect([seconds({ agents: ["a:1"] }), seconds({ agents: ["a:1"], seconds: 5 })]).toEqual([2, 5]);
    // At a fixed rate each connection sends ten requests, in at least one second.
    expect([seconds({ rates: [1_000] }), seconds({ rates: [100] })]).toEqual([1, 10]);
    expect([seconds({ rates: [1_000, 100] }), seconds({ rates: [100, 200], seconds: 3 })]).toEqual([10, 3]);
    for (const wrong of [{ rates: [10] }, { rates: [10, 1_000] }, { rates: [1_000, 10] }])
      expect(() => plan(wrong)).toThrow("--rate 10 gives each of 100 connections one request in 10 s");
    for (const wrong of [{ rates: [100] }, { rates: [1_000, 100] }].map((one) => ({ ...one, seconds: 1.5 })))
      expect(() => plan(wrong)).toThrow(`--rate 100 gives each of 100 connections one request in`);
    expect(plan({ warmup: 7, seconds: 2 }).amount).toMatchObject({ warmRequests: 7, soloSeconds: 2 });
  });

  test("scenarios come in random order, the same for the same seed", () => {
    const of = (seed: number, restart: number) =>
      orderOf({ seed }, restart, plan({}).scenarios).map(({ name }) => name);
    expect(of(1, 1)).toEqual(of(1, 1));
    expect(of(1, 1)).not.toEqual(of(1, 2));
    expect(of(1, 1)).not.toEqual(of(2, 1));
    expect(of(1, 1).toSorted()).toEqual(ENDPOINTS.toSorted());
  });

  test("each of several rates is a scenario, which cannot be paused", () => {
    const at = atRates(plan({ endpoints: ["/plain"] }), [10, 20]);
    expect(at.scenarios.map(({ name, endpoint, rate }) => [name, endpoint, rate])).toEqual([
      ["/plain at 10/s", "/plain", 10],
      ["/plain at 20/s", "/plain", 20],
    ]);
    const paused = (one: ReturnType<typeof plan>) => one.scenarios.map((scenario) => isPaused(one, scenario));
    expect(paused(at)).toEqual([false, false]);
    expect([at.amount.soloSeconds, endpointsOf(at)]).toEqual([1, ["/plain"]]);
    expect(paused(plan({ endpoints: ["/plain"] }))).toEqual([true]);
    expect(paused(plan({ endpoints: ["/plain"], agents: ["a:1"] }))).toEqual([false]);
    expect(paused(plan({ endpoints: ["/plain"], rates: [1_000] }))).toEqual([false]);
  });

  test("names are unique: a server that is started twice is a twin, one that only has the same name is not", () => {
    const { targets } = plan({ servers: ["bun-raw", "bun-raw"], urls: ["http://a", "http://b"], names: ["x", "x"] });
    expect(targets.map(({ name, twinOf }) => [name, twinOf])).toEqual([
      ["bun-raw", undefined],
      ["bun-raw#2", "bun-raw"],
      ["x", undefined],
      ["x#2", undefined],
    ]);
  });

  test("an app may have endpoints with the names of ours; only ours write to a store there", () => {
    const app = { kind: "local", name: "app", command: [], env: {}, app: { cwd: ".", ready: null } } as const;
    const url = { kind: "url", name: "url", url: "http://a" } as const;
    const endpoints = ["POST /users", "POST /tx"];
    for (const targets of [[app], [app, app], [url, app]])
      expect(plan({ targets, endpoints }).targets).toEqual(unique(targets));
    const ours = [parseTarget("bun-raw", SERVERS)];
    expect(() => plan({ targets: ours, endpoints })).toThrow('"POST /users" writes to the store: give --workload');
  });

  test("a sequence needs its workload, also at a URL", () => {
    for (const workload of ["read", "users"] as const)
      expect(() => plan({ workload, urls: ["http://a"], endpoints: ["content"] })).toThrow(
        '"content" writes to the store: give --workload content, with',
      );
    expect(plan({ workload: "content", urls: ["http://a"] }).scenarios[0]?.endpoint).toBe("content");
  });

  test("the name of a copy is never that of another target", () => {
    const app = (name: string) => ({ kind: "local", name, command: [], env: {} }) as const;
    const named = unique([app("issue#2"), app("issue"), app("issue"), app("issue")]);
    expect(named.map(({ name, twinOf }) => [name, twinOf])).toEqual([
      ["issue#2", undefined],
      ["issue", undefined],
      ["issue#3", "issue"],
      ["issue#4", "issue"],
    ]);
  });

  test("a target is a server, its driver and its workers", () => {
    const env = (text: string) => parseTarget(text, SERVERS).env;
    expect(env("bun-hono")).toEqual({ SERVER: "bun-hono" });
    expect(env("bun-hono@node:sqlite")).toEqual({ SERVER: "bun-hono", SQLITE_DRIVER: "node:sqlite" });
    expect(env("bun-hono*4")).toEqual({ SERVER: "bun-hono", WORKERS: "4" });
    expect(env("bun-hono@better-sqlite3*2")).toMatchObject({ SQLITE_DRIVER: "better-sqlite3", WORKERS: "2" });
    expect(parseTarget("bun-hono@node:sqlite*4", SERVERS).choices).toEqual({
      server: "bun-hono",
      driver: "node:sqlite",
      workers: 4,
      settings: null,
    });
    for (const bad of [
      "",
      "bun",
      "constructor",
      "toString",
      "bun-hono@",
      "bun-hono*",
      "bun-hono*x",
      "bun-hono*2@node:sqlite",
      " bun-hono",
    ]) {
      expect(() => parseTarget(bad, SERVERS)).toThrow(`--servers has "${bad}": choose from node-raw`);
    }
  });

  test("in a workload with content items, it may be another store, with settings", () => {
    const env = (text: string) => parseTarget(text, SERVERS, "content").env;
    expect(env("bun-hono")).toEqual({ SERVER: "bun-hono", STORE: "sqlite" });
    expect(env("bun-hono@memory")).toEqual({ SERVER: "bun-hono", STORE: "memory" });
    expect(env("bun-hono@bun:sql*2+pool=50+prepare=false")).toEqual({
      SERVER: "bun-hono",
      STORE: "postgres",
      POSTGRES_CLIENT: "bun:sql",
      WORKERS: "2",
      POSTGRES_POOL: "50",
      POSTGRES_PREPARE: "false",
    });
    expect(env("node-raw@node:sqlite+file=:memory:")).toMatchObject({ STORE: "sqlite", CONTENT_FILE: ":memory:" });
    for (const bad of ["pool", "pool=", "speed=1"]) {
      expect(() => env(`bun-raw+${bad}`)).toThrow(`"${bad}" of "bun-raw+${bad}" is none of journal=`);
    }
  });

  test("a setting of the server is allowed in any workload, a setting of a store only with a store", () => {
    expect(parseTarget("elixir-phoenix+busywait=true", SERVERS).env).toEqual({
      SERVER: "elixir-phoenix",
      BUSY_WAIT: "true",
    });
    for (const bad of ["elixir-phoenix+busywait", "elixir-phoenix+pool=5", "go+idle=2", "bun-raw+busywait=true"]) {
      expect(() => parseTarget(bad, SERVERS)).toThrow(`of "${bad}" is none of journal=`);
    }
  });

  test("a URL is a base: no last slash, no query", () => {
    const urls = ["http://vps:3000/", "https://vps/api/", "http://[::1]:80"];
    expect(plan({ urls, names: ["", "x"] }).targets).toEqual([
      { kind: "url", url: "http://vps:3000", name: "http://vps:3000/" },
      { kind: "url", url: "https://vps/api", name: "x" },
      { kind: "url", url: "http://[::1]", name: "http://[::1]:80" },
    ]);
    for (const bad of ["vps:3000", "ftp://vps", "http://", "/plain"])
      expect(() => plan({ urls: [bad] })).toThrow(`"${bad}" is not a URL`);
  });
});

test("cores: two threads of one core are on one side", () => {
  const siblings = (list: Record<number, string>) => (core: number) => list[core] ?? "";
  expect(halves([0, 1, 2, 3], siblings({ 0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3" }))).toEqual({
    server: "0,2",
    generator: "1,3",
  });
  expect(halves([0, 1, 2, 3], siblings({}))).toEqual({ server: "0,1", generator: "2,3" });
  expect(halves([4, 5, 6], siblings({}))).toEqual({ server: "4", generator: "5,6" });
  expect(halves(parseCpuList("0-5"), (core) => `${core % 3},${(core % 3) + 3}`)).toEqual({
    server: "0,3",
    generator: "1,2,4,5",
  });
  // If there is only one core, each side gets one of its two threads.
  expect(halves([0, 1], () => "0-1")).toEqual({ server: "0", generator: "1" });
  expect(halves([0], () => "")).toBeNull();
});

test("cores: lists as the kernel writes them", () => {
  expect(parseCpuList("0-3")).toEqual([0, 1, 2, 3]);
  expect(parseCpuList("0,2-3,7")).toEqual([0, 2, 3, 7]);
  expect(parseCpuList("5")).toEqual([5]);
  expect(pinned("0,1", ["fortio", "load"])).toEqual(["taskset", "-c", "0,1", "fortio", "load"]);
  expect(pinned(undefined, ["fortio", "load"])).toEqual(["fortio", "load"]);
});

describe("fortio", () => {
  const result: FortioResult = {
    StartTime: "2026-01-01T00:00:00Z",
    ActualDuration: 2e9,
    NumThreads: 4,
    DurationHistogram: {
      Count: 1_000,
      Avg: 0.004,
      Max: 0.01,
      Data: [{ Start: 0, End: 0.01, Count: 1_000 }],
    },
    Sizes: { Avg: 120 },
    RetCodes: { "200": 880, "204": 20, "301": 10, "500": 40, "429": 15, "503": 5, "-1": 30 },
    SocketCount: 104,
  };

  test("goodput counts only 2xx answers, all others are errors", () => {
    expect(toLoad(result, { connections: 4 })).toEqual({
      startedAt: Date.UTC(2026),
      requests: 1_000,
      errors: 100,
      failed: { 301: 10, 429: 15, 500: 40, 503: 5, "no answer": 30 },
      refused: 20,
      seconds: 2,
      averageMs: 4,
      maxMs: 10,
      goodput: 450,
      histogram: [[0, 0.01, 1_000]],
      bytesPerRequest: 120,
      percentilesMs: { 50: 5, 90: expect.closeTo(9), 99: expect.closeTo(9.9), 99.9: expect.closeTo(9.99) } as never,
      sockets: 104,
    });
  });

  test("several of them: failed requests by status are those of all", () => {
    const part = toLoad(result, { connections: 4 });
    const { errors, failed } = combine([part, { ...part, errors: 1, failed: { 404: 1 } }, part]);
    expect([errors, failed]).toEqual([201, { 301: 20, 404: 1, 429: 30, 500: 80, 503: 10, "no answer": 60 }]);
  });
});

test("a commit is dirty if a tracked file has changed, but not by rows of results.csv", async () => {
  const folder = scratch();
  const git = (...words: string[]) =>
    must(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", ...words]);
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  expect(await commitOf(folder)).toBeNull();
  git("init", "--quiet");
  for (const file of ["results.csv", "app.js"]) write(file, "1");
  git("add", ".");
  git("commit", "--quiet", "--message", "x");
  const clean = git("rev-parse", "HEAD");
  for (const file of ["results.csv", "untracked"]) write(file, "2");
  expect(await commitOf(folder)).toBe(clean);
  write("app.js", "2");
  expect(await commitOf(folder)).toBe(`${clean}-dirty`);
});

test("two dirty trees of one commit differ by their changes, and sources without git by their content", async () => {
  const folder = scratch();
  const git = (...words: string[]) =>
    must(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", ...words]);
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  mkdirSync(join(folder, "shared"));
  const digests: (string | null)[] = [];
  const look = async () => digests.push(await changesOf(folder, await commitOf(folder)));
  for (const text of ["1", "2", "1"]) {
    write("shared/x.ts", text);
    await look();
  }
  git("init", "--quiet");
  write("results.csv", "1");
  git("add", ".");
  git("commit", "--quiet", "--message", "x");
  for (const [file, text] of Object.entries({ "results.csv": "2", untracked: "2" })) write(file, text);
  await look();
  for (const text of ["2", "3", "2"]) {
    write("shared/x.ts", text);
    await look();
  }
  const [one, two, again, clean, second, third, back] = digests;
  expect([again, clean, back]).toEqual([one as string, null, second as string]);
  expect(new Set([one, two, second, third]).size).toBe(4);
});

test("a run is continued only with the versions, sources and machine that it has", () => {
  const here = readMachine();
  const environment = { bun: "1", node: "2", fortio: "3", k6: null, commit: "a", changesSha256: null, dataSha256: "d" };
  const since = (changed: object, machine: object = {}, before: object = {}) =>
    changesSince(
      { environment: { ...environment, ...before }, machine: here } as unknown as Manifest,
      { ...environment, ...changed },
      { ...here, ...machine },
    );
  expect(since({})).toEqual([]);
  expect(since({ bun: "1.1", node: null })).toEqual(["bun 1 → 1.1", "node 2 → none"]);
  expect(since({ k6: "1" })).toEqual([]); // the run did not need it
  expect(since({ dataSha256: "e" })).toEqual(["the data of the servers"]);
  expect(since({ commit: "b" })).toEqual(["commit a → b"]);
  expect(since({ commit: "a-dirty", changesSha256: "x" })).toEqual(["commit a → a-dirty", "the uncommitted changes"]);
  const dirty = { commit: "a-dirty", changesSha256: "x" };
  expect(since(dirty, {}, dirty)).toEqual([]);
  expect(since({ ...dirty, changesSha256: "y" }, {}, dirty)).toEqual(["the uncommitted changes"]);
  expect(since({}, { kernel: "Linux 99", mitigations: { x: "y" } })).toEqual([
    "the machine's mitigations",
    `the machine's kernel ${here.kernel} → Linux 99`,
  ]);
});

describe("histograms", () => {
  test("percentiles are linear inside a bucket", () => {
    const histogram: Histogram = [
      [1, 2, 50],
      [2, 4, 50],
    ];
    expect([1, 25, 50, 75, 100].map((p) => percentile(histogram, p))).toEqual([1.02, 1.5, 2, 3, 4]);
    expect(percentile([], 50)).toBeNaN();
  });

  test("merging keeps all requests, and cuts outer buckets, which end where the data ends, at the others' edges", () => {
    const a: Histogram = [
      [1, 2, 10],
      [2, 3, 20],
    ];
    const b: Histogram = [
      [1.5, 2, 10],
      [2, 4, 40],
    ];
    expect(merge([a, b])).toEqual([
      [1, 1.5, 5],
      [1.5, 2, 15],
      [2, 3, 40],
      [3, 4, 20],
    ]);
    expect(merge([[[1, 1, 3]], [[1, 2, 4]]]).reduce((sum, [, , count]) => sum + count, 0)).toBe(7);
    expect(merge([[[1, 4, 10]], [[2, 3, 1]]])).toEqual([
      [1, 2, 3],
      [2, 3, 5],
      [3, 4, 3],
    ]); // a third of ten is not a whole number of requests
    expect(merge([[], a])).toEqual(a);
  });

  test("binning keeps all requests and both ends, moves percentiles by less than a bucket, merges many into few", () => {
    const histograms = [1, 2, 3, 4, 5].map((n) =>
      Array.from({ length: 300 }, (_, i) => [(n + i) / 1e4, (n + i + 1) / 1e4, i + 1] as const),
    );
    for (const histogram of histograms) {
      const bins = binned(histogram);
      expect([bins[0]?.[0], bins.at(-1)?.[1]]).toEqual([histogram[0]?.[0], histogram.at(-1)?.[1]]);
      expect(bins.reduce((sum, [, , count]) => sum + count, 0)).toBeCloseTo((300 * 301) / 2);
      for (const p of [1, 50, 90, 99, 99.9]) {
        expect(percentile(bins, p) / percentile(histogram, p)).toBeWithin(0.98, 1.02);
      }
    }
    expect(merge(histograms.map(binned)).length).toBeLessThan(120); // of 1,500
    expect(binned([[0.002, 0.002, 7]])).toEqual([[0.002, 0.002, 7]]);
  });
});

test("two slices overlap by the part of the longer in which both ran", () => {
  const slice = (startedAt: number, seconds: number) => ({ startedAt, seconds }) as Load;
  expect(overlap([slice(0, 1), slice(0, 1)])).toBe(1);
  expect(overlap([slice(0, 1), slice(50, 1)])).toBeCloseTo(0.95);
  expect(overlap([slice(0, 1), slice(250, 0.5)])).toBe(0.5);
  expect(overlap([slice(0, 1), slice(2_000, 1)])).toBe(0);
});

describe("verdict", () => {
  // A server at its limit: 100 connections, 20,000 requests/s, latency 5 ms.
  const sound: Evidence = {
    connections: 100,
    seconds: 10,
    requests: 200_000,
    errors: 0,
    refused: 0,
    sockets: 100,
    averageMs: 5,
    maxMs: 20,
    goodput: 20_000,
    bytesPerRequest: 1_000,
    generatorCpu: 0.5,
    utilization: 0.97,
    throttled: 0,
    taken: 0.01,
    isStartedHere: false,
    dropped: null,
    targetRate: null,
    generatorCores: 1,
    ceiling: 80_000,
    unloadedMs: 0.2,
    lineBytesPerSecond: null,
  };
  const open: Evidence = { ...sound, targetRate: 20_000, maxMs: 4 };
  const far: Evidence = { ...sound, averageMs: 164, unloadedMs: 160, goodput: 605, requests: 6_050, utilization: 0.1 };
  const measured = { ...far, seconds: 1.63848, requests: 900, averageMs: 174.732, goodput: 549.289, unloadedMs: 162 };
  // 85 of 100 connections had a request in flight, on average: each waited up to 12 ms of 110 for the slowest answer.
  const short = {
    ...sound,
    seconds: 0.11,
    requests: 1_210,
    averageMs: 7.727,
    maxMs: 12,
    goodput: 11_000,
    unloadedMs: 6,
  };
  const cases: [string, Evidence, Verdict][] = [
    ["at full speed", sound, "server-bound"],
    ["1 of 1,000 fails", { ...sound, errors: 200 }, "server-bound"],
    ["more fail", { ...sound, errors: 201 }, "invalid"],
    ["the server closes connections", { ...sound, sockets: 101 }, "server-bound"],
    ["sequences, by a pool that was late", { ...sound, dropped: 0, sockets: 150 }, "server-bound"],
    ["sequences, on fewer connections than there are", { ...sound, dropped: 0, sockets: 99 }, "invalid"],
    ["sequences, for which sockets were closed", { ...sound, dropped: 0, sockets: 201 }, "invalid"],
    ["no answer at all, as the machine was elsewhere", { ...sound, requests: 0, goodput: 0, taken: 0.9 }, "starved"],
    ["Little's law is broken", { ...sound, averageMs: 5.2 }, "invalid"],
    ["Little's law is broken in a short slice", { ...short, requests: 700 }, "invalid"],
    ["a short slice of which the host took a part", { ...short, requests: 700, taken: 0.07 }, "starved"],
    ["a short slice that ended before some connections had their last answer", short, "undetermined"],
    ["nothing was answered", { ...sound, requests: 0, errors: 0, averageMs: 0 }, "invalid"],
    ["429", { ...sound, errors: 1_000, refused: 1_000 }, "rate-limited"],
    ["CPU quota", { ...sound, throttled: 0.06 }, "rate-limited"],
    ["the machine was elsewhere", { ...sound, taken: 0.16, sockets: 101 }, "starved"],
    ["far away, and the machine was elsewhere", { ...far, taken: 0.5 }, "starved"],
    [
      "refused by a machine that was elsewhere",
      { ...sound, taken: 0.5, errors: 1_000, refused: 1_000 },
      "rate-limited",
    ],
    ["what ticks make of an idle machine", { ...sound, taken: 0.15 }, "server-bound"],
    ["whether the machine was elsewhere is not known", { ...sound, taken: null }, "server-bound"],
    ["fixed rate, the machine was elsewhere", { ...open, taken: 0.2 }, "starved"],
    ["busy generator", { ...sound, generatorCpu: 0.85 }, "client-bound"],
    ["busy generator, two cores", { ...sound, generatorCpu: 0.85, generatorCores: 2 }, "server-bound"],
    ["near what the generator can", { ...sound, ceiling: 25_000 }, "client-bound"],
    ["full line", { ...sound, lineBytesPerSecond: 25e6 }, "bandwidth-bound"],
    ["wide line", { ...sound, lineBytesPerSecond: 26e6 }, "server-bound"],
    ["idle server", { ...sound, utilization: 0.8 }, "undetermined"],
    ["CPU unknown", { ...sound, utilization: null }, "undetermined"],
    ["no queue at the server", { ...sound, unloadedMs: 3.4 }, "undetermined"],
    ["long line", far, "network-bound"],
    ["no line at all, and an unloaded latency from a bad moment", { ...far, isStartedHere: true }, "undetermined"],
    ["long line, ten answers per connection", measured, "network-bound"],
    ["long line, unloaded latency unknown", { ...far, unloadedMs: null }, "undetermined"],
    ["fixed rate", open, "on schedule"],
    ["fixed rate, an answer took longer than from send to send", { ...open, maxMs: 5 }, "service time"],
    ["fixed rate that was not reached", { ...open, requests: 190_000 }, "service time"],
    ["fixed rate with errors", { ...open, errors: 1_000 }, "invalid"],
  ];
  for (const [name, evidence, verdict] of cases) test(name, () => expect(verdictOf(evidence)).toBe(verdict));

  test("a long line is reported, with the number of connections that would saturate the server", () => {
    const told = explain("network-bound", { ...far, cpuUsPerRequest: 150, workers: 1, taken: 0 });
    expect(told).toContain("the 160 ms of the network limited the rate: 100 connections ÷ 164 ms = 605 requests/s");
    expect(told).toContain("about 1,100 connections"); // 6,667 requests/s × 160 ms = 1,067
    expect(explain("server-bound", { ...sound, cpuUsPerRequest: 50, workers: 1, taken: 0 })).toBe("");
  });
});

describe("analysis", () => {
  const slice = (fields: Partial<Slice>): Slice =>
    ({
      endpoint: "/plain",
      scenario: "/plain",
      step: null,
      twinOf: null,
      kind: "closed",
      goodput: 100,
      cpuUsPerRequest: 10,
      p50Ms: 1,
      p90Ms: 2,
      p99Ms: 3,
      p999Ms: 4,
      averageMs: 164,
      connections: 100,
      errors: 0,
      requests: 100,
      seconds: 1,
      startupMs: null,
      lockWaiters: null,
      idleInTransaction: null,
      deadlocks: null,
      verdict: "server-bound",
      ...fields,
    }) as Slice;
  const us = { a: 10, b: 20 };
  const windows = [1, 2, 3].flatMap((restart) =>
    [1, 2, 3, 4].flatMap((round) =>
      (["a", "b"] as const).map(
        (name): Window => ({
          ...{ restart, scenario: "/plain", name, round, counts: 1, seconds: 0.02 * us[name], requests: 1_000 },
          // The host's effect on a round cancels; restarts differ a little.
          cpuUs: 1_000 * us[name] * (round === 2 ? 1.5 : 1) * (name === "a" ? 1 + restart / 1_000 : 1),
          databaseUs: null,
          poolerUs: null,
        }),
      ),
    ),
  );
  const slices = [1, 2, 3].flatMap((restart) => [
    slice({ restart, slice: restart, name: "b", goodput: 50 * restart }),
    slice({ restart, slice: restart, name: "a", verdict: restart === 2 ? "undetermined" : "server-bound" }),
  ]);

  test("windows give the ranking and the numbers; slices of all restarts are merged", () => {
    const [table] = analyse({ slices, windows }, NOTHING);
    expect(table?.rows.map(({ name, standing }) => [name, standing?.groups])).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
    const [a, b] = table?.rows ?? [];
    expect(b?.standing?.ratioToBest.estimate).toBeCloseTo(20 / 10.02, 4);
    // A table agrees with itself: the ratio of two columns is the ratio in the ranking.
    const ratio = (b?.cpuUsPerRequest?.estimate ?? 0) / (a?.cpuUsPerRequest?.estimate ?? 0);
    expect(ratio).toBeCloseTo(b?.standing?.ratioToBest.estimate ?? 0, 9);
    expect(b?.goodput.estimate).toBeCloseTo(2_500, 3);
    expect(b?.perSecond).toBeCloseTo(100);
    expect(table?.rows.map(({ verdict }) => verdict)).toEqual(["server-bound", "server-bound"]);
    expect([table?.apart, table?.remarks, table?.by]).toEqual([[], [], "cpu"]);
  });

  test("a server with failed requests is not compared, the others are", () => {
    const late = windows.filter(({ name }) => name === "b").map((one) => ({ ...one, name: "late" }));
    const alone = slices.filter(({ name }) => name === "b").map((one) => ({ ...one, name: "late" }));
    const turns = [{ restart: 1, scenario: "/plain", name: "late", windowMs: 25, requests: 1_000, errors: 2 }].map(
      (one) => ({ ...one, failed: {}, restUsPerSecond: null }),
    );
    const [table] = analyse({ slices: [...slices, ...alone], windows: [...windows, ...late] }, { ...NOTHING, turns });
    expect(table?.rows.map(({ name, standing }) => [name, standing?.groups ?? null])).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["late", null],
    ]);
    expect(notesOf(table as never)).toContainEqual(expect.stringMatching(/^Not compared, .*: late$/));
  });

  test("a server that is not in all restarts is not compared; the others are compared in all restarts", () => {
    const late = windows.flatMap((one) => (one.name === "b" && one.restart < 3 ? [{ ...one, name: "late" }] : []));
    const alone = slices.filter(({ name }) => name === "b").map((one) => ({ ...one, name: "late" }));
    const [table] = analyse({ slices: [...slices, ...alone], windows: [...windows, ...late] }, NOTHING);
    expect([table?.apart, table?.comparison?.restarts]).toEqual([["late"], 3]);
    expect(table?.rows[2]?.cpuUsPerRequest?.estimate).toBeCloseTo(20, 9);
  });

  test("idle CPU time is taken from all restarts", () => {
    const turns = [1, 2, 3].map((restart) => ({
      ...{ restart, scenario: "/plain", name: "b", windowMs: 25, requests: 1_000, errors: 0 },
      ...{ failed: {}, restUsPerSecond: restart * 1e4 },
    }));
    const [table] = analyse({ slices, windows }, { ...NOTHING, turns });
    expect(table?.rows[1]).toMatchObject({ name: "b", warming: null, cpuAtRest: 0.02 });
  });

  test("each rate has a table, and each step of a sequence one with only latencies", () => {
    const of = (scenario: string, more: Partial<Slice>) => slices.map((one) => ({ ...one, scenario, ...more }));
    const rates = [200, 50].flatMap((targetRate) => of(`/plain at ${targetRate}/s`, { targetRate, kind: "open" }));
    const steps = of("content", { endpoint: "content", step: "1 POST" });
    const tables = analyse({ slices: [...steps, ...rates, ...slices], windows }, NOTHING);
    expect(tables.map(({ endpoint, base, step, rate, load }) => [endpoint, base, step, rate, load])).toEqual([
      ["/plain", "/plain", null, null, "closed"],
      ["/plain at 50/s", "/plain", null, 50, "open"],
      ["/plain at 200/s", "/plain", null, 200, "open"],
      ["content 1 POST", "content", "1 POST", null, "closed"],
    ]);
    expect(tables.map(({ comparison }) => comparison !== null)).toEqual([true, false, false, false]);
  });

  test("without CPU time, requests per second give the ranking", () => {
    const silent = windows.map((one) => ({ ...one, cpuUs: one.name === "a" ? null : one.cpuUs }));
    const [table] = analyse({ slices, windows: silent }, NOTHING);
    expect([table?.by, table?.rows[1]?.standing?.ratioToBest.estimate]).toEqual(["rate", expect.closeTo(2, 6)]);
  });

  test("over a slow network requests/s are those of the slices, which have all connections", () => {
    const shown = (verdict: "network-bound" | "server-bound") => {
      const all = slices.map((one) => ({ ...one, goodput: 12_345, verdict }));
      return analyse({ slices: all, windows }, NOTHING)[0]?.rows.map(({ goodput }) => Math.round(goodput.estimate));
    };
    expect(shown("network-bound")).toEqual([12_345, 12_345]);
    expect(shown("server-bound")).not.toContain(12_345);
  });

  test("a reason against a ranking by throughput is printed once for all servers that share it", () => {
    const far = slices.map((one) => ({ ...one, verdict: "network-bound" as const }));
    const [table] = analyse({ slices: far, windows: [] }, NOTHING);
    expect(table?.comparison).toBeNull();
    expect(table?.remarks).toMatchObject([{ verdict: "network-bound", names: ["a", "b"] }]);
    const one = slices.map((each, i) => (i === 0 ? { ...each, errors: each.requests } : each));
    expect(analyse({ slices: one, windows: [] }, NOTHING)[0]?.remarks).toMatchObject([
      { verdict: "invalid", names: ["b"] },
    ]);
  });
});

describe("slo", () => {
  test("is a percentile and a limit", () => {
    expect(parseSlo("p99<50ms")).toEqual({ percentile: 99, limitMs: 50 });
    expect(parseSlo("p99.9<1.5s")).toEqual({ percentile: 99.9, limitMs: 1_500 });
    for (const bad of ["", "p98<1ms", "p99<0ms", "p99>50ms", "50ms", "p99<50"]) {
      expect(() => parseSlo(bad)).toThrow(`--slo is "${bad}"`);
    }
  });

  test("the search brackets the highest rate that keeps it, in few attempts, even with one outlier", async () => {
    for (const [truth, before] of [20, 100, 940, 1_050].flatMap((truth) =>
      [0, truth / 1.2, truth * 1.2].map((before) => [truth, before] as const),
    )) {
      let attempts = 0;
      const attempt = async (rate: number) => ({ kept: rate <= truth && ++attempts % 4 !== 0, why: "p99 was 51 ms" });
      const { low, high, reason } = await searchCapacity(attempt, 1_000, before);
      expect(low).toBeLessThanOrEqual(truth);
      expect(low).toBeGreaterThan(truth * 0.93);
      expect(high as number).toBeGreaterThan(truth);
      expect(attempts).toBeLessThan(80);
      expect(reason).toBe(`at ${high?.toFixed(1)} requests/s p99 was 51 ms`);
    }
    const { low, high } = await searchCapacity(async () => ({ kept: false, why: "no" }), 100, 90);
    expect([low, high as number]).toEqual([0, expect.any(Number)]);
    expect(high).toBeWithin(1, 2); // a slice at a lower rate would take long
  });

  test("a limit that is broken while other work uses the machine does not count against the server", async () => {
    const elsewhere = { kept: null, why: "elsewhere" };
    let n = 0;
    const now = async (rate: number) => (++n % 3 > 0 ? elsewhere : { kept: rate <= 940, why: "no" });
    const { low, high } = await searchCapacity(now, 1_000);
    expect([low <= 940, (high as number) > 940]).toEqual([true, true]);
    expect(low).toBeGreaterThan(900);
    const above = async (rate: number) => (rate > 800 ? elsewhere : { kept: true, why: "" });
    expect(await searchCapacity(above, 1_000)).toMatchObject({
      low: 0,
      high: null,
      reason: "at 1000.0 requests/s elsewhere",
    });
    const found = await searchCapacity(above, 1_000, 700);
    expect(found).toMatchObject({ high: null, reason: expect.stringContaining("elsewhere") });
    expect(found.low).toBeWithin(700, 800);
    expect(capacityOf([found, { low: 0, high: null, reason: "x" }])).toMatchObject({ rate: found.low, starts: 1 });
  });

  test("several starts: geometric means, and Student's interval from the kept rates to the broken rates", () => {
    const brackets = [900, 1_000, 1_100].map((low) => ({ low, high: low * 1.04, reason: `${low}` }));
    const { rate, low, high, ...rest } = capacityOf(brackets);
    // mean and sd of the logarithms 6.8024, 6.9078, 7.0031 are 6.9044 and 0.1004; t(0.975, 2) = 4.3027
    expect(rate).toBeCloseTo(996.66, 1);
    expect(low / rate).toBeCloseTo(Math.exp((-4.3027 * 0.10041) / Math.sqrt(3)), 3);
    expect((high as number) / (rate * 1.04)).toBeCloseTo(rate / low, 6);
    expect(rest).toEqual({ starts: 3, reason: "1100" });
    expect(capacityOf(brackets.slice(1, 2))).toEqual({
      rate: 1_000,
      low: 1_000,
      high: 1_040,
      starts: 1,
      reason: "1000",
    });
    const [first] = brackets as [Bracket];
    expect(capacityOf([first, { ...first, high: null }]).high).toBeNull();
    expect(capacityOf([first, { ...first, low: 0 }])).toMatchObject({ rate: 0, low: 0, high: 936 });
  });
});

const onLinux = (name: string, body: () => Promise<void>) => testIf(...needs("linux"), name, body);

onLinux("a thread never seems to have run less than before", async () => {
  const churn = `const { Worker } = require("node:worker_threads");
    const next = () => new Worker("for (let i = 0; i < 1e7; i++);", { eval: true }).on("exit", next);
    for (let i = 0; i < 4; i++) next();`;
  const program = run(["node", "-e", churn]);
  const ended = new Set<string>();
  try {
    let before = threadTimes([program.pid]);
    while (ended.size < 100) {
      const now = threadTimes([program.pid]);
      for (const [thread, ran] of before) {
        if (!now.has(thread)) ended.add(thread);
        else expect(now.get(thread)).toBeGreaterThanOrEqual(ran);
      }
      before = now;
    }
  } finally {
    program.child.kill("SIGKILL");
    await program.ended;
  }
});

testIf(...needs("two cores"), "what the run's own servers do is not taken for others, loaded or not", async () => {
  const { server: on } = splitCores() as Cores;
  const cores = { server: on, generator: "9999" }; // there is none, so only the servers' side is seen
  const server = run(["taskset", "-c", `${parseCpuList(on)[0]}`, "sh", "-c", "while :; do :; done"]);
  try {
    const [all, known] = [
      watchCores(cores, []),
      watchCores(cores, [{ clocks: clocksOf(server.pid, null), startupMs: 1 } as Target]),
    ];
    const ran = () =>
      threadTimes([server.pid])
        .values()
        .reduce((sum, ms) => sum + ms, 0);
    const [since, before] = [performance.now(), ran()];
    await sleep(1_000);
    // Leaves out at least the CPU time of the spinner, whatever else runs here; half of it, because ticks are 10 ms.
    const share = (ran() - before) / (performance.now() - since);
    expect(share).toBeGreaterThan(0);
    expect(all(0) - known(0)).toBeGreaterThan(share / 2 / parseCpuList(cores.server).length);
  } finally {
    server.child.kill("SIGKILL");
  }
});

test("the CPU time of a server that restarts in a slice is not known", async () => {
  const target = (...cpuUs: number[]) => {
    const read = async () => ({ cpuUs: cpuUs.shift() as number, rssBytes: 1, throttledMs: null, cores: 1 });
    return { pid: null, clocks: null, read } as unknown as Target;
  };
  const load = { requests: 90, sockets: 10, seconds: 0.9 } as Load;
  const usage = async (...cpuUs: number[]) => (await watch(target(...cpuUs)))(load);
  expect(await usage(1e6, 1.5e6)).toMatchObject({ cpuUsPerRequest: 5e3, utilization: 0.5 });
  expect(await usage(1e6, 0.5e6)).toMatchObject({ cpuUsPerRequest: null, utilization: null });
});

onLinux("the CPU time and memory of processes in a slice are read from outside", async () => {
  const server = run(["sh", "-c", "while :; do :; done"]);
  try {
    const ranMs = () => threadTimes([server.pid]).get(`${server.pid}/task/${server.pid}`) ?? 0;
    // It stands still while its clocks are read, so all of them read the same.
    const pause = async () => {
      server.child.kill("SIGSTOP");
      await until(() => isStopped(server.pid));
      return ranMs();
    };
    const before = await pause();
    const watched = await watch({ pid: server.pid, clocks: clocksOf(server.pid, null) } as Target);
    server.child.kill("SIGCONT");
    await until(() => ranMs() > before + 300);
    const took = (await pause()) - before;
    const used = await watched({ requests: 100, sockets: 0, seconds: (2 * took) / 1e3 } as Load);
    expect(((used.cpuUsPerRequest as number) * 100) / 1e3 / took).toBeWithin(0.9, 1.1); // ticks are 10 ms
    expect(used.utilization).toBeWithin(0.45, 0.55);
    expect(used.rssBytes).toBeGreaterThan(100_000);
  } finally {
    server.child.kill("SIGKILL");
  }
});

test("two targets are reported as not measured if no restart counts", () => {
  const none = { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };
  const one = { endpoint: "/plain", by: "cpu", logRatios: [], base: [], ratio: none, state: "undecided" } as const;
  const more = {
    upper: Number.NaN,
    smallestVisible: Number.NaN,
    guard: null,
    time: null,
    isWaiting: false,
    isWarming: false,
  };
  expect(outcome("a ÷ b", { ...one, ...more }, { seconds: { loaded: 0, total: 60 } })).toBe(
    "a ÷ b /plain: not measured in 60 s: requests failed, or a server ended",
  );
});

onLinux("a process is seen with its children: busy or at rest, stopped or gone", async () => {
  const program = run(["sh", "-c", "trap : USR1; sleep 600 & wait; while :; do :; done"]);
  await until(() => family(program.pid).length === 2);
  const pids = family(program.pid);
  try {
    expect(pids[0]).toBe(program.pid);
    await until(() => !isBusy(pids));
    expect(isStopped(program.pid)).toBe(false);
    program.child.kill("SIGUSR1");
    await until(() => isBusy(pids));
    program.child.kill("SIGSTOP");
    await until(() => isStopped(program.pid));
    expect([isBusy(pids), isBusy([])]).toEqual([false, false]);
  } finally {
    for (const pid of pids) process.kill(pid, "SIGKILL");
  }
  await program.ended;
  expect([statOf(program.pid), isStopped(program.pid), isBusy([program.pid])]).toEqual([null, true, false]);
});

/** Runs short-lived children that compute, prints "done", and waits for the end of its input. */
const FORKING = [
  "sh",
  "-c",
  `for i in 1 2 3 4 5 6 7 8 9 10; do sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; done
  echo done; read line`,
];

/** @returns CPU time of such a program from a meter, ÷ its CPU time from the kernel at its end. */
async function metered(command: readonly string[], meterFor: (pid: number) => ReturnType<typeof meterOf>) {
  const child = Bun.spawn([...command], { stdin: "pipe", stdout: "pipe" });
  const meter = meterFor(child.pid);
  await child.stdout.getReader().read();
  await until(() => !meter.isBusy());
  const us = meter.cpuUs();
  expect(together([meter, meter]).cpuUs()).toBe(2 * us);
  expect(meter.pids()).toEqual([child.pid]);
  child.stdin.end();
  await child.exited;
  return us / Number(child.resourceUsage()?.cpuTime.total);
}

onLinux("CPU time of children that came and went counts", async () => {
  // The CPU time of children that have ended is known in ticks of 10 ms.
  expect(await metered(FORKING, (pid) => meterOf(pid, null))).toBeWithin(0.9, 1.1);
});

const probe = newGroup();
await probe?.remove();
testIf(probe !== null, "control groups cannot be made here", "a group has all that its processes used", async () => {
  const group = newGroup() ?? expect.unreachable();
  const command = group.enter(FORKING);
  expect(await metered(command, (pid) => meterOf(pid, group.folder))).toBeWithin(0.9, 1.1);
  const member = run(group.enter(["sleep", "600"]));
  await until(() => membersOf(group.folder).length > 0);
  expect(membersOf(group.folder)).toEqual([member.pid]);
  expect([groupOf(member.pid), groupOf(process.pid)]).toEqual([group.folder, null]);
  member.child.kill("SIGKILL");
  await member.ended;
  await group.remove();
  expect(usedBy(group.folder)).toBeNull();
});

onLinux("a paused generator sends nothing, and is ended", async () => {
  const sending = ["sh", "-c", "trap 'echo seen; exit 0' INT; while :; do echo x >/dev/null; done"];
  const generator = startPausable(sending, "http://a", {});
  await until(async () => (await generator.sent()) > 1_000);
  await generator.pause();
  expect(isStopped(generator.pid)).toBe(true);
  const before = await generator.sent();
  await sleep(100);
  expect(await generator.sent()).toBe(before);
  generator.go();
  await until(async () => (await generator.sent()) > before);
  await generator.pause();
  expect([await generator.end(), await generator.end()]).toEqual(["seen\n", "seen\n"]);
  expect(statOf(generator.pid)).toBeNull();
  await expect(generator.sent()).rejects.toThrow("http://a could not be loaded: its generator ended with exit code 0");
  await generator.pause(); // does not wait for a generator that has ended
});

test("a generator that ends without a result has failed; the error has its last line", async () => {
  const failing = startPausable(["sh", "-c", "echo first >&2; echo refused >&2; exit 1"], "http://a", {});
  const hasEnded = () =>
    failing.sent().then(
      () => false,
      () => true,
    );
  await until(hasEnded);
  await expect(failing.end()).rejects.toThrow("http://a could not be loaded: refused");
  expect(() => startPausable(["no-such-generator"], "http://a", {})).toThrow("no-such-generator cannot be run");
});

test("the size of a request is known before anything is counted by it", async () => {
  const body = "x".repeat(1_000);
  const send = (origin: string) => fetch(`${origin}/a/path`, { method: "POST", body, headers: { "user-agent": "u" } });
  const size = await sizeOfRequest(send, "127.0.0.1:3000");
  expect(size).toBeWithin(1_000 + "POST /a/path HTTP/1.1\r\nHost: 127.0.0.1:3000\r\n".length, 1_400);
  expect((await sizeOfRequest(send, "a-longer-host:3000")) - size).toBe(4);
});

test.each(["host", "Host"])("a request whose header %s is fixed has the same size at every host", async (name) => {
  const never = new AbortController().signal;
  const asked = { headers: { [name]: "x", "x-forwarded-for": "127.0.0.1" } };
  const send = (origin: string) =>
    load({ url: `${origin}/p`, ...asked }, { connections: 1, seconds: 0.05 }, undefined, never);
  const sent = "GET /p HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 127.0.0.1\r\nUser-Agent: fortio.org/fortio\r\n\r\n"
    .length;
  const sizes = [
    await sizeOfRequest(send, "127.0.0.1:3000"),
    await sizeOfRequest(send, `${"long-".repeat(20)}name:80`),
  ];
  expect(sizes).toEqual([sent, sent]);
});

test("the size of fortio's requests is what it sends", async () => {
  const body = { method: "POST", headers: { "content-type": "text/plain", a: "b" }, body: "x".repeat(999) };
  for (const asked of [{}, body]) {
    const never = new AbortController().signal;
    const send = (origin: string) =>
      load({ url: `${origin}/p?q=1`, ...asked }, { connections: 1, seconds: 0.05 }, undefined, never);
    const seen: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        seen.push(String(data));
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const host = `127.0.0.1:${(server.address() as { port: number }).port}`;
    await send(`http://${host}`);
    server.close();
    expect(seen[0]).toContain(`Host: ${host}\r\n`);
    expect(await sizeOfRequest(send, host)).toBe(seen[0]?.length as number);
  }
});

test("gates with a known answer: their exit codes, and the cost of the handicap", () => {
  const gate = (handicap: number, verdict: "slower" | "undecided" | "not measured", ...ratios: number[]) => ({
    server: "a",
    handicap,
    verdict,
    seconds: 60,
    outcomes: [{ endpoint: "/plain", logRatios: ratios.map(Math.log) }],
  });
  const table = gatesTable([
    gate(0, "undecided", 0.99, 1.01),
    gate(0, "not measured", 1, 1),
    gate(0.05, "slower", 1.06, 1.08),
    gate(0.05, "slower", 1.06, 1.08),
  ]);
  const [, equal = "", more = ""] = table.split("\n");
  expect(equal).toMatch(/^equal +0 of 2 +0 of 2 +1 of 2 +1 of 2 +60 s +1\.000 \(0\.987–1\.013\)$/);
  expect(more).toMatch(/^5\.0 % more work +0 of 2 +2 of 2 +0 of 2 +0 of 2 +60 s +1\.070 \(1\.052–1\.088\)$/);
  expect(gatesTable([gate(0, "not measured")])).toMatch(/60 s +-$/);
});

test.each([
  [null, "there is no pgbouncer on PATH: install version 1.24 or later, or leave +pooler out"],
  ["1.18.0", "pgbouncer 1.18.0 breaks prepared statements"],
  ["1.23.1", "pgbouncer 1.23.1 breaks prepared statements"],
  ["1.24.1", undefined],
  ["2.0.0", undefined],
])("pgbouncer %p", (version, problem) => {
  const needed = expect(() => needPgbouncer(version));
  if (problem) needed.toThrow(problem);
  else needed.not.toThrow();
});

test("a port goes to one process, and to no outgoing connection", async () => {
  const ports = async (count: number) => {
    const ports: number[] = [];
    for (let i = 0; i < count; i++) ports.push(await freePort());
    return ports;
  };
  const ours = await ports(99);
  expect(new Set(ours).size).toBe(99);
  expect(ours.filter((port) => port < 10_000 || port >= 30_000)).toEqual([]);

  const taken = createServer().listen(ours[0], "127.0.0.1");
  await once(taken, "listening");
  expect(await ports(99)).not.toContain(ours[0]);
  taken.close();
});
