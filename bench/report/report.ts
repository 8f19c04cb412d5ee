import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { analyse, inOrder, NOTHING, type Table } from "../analysis.ts";
import { type MainEffect, mainEffects } from "../effects.ts";
import { type Histogram, percentile } from "../load/histogram.ts";
import { manifestFile, readResults, type Slice } from "../results.ts";
import type { Manifest } from "../session.ts";
import { answerOf } from "./answer.ts";

/** All that is shown of a run, whatever shows it. */
export interface Report {
  readonly run: string;
  readonly host: string;
  readonly protocol: number;
  readonly connections: number;
  /** Null where results/<run>.json is missing: histograms, calibration and versions are then not known. */
  readonly manifest: Manifest | null;
  readonly answer: readonly string[];
  readonly endpoints: readonly Endpoint[];
  /** The endpoint after which memory is shown: the one that needs most of it. */
  readonly servers: Endpoint;
}

/** What is shown of an endpoint. */
export interface Endpoint extends Table {
  readonly effects: readonly MainEffect[];
  /** Latency at each of PERCENTILES, ms; of servers whose histograms are known. */
  readonly curves: readonly { readonly name: string; readonly ms: readonly number[] }[];
}

/** Where the curve of latencies is drawn. */
export const PERCENTILES = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9];

/**
 * @param run the newest one of the file if absent
 * @throws UsageError for a file that is malformed or has no such run.
 */
export function readReport(file: string, run?: string): Report {
  const all = readResults(file);
  const chosen = run ?? newest(all);
  const slices = all.filter((slice) => slice.run === chosen);
  if (chosen === undefined) throw new UsageError(`${file} has no rows: ./bench.sh appends them`);
  if (slices.length === 0) {
    throw new UsageError(`--run "${chosen}" is not in ${file}: its Run column has ${runsOf(all).slice(-5).join(", ")}`);
  }
  const manifest = manifestFile(file, chosen);
  return reportOf(slices, existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : null);
}

/** Oldest first. */
export const runsOf = (slices: readonly Slice[]): string[] => [...new Set(slices.map(({ run }) => run))].sort();
const newest = (slices: readonly Slice[]) => runsOf(slices).at(-1);

/** @param measured slices of one run, in any order. */
export function reportOf(measured: readonly Slice[], manifest: Manifest | null): Report {
  const slices = inOrder(measured);
  const first = slices[0] as Slice;
  const tables = analyse(slices, manifest ?? NOTHING);
  const endpoints = tables.map((table): Endpoint => {
    const solos = slices.filter(({ kind, endpoint }) => kind !== "duet" && endpoint === table.endpoint);
    const curves = table.rows.flatMap(({ name }) => {
      const histogram: Histogram | undefined = manifest?.histograms[name]?.[table.endpoint];
      return histogram ? [{ name, ms: PERCENTILES.map((p) => percentile(histogram, p) * 1e3) }] : [];
    });
    return { ...table, effects: mainEffects(table, solos), curves };
  });
  return {
    run: first.run,
    host: first.host,
    protocol: first.protocol,
    connections: slices.reduce(
      (most, { kind, connections }) => (kind === "duet" ? most : Math.max(most, connections)),
      0,
    ),
    manifest,
    answer: answerOf(endpoints, manifest),
    endpoints,
    servers: endpoints.find(({ endpoint }) => endpoint === "/sqlite/random-30fields/10") ?? (endpoints[0] as Endpoint),
  };
}
