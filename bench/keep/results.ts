/** results.csv: a summary with one row per run, server and endpoint. */
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { parse } from "csv-parse/sync";
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

/** Called before anything is measured. @throws UsageError if `file` cannot be appended to, or has other columns. */
export function checkResults(file: string): void {
  if (!file.endsWith(".csv")) throw new UsageError(`--results "${file}": give a name that ends in .csv`);
  try {
    closeSync(openSync(file, "a"));
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message}): choose another with --results`);
  }
  // A spreadsheet may have written a byte order mark, other line ends and quotes.
  const [head = ""] = String(readBytes(file, 0, 4 * Buffer.byteLength(HEADER))).split(/\r?\n/);
  const columns: string[] = head === "" ? [] : (parse(head, { bom: true, relax_quotes: true })[0] ?? []);
  if (columns.length === 0 || columns.join() === RESULT_COLUMNS.join()) return;
  if (columns.length === 1)
    throw new UsageError(
      `"${file}" has no commas in its first line: save it with commas, or choose another with --results`,
    );
  throw new UsageError(`"${file}" has other columns: move it away, or choose another with --results`);
}

/** Whether there is a file that begins with anything but the columns of results.csv. */
export function isOther(file: string): boolean {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  // A spreadsheet may have added a byte order mark and quotes.
  const head = String(readBytes(file, 0, 4 * Buffer.byteLength(HEADER))).replaceAll(/["\uFEFF]/g, "");
  return head !== "" && !head.startsWith(RESULT_COLUMNS.join());
}

/** Appends the rows of a run and removes its older ones. The file is locked and replaced as a whole, because other runs may append too. */
export async function appendResults(file: string, run: string, rows: readonly ResultRow[]): Promise<void> {
  // Without realpath, because another run may be replacing the file.
  const release = await lock(file, { realpath: false, retries: { retries: 100, minTimeout: 10, maxTimeout: 200 } });
  try {
    const text = readFileSync(file, "utf8");
    const end = text.includes("\r\n") ? "\r\n" : "\n";
    const others = text.split(/\r?\n/).filter((line) => line !== "" && !line.includes(run));
    const before = others.length > 0 ? [...others, ""].join(end) : HEADER;
    const added = stringify(
      rows.map((row) => RESULT_COLUMNS.map((column) => row[column])),
      { record_delimiter: end },
    );
    writeWhole(file, before + added);
  } finally {
    await release();
  }
}
