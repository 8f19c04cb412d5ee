import type { Identity } from "../../shared/identity.ts";
import type { Cores } from "../host/cores.ts";
import type { Fingerprint } from "../host/machine/fingerprint.ts";
import type { Machine } from "../host/machine/identity.ts";
import type { Warmths } from "../judge/steadiness.ts";
import type { Histogram } from "../load/histogram.ts";
import type { Plan, Turn } from "../plan/plan.ts";
import type { Calibration } from "../run/calibrate.ts";
import type { Capacity, Slo } from "../run/slo.ts";
import { findFile, readText } from "./files.ts";

/** What is kept of a run beside its slices, in results/<run>.json: what is needed to judge or to repeat it. */
export interface Manifest {
  readonly run: string;
  readonly protocol: number;
  readonly host: string;
  readonly plan: Plan;
  readonly cores: Cores | null;
  /** Versions, commit and data: what another would need to repeat it. */
  environment: Readonly<Record<string, unknown>>;
  /** The one that makes the load and, unless they run elsewhere, has the servers. */
  readonly machine: Machine;
  /** How fast it was before and after each block; none where cores cannot be chosen. */
  fingerprints: (Fingerprint & { readonly block: number })[];
  ceiling: number | null;
  /** Target -> endpoint -> calibration. */
  calibration: Record<string, Record<string, Calibration>>;
  /** Target -> bytes per second of the line to it. */
  lineBytesPerSecond: Record<string, number | null>;
  /** Target -> where it keeps content items, in runs that write. */
  stores: Record<string, Identity["store"]>;
  /** Target -> endpoint -> the highest rate that keeps a promise, where that was searched. */
  capacities: Record<string, Record<string, Capacity & { readonly slo: Slo }>>;
  /** What was done, in this order; target -> endpoint -> its warm-up. */
  blocks: { block: number; turns: readonly Turn[]; warmup: Warmths }[];
  /** Target -> endpoint -> latencies of all its solo slices. */
  histograms: Record<string, Record<string, Histogram>>;
  seconds: { loaded: number; total: number };
}

/** Null where results/<run>.json is missing. */
export function manifestOf(results: string, run: string): Manifest | null {
  const file = findFile(results, run, "json");
  return file === null ? null : JSON.parse(readText(file));
}
