import { findFile, runFile } from "./files.ts";
import { appendRows, type Columns, readRows } from "./table.ts";

/** One server under load for one window, alone: one row of results/<run>.windows.csv. Null is an empty field: not known. */
export interface Window {
  /** Of all servers; 1 is the first of the run. */
  readonly restart: number;
  /** Name of the scenario. */
  readonly scenario: string;
  readonly name: string;
  /** In a round every server has one window; from 1, in each restart and scenario. */
  readonly round: number;
  /** 1 if its round counts, 0 for a round before servers stopped to change. */
  readonly counts: number;
  /** Until what was in flight at its end was answered. */
  readonly seconds: number;
  readonly requests: number;
  /** CPU time of all processes of the server, and of those that work for it. */
  readonly cpuUs: number | null;
  /** Part of that used by its own database and pooler. */
  readonly databaseUs: number | null;
  readonly poolerUs: number | null;
}

const COLUMNS: Columns<Window> = {
  Restart: ["restart", "number"],
  Scenario: ["scenario", "text"],
  Name: ["name", "text"],
  Round: ["round", "number"],
  Counts: ["counts", "number"],
  Seconds: ["seconds", "number"],
  Requests: ["requests", "number"],
  CpuUs: ["cpuUs", "number?"],
  DatabaseUs: ["databaseUs", "number?"],
  PoolerUs: ["poolerUs", "number?"],
};

/** Appends windows to the file of their run. */
export const appendWindows = (results: string, run: string, windows: readonly Window[]): void =>
  appendRows(runFile(results, run, "windows.csv"), COLUMNS, windows);

/** @returns the windows of one run, none before the first. @throws UsageError for a malformed file */
export function readWindows(results: string, run: string): Window[] {
  const file = findFile(results, run, "windows.csv");
  return file === null ? [] : readRows(file, COLUMNS);
}
