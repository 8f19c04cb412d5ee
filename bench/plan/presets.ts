import { WORKLOADS, type Workload } from "../ask/endpoints.ts";

/** How much is measured: restarts, and what is done in a server's turn after each. */
export interface PresetAmounts {
  /** Restarts of every server: the repetitions. 0 where they go on until targets are decided. */
  readonly blocks: number;
  /** Duets of each two neighbours at each endpoint; each server has two neighbours. */
  readonly cycles: number;
  readonly duetSeconds: number;
  /** Length of a solo slice: one per server, endpoint and block. */
  readonly soloSeconds: number;
  /** Requests that a server answers after a restart, over all endpoints, before anything is asked of it that counts. */
  readonly warmRequests: number;
  /** Length of a window of warm-up, per server: all are loaded at once. */
  readonly windowSeconds: number;
  /** Windows right before the slices of an endpoint, at least. */
  readonly windows: number;
  /** Whether one server is measured twice, under two names. */
  readonly twin: boolean;
}

/** Chosen from a pilot of what varies between restarts, between duets, and with their length: see docs/method.md. */
export const PRESETS = {
  quick: {
    blocks: 2,
    cycles: 1,
    duetSeconds: 0.4,
    soloSeconds: 0.2,
    warmRequests: 40_000,
    windowSeconds: 0.05,
    windows: 2,
    twin: false,
  },
  standard: {
    blocks: 3,
    cycles: 2,
    duetSeconds: 0.7,
    soloSeconds: 0.3,
    warmRequests: 80_000,
    windowSeconds: 0.06,
    windows: 3,
    twin: true,
  },
  full: {
    blocks: 12,
    cycles: 2,
    duetSeconds: 0.8,
    soloSeconds: 0.4,
    warmRequests: 120_000,
    windowSeconds: 0.1,
    windows: 4,
    twin: true,
  },
} as const satisfies Record<string, PresetAmounts>;

/** k6 takes longer than fortio to start, so its slices are longer, and so is what they warm. */
const BY_K6: Readonly<Record<keyof typeof PRESETS, Partial<PresetAmounts>>> = {
  quick: { duetSeconds: 1, soloSeconds: 1, windowSeconds: 0.2, warmRequests: 2_000 },
  standard: { duetSeconds: 1.5, soloSeconds: 2, windowSeconds: 0.3, warmRequests: 4_000 },
  full: { duetSeconds: 3, soloSeconds: 5, windowSeconds: 0.5, warmRequests: 8_000 },
};

/** How much a preset measures of a workload. */
export const amountsOf = (workload: Workload, preset: keyof typeof PRESETS): PresetAmounts => ({
  ...PRESETS[preset],
  ...(WORKLOADS[workload].byK6 && BY_K6[preset]),
});

/** `--warmup`: where it asks for more requests, windows are as much longer, as a slow server answers few in one. */
export const warmedUp = (amount: PresetAmounts, warmRequests = amount.warmRequests): PresetAmounts => ({
  ...amount,
  warmRequests,
  windowSeconds: amount.windowSeconds * Math.max(1, warmRequests / amount.warmRequests),
});

/** For `duet`, `tax` and `self-test`, which restart two targets until they are decided. */
export const PAIR: PresetAmounts = {
  blocks: 0,
  cycles: 0,
  duetSeconds: 0.8,
  soloSeconds: 0.5,
  warmRequests: 50_000,
  windowSeconds: 0.25,
  windows: 2,
  twin: false,
};
/** For gates, which have three servers up and less time: beside a neighbour, more restarts tell more than a longer warm-up. */
export const GATE: PresetAmounts = { ...PAIR, duetSeconds: 0.5, warmRequests: 25_000, windowSeconds: 0.1, windows: 3 };
/** The same of a workload. */
export const pairOf = (workload: Workload, amount: PresetAmounts): PresetAmounts => ({
  ...amount,
  ...(WORKLOADS[workload].byK6 && BY_K6.standard),
});
/** A gate's time limit per endpoint: CI waits for it. */
export const GATE_SECONDS = 60;
/** What they load unless other endpoints are asked for: the least work, and a usual amount. */
export const PAIR_ENDPOINTS = ["/plain", "/sqlite/random-5fields/5"];
export const pairEndpoints = (workload: Workload): readonly string[] =>
  workload === "read" ? PAIR_ENDPOINTS : WORKLOADS[workload].endpoints;

/** Agents begin some 0.05 s apart, which is to be little of a slice. */
export const AGENTS_SECONDS = 2;
