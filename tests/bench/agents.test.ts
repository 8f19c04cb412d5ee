/** Load from several machines: the merged result is the sum of all agents, and an error names an agent that is lost. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../bench/host/free-port.ts";
import { findAgents, loadFrom } from "../../bench/load/agents.ts";
import { PERCENTILES } from "../../bench/load/fortio.ts";
import { finish, type Program, resultsIn, rowsOf, run, scratch, until } from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);
const never = new AbortController().signal;
const RESOLUTION = 1e-4;

/** A server whose answers take 0 to 20 ms. */
let server: Bun.Server<unknown>;
let url: string;
beforeAll(() => {
  let asked = 0;
  server = Bun.serve({
    port: 0,
    async fetch() {
      await Bun.sleep((asked++ * 7) % 20);
      return new Response("x");
    },
  });
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(true));

async function startAgent(): Promise<Program & { address: string }> {
  const address = `127.0.0.1:${await freePort()}`;
  const off = ["grpc", "tcp", "udp", "redirect"].flatMap((name) => [`-${name}-port`, "disabled"]);
  const program = run(["fortio", "server", "-http-port", address, ...off, "-loglevel", "Error"]);
  await until(async () => (await fetch(`http://${address}/fortio/rest/status`).catch(() => null))?.ok === true);
  return { ...program, address };
}

async function stop(...agents: Program[]): Promise<void> {
  for (const { child } of agents) child.kill("SIGKILL");
  await Promise.all(agents.map(({ ended }) => ended));
}

interface Run {
  /** The rate that bench asks this agent for. */
  readonly qps: number;
  readonly seconds: number;
  readonly requests: number;
  readonly buckets: readonly { readonly Start: number; readonly End: number }[];
}

/** An agent that keeps fortio's log of every request, because fortio's own server cannot, and adds to `runs`. */
function loggingAgent(log: string, runs: Run[]) {
  return Bun.serve({
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { url, c, qps, t, r, uniform } = (await request.json()) as Record<string, string>;
      const flags = { c, qps, t, r, json: "-", loglevel: "Critical", "access-log-file": log };
      const child = Bun.spawn(
        [
          ...["fortio", "load", "-quiet", ...(uniform ? ["-uniform"] : [])],
          ...Object.entries(flags).flatMap(([name, value]) => [`-${name}`, value ?? ""]),
          url ?? "",
        ],
        { stderr: "ignore" },
      );
      const text = await new Response(child.stdout).text();
      const { ActualDuration, DurationHistogram } = JSON.parse(text);
      const requests = linesOf(log).length;
      runs.push({ qps: Number(qps), seconds: ActualDuration / 1e9, requests, buckets: DurationHistogram.Data });
      return new Response(text);
    },
  });
}

const linesOf = (log: string) => readFileSync(log, "utf8").trim().split("\n");

for (const rate of [undefined, 400]) {
  test(`the merged slice is the union of the raw logs (${rate ? `${rate} requests/s` : "closed loop"})`, async () => {
    const logs = [1, 2, 3].map((i) => join(folder, `access-${rate}-${i}.log`));
    const runs: Run[] = [];
    const agents = logs.map((log) => loggingAgent(log, runs));
    /** Width in seconds of the widest bucket that contains this latency. */
    const widthAt = (latency: number) =>
      Math.max(
        ...runs
          .flatMap(({ buckets }) => buckets)
          .map(({ Start, End }) => (Start <= latency && latency <= End ? End - Start : 0)),
      );
    try {
      const addresses = agents.map(({ port }) => `127.0.0.1:${port}`);
      const options = { connections: 10, seconds: 2, rate, resolutionSeconds: RESOLUTION };
      const load = await loadFrom(addresses, url, options, never);
      const latencies = logs
        .flatMap(linesOf)
        .map((line) => JSON.parse(line).latency as number)
        .sort((a, b) => a - b);
      expect(load.requests).toBe(latencies.length);
      expect(load.histogram.reduce((sum, [, , count]) => sum + count, 0)).toBeCloseTo(latencies.length);
      const total = latencies.reduce((sum, latency) => sum + latency, 0);
      // The log has whole microseconds.
      expect(Math.abs((load.averageMs * load.requests) / 1e3 - total)).toBeLessThan(latencies.length * 1e-6);
      expect(Math.abs(load.maxMs / 1e3 - (latencies.at(-1) as number))).toBeLessThan(1e-6);
      expect([load.errors, load.sockets]).toEqual([0, 10]);
      for (const p of PERCENTILES) {
        // A bucket that is cut spreads its requests evenly, so a percentile may be that of the next or previous one.
        const rank = Math.ceil((latencies.length * p) / 100) - 1;
        const beyond = latencies
          .slice(rank - 1, rank + 2)
          .map((latency) => Math.abs(load.percentilesMs[p] / 1e3 - latency) - widthAt(latency));
        expect(Math.min(...beyond)).toBeLessThanOrEqual(1e-6);
      }
      expect(load.goodput).toBeCloseTo(runs.reduce((sum, { requests, seconds }) => sum + requests / seconds, 0));
      if (rate) {
        // No lower limit, because a machine that also does other work answers less.
        expect(runs.reduce((sum, { qps }) => sum + qps, 0) / rate).toBeWithin(0.97, 1.03);
        expect(load.goodput / rate).toBeLessThan(1.03);
      }
    } finally {
      await Promise.all(agents.map((agent) => agent.stop(true)));
    }
  });
}

const isLoading = async (address: string): Promise<boolean> => {
  const { Statuses } = (await (await fetch(`http://${address}/fortio/rest/status`)).json()) as { Statuses: object };
  return Object.keys(Statuses).length > 0;
};

describe("fortio servers", () => {
  const bench = (file: string, agents: string, ...args: string[]) =>
    finish([
      "./bench.sh",
      "--minutes",
      "0",
      "--warmup",
      "500",
      "--results",
      file,
      "--name",
      "foreign",
      "--endpoints",
      "/x",
      "--agents",
      agents,
      ...args,
      url,
    ]);

  test("two of them make one row per slice", async () => {
    const agents = [await startAgent(), await startAgent()];
    try {
      const file = newFile();
      const list = agents.map(({ address }) => address).join();
      expect(await findAgents([list.split(",")[0] ?? "", ...list.split(",")], never)).toEqual(list.split(","));
      const { code, output } = await bench(file, list, "--connections", "9", "--seconds", "1");
      expect([code, output]).toEqual([0, expect.stringContaining("foreign")]);
      for (const row of rowsOf(file)) {
        expect(row).toMatchObject({ Connections: "9", Sockets: "9", GeneratorCpu: "", "Error Count": "0" });
      }
    } finally {
      await stop(...agents);
    }
  });

  test("the error names one that is killed in a slice, and no row of the slice is kept", async () => {
    const agents = [await startAgent(), await startAgent()];
    try {
      const file = newFile();
      const list = agents.map(({ address }) => address).join();
      const ended = bench(file, list, "--seconds", "5");
      await until(async () => (await Promise.all(agents.map(({ address }) => isLoading(address)))).every(Boolean));
      await stop(agents[1] as Program);
      const { code, output } = await ended;
      expect([code, output]).toEqual([1, expect.stringContaining(`the agent ${agents[1]?.address} failed`)]);
    } finally {
      await stop(...agents);
    }
  });

  test.each([
    ["nowhere.invalid:8080", "there is no such host"],
    ["127.0.0.1", "write it as host:port"],
    ["127.0.0.1:1", "the agent 127.0.0.1:1 failed"],
  ])("--agents %s is refused in one line", async (agents, problem) => {
    const { code, output } = await bench(newFile(), agents);
    expect([code, output.trimEnd().split("\n").at(-1)]).toEqual([1, expect.stringContaining(problem)]);
  });
});
