import type { Identity } from "../../shared/identity.ts";
import type { Cores } from "../host/cores.ts";
import type { Fingerprint } from "../host/machine/fingerprint.ts";
import type { Machine } from "../host/machine/identity.ts";
import type { Histogram } from "../load/histogram.ts";
import type { Plan } from "../plan/plan.ts";
import type { Slo } from "../plan/slo.ts";
import { findFile, readText } from "./files.ts";

/** What is kept of a run beside its slices and windows, in results/<run>.json: what is needed to judge or to repeat it. */
export interface Manifest {
  readonly run: string;
  readonly protocol: number;
  readonly host: string;
  /** By its owner; missing if none was given. */
  readonly machineName?: string | undefined;
  readonly plan: Plan;
  readonly cores: Cores | null;
  /** Versions, commit and data: what another would need to repeat it. */
  environment: Readonly<Record<string, unknown>>;
  /** The one that makes the load and, unless they run elsewhere, has the servers. */
  readonly machine: Machine;
  /** How fast it was before the first restart and after each; none if cores cannot be chosen. */
  fingerprints: (Fingerprint & { readonly restart: number })[];
  ceiling: number | null;
  /** Target -> endpoint -> calibration. */
  calibration: Record<string, Record<string, Calibration>>;
  /** Target -> bytes per second of the line to it. */
  lineBytesPerSecond: Record<string, number | null>;
  /** Target -> where it keeps content items, in runs that write. */
  stores: Record<string, Identity["store"]>;
  /** Target -> endpoint -> the highest rate that keeps a promise, if that was searched. */
  capacities: Record<string, Record<string, Capacity & { readonly slo: Slo }>>;
  /** Restarts that were measured to their end. */
  restarts: number;
  turns: Turns[];
  /** Targets that were left out from some moment on, and why. */
  left: {
    readonly name: string;
    readonly restart: number;
    readonly scenario: string | null;
    readonly reason: string;
  }[];
  /** What is to be known of how targets are measured, in sentences. */
  remarks: string[];
  /** Target -> scenario -> latencies of all its slices. */
  histograms: Record<string, Record<string, Histogram>>;
  /** `loaded`: in windows that count, and in slices. */
  seconds: { loaded: number; total: number };
}

/** What is known of one target at one endpoint before it is measured. */
export interface Calibration {
  /** Median latency of one connection alone. */
  readonly unloadedMs: number;
}

/** What several starts found: the highest rate that keeps a promise lies between `low`, which kept it, and `high`, which did not. */
export interface Capacity {
  readonly rate: number;
  readonly low: number;
  /** Null if no rate broke it. */
  readonly high: number | null;
  readonly starts: number;
  /** Why the last start did not keep more. */
  readonly reason: string;
}

/** The turns of one target in one restart at one scenario, all together. */
export interface Turns {
  readonly restart: number;
  readonly scenario: string;
  readonly name: string;
  readonly windowMs: number;
  /** All that its generator saw, warm-up included. */
  readonly requests: number;
  readonly errors: number;
  /** Failed requests by status; "no answer" if a socket failed. */
  readonly failed: Readonly<Record<string, number>>;
  /** CPU µs per second between its windows, while it is asked nothing; null if it cannot be seen. */
  readonly restUsPerSecond: number | null;
}

/** Null if results/<run>.json is missing. */
export function manifestOf(results: string, run: string): Manifest | null {
  const file = findFile(results, run, "json");
  return file === null ? null : JSON.parse(readText(file));
}
