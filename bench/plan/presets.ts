import { WORKLOADS, type Workload } from "../ask/endpoints.ts";

export interface Amount {
  /** Restarts go on until these are over, or until targets are decided. */
  readonly minutes: number;
  /** Requests of warm-up after a restart at the lightest route, a part of them at each other; fewer if they are heavy. */
  readonly warmRequests: number;
  /** How long a server is loaded in windows that count, in each restart and scenario, about. */
  readonly turnMs: number;
  /** Length of a slice: one per server, scenario and restart. */
  readonly soloSeconds: number;
  /** Whether one server is measured twice, under two names. */
  readonly twin: boolean;
}

/** Chosen from a pilot of what varies between restarts and between windows: see docs/method.md. */
export const PRESETS = {
  quick: { minutes: 5, warmRequests: 30_000, turnMs: 200, soloSeconds: 0.1, twin: false },
  standard: { minutes: 15, warmRequests: 40_000, turnMs: 250, soloSeconds: 0.15, twin: true },
  full: { minutes: 90, warmRequests: 60_000, turnMs: 400, soloSeconds: 0.3, twin: true },
} as const satisfies Record<string, Amount>;
export type Preset = keyof typeof PRESETS;
/** A first look at so few servers takes so many minutes. */
export const FEW = { servers: 3, minutes: 2 };

/** k6 takes longer than fortio to start, and a sequence or a transaction than a request. */
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

/** For `compare`, `tax` and `self-test`, which restart two targets until they are decided. */
export const pairAmount = (workload: Workload): Amount => ({
  ...amountOf(workload, "standard"),
  warmRequests: WORKLOADS[workload].byK6 ? 600 : 30_000,
  turnMs: WORKLOADS[workload].byK6 ? 4_000 : 1_500,
  twin: false,
});

/** A gate's time limit per endpoint: CI waits for it. */
export const GATE_SECONDS = 60;
/** What pairs load unless other endpoints are asked for: the least work, and a usual amount. */
export const PAIR_ENDPOINTS = ["/plain", "/sqlite/random-5fields/5"];
export const pairEndpoints = (workload: Workload): readonly string[] =>
  workload === "read" ? PAIR_ENDPOINTS : WORKLOADS[workload].endpoints;

/** Agents begin some 0.05 s apart, which is to be little of a slice. */
export const AGENTS_SECONDS = 2;
