import { WORKLOADS, type Workload } from "../ask/endpoints.ts";
import { stackOf } from "../ask/targets.ts";
import type { MainEffect } from "../judge/effects.ts";
import type { Findings } from "../judge/findings.ts";
import type { Table } from "../judge/tables.ts";
import type { Manifest } from "../keep/manifest.ts";

/** What a terminal, Markdown or a page shows of a run. */
export interface Report {
  readonly run: string;
  readonly host: string;
  readonly machineName: string;
  readonly protocol: number;
  readonly connections: number;
  /** Null if results/<run>.json is missing: histograms, calibration and versions are then not known. */
  readonly manifest: Manifest | null;
  /** What the machine was, in plain words. */
  readonly machine: readonly string[];
  readonly findings: Findings;
  readonly endpoints: readonly Endpoint[];
  /** The endpoint after which memory is shown: the one that needs most of it. */
  readonly servers: Endpoint;
}

/** What is shown of an endpoint. */
export interface Endpoint extends Table {
  readonly effects: readonly MainEffect[];
  /** What the steps of a sequence saw. */
  readonly steps: readonly Table[];
  /** Latency at each of PERCENTILES, ms; of servers whose histograms are known. */
  readonly curves: readonly { readonly name: string; readonly ms: readonly number[] }[];
}

/** Where the curve of latencies is drawn. */
export const PERCENTILES = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9];

/** What a run is of: its workload, with servers in other languages or not; SQLite drivers; a fixed rate; the highest rate that keeps a promise. */
export type Kind = Workload | `stacks-${Workload}` | "drivers" | "stacks-rate" | "capacity";

/** @returns the newest of each kind. @param reports oldest first */
export const newestOf = (reports: readonly Report[]): Map<Kind, Report> =>
  new Map(reports.map((report) => [kindOf(report), report]));

export function kindOf({ endpoints, manifest }: Report): Kind {
  if (Object.keys(manifest?.capacities ?? {}).length > 0) return "capacity";
  const names = new Set(endpoints.map(({ base }) => base));
  const workloads = Object.keys(WORKLOADS) as Workload[];
  const workload =
    workloads.find((workload) => WORKLOADS[workload].endpoints.some((endpoint) => names.has(endpoint))) ?? "read";
  const rows = endpoints.flatMap(({ rows }) => rows);
  if (!rows.some(({ server }) => stackOf(server ?? "")))
    return workload === "read" && rows.some(({ chosenDriver }) => chosenDriver !== null) ? "drivers" : workload;
  return endpoints.every(({ load }) => load === "open") ? "stacks-rate" : `stacks-${workload}`;
}
