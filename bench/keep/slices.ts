import { existsSync, statSync } from "node:fs";
import { readBytes } from "../../shared/read-bytes.ts";
import type { Level } from "../plan/plan.ts";
import { findFile, runFile } from "./files.ts";
import { appendRows, type Columns, readRows } from "./table.ts";
import type { Verdict } from "./verdict.ts";

/** How a run measures: 5 is turns. Rows of different protocols must not be compared. */
export const PROTOCOL = 5;

/** One server under load alone, without a pause: one row of results/<run>.csv. Null is an empty field: not known, or not so. */
export interface Slice {
  readonly name: string;
  /** What it was asked for, of a sequence perhaps one step. */
  readonly endpoint: string;
  readonly step: string | null;
  /** Name of the scenario: the endpoint, and which of several loads. */
  readonly scenario: string;
  readonly level: Level["unit"] | null;
  readonly requests: number;
  readonly errors: number;
  readonly averageMs: number;
  /** 2xx answers per second. */
  readonly goodput: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly cpuUsPerRequest: number | null;
  readonly rssBytes: number | null;
  readonly connections: number;
  readonly sockets: number;
  readonly seconds: number;
  /** closed: as fast as answers come; open: at `targetRate`. */
  readonly kind: "closed" | "open";
  readonly run: string;
  readonly startedAt: string;
  readonly protocol: number;
  readonly runtime: string | null;
  readonly framework: string | null;
  readonly driver: string | null;
  readonly workers: number | null;
  /** Of a server of ours: its SERVER name, and what was chosen in place of its defaults. */
  readonly server: string | null;
  readonly chosenDriver: string | null;
  readonly settings: string | null;
  /** The one that this is once more, under another name. */
  readonly twinOf: string | null;
  readonly target: string;
  readonly host: string;
  /** Of all servers; 1 is the first of the run. */
  readonly restart: number;
  /** Number in the run. */
  readonly slice: number;
  readonly targetRate: number | null;
  /** What limited it. */
  readonly verdict: Verdict;
  readonly maxMs: number;
  /** How near the server was to its limit, 1 is at it: see Usage. */
  readonly utilization: number | null;
  readonly peakRssBytes: number | null;
  readonly startupMs: number | null;
  /** CPU time of the load generator ÷ time; may exceed 1 on several cores; null if it runs elsewhere. */
  readonly generatorCpu: number | null;
  readonly bytesPerRequest: number;
  /** CPU µs that the kernel had, CPU µs of child processes that ended; context switches of the server. */
  readonly kernelUsPerRequest: number | null;
  readonly childUsPerRequest: number | null;
  readonly switchesPerRequest: number | null;
  /** Part of the time in which the host or other processes had the cores of server or generator. */
  readonly taken: number | null;
  /** Memory of its database. */
  readonly databaseBytes: number | null;
  /** Of its connections to the database at a moment, on average: those that wait for locks, and for its next statement in a transaction. */
  readonly lockWaiters: number | null;
  readonly idleInTransaction: number | null;
  readonly deadlocks: number | null;
}

/** The columns of results/<run>.csv. New ones go to the end. */
export const COLUMNS: Columns<Slice> = {
  Name: ["name", "text"],
  Endpoint: ["endpoint", "text"],
  Requests: ["requests", "number"],
  "Error Count": ["errors", "number"],
  AvgMs: ["averageMs", "number"],
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
  Restart: ["restart", "number"],
  Slice: ["slice", "number"],
  TargetRate: ["targetRate", "number?"],
  Verdict: ["verdict", "text"],
  MaxMs: ["maxMs", "number"],
  Utilization: ["utilization", "number?"],
  PeakRssBytes: ["peakRssBytes", "number?"],
  StartupMs: ["startupMs", "number?"],
  GeneratorCpu: ["generatorCpu", "number?"],
  BytesPerRequest: ["bytesPerRequest", "number"],
  KernelUsPerRequest: ["kernelUsPerRequest", "number?"],
  ChildUsPerRequest: ["childUsPerRequest", "number?"],
  SwitchesPerRequest: ["switchesPerRequest", "number?"],
  TakenTime: ["taken", "number?"],
  DatabaseBytes: ["databaseBytes", "number?"],
  LockWaiters: ["lockWaiters", "number?"],
  IdleInTransaction: ["idleInTransaction", "number?"],
  Deadlocks: ["deadlocks", "number?"],
  Scenario: ["scenario", "text"],
  Level: ["level", "text?"],
  Step: ["step", "text?"],
  Server: ["server", "text?"],
  ChosenDriver: ["chosenDriver", "text?"],
  Settings: ["settings", "text?"],
  TwinOf: ["twinOf", "text?"],
};

/** Appends rows to the file of their run. @param slices of one run */
export const appendSlices = (results: string, slices: readonly Slice[]): void =>
  appendRows(runFile(results, slices[0]?.run ?? "", "csv"), COLUMNS, slices);

/** @returns the slices of one run, in the order in which they were measured; none before the first. @throws UsageError for a malformed file. */
export const readSlices = (results: string, run: string): Slice[] => {
  const file = findFile(results, run, "csv");
  return file === null ? [] : readRows(file, COLUMNS);
};

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
  readRows<PlainRow>(file, Object.fromEntries(Object.entries(COLUMNS).slice(0, 6)) as Columns<PlainRow>);
