/** From the slices of a run to all that is shown of it. */
import { UsageError } from "../../shared/errors.ts";
import { isStep } from "../ask/endpoints.ts";
import { mainEffects } from "../judge/effects.ts";
import { mean, median } from "../judge/statistics.ts";
import { type Coldness, coldnessOf, descentOf, relativeCosts, type Window } from "../judge/steadiness.ts";
import { analyse, inOrder, NOTHING } from "../judge/tables.ts";
import { foldersOf, runsIn } from "../keep/files.ts";
import { type Manifest, manifestOf } from "../keep/manifest.ts";
import { readSlices, type Slice } from "../keep/slices.ts";
import { type Histogram, percentile } from "../load/histogram.ts";
import { answerOf } from "./answer.ts";
import { machineSays } from "./machine.ts";
import { type Endpoint, PERCENTILES, type Report } from "./report.ts";

/**
 * @param run the newest one if absent
 * @throws UsageError for a file that is malformed, or where there is no such run.
 */
export function readReport(file: string, run?: string): Report {
  const runs = runsOf(file);
  const chosen = run ?? (runs.at(-1) as string);
  const slices = readSlices(file, chosen);
  if (slices.length > 0) return reportOf(slices, manifestOf(file, chosen));
  throw new UsageError(
    runs.includes(chosen)
      ? `run ${chosen} has no rows: ./bench.sh appends them`
      : `--run "${chosen}" is not there, but ${runs.slice(-5).join(", ")}`,
  );
}

/** @returns all runs, oldest first. @throws UsageError as readReport */
export const allReports = (file: string): Report[] => runsOf(file).map((run) => readReport(file, run));

/** Oldest first. @throws UsageError where there is none */
export function runsOf(file: string): string[] {
  const runs = runsIn(file);
  if (runs.length > 0) return runs;
  throw new UsageError(`${foldersOf(file).join(" and ")}: no run is there; ./bench.sh measures one`);
}

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
      const warmups = warmupsAt(table.endpoint, manifest);
      return { ...table, effects: mainEffects(table, solos), steps, curves, warmups };
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
    machine: manifest?.machine ? machineSays(manifest, slices) : [],
    taken: takenOf(slices),
    cold: manifest ? coldnesses(manifest) : [],
    endpoints,
    servers: endpoints.find(({ endpoint }) => endpoint === "/sqlite/random-30fields/10") ?? (endpoints[0] as Endpoint),
  };
}

function takenOf(slices: readonly Slice[]): number | null {
  const parts = slices.flatMap(({ taken }) => taken ?? []);
  return parts.length > 0 ? median(parts) : null;
}

/** How cold each server was after a restart, where its cost was seen to fall: sums over the endpoints, medians over the blocks. */
function coldnesses({ blocks }: Manifest): Report["cold"] {
  const all = blocks.flatMap(({ warmup }) =>
    Object.entries(warmup).flatMap(([name, byEndpoint]) => {
      const of = Object.values(byEndpoint).flatMap(({ windows }) => coldnessOf(windows) ?? []);
      const sum = (field: (one: Coldness) => number) => of.reduce((total, one) => total + field(one), 0);
      const coldToWarm = Math.exp(sum((one) => Math.log(one.coldToWarm)) / of.length);
      return of.length > 0
        ? [{ name, coldToWarm, requests: sum((one) => one.requests), cpuSeconds: sum((one) => one.cpuSeconds) }]
        : [];
    }),
  );
  return [...Map.groupBy(all, ({ name }) => name)]
    .map(([name, of]) => ({
      name,
      coldToWarm: median(of.map((one) => one.coldToWarm)),
      requests: median(of.map((one) => one.requests)),
      cpuSeconds: median(of.map((one) => one.cpuSeconds)),
    }))
    .sort((a, b) => a.cpuSeconds - b.cpuSeconds || (a.name < b.name ? -1 : 1));
}

function warmupsAt(endpoint: string, manifest: Manifest | null): Endpoint["warmups"] {
  const all = (manifest?.blocks ?? []).flatMap(({ warmup }) =>
    Object.entries(warmup).flatMap(([name, of]): { name: string; windows: readonly Window[] }[] => {
      const windows = descentOf(of[endpoint]?.windows ?? []);
      return windows.length > 0 ? [{ name, windows }] : [];
    }),
  );
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, of]) => {
    const series = of
      .map(({ windows }) => relativeCosts(windows))
      .map((costs) => costs.map((cost) => cost - median(costs.slice(-3))));
    const length = Math.min(...series.map((costs) => costs.length));
    return {
      name,
      requests: Array.from({ length }, (_, i) =>
        Math.round(mean(of.map(({ windows }) => (windows[i] as Window).requests))),
      ),
      cost: Array.from({ length }, (_, i) =>
        Number(Math.exp(mean(series.map((costs) => costs[i] as number))).toPrecision(4)),
      ),
    };
  });
}
