/** A run of known truth, in the form in which ./bench.sh keeps it. */
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { parseTarget, SERVERS } from "../../bench/ask/targets.ts";
import { runFile, writeWhole } from "../../bench/keep/files.ts";
import type { Manifest } from "../../bench/keep/manifest.ts";
import { appendSlices, appendWindows, PROTOCOL, type Slice, type Window } from "../../bench/keep/slices.ts";
import { makePlan } from "../../bench/plan/plan.ts";
import { times } from "./values.ts";

/** CPU µs per request of each server. */
export const COSTS = { "bun-hono": 10, "bun-hono@better-sqlite3": 12, "bun-raw": 10, "node-hono": 16, "node-raw": 15 };

export interface Known {
  readonly slices: readonly Slice[];
  readonly windows: readonly Window[];
  readonly manifest: Manifest;
}

interface Truth {
  readonly run?: string;
  readonly protocol?: number;
  readonly endpoints?: readonly string[];
  readonly restarts?: number;
  /** The server that is measured twice. */
  readonly twin?: keyof typeof COSTS;
  /** Cost of a request ÷ COSTS. */
  readonly factor?: (at: { name: string; endpoint: string; restart: number; round: number }) => number;
}

const ROUNDS = 6;
const CONNECTIONS = 100;

/** Cost of each server × noise of its restart × noise of its window × the host's effect on all servers in a round. */
export function known({
  run = "2026-01-01T00:00:00.000Z",
  protocol = PROTOCOL,
  endpoints = ["/plain", "/sqlite/random-5fields/5"],
  restarts = 3,
  twin,
  factor = () => 1,
}: Truth = {}): Known {
  const random = generateMersenne53Randomizer();
  random.seed(Date.parse(run) / 1e3);
  const noise = (part: number) => Math.exp((random.next() - 0.5) * part);
  const servers = Object.entries(COSTS).flatMap(([server, us]) => [
    { name: server, server, us },
    ...(server === twin ? [{ name: `${server}#2`, server, us }] : []),
  ]);
  const manifest = manifestOf({ run, protocol, restarts }, servers, endpoints);
  const [slices, windows]: [Slice[], Window[]] = [[], []];
  for (const restart of times(restarts, (i) => i + 1)) {
    for (const endpoint of endpoints) {
      const here = servers.map((one) => ({ ...one, us: one.us * noise(0.02) }));
      for (const round of times(ROUNDS, (i) => i + 1)) {
        const host = noise(0.1);
        for (const { name, us } of here) {
          const costUs = us * noise(0.02) * host * factor({ name, endpoint, restart, round });
          const window = { restart, scenario: endpoint, name, round, counts: round === 1 ? 0 : 1, seconds: 0.05 };
          const requests = Math.round(0.05e6 / costUs);
          windows.push({ ...window, requests, cpuUs: requests * costUs, databaseUs: null, poolerUs: null });
        }
      }
      for (const { name, server, us } of here) {
        const slice = slices.length + 1;
        slices.push({ ...sliceOf({ name, server, us }, endpoint), run, startedAt: run, protocol, restart, slice });
      }
    }
  }
  return { slices, windows, manifest };
}

/** Writes a run as ./bench.sh does. */
export function keep(results: string, { slices, windows, manifest }: Known): void {
  appendSlices(results, slices);
  appendWindows(results, manifest.run, windows);
  writeWhole(runFile(results, manifest.run, "json"), JSON.stringify(manifest));
}

interface Server {
  readonly name: string;
  readonly server: string;
  readonly us: number;
}

function sliceOf({ name, server, us }: Server, endpoint: string) {
  const { choices } = parseTarget(server, SERVERS);
  const [runtime = "", framework = ""] = server.split(/[-@]/);
  const goodput = 1e6 / us;
  const averageMs = (CONNECTIONS / goodput) * 1e3;
  return {
    ...({ name, endpoint, scenario: endpoint, step: null, kind: "closed", targetRate: null } as const),
    ...{
      requests: 1_000,
      errors: 0,
      seconds: 1_000 / goodput,
      goodput,
      connections: CONNECTIONS,
      sockets: CONNECTIONS,
    },
    ...{ averageMs, p50Ms: averageMs, p90Ms: 1.8 * averageMs, p99Ms: 1.98 * averageMs, p999Ms: 2 * averageMs },
    ...{
      maxMs: 2 * averageMs,
      bytesPerRequest: 100,
      cpuUsPerRequest: us,
      utilization: 1,
      generatorCpu: 0.5,
      taken: 0.01,
    },
    ...{ rssBytes: 80e6, peakRssBytes: 90e6, startupMs: 100, target: "http://127.0.0.1:3000", host: "here" },
    ...({ runtime: `${runtime} 1.0.0`, framework: `${framework} 1.0.0`, workers: 1, verdict: "server-bound" } as const),
    driver: `${choices?.driver ?? (runtime === "bun" ? "bun:sqlite" : "better-sqlite3")} 3.50`,
    ...{ server: choices?.server ?? null, chosenDriver: choices?.driver ?? null, settings: null },
    twinOf: name === server ? null : server,
    ...{
      kernelUsPerRequest: 2.5,
      childUsPerRequest: 0,
      collectorUsPerRequest: null,
      switchesPerRequest: 0.5,
      databaseBytes: null,
    },
    ...{ lockWaiters: null, idleInTransaction: null, deadlocks: null },
  };
}

type Kept = Pick<Manifest, "run" | "protocol" | "restarts">;

function manifestOf(kept: Kept, servers: readonly Server[], endpoints: readonly string[]): Manifest {
  const options = { urls: [], names: [], endpoints, connections: CONNECTIONS, preset: "standard", seed: 1 } as const;
  const plan = makePlan({ ...options, servers: servers.map(({ server }) => server), once: true }, SERVERS);
  const isTwice = servers.some(({ name, server }) => name !== server);
  const perServer = <T>(of: (us: number) => T) =>
    Object.fromEntries(
      servers.map(({ name, us }) => [name, Object.fromEntries(endpoints.map((endpoint) => [endpoint, of(us)]))]),
    );
  const turn = { windowMs: 50, requests: 10_000, errors: 0, failed: {}, restUsPerSecond: 500 };
  return {
    ...kept,
    host: "here",
    plan: { ...plan, amount: { ...plan.amount, twin: isTwice } },
    cores: { server: "0", generator: "1" },
    environment: { bun: "1.0.0", node: "v1.0.0", fortio: "1.0.0", commit: "1234567" },
    machine: {
      ...{ cpu: "Some CPU", vendor: "Some", family: 6, model: 1, stepping: 1, microcode: "0x1", cores: 2 },
      ...{ caches: ["L1d 32 KiB", "L2 1024 KiB"], flags: [], mitigations: { spectre_v2: "Mitigation: IBRS; more" } },
      ...{ hypervisor: "KVM", kernel: "Linux 6.0", hugePages: "madvise", governor: null },
      memoryBytes: 8 * 2 ** 30,
    },
    fingerprints: times(kept.restarts + 1, (restart) => ({
      restart,
      at: kept.run,
      speed: { aluNs: 1, loopbackNs: 9_000, memoryNs: 90 },
      ...{ together: 1.02, stolen: 0.01, others: 0 },
    })),
    ceiling: 200_000,
    calibration: perServer(() => ({ unloadedMs: 0.1 })),
    ...{ lineBytesPerSecond: {}, stores: {}, capacities: {}, left: [], remarks: [] },
    turns: times(kept.restarts, (i) => i + 1).flatMap((restart) =>
      endpoints.flatMap((scenario) => servers.map(({ name }) => ({ ...turn, restart, scenario, name }))),
    ),
    histograms: perServer((us) => [[0, (2 * us * CONNECTIONS) / 1e6, 1_000 * kept.restarts]]),
    seconds: { loaded: 30, total: 300 },
  };
}
