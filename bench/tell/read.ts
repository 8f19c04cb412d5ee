/** Makes a report from the files of a run. */
import { UsageError } from "../../shared/errors.ts";
import { mainEffects } from "../judge/effects.ts";
import { findingsOf } from "../judge/findings.ts";
import { analyse, inOrder, type Measurements, NOTHING } from "../judge/tables.ts";
import { foldersOf, runsIn } from "../keep/files.ts";
import { type Manifest, manifestOf } from "../keep/manifest.ts";
import { readSlices, readWindows, type Slice } from "../keep/slices.ts";
import { type Histogram, percentile } from "../load/histogram.ts";
import { machineNameOf, machineSays } from "./machine.ts";
import { type Endpoint, PERCENTILES, type Report } from "./report.ts";

/**
 * @param run the newest one if absent
 * @throws UsageError for a file that is malformed, or if there is no such run.
 */
export function readReport(file: string, run?: string): Report {
  const runs = runsOf(file);
  const chosen = run ?? (runs.at(-1) as string);
  const slices = readSlices(file, chosen);
  if (slices.length > 0) return reportOf({ slices, windows: readWindows(file, chosen) }, manifestOf(file, chosen));
  throw new UsageError(
    runs.includes(chosen)
      ? `run ${chosen} has no rows: ./bench.sh appends them`
      : `there is no run "${chosen}": choose from ${runs.slice(-5).join(", ")}`,
  );
}

/** @returns all runs, oldest first. @throws UsageError as readReport */
export const allReports = (file: string): Report[] => runsOf(file).map((run) => readReport(file, run));

/** Oldest first. @throws UsageError if there is none */
export function runsOf(file: string): string[] {
  const runs = runsIn(file);
  if (runs.length > 0) return runs;
  throw new UsageError(`${foldersOf(file).join(" and ")}: no run is there; ./bench.sh measures one`);
}

/** @param measured of one run */
export function reportOf(measured: Measurements, manifest: Manifest | null): Report {
  // While a capacity is searched each slice has another rate.
  const searched = Object.keys(manifest?.capacities ?? {}).length > 0;
  const slices = inOrder(searched ? measured.slices.filter(({ kind }) => kind === "closed") : measured.slices);
  const first = slices[0] as Slice;
  const tables = analyse({ ...measured, slices }, manifest ?? NOTHING);
  const whole = tables.filter(({ step }) => step === null);
  const endpoints = whole.map((table): Endpoint => {
    const curves = table.rows.flatMap(({ name }) => {
      const histogram: Histogram | undefined = manifest?.histograms[name]?.[table.endpoint];
      return histogram ? [{ name, ms: PERCENTILES.map((p) => percentile(histogram, p) * 1e3) }] : [];
    });
    const steps = tables.filter(({ step, base }) => step !== null && base === table.base);
    return { ...table, effects: mainEffects(table, whole.length), steps, curves };
  });
  const findings = findingsOf(whole, slices, manifest);
  return {
    run: first.run,
    host: first.host,
    machineName: machineNameOf(manifest, first.host),
    protocol: first.protocol,
    connections: slices.reduce((most, { connections }) => Math.max(most, connections), 0),
    manifest,
    machine: manifest?.machine ? machineSays(manifest, slices) : [],
    findings,
    endpoints,
    servers: endpoints.find(({ endpoint }) => endpoint === "/sqlite/random-30fields/10") ?? (endpoints[0] as Endpoint),
  };
}
