import { appendFileSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { UsageError } from "../../shared/errors.ts";
import { readBytes } from "../../shared/read-bytes.ts";
import type { Verdict } from "../judge/verdict.ts";
import { findFile, readText, rounded, runFile } from "./files.ts";

/** How slices are made. Rows of different protocols must not be compared. */
export const PROTOCOL = 4;

/** One target under load at one endpoint: one row of results/<run>.csv. Null is an empty field: not known, or not so. */
export interface Slice {
  readonly name: string;
  readonly endpoint: string;
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
  /** duet: beside `partner`, at the same moment; closed: alone, as fast as answers come; open: alone, at `targetRate`. */
  readonly kind: "duet" | "closed" | "open";
  readonly run: string;
  readonly startedAt: string;
  readonly protocol: number;
  readonly runtime: string | null;
  readonly framework: string | null;
  readonly driver: string | null;
  readonly workers: number | null;
  readonly target: string;
  readonly host: string;
  /** Restart of the servers; 1 is the first of the run. */
  readonly block: number;
  /** Number in the run; the two rows of a duet share it. */
  readonly slice: number;
  readonly partner: string | null;
  readonly targetRate: number | null;
  /** What limited a solo slice; `void` for a duet that must not be used. */
  readonly verdict: Verdict | "void" | null;
  readonly maxMs: number;
  /** How near the server was to its limit, 1 is at it: see Usage. */
  readonly utilization: number | null;
  readonly peakRssBytes: number | null;
  readonly startupMs: number | null;
  /** CPU time of the load generator ÷ time; may exceed 1 on several cores; null where it runs elsewhere. */
  readonly generatorCpu: number | null;
  readonly bytesPerRequest: number;
  /** CPU µs of `cpuUsPerRequest` that the kernel had; page faults and context switches of the server. */
  readonly kernelUsPerRequest: number | null;
  readonly faultsPerRequest: number | null;
  readonly switchesPerRequest: number | null;
  /** Part of the time in which the host or other processes had the cores of server or generator. */
  readonly taken: number | null;
  /** Whether its cost had stopped to change when the slices of this endpoint and block began. */
  readonly warm: "steady" | "warming" | null;
  /** Of `cpuUsPerRequest`, what a database and a pooler of its own had; memory of that database. */
  readonly databaseUsPerRequest: number | null;
  readonly poolerUsPerRequest: number | null;
  readonly databaseBytes: number | null;
  /** Of its connections at a moment, on average, while it is alone: those that wait for locks, and for its next statement in a transaction. */
  readonly lockWaiters: number | null;
  readonly idleInTransaction: number | null;
  readonly deadlocks: number | null;
}

/**
 * What a column holds; with `?` it is empty in some rows: of duets, of servers that do not say what they are, of remote ones;
 * and may be missing in a file, as those of a run before the column was there.
 */
type Content = "text" | "text?" | "number" | "number?";

/**
 * The columns of results/<run>.csv, the field of a slice that each holds, and what that is. New ones go to the end.
 */
export const COLUMNS: Readonly<Record<string, readonly [field: keyof Slice, content: Content]>> = {
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
  Block: ["block", "number"],
  Slice: ["slice", "number"],
  Partner: ["partner", "text?"],
  TargetRate: ["targetRate", "number?"],
  Verdict: ["verdict", "text?"],
  MaxMs: ["maxMs", "number"],
  BusiestThread: ["utilization", "number?"],
  PeakRssBytes: ["peakRssBytes", "number?"],
  StartupMs: ["startupMs", "number?"],
  GeneratorCpu: ["generatorCpu", "number?"],
  BytesPerRequest: ["bytesPerRequest", "number"],
  KernelUsPerRequest: ["kernelUsPerRequest", "number?"],
  FaultsPerRequest: ["faultsPerRequest", "number?"],
  SwitchesPerRequest: ["switchesPerRequest", "number?"],
  TakenTime: ["taken", "number?"],
  Warm: ["warm", "text?"],
  DatabaseUsPerRequest: ["databaseUsPerRequest", "number?"],
  PoolerUsPerRequest: ["poolerUsPerRequest", "number?"],
  DatabaseBytes: ["databaseBytes", "number?"],
  LockWaiters: ["lockWaiters", "number?"],
  IdleInTransaction: ["idleInTransaction", "number?"],
  Deadlocks: ["deadlocks", "number?"],
};

const HEADER = stringify([Object.keys(COLUMNS)]);

/** Appends rows to the file of their run. @param slices of one run */
export function appendSlices(results: string, slices: readonly Slice[]): void {
  const file = runFile(results, slices[0]?.run ?? "", "csv");
  const rows = slices.map((slice) => Object.values(COLUMNS).map(([field]) => rounded(slice[field])));
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, (existsSync(file) ? "" : HEADER) + stringify(rows));
}

/** @returns the slices of one run, in the order in which they were measured; none before the first. @throws UsageError for a malformed file. */
export const readSlices = (results: string, run: string): Slice[] => {
  const file = findFile(results, run, "csv");
  return file === null ? [] : (readTable(file, COLUMNS) as unknown as Slice[]);
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
  readTable(file, Object.fromEntries(Object.entries(COLUMNS).slice(0, 6))) as unknown as PlainRow[];

/** @throws UsageError naming file, line, column and value where something is not as it should be. */
function readTable(file: string, columns: typeof COLUMNS): Record<string, string | number | null>[] {
  const wanted = Object.entries(columns);
  const problem = (line: number, what: string) => new UsageError(`${file}, line ${line}: ${what}`);
  const check = (head: string[]): string[] => {
    const missing = wanted.find(([name, [, content]]) => !content.endsWith("?") && !head.includes(name));
    if (missing) throw problem(1, `there is no column "${missing[0]}": it does not come from ./bench.sh`);
    return head;
  };
  let records: { record: Record<string, string>; info: { lines: number } }[];
  try {
    records = parse(readText(file), { columns: check, info: true, bom: true, skip_empty_lines: true });
  } catch (error) {
    if (error instanceof CsvError) throw problem(Number(error.lines), error.message);
    throw error instanceof UsageError
      ? error
      : new UsageError(`"${file}" cannot be read (${(error as Error).message})`);
  }
  return records.map(({ record, info: { lines } }) => {
    const fields = wanted.map(([column, [field, kind]]) => {
      const text = record[column] ?? "";
      const content = text === "" ? null : kind.startsWith("text") ? text : Number(text);
      if (typeof content === "number" && !(content >= 0 && content < Number.POSITIVE_INFINITY))
        throw problem(lines, `column ${column}: "${record[column]}" is not 0 or a positive number`);
      if (content === null && !kind.endsWith("?")) throw problem(lines, `column ${column} is empty`);
      if (column === "Kind" && !KINDS.has(content))
        throw problem(lines, `column Kind: "${content}" is not ${[...KINDS].join(", ")}`);
      return [field, content] as const;
    });
    return Object.fromEntries(fields);
  });
}

const KINDS = new Set<unknown>(["duet", "closed", "open"] satisfies Slice["kind"][]);
