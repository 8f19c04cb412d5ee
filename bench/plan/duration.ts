import { LEAST_WINDOWS } from "../analysis/steadiness.ts";
import { WORKLOADS } from "./endpoints.ts";
import { hasDuets, type Plan } from "./plan.ts";
import { isHere } from "./targets.ts";

/** What a slice costs beyond its length: starting fortio, its connections, reading its answer; measured on two cores. */
const SLICE_OVERHEAD_SECONDS = 0.11;
/** The same per server, where all are loaded at once. */
const WARMUP_OVERHEAD_SECONDS = 0.08;
/** An engine elsewhere gives a container's statistics once a second, and a slice needs them before and after. */
const READING_SECONDS = 1.5;
/** What a restart of one server costs, and asking it every endpoint once. */
const START_SECONDS = 0.6;
/** A request of warm-up, server and generator together on two cores, averaged over servers and endpoints. */
const WARM_REQUEST_SECONDS = 5e-5;
/** A sequence of six requests by k6, likewise. */
const WARM_SEQUENCE_SECONDS = 2e-3;
/** Looking at the machine before and after a block. */
const FINGERPRINT_SECONDS = 5;
/** Calibration: per server and endpoint, and once. */
export const UNLOADED_SECONDS = 0.1;
const CEILING_SECONDS = 2;

/** @returns about how long it takes, in seconds: a restart of all servers, an endpoint of a block, and what comes once. */
export function duration({
  workload,
  targets,
  endpoints,
  amount,
  rate,
}: Plan): Record<"restart" | "endpoint" | "once", number> {
  const { cycles, duetSeconds, soloSeconds, warmRequests, windowSeconds, windows } = amount;
  const reading = targets.some((spec) => spec.kind === "docker" && !isHere(spec)) ? READING_SECONDS : 0;
  const duets = hasDuets({ targets, rate }) ? cycles * (duetSeconds + SLICE_OVERHEAD_SECONDS + reading) : 0;
  const solo = soloSeconds + SLICE_OVERHEAD_SECONDS / 2 + reading;
  const warmSeconds = workload === "content" ? WARM_SEQUENCE_SECONDS : WARM_REQUEST_SECONDS;
  const window = windowSeconds + WARMUP_OVERHEAD_SECONDS;
  const { store, warmed } = WORKLOADS[workload];
  const baselines = store || windows < LEAST_WINDOWS ? 0 : LEAST_WINDOWS * warmed.length;
  const started = targets.filter(({ kind }) => kind !== "url").length;
  return {
    restart:
      targets.length * (START_SECONDS + baselines * window) +
      started * warmRequests * warmSeconds +
      FINGERPRINT_SECONDS,
    endpoint: targets.length * (windows * window + duets + solo),
    once: targets.length * endpoints.length * (UNLOADED_SECONDS + SLICE_OVERHEAD_SECONDS / 2) + CEILING_SECONDS,
  };
}

export function totalSeconds(plan: Plan): number {
  const { restart, endpoint, once } = duration(plan);
  return once + plan.amount.blocks * (restart + endpoint * plan.endpoints.length);
}
