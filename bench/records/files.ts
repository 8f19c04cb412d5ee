/** Where runs are kept: results.csv has a folder of the same name beside it, with two files per run. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";

/** The file that runs are summed up in unless --results names another. */
export const RESULTS = "results.csv";
/** Runs that README and docs show, packed by gzip. */
export const PUBLISHED = "docs/runs";

/** @param results a file such as results.csv, or the folder itself */
export const foldersOf = (results: string): string[] => [
  results.replace(/\.csv$/, ""),
  ...(results === RESULTS ? [PUBLISHED] : []),
];

/** @returns `<run>.csv`, the slices, or `<run>.json`, the manifest: where it is, else where it is to be. */
export function runFile(results: string, run: string, kind: "csv" | "json"): string {
  const files = foldersOf(results).flatMap((folder) =>
    ["", ".gz"].map((packed) => join(folder, `${run.replaceAll(":", "")}.${kind}${packed}`)),
  );
  return files.find((file) => existsSync(file)) ?? (files[0] as string);
}

/** The slices of every run, oldest first. */
export const runFiles = (results: string): string[] =>
  foldersOf(results)
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => /\.csv(\.gz)?$/.test(name))
        .sort()
        .map((name) => join(folder, name)),
    );

/** @returns the text of a file that may be packed. */
export function readText(file: string): string {
  const bytes = readFileSync(file);
  return (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
}

/** Replaces a file as a whole, so that it is valid at every moment. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** Six significant digits of a number that is no integer: as many as a measurement has, and files stay small. */
export const sixDigits = <T>(value: T): T | number =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

/** @returns JSON with such numbers. */
export const shortJson = (value: unknown): string => JSON.stringify(value, (_, one) => sixDigits(one));
