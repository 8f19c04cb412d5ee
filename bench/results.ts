import { appendFileSync, closeSync, openSync } from "node:fs";
import { hostname } from "node:os";
import { stringify } from "csv-stringify/sync";
import { lock } from "proper-lockfile";
import { UsageError } from "../shared/errors.ts";
import { readBytes } from "../shared/read-bytes.ts";
import type { Load } from "./load/fortio.ts";
import type { Target } from "./targets/target.ts";

/** How slices are made. Rows of different protocols must not be compared. */
export const PROTOCOL = 1;

/** One target under load at one endpoint. */
export interface Slice {
  readonly run: string;
  readonly target: Target;
  readonly endpoint: string;
  readonly connections: number;
  readonly load: Load;
  /** CPU time of the whole server per request, null where it does not say. */
  readonly cpuUsPerRequest: number | null;
  /** Resident memory of the whole server after the slice, null where it does not say. */
  readonly rssBytes: number | null;
}

type Value = string | number | null | undefined;

const decimals = (value: number | null, places: number): Value =>
  value === null ? null : Number(value.toFixed(places));

/** The columns of results.csv, each with the value it has for a slice. New ones go to the end, with a new PROTOCOL. */
export const COLUMNS: Readonly<Record<string, (slice: Slice) => Value>> = {
  Name: ({ target }) => target.name,
  Endpoint: ({ endpoint }) => endpoint,
  Requests: ({ load }) => load.requests,
  "Error Count": ({ load }) => load.errors,
  AvgMs: ({ load }) => decimals(load.averageMs, 4),
  QPS: ({ load }) => decimals(load.goodput, 1),
  P50Ms: ({ load }) => decimals(load.percentilesMs[50], 4),
  P90Ms: ({ load }) => decimals(load.percentilesMs[90], 4),
  P99Ms: ({ load }) => decimals(load.percentilesMs[99], 4),
  P999Ms: ({ load }) => decimals(load.percentilesMs[99.9], 4),
  CpuUsPerRequest: ({ cpuUsPerRequest }) => decimals(cpuUsPerRequest, 3),
  RssBytes: ({ rssBytes }) => rssBytes,
  Connections: ({ connections }) => connections,
  Sockets: ({ load }) => load.sockets,
  Seconds: ({ load }) => decimals(load.seconds, 3),
  Kind: () => "closed",
  Run: ({ run }) => run,
  StartedAt: ({ load }) => load.startedAt,
  Protocol: () => PROTOCOL,
  Runtime: ({ target }) => target.identity && `${target.identity.runtime.name} ${target.identity.runtime.version}`,
  Framework: ({ target }) =>
    target.identity && [target.identity.framework.name, target.identity.framework.version].join(" ").trim(),
  Driver: ({ target }) => target.identity && `${target.identity.driver.name} ${target.identity.driver.sqlite}`,
  Workers: ({ target }) => target.identity?.workers,
  Target: ({ target }) => target.url,
  Host: () => hostname(),
};

const HEADER = stringify([Object.keys(COLUMNS)]);

/** @throws UsageError where `file` cannot be appended to, or holds other columns; before anything is measured. */
export function checkResults(file: string): void {
  try {
    closeSync(openSync(file, "a"));
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message}): choose another with --results`);
  }
  const head = String(readBytes(file, 0, Buffer.byteLength(HEADER)));
  if (head !== "" && head !== HEADER) {
    throw new UsageError(`"${file}" has other columns: move it away, or choose another with --results`);
  }
}

/** Appends one row, whole, whoever else appends at the same time. */
export async function appendSlice(file: string, slice: Slice): Promise<void> {
  const release = await lock(file, { retries: { retries: 100, minTimeout: 10, maxTimeout: 200 } });
  try {
    const last = String(readBytes(file, -1, 1));
    const start = last === "" ? HEADER : last === "\n" ? "" : "\n";
    appendFileSync(file, start + stringify([Object.values(COLUMNS).map((value) => value(slice))]));
  } finally {
    await release();
  }
}
