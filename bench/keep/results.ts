/** results.csv: what each server did alone, one row per run, server and endpoint. */
import { closeSync, openSync, readFileSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import { lock } from "proper-lockfile";
import { UsageError } from "../../shared/errors.ts";
import { readBytes } from "../../shared/read-bytes.ts";
import { writeWhole } from "./files.ts";

export const RESULT_COLUMNS = [
  "Name",
  "Endpoint",
  "Requests",
  "Error Count",
  "AvgMs",
  "QPS",
  "P50Ms",
  "P90Ms",
  "P99Ms",
  "P999Ms",
  "CpuUsPerRequest",
  "CpuLow",
  "CpuHigh",
  "CpuToLeast",
  "Groups",
  "RssBytes",
  "Verdict",
  "Warming",
  "Run",
  "Host",
] as const;
export type ResultRow = Readonly<Record<(typeof RESULT_COLUMNS)[number], string | number | null>>;

const HEADER = stringify([RESULT_COLUMNS]);

/** @throws UsageError where `file` cannot be appended to, or holds other columns; before anything is measured. */
export function checkResults(file: string): void {
  if (!file.endsWith(".csv")) throw new UsageError(`--results "${file}": give a name that ends in .csv`);
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

/** Appends the rows of a run in place of those that it has there, whole, whoever else appends at the same time. */
export async function appendResults(file: string, run: string, rows: readonly ResultRow[]): Promise<void> {
  // Its real path is not asked for, as others replace the file meanwhile.
  const release = await lock(file, { realpath: false, retries: { retries: 100, minTimeout: 10, maxTimeout: 200 } });
  try {
    const others = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.includes(run));
    const before = others.length > 0 ? `${others.join("\n")}\n` : HEADER;
    writeWhole(file, before + stringify(rows.map((row) => RESULT_COLUMNS.map((column) => row[column]))));
  } finally {
    await release();
  }
}
