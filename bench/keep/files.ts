/** Files of runs: results.csv, and beside it a folder of the same name with three files per run. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { UsageError } from "../../shared/errors.ts";

/** Default of --results: the summary of all runs. The Docker image sets another. */
export const RESULTS = process.env.RESULTS || "results.csv";
/** Runs that README and docs show, packed by zstd. */
export const PUBLISHED = "docs/runs";

/** @param results a file such as results.csv, or the folder itself */
export const foldersOf = (results: string): string[] => [
  results.replace(/\.csv$/, ""),
  ...(results === RESULTS ? [PUBLISHED] : []),
];

/** The slices, the windows, and the manifest. */
export const KINDS = ["csv", "windows.csv", "json"] as const;
type Kind = (typeof KINDS)[number];

const nameOf = (run: string, kind: Kind) => `${run.replaceAll(":", "")}.${kind}`;

/** @returns where a file of a run is written. */
export const runFile = (results: string, run: string, kind: Kind): string =>
  join(foldersOf(results)[0] as string, nameOf(run, kind));

/** @returns the path of a file of a run, packed or not; null if it is missing. */
export function findFile(results: string, run: string, kind: Kind): string | null {
  const files = foldersOf(results).map((folder) => join(folder, nameOf(run, kind)));
  return files.flatMap((file) => [file, `${file}.zst`]).find((file) => existsSync(file)) ?? null;
}

/** All runs, oldest first. */
export function runsIn(results: string): string[] {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const names = foldersOf(results).flatMap((folder) => (isFolder(folder) ? readdirSync(folder) : []));
  const runs = names.flatMap((name) => /^(.*)(?<!\.windows)\.csv(?:\.zst)?$/.exec(name)?.[1] ?? []);
  return [...new Set(runs)].sort().map((run) => run.replace(/T(\d\d)(\d\d)(\d\d)/, "T$1:$2:$3"));
}

/** @returns the text of a file that may be packed. */
export function readText(file: string): string {
  const bytes = readFileSync(file);
  return (file.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes).toString();
}

/** Mode of a file that only its user may read. */
export const PRIVATE = 0o600;

/** Replaces a file as a whole, so that it is valid at every moment. @param mode by default as the user has set it */
export function writeWhole(file: string, text: string | Uint8Array, mode?: number): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text, { mode });
  if (mode !== undefined) chmodSync(`${file}.new`, mode); // it may have been left by an earlier run
  renameSync(`${file}.new`, file);
}

/** The same. @throws UsageError if the file cannot be written. */
export function write(file: string, text: string, mode?: number): void {
  try {
    writeWhole(file, text, mode);
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message})`);
  }
}

/** Rounds a number, unless it is an integer, to six significant digits: no measurement has more, and files stay small. */
export const rounded = <T>(value: T, digits = 6): T | number =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(digits)) : value;

/** @returns JSON with rounded numbers. */
export const shortJson = (value: unknown, digits?: number): string =>
  JSON.stringify(value, (_, one) => rounded(one, digits));
