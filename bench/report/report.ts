import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { analyse, inOrder, NOTHING, type Table } from "../analysis.ts";
import { type MainEffect, mainEffects } from "../effects.ts";
import { type Histogram, percentile } from "../load/histogram.ts";
import { isStep, WORKLOADS, type Workload } from "../plan.ts";
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
  /** Of a sequence: what its steps saw. */
  readonly steps: readonly Table[];
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
  return reportOf(slices, manifestOf(file, chosen));
}

/** What a run is of: its workload, or the highest rate that keeps a promise. */
export type Kind = Workload | "capacity";

/** @returns the newest run of each kind that `file` has. @throws UsageError as readReport */
export function newestReports(file: string): Map<Kind, Report> {
  const byRun = Map.groupBy(readResults(file), ({ run }) => run);
  const reports = [...byRun]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([run, slices]) => reportOf(slices, manifestOf(file, run)));
  return new Map(reports.map((report) => [kindOf(report), report]));
}

function kindOf({ endpoints, manifest }: Report): Kind {
  if (Object.keys(manifest?.capacities ?? {}).length > 0) return "capacity";
  const names = new Set(endpoints.map(({ endpoint }) => endpoint));
  const workloads = Object.keys(WORKLOADS) as Workload[];
  return workloads.find((workload) => WORKLOADS[workload].endpoints.some((endpoint) => names.has(endpoint))) ?? "read";
}

function manifestOf(file: string, run: string): Manifest | null {
  const manifest = manifestFile(file, run);
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : null;
}

/** Oldest first. */
export const runsOf = (slices: readonly Slice[]): string[] => [...new Set(slices.map(({ run }) => run))].sort();
const newest = (slices: readonly Slice[]) => runsOf(slices).at(-1);

/** @param measured slices of one run, in any order. */
export function reportOf(measured: readonly Slice[], manifest: Manifest | null): Report {
  // While a capacity is searched each slice has another rate.
  const searched = Object.keys(manifest?.capacities ?? {}).length > 0;
  const slices = inOrder(searched ? measured.filter(({ kind }) => kind === "closed") : measured);
  const first = slices[0] as Slice;
  const tables = analyse(slices, manifest ?? NOTHING);
  const endpoints = tables
    .filter(({ endpoint }) => !isStep(endpoint))
    .map((table): Endpoint => {
      const solos = slices.filter(({ kind, endpoint }) => kind !== "duet" && endpoint === table.endpoint);
      const curves = table.rows.flatMap(({ name }) => {
        const histogram: Histogram | undefined = manifest?.histograms[name]?.[table.endpoint];
        return histogram ? [{ name, ms: PERCENTILES.map((p) => percentile(histogram, p) * 1e3) }] : [];
      });
      const steps = tables.filter(({ endpoint }) => isStep(endpoint) && endpoint.startsWith(table.endpoint));
      return { ...table, effects: mainEffects(table, solos), steps, curves };
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
