import { existsSync, statSync } from "node:fs";
import { readBytes } from "../../shared/read-bytes.ts";
import type { Level } from "../plan/plan.ts";
import { findFile, runFile } from "./files.ts";
import { appendRows, type Columns, type RowOf, readRows } from "./table.ts";

/** How a run measures: 5 is turns. Rows of different protocols must not be compared. */
export const PROTOCOL = 5;

/** What limited a slice, or made it worthless. */
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
 * The columns of results/<run>.csv, each with the field of a slice that it holds. An empty field is null: not known, or not
 * so. New columns go to the end.
 */
export const COLUMNS = {
  Name: ["name", "text"],
  // What it was asked for, of a sequence perhaps one step.
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
  // Of all servers; 1 is the first of the run.
  Restart: ["restart", "number"],
  // Number in the run.
  Slice: ["slice", "number"],
  TargetRate: ["targetRate", "number?"],
  Verdict: ["verdict", "text"],
  MaxMs: ["maxMs", "number"],
  // CPU time of its busiest thread ÷ time, or of all its threads ÷ time and the cores they may use, whichever is more: 1 is
  // a server at its limit. From a server that only says its total: that ÷ time and workers.
  Utilization: ["utilization", "number?"],
  // Most resident memory since it was started.
  PeakRssBytes: ["peakRssBytes", "number?"],
  StartupMs: ["startupMs", "number?"],
  // CPU time of the load generator ÷ time; may exceed 1 on several cores; null if it runs elsewhere.
  GeneratorCpu: ["generatorCpu", "number?"],
  BytesPerRequest: ["bytesPerRequest", "number"],
  // Of `cpuUsPerRequest`: CPU µs that the kernel had, CPU µs of child processes that ended; context switches of the server.
  KernelUsPerRequest: ["kernelUsPerRequest", "number?"],
  ChildUsPerRequest: ["childUsPerRequest", "number?"],
  CollectorUsPerRequest: ["collectorUsPerRequest", "number?"],
  SwitchesPerRequest: ["switchesPerRequest", "number?"],
  // Part of the time in which the host or other processes had the cores of server or generator.
  TakenTime: ["taken", "number?"],
  // What its processes share is counted once (Linux: Pss).
  DatabaseBytes: ["databaseBytes", "number?"],
  // Of its connections to the database at a moment, on average: those that wait for locks, and for its next statement in a transaction.
  LockWaiters: ["lockWaiters", "number?"],
  IdleInTransaction: ["idleInTransaction", "number?"],
  Deadlocks: ["deadlocks", "number?"],
  // Name of the scenario: the endpoint, and which of several loads.
  Scenario: ["scenario", "text"],
  Level: ["level", "text?"],
  Step: ["step", "text?"],
  // Of a server of ours: its SERVER name, and what was chosen in place of its defaults.
  Server: ["server", "text?"],
  ChosenDriver: ["chosenDriver", "text?"],
  Settings: ["settings", "text?"],
  // The one that this is once more, under another name.
  TwinOf: ["twinOf", "text?"],
} as const satisfies Columns;

/** One server under load alone, without a pause: one row of results/<run>.csv. */
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

/** The columns of results/<run>.windows.csv, each with the field of a window that it holds. An empty field is null: not known. */
const WINDOW_COLUMNS = {
  // Of all servers; 1 is the first of the run.
  Restart: ["restart", "number"],
  Scenario: ["scenario", "text"],
  Name: ["name", "text"],
  // In a round every server has one window; from 1, in each restart and scenario.
  Round: ["round", "number"],
  // 1 if its round counts, 0 for a round before servers stopped to change.
  Counts: ["counts", "number"],
  // Until what was in flight at its end was answered.
  Seconds: ["seconds", "number"],
  Requests: ["requests", "number"],
  // CPU time of all processes of the server, and of those that work for it.
  CpuUs: ["cpuUs", "number?"],
  // Part of that used by its own database and pooler.
  DatabaseUs: ["databaseUs", "number?"],
  PoolerUs: ["poolerUs", "number?"],
} as const satisfies Columns;

/** One server under load for one window, alone: one row of results/<run>.windows.csv. */
export type Window = RowOf<typeof WINDOW_COLUMNS>;

/** Appends windows to the file of their run. */
export const appendWindows = (results: string, run: string, windows: readonly Window[]): void =>
  appendRows(runFile(results, run, "windows.csv"), WINDOW_COLUMNS, windows);

/** @returns the windows of one run, none before the first. @throws UsageError for a malformed file */
export function readWindows(results: string, run: string): Window[] {
  const file = findFile(results, run, "windows.csv");
  return file === null ? [] : readRows(file, WINDOW_COLUMNS);
}

/** Columns of results that others made: the first of ours. */
export const PLAIN_COLUMNS = Object.keys(COLUMNS).slice(0, 6);
/** A row with these columns only. */
export type PlainRow = Pick<Slice, "name" | "endpoint" | "requests" | "errors" | "averageMs" | "goodput">;

/** Whether a file has the first six columns and no others. */
export const isPlain = (file: string): boolean =>
  existsSync(file) &&
  statSync(file).isFile() &&
  String(readBytes(file, 0, 1_000)).split(/\r?\n/)[0] === PLAIN_COLUMNS.join();

export const readPlain = (file: string): PlainRow[] =>
  readRows(file, Object.fromEntries(Object.entries(COLUMNS).slice(0, 6)));
