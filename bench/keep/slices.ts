import { existsSync, statSync } from "node:fs";
import { readBytes } from "../../shared/read-bytes.ts";
import type { Level } from "../plan/plan.ts";
import { findFile, runFile } from "./files.ts";
import { appendRows, type Columns, type RowOf, readRows } from "./table.ts";

/** Version of the method: 5 is turns. Rows of different protocols must not be compared. */
export const PROTOCOL = 5;

/** What limited a slice, or made it invalid. */
export type Verdict =
  | "rate-limited"
  | "starved"
  | "invalid"
  | "client-bound"
  | "bandwidth-bound"
  | "server-bound"
  | "network-bound"
  | "undetermined"
  | "on schedule"
  | "service time";

/**
 * The columns of results/<run>.csv, each with the field of a slice that it holds. An empty cell is null: unknown, or not
 * applicable. New columns go to the end.
 */
export const COLUMNS = {
  Name: ["name", "text"],
  // For one step of a sequence (see Step): the sequence.
  Endpoint: ["endpoint", "text"],
  Requests: ["requests", "number"],
  "Error Count": ["errors", "number"],
  AvgMs: ["averageMs", "number"],
  // 2xx answers per second.
  QPS: ["goodput", "number"],
  P50Ms: ["p50Ms", "number"],
  P90Ms: ["p90Ms", "number"],
  P99Ms: ["p99Ms", "number"],
  P999Ms: ["p999Ms", "number"],
  CpuUsPerRequest: ["cpuUsPerRequest", "number?"],
  RssBytes: ["rssBytes", "number?"],
  Connections: ["connections", "number"],
  Sockets: ["sockets", "number"],
  Seconds: ["seconds", "number"],
  // closed: as fast as answers come; open: at `targetRate`.
  Kind: ["kind", "text"],
  Run: ["run", "text"],
  StartedAt: ["startedAt", "text"],
  Protocol: ["protocol", "number"],
  Runtime: ["runtime", "text?"],
  Framework: ["framework", "text?"],
  Driver: ["driver", "text?"],
  Workers: ["workers", "number?"],
  Target: ["target", "text"],
  Host: ["host", "text"],
  // All servers restart together; 1 is the first restart of the run.
  Restart: ["restart", "number"],
  // Number in the run.
  Slice: ["slice", "number"],
  TargetRate: ["targetRate", "number?"],
  Verdict: ["verdict", "text"],
  MaxMs: ["maxMs", "number"],
  // The larger of: CPU time of the busiest thread ÷ time; CPU time of all threads ÷ (time × allowed cores). 1 is a server at
  // its limit. If a server reports only its total: total ÷ (time × workers).
  Utilization: ["utilization", "number?"],
  // Maximum resident memory since the start.
  PeakRssBytes: ["peakRssBytes", "number?"],
  StartupMs: ["startupMs", "number?"],
  // CPU time of the load generator ÷ time; may exceed 1 on several cores; null if it runs on another machine.
  GeneratorCpu: ["generatorCpu", "number?"],
  BytesPerRequest: ["bytesPerRequest", "number"],
  // Parts of `cpuUsPerRequest`: in the kernel, of child processes that ended, of collector threads. Then context switches.
  KernelUsPerRequest: ["kernelUsPerRequest", "number?"],
  ChildUsPerRequest: ["childUsPerRequest", "number?"],
  CollectorUsPerRequest: ["collectorUsPerRequest", "number?"],
  SwitchesPerRequest: ["switchesPerRequest", "number?"],
  // Share of CPU time that other work (host, other processes) used on the cores of the server or of the generator, the larger one.
  TakenTime: ["taken", "number?"],
  // Pages that its processes share count once (Linux: Pss).
  DatabaseBytes: ["databaseBytes", "number?"],
  // Mean number of its database connections that wait for a lock, and in a transaction for the server's next statement.
  LockWaiters: ["lockWaiters", "number?"],
  IdleInTransaction: ["idleInTransaction", "number?"],
  Deadlocks: ["deadlocks", "number?"],
  // Name of the scenario: the endpoint, with the load level if there are several.
  Scenario: ["scenario", "text"],
  Level: ["level", "text?"],
  Step: ["step", "text?"],
  // Only for servers of this project: the SERVER name, and choices other than the defaults.
  Server: ["server", "text?"],
  ChosenDriver: ["chosenDriver", "text?"],
  Settings: ["settings", "text?"],
  // For a twin: name of the server of which it is a copy.
  TwinOf: ["twinOf", "text?"],
} as const satisfies Columns;

/** One server loaded alone, without a pause: one row of results/<run>.csv. */
export interface Slice extends Omit<RowOf<typeof COLUMNS>, "kind" | "level" | "verdict"> {
  readonly kind: "closed" | "open";
  readonly level: Level["unit"] | null;
  readonly verdict: Verdict;
}

/** Appends rows to the file of their run. @param slices of one run */
export const appendSlices = (results: string, slices: readonly Slice[]): void =>
  appendRows(runFile(results, slices[0]?.run ?? "", "csv"), COLUMNS, slices);

/** @returns the slices of one run, in the order in which they were measured; none before the first. @throws UsageError for a malformed file. */
export const readSlices = (results: string, run: string): Slice[] => {
  const file = findFile(results, run, "csv");
  return file === null ? [] : readRows(file, COLUMNS);
};

/** The columns of results/<run>.windows.csv, each with the field of a window that it holds. An empty cell is null: unknown. */
const WINDOW_COLUMNS = {
  // All servers restart together; 1 is the first restart of the run.
  Restart: ["restart", "number"],
  Scenario: ["scenario", "text"],
  Name: ["name", "text"],
  // Every server has one window in a round; numbered from 1 in each restart and scenario.
  Round: ["round", "number"],
  // 1 if its round counts, 0 for a warm-up round.
  Counts: ["counts", "number"],
  // Includes the wait until all requests in flight are answered.
  Seconds: ["seconds", "number"],
  Requests: ["requests", "number"],
  // CPU time of all processes of the server, and of its own database and pooler.
  CpuUs: ["cpuUs", "number?"],
  // Parts of it.
  DatabaseUs: ["databaseUs", "number?"],
  PoolerUs: ["poolerUs", "number?"],
} as const satisfies Columns;

/** One server loaded alone for one window: one row of results/<run>.windows.csv. */
export type Window = RowOf<typeof WINDOW_COLUMNS>;

/** Appends windows to the file of their run. */
export const appendWindows = (results: string, run: string, windows: readonly Window[]): void =>
  appendRows(runFile(results, run, "windows.csv"), WINDOW_COLUMNS, windows);

/** @returns the windows of one run, none before the first. @throws UsageError for a malformed file */
export function readWindows(results: string, run: string): Window[] {
  const file = findFile(results, run, "windows.csv");
  return file === null ? [] : readRows(file, WINDOW_COLUMNS);
}

/** Columns of results files by other tools: the first six of ours. */
export const PLAIN_COLUMNS = Object.keys(COLUMNS).slice(0, 6);
/** A row with these columns only. */
export type PlainRow = Pick<Slice, "name" | "endpoint" | "requests" | "errors" | "averageMs" | "goodput">;

/** Whether a file has the first six columns and no others. */
export const isPlain = (file: string): boolean =>
  existsSync(file) &&
  statSync(file).isFile() &&
  String(readBytes(file, 0, 1_000))
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)[0] === PLAIN_COLUMNS.join();

export const readPlain = (file: string): PlainRow[] =>
  readRows(file, Object.fromEntries(Object.entries(COLUMNS).slice(0, 6)));
