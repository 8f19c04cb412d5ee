import { findFile, runFile } from "./files.ts";
import { appendRows, type Columns, type RowOf, readRows } from "./table.ts";

/** The columns of results/<run>.windows.csv, each with the field of a window that it holds. An empty field is null: not known. */
const COLUMNS = {
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
export type Window = RowOf<typeof COLUMNS>;

/** Appends windows to the file of their run. */
export const appendWindows = (results: string, run: string, windows: readonly Window[]): void =>
  appendRows(runFile(results, run, "windows.csv"), COLUMNS, windows);

/** @returns the windows of one run, none before the first. @throws UsageError for a malformed file */
export function readWindows(results: string, run: string): Window[] {
  const file = findFile(results, run, "windows.csv");
  return file === null ? [] : readRows(file, COLUMNS);
}
