/** The pure parts of bench/. */
import { describe, expect, test } from "bun:test";
import { parseCpuList, pinned } from "../bench/cores.ts";
import { type FortioResult, toLoad } from "../bench/load/fortio.ts";
import { ENDPOINTS, makePlan, type Options, parseTarget } from "../bench/plan.ts";
import { SERVERS } from "./harness.ts";

const OPTIONS: Options = { urls: [], names: [], servers: [], endpoints: [], connections: 100, seconds: 2 };
const plan = (options: Partial<Options>) => makePlan({ ...OPTIONS, ...options }, SERVERS);

describe("plan", () => {
  test("by default all servers and the eight endpoints", () => {
    const { targets, endpoints } = plan({});
    expect(targets.map((target) => target.name)).toEqual(SERVERS);
    expect(endpoints).toEqual(ENDPOINTS);
    expect(ENDPOINTS).toHaveLength(8);
  });

  test("the warm-up is never longer than a slice", () => {
    expect(plan({ seconds: 0.2 }).warmupSeconds).toBe(0.2);
    expect(plan({ seconds: 60 }).warmupSeconds).toBe(1);
  });

  test("a target is a server, its driver and its workers", () => {
    const env = (text: string) => parseTarget(text, SERVERS).env;
    expect(env("bun-hono")).toEqual({});
    expect(env("bun-hono@node:sqlite")).toEqual({ SQLITE_DRIVER: "node:sqlite" });
    expect(env("bun-hono*4")).toEqual({ WORKERS: "4" });
    expect(env("bun-hono@better-sqlite3*2")).toEqual({ SQLITE_DRIVER: "better-sqlite3", WORKERS: "2" });
    for (const bad of ["", "bun", "bun-hono@", "bun-hono*", "bun-hono*x", "bun-hono*2@node:sqlite", " bun-hono"]) {
      expect(() => parseTarget(bad, SERVERS)).toThrow(`--servers has "${bad}": choose from node-raw`);
    }
  });

  test("a URL is a base: no last slash, no query", () => {
    const urls = ["http://vps:3000/", "https://vps/api/", "http://[::1]:80"];
    expect(plan({ urls, names: ["", "x"] }).targets).toEqual([
      { kind: "url", url: "http://vps:3000", name: undefined },
      { kind: "url", url: "https://vps/api", name: "x" },
      { kind: "url", url: "http://[::1]", name: undefined },
    ]);
    for (const bad of ["vps:3000", "ftp://vps", "http://", "/plain"])
      expect(() => plan({ urls: [bad] })).toThrow(`"${bad}" is not a URL`);
  });
});

test("cores: lists as the kernel writes them", () => {
  expect(parseCpuList("0-3")).toEqual([0, 1, 2, 3]);
  expect(parseCpuList("0,2-3,7")).toEqual([0, 2, 3, 7]);
  expect(parseCpuList("5")).toEqual([5]);
  expect(pinned("0,1", ["fortio", "load"])).toEqual(["taskset", "-c", "0,1", "fortio", "load"]);
  expect(pinned(undefined, ["fortio", "load"])).toEqual(["fortio", "load"]);
});

test("fortio: goodput counts 2xx answers only, errors are all the others", () => {
  const result: FortioResult = {
    StartTime: "2026-01-01T00:00:00Z",
    ActualDuration: 2e9,
    NumThreads: 4,
    DurationHistogram: {
      Count: 1_000,
      Avg: 0.004,
      Percentiles: [50, 90, 99, 99.9].map((Percentile) => ({ Percentile, Value: Percentile / 1e4 })),
    },
    RetCodes: { "200": 880, "204": 20, "301": 10, "500": 60, "-1": 30 },
    SocketCount: 104,
  };
  expect(toLoad(result)).toEqual({
    startedAt: "2026-01-01T00:00:00Z",
    requests: 1_000,
    errors: 100,
    seconds: 2,
    averageMs: 4,
    goodput: 450,
    percentilesMs: { 50: 5, 90: 9, 99: 9.9, 99.9: expect.closeTo(9.99) as unknown as number },
    sockets: 104,
  });
});
