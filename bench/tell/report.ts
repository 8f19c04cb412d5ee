/** The data of a report, from the files of a run. */
import { UsageError } from "../../shared/errors.ts";
import { WORKLOADS, type Workload } from "../ask/endpoints.ts";
import { stackOf } from "../ask/targets.ts";
import { type MainEffect, mainEffects } from "../judge/effects.ts";
import { type Findings, findingsOf } from "../judge/findings.ts";
import { analyse, inOrder, type Measurements, NOTHING, type Table } from "../judge/tables.ts";
import { foldersOf, RESULTS, rounded, runsIn } from "../keep/files.ts";
import { type Manifest, manifestOf } from "../keep/manifest.ts";
import { isOther, type ResultRow } from "../keep/results.ts";
import { withoutSecrets } from "../keep/secrets.ts";
import { readSlices, readWindows, type Slice } from "../keep/slices.ts";
import { percentile } from "../load/histogram.ts";
import { warmingWords } from "./format.ts";
import { machineLines, machineNameOf } from "./machine.ts";
import type { Line } from "./text.ts";

export interface Report {
  readonly run: string;
  readonly host: string;
  readonly machineName: string;
  readonly protocol: number;
  readonly connections: number;
  /** Null if results/<run>.json is missing: histograms, calibration and versions are then not known. */
  readonly manifest: Manifest | null;
  /** Description of the machine; empty if unknown. */
  readonly machine: readonly Line[];
  readonly findings: Findings;
  readonly endpoints: readonly Endpoint[];
  /** The endpoint after which memory is shown: the one that needs most of it. */
  readonly servers: Endpoint;
}

export interface Endpoint extends Table {
  readonly effects: readonly MainEffect[];
  readonly steps: readonly Table[];
  /** Latency in ms at each of PERCENTILES, for servers whose histograms are known. */
  readonly curves: readonly { readonly name: string; readonly ms: readonly number[] }[];
}

export const PERCENTILES = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9];

/** @param run the newest one if absent @throws UsageError for a file that is malformed, or if there is no such run. */
export function readReport(file: string, run?: string): Report {
  const runs = runsOf(file);
  const chosen = run ?? (runs.at(-1) as string);
  const slices = readSlices(file, chosen);
  if (slices.length > 0) return reportOf({ slices, windows: readWindows(file, chosen) }, manifestOf(file, chosen));
  throw new UsageError(
    runs.includes(chosen)
      ? `run ${chosen} has no rows: choose another with --run`
      : `there is no run "${chosen}": choose from ${runs.slice(-5).join(", ")}`,
  );
}

/** Oldest first. @throws UsageError if there is none, or if it is no results file */
export function runsOf(file: string): string[] {
  const runs = runsIn(file);
  if (runs.length > 0) return runs;
  if (isOther(file))
    throw new UsageError(`"${file}" does not come from ./bench.sh: give a file that --results wrote, e.g. ${RESULTS}`);
  throw new UsageError(`no run in ${foldersOf(file).join(" or ")}: ./bench.sh measures one`);
}

export function reportOf(measured: Measurements, written: Manifest | null): Report {
  const manifest = written && withoutSecrets(written);
  // Leaves out the slices of a capacity search, because each has another rate.
  const searched = Object.keys(manifest?.capacities ?? {}).length > 0;
  const slices = inOrder(searched ? measured.slices.filter(({ kind }) => kind === "closed") : measured.slices);
  const first = slices[0] as Slice;
  const tables = analyse({ ...measured, slices }, manifest ?? NOTHING);
  const whole = tables.filter(({ step }) => step === null);
  const endpoints = whole.map((table): Endpoint => {
    const curves = table.rows.flatMap(({ name }) => {
      const histogram = manifest?.histograms[name]?.[table.endpoint];
      return histogram ? [{ name, ms: PERCENTILES.map((p) => percentile(histogram, p) * 1e3) }] : [];
    });
    const steps = tables.filter(({ step, base }) => step !== null && base === table.base);
    return { ...table, effects: mainEffects(table, whole.length), steps, curves };
  });
  return {
    run: first.run,
    host: first.host,
    machineName: machineNameOf(manifest, first.host),
    protocol: first.protocol,
    connections: slices.reduce((most, { connections }) => Math.max(most, connections), 0),
    manifest,
    machine: manifest?.machine ? machineLines(manifest, slices) : [],
    findings: findingsOf(whole, slices, manifest),
    endpoints,
    servers: endpointOr(endpoints, "/sqlite/random-30fields/10"),
  };
}

/** The endpoint to show if there is room for one. */
export const TYPICAL = "/sqlite/random-5fields/5";
export const endpointOr = (endpoints: readonly Endpoint[], wanted: string): Endpoint =>
  endpoints.find(({ endpoint }) => endpoint === wanted) ?? (endpoints[0] as Endpoint);

export const costWord = (endpoints: readonly Pick<Table, "by">[]): "CPU time" | "time" =>
  endpoints.every(({ by }) => by === "cpu") ? "CPU time" : "time";

export const twinsAmong = (endpoints: readonly Pick<Table, "rows">[]): Set<string> =>
  new Set(endpoints.flatMap(({ rows }) => rows.flatMap(({ name, twinOf }) => (twinOf ? [name] : []))));

/** What a run measures: a workload, `stacks-` if with other languages; SQLite drivers; a fixed rate; the highest rate that keeps a promise. */
export type Kind = Workload | `stacks-${Workload}` | "drivers" | "stacks-rate" | "capacity";

/** @returns the newest of each kind. @param reports oldest first */
export const newestOf = (reports: readonly Report[]): Map<Kind, Report> =>
  new Map(reports.map((report) => [kindOf(report), report]));

export function kindOf({ endpoints, manifest }: Report): Kind {
  if (Object.keys(manifest?.capacities ?? {}).length > 0) return "capacity";
  const names = new Set(endpoints.map(({ base }) => base));
  const workloads = Object.keys(WORKLOADS) as Workload[];
  const workload = workloads.find((one) => WORKLOADS[one].endpoints.some((endpoint) => names.has(endpoint))) ?? "read";
  const rows = endpoints.flatMap(({ rows }) => rows);
  if (!rows.some(({ server }) => stackOf(server ?? "")))
    return workload === "read" && rows.some(({ chosenDriver }) => chosenDriver !== null) ? "drivers" : workload;
  return endpoints.every(({ load }) => load === "open") ? "stacks-rate" : `stacks-${workload}`;
}

export function resultRows({ endpoints, run, host }: Report): ResultRow[] {
  return endpoints.flatMap(({ endpoint, rows }) =>
    rows.map((row) => ({
      Name: row.name,
      Endpoint: endpoint,
      Requests: row.requests,
      "Error Count": row.errors,
      AvgMs: short(row.averageMs),
      QPS: short(row.perSecond),
      P50Ms: short(row.latencyMs[50].estimate),
      P90Ms: short(row.latencyMs[90].estimate),
      P99Ms: short(row.latencyMs[99].estimate),
      P999Ms: short(row.latencyMs[99.9].estimate),
      CpuUsPerRequest: short(row.cpuUsPerRequest?.estimate),
      CpuLow: short(row.cpuUsPerRequest?.low),
      CpuHigh: short(row.cpuUsPerRequest?.high),
      CpuToLeast: short(row.standing?.ratioToBest.estimate),
      Groups: row.standing?.groups ?? null,
      RssBytes: short(row.rssBytes?.estimate),
      Verdict: row.verdict,
      Warming: row.warming && warmingWords(row.warming),
      Run: run,
      Host: host,
    })),
  );
}

const short = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : rounded(value);
