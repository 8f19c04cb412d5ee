import type { Identity } from "../../shared/identity.ts";
import type { Cores } from "../host/cores.ts";
import type { Fingerprint } from "../host/machine/fingerprint.ts";
import type { Machine } from "../host/machine/identity.ts";
import type { Failed } from "../load/failed.ts";
import type { Histogram } from "../load/histogram.ts";
import type { Plan } from "../plan/plan.ts";
import type { Slo } from "../plan/slo.ts";
import { findFile, readText } from "./files.ts";

/** results/<run>.json: what is needed to judge or repeat a run, apart from its slices and windows. */
export interface Manifest {
  readonly run: string;
  readonly protocol: number;
  readonly host: string;
  /** From --machine-name. */
  readonly machineName?: string | undefined;
  readonly plan: Plan;
  /** Whether the secrets of the plan are kept, or only their hashes, without which the run cannot be continued; absent if it has none. */
  readonly secrets?: "kept" | "hashed";
  readonly cores: Cores | null;
  /** Versions, commit and data, needed to repeat the run. */
  environment: Readonly<Record<string, unknown>>;
  /** The machine of the load generator, and of the servers unless they run on another one. */
  readonly machine: Machine;
  /** Speed of the machine before the first restart and after each; empty if processes cannot be pinned to cores. */
  fingerprints: (Fingerprint & { readonly restart: number })[];
  ceiling: number | null;
  /** Target -> endpoint -> calibration. */
  calibration: Record<string, Record<string, Calibration>>;
  /** Target -> bytes per second of the network to it. */
  lineBytesPerSecond: Record<string, number | null>;
  /** Target -> where it keeps content items, in runs that write. */
  stores: Record<string, Identity["store"]>;
  /** Target -> endpoint -> the highest rate that keeps a promise (--slo). */
  capacities: Record<string, Record<string, Capacity & { readonly slo: Slo }>>;
  /** Completed restarts. */
  restarts: number;
  turns: Turns[];
  /** Targets that are left out since some restart, and why. */
  left: {
    readonly name: string;
    readonly restart: number;
    readonly scenario: string | null;
    readonly reason: string;
  }[];
  /** Remarks on how targets were measured, in sentences. */
  remarks: string[];
  /** Target -> scenario -> latencies of all its slices. */
  histograms: Record<string, Record<string, Histogram>>;
  /** `loaded`: sum of windows that count and of slices. */
  seconds: { loaded: number; total: number };
}

/** Measured for each target and endpoint before its windows. */
export interface Calibration {
  /** Median latency of one connection alone. */
  readonly unloadedMs: number;
}

/** Result of several restarts: the highest rate that keeps a promise lies between `low`, which kept it, and `high`, which did not. */
export interface Capacity {
  readonly rate: number;
  readonly low: number;
  /** Null if no rate broke it. */
  readonly high: number | null;
  readonly starts: number;
  /** Why the last restart did not keep a higher rate. */
  readonly reason: string;
}

/** All windows of one target in one restart at one scenario, together. */
export interface Turns {
  readonly restart: number;
  readonly scenario: string;
  readonly name: string;
  readonly windowMs: number;
  /** All requests of its generator, including warm-up. */
  readonly requests: number;
  readonly errors: number;
  readonly failed: Failed;
  /** CPU µs per second between its windows, while it is idle; null if unknown. */
  readonly restUsPerSecond: number | null;
}

/** Null if results/<run>.json is missing. */
export function manifestOf(results: string, run: string): Manifest | null {
  const file = findFile(results, run, "json");
  return file === null ? null : JSON.parse(readText(file));
}
