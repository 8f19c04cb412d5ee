import { WORKLOADS } from "../ask/endpoints.ts";
import { isHere } from "../ask/targets.ts";
import { LEAST_WINDOWS } from "../judge/steadiness.ts";
import { hasDuets, type Plan } from "./plan.ts";

/** What a slice costs beyond its length: starting fortio, its connections, reading its answer; measured on two cores. */
const SLICE_OVERHEAD_SECONDS = 0.11;
/** The same per server, where all are loaded at once. */
const WARMUP_OVERHEAD_SECONDS = 0.08;
/** An engine elsewhere gives a container's statistics once a second, and a slice needs them before and after. */
const READING_SECONDS = 1.5;
/** What a restart of one server costs, and asking it every endpoint once. */
const START_SECONDS = 0.6;
/** A request of warm-up, server and generator together on two cores, averaged over servers and endpoints. */
const WARM_REQUEST_SECONDS = 6e-5;
/** A sequence of six requests, or a transaction, by k6, likewise. */
const WARM_SEQUENCE_SECONDS = 2e-3;
/** A look at the machine: before the first block, and after each. */
const FINGERPRINT_SECONDS = 2.5;
/** Calibration: per server and endpoint, and once. */
export const UNLOADED_SECONDS = 0.1;
const CEILING_SECONDS = 2;

/** @returns about how long it takes, in seconds: a start and warm-up, an endpoint in a turn, and what an endpoint takes once. */
export function duration(plan: Plan): Record<"start" | "endpoint" | "once", number> {
  const { workload, targets, amount } = plan;
  const { cycles, duetSeconds, soloSeconds, warmRequests, windowSeconds, windows } = amount;
  const reading = targets.some((spec) => spec.kind === "docker" && !isHere(spec)) ? READING_SECONDS : 0;
  const isPair = hasDuets(plan);
  const duets = isPair ? cycles * (duetSeconds + SLICE_OVERHEAD_SECONDS + reading) : 0;
  const warmed = isPair && windows >= LEAST_WINDOWS ? 2 : 1;
  const { store, byK6 } = WORKLOADS[workload];
  const beside = store ? 0 : 1;
  // The reference is beside it in every other round, an older one in the others.
  const loads = 1 + (windows < LEAST_WINDOWS || store ? 0 : 0.5) + (isPair ? 0.5 : 0);
  const warmSeconds = (byK6 ? WARM_SEQUENCE_SECONDS : WARM_REQUEST_SECONDS) * loads;
  const isStarted = targets.some(({ kind }) => kind !== "url");
  return {
    start: isStarted ? START_SECONDS + warmRequests * warmSeconds : 0,
    endpoint:
      windows * (windowSeconds * (warmed + beside) + WARMUP_OVERHEAD_SECONDS) +
      duets +
      soloSeconds +
      SLICE_OVERHEAD_SECONDS / 2 +
      reading,
    once: UNLOADED_SECONDS + SLICE_OVERHEAD_SECONDS / 2,
  };
}

export function totalSeconds(plan: Plan): number {
  const { start, endpoint, once } = duration(plan);
  const { targets, endpoints, amount } = plan;
  const starts = targets.length + (hasDuets(plan) ? 1 : 0);
  const block = FINGERPRINT_SECONDS + starts * start + targets.length * endpoints.length * endpoint;
  return CEILING_SECONDS + FINGERPRINT_SECONDS + targets.length * endpoints.length * once + amount.blocks * block;
}
