import { WORKLOADS, type Workload } from "../ask/endpoints.ts";

export interface Amount {
  /** Time limit of a run: restarts go on until then, or until targets are decided. */
  readonly minutes: number;
  /** Warm-up requests after a restart at the lightest route, and a share of that number at each other one; fewer if requests are slow. */
  readonly warmRequests: number;
  /** Approximate sum of the counted windows of a server in each restart and scenario, ms. */
  readonly turnMs: number;
  /** Length of a slice: one per server, scenario and restart. */
  readonly soloSeconds: number;
  /** Whether one server is measured twice, under two names. */
  readonly twin: boolean;
}

/** Chosen by a pilot that measured the variance between restarts and between windows: see docs/method.md. */
export const PRESETS = {
  quick: { minutes: 5, warmRequests: 30_000, turnMs: 200, soloSeconds: 0.1, twin: false },
  standard: { minutes: 15, warmRequests: 40_000, turnMs: 250, soloSeconds: 0.15, twin: true },
  full: { minutes: 90, warmRequests: 60_000, turnMs: 400, soloSeconds: 0.3, twin: true },
} as const satisfies Record<string, Amount>;
export type Preset = keyof typeof PRESETS;
/** Length of --quick with up to so many servers. */
export const FEW = { servers: 3, minutes: 2 };

/** k6 takes longer to start than fortio, and a sequence or transaction takes longer than a request. */
const BY_K6: Readonly<Record<Preset, Partial<Amount>>> = {
  quick: { warmRequests: 300, turnMs: 2_000, soloSeconds: 1 },
  standard: { warmRequests: 600, turnMs: 3_000, soloSeconds: 2 },
  full: { warmRequests: 2_000, turnMs: 5_000, soloSeconds: 5 },
};

/** How much a preset measures of a workload. */
export const amountOf = (workload: Workload, preset: Preset): Amount => ({
  ...PRESETS[preset],
  ...(WORKLOADS[workload].byK6 && BY_K6[preset]),
});

/** For `compare`, `tax` and `self-test`, which restart two targets until they are decided: V8 needs about 25,000 requests. */
export const pairAmount = (workload: Workload): Amount => ({
  ...amountOf(workload, "standard"),
  warmRequests: WORKLOADS[workload].byK6 ? 600 : 25_000,
  turnMs: WORKLOADS[workload].byK6 ? 4_000 : 1_500,
  twin: false,
});

/** Time limit of a gate per endpoint, short because CI waits for it. */
export const GATE_SECONDS = 60;
/** Default endpoints of pairs: the least work, and a usual amount. */
export const PAIR_ENDPOINTS = ["/plain", "/sqlite/random-5fields/5"];
export const pairEndpoints = (workload: Workload): readonly string[] =>
  workload === "read" ? PAIR_ENDPOINTS : WORKLOADS[workload].endpoints;

/** Minimum slice with agents, long compared with the 0.05 s by which their starts differ. */
export const AGENTS_SECONDS = 2;
