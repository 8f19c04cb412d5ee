import type { Slice, Verdict } from "../keep/slices.ts";

type Seen =
  | "connections"
  | "seconds"
  | "requests"
  | "errors"
  | "sockets"
  | "averageMs"
  | "maxMs"
  | "goodput"
  | "bytesPerRequest"
  | "generatorCpu"
  | "utilization"
  | "taken"
  | "targetRate";

/** The input of a verdict. Null means unknown: a rule that needs the value then does not match. */
export interface Evidence extends Pick<Slice, Seen> {
  /**
   * Sequences that were due while no connection was free. Null for single requests: there a connection sends the next
   * request as soon as it has the answer, while a sequence checks the answer first.
   */
  readonly dropped: number | null;
  /** Answers 429 and 503 among the errors. */
  readonly refused: number;
  /** Share of the time in which a CPU quota stopped the server. */
  readonly throttled: number | null;
  /** Whether the server was started on this machine, so there is no network to it. */
  readonly isStartedHere: boolean;
  /** Calibration: cores of the generator, its maximum requests/s against a server that does nothing, median latency of a
   * single connection, bytes per second of the network. */
  readonly generatorCores: number;
  readonly ceiling: number | null;
  readonly unloadedMs: number | null;
  readonly lineBytesPerSecond: number | null;
}

/** Error at the end of a slice, mean latency ÷ length: some connections still wait for their last answer, others have finished. */
const endOf = ({ averageMs, seconds }: Evidence) => averageMs / 1e3 / seconds;

/**
 * Deviation from Little's law (closed loop: connections = requests/s × mean latency), minus what the end of the slice explains:
 * a connection whose last answer came early is idle until the slowest answer has come.
 */
function littleError(e: Evidence): number {
  const inFlight = (e.requests / e.seconds) * (e.averageMs / 1e3);
  const idle = inFlight < e.connections ? e.maxMs / 1e3 / e.seconds : 0;
  return Math.max(0, Math.abs(1 - inFlight / e.connections) - Math.max(idle, 1.5 * endOf(e)));
}

const share = (n: number, { requests }: Pick<Evidence, "requests">) => (requests > 0 ? n / requests : 1);
/** More than 1 in 1,000 requests failed, so the cost of a successful request is unknown. */
export const isFailing = (e: Pick<Evidence, "errors" | "requests">) => share(e.errors, e) > 0.001;
/** k6, which sends sequences, may use fewer connections at a fixed rate, and opens more if its pool has none free in time. */
function isBroken(e: Evidence): boolean {
  const mayIdle = e.dropped !== null && e.targetRate !== null;
  // For single requests more sockets are valid: if the server closes connections, that is part of its cost.
  const isLate = e.dropped !== null && e.sockets > 2 * e.connections;
  return isFailing(e) || isLate || (e.sockets < e.connections && !mayIdle);
}
/** Maximum share of a core's time for other work. Kernel threads that serve the load, and clock ticks of 10 ms, are up to half of it. */
const STARVED = 0.15;
const known = (value: number | null): number => value ?? Number.NaN; // compares false with everything

/**
 * The first match decides. Refusals come before other errors, so that a rate limit is not reported as a broken server.
 * Starvation comes next, because no later rule is reliable if other work used the CPU.
 */
const CLOSED: readonly (readonly [Verdict, (e: Evidence) => boolean])[] = [
  ["rate-limited", (e) => (e.refused > 0 && share(e.refused, e) > 0.001) || known(e.throttled) > 0.05],
  ["starved", (e) => known(e.taken) > STARVED],
  ["invalid", (e) => isBroken(e) || (e.dropped === null && littleError(e) > 0.03)],
  ["client-bound", (e) => known(e.generatorCpu) >= 0.85 * e.generatorCores || e.goodput >= 0.8 * known(e.ceiling)],
  ["bandwidth-bound", (e) => e.goodput * e.bytesPerRequest >= 0.8 * known(e.lineBytesPerSecond)],
  ["server-bound", (e) => known(e.utilization) >= 0.85 && e.averageMs >= 1.5 * known(e.unloadedMs)],
  [
    "network-bound",
    (e) =>
      !e.isStartedHere &&
      e.averageMs <= 1.25 * known(e.unloadedMs) &&
      (e.goodput * known(e.unloadedMs)) / 1e3 / e.connections >= 0.9 - endOf(e),
  ],
  ["undetermined", () => true],
];

/**
 * At a fixed rate a latency is a response time only if no answer delayed a later send: each connection sends every
 * connections ÷ rate seconds, so the longest latency must be below that (coordinated omission, Tene 2013).
 */
const OPEN: typeof CLOSED = [
  ...CLOSED.slice(0, 2),
  ["invalid", isBroken],
  [
    "on schedule",
    (e) => {
      if (e.dropped !== null) return e.dropped === 0;
      const interval = e.connections / known(e.targetRate);
      // The connections' first sends are spread over one interval.
      return e.maxMs / 1e3 < interval && e.requests >= 0.99 * known(e.targetRate) * (e.seconds - interval);
    },
  ],
  ["service time", () => true],
];

export function verdictOf(evidence: Evidence): Verdict {
  const [verdict] = (evidence.targetRate === null ? CLOSED : OPEN).find(([, holds]) => holds(evidence)) ?? [];
  return verdict as Verdict;
}

/** Verdicts with which throughput says nothing about the server. */
export const UNRANKED: ReadonlySet<string> = new Set([
  "rate-limited",
  "starved",
  "invalid",
  "client-bound",
  "bandwidth-bound",
  "network-bound",
] satisfies Verdict[]);

/** The input of `explain`. */
export type Circumstances = Pick<Slice, Exclude<Seen, "seconds" | "sockets" | "generatorCpu" | "utilization">> &
  Pick<Slice, "cpuUsPerRequest" | "workers"> &
  Pick<Evidence, "unloadedMs" | "lineBytesPerSecond">;

const round = (value: number, digits = 2) => Number(value.toPrecision(digits)).toLocaleString("en-US");

/** @returns a sentence with the reason and the remedy; "" if the verdict needs none. */
export function explain(verdict: Verdict, c: Circumstances): string {
  switch (verdict) {
    case "network-bound": {
      const capacity = c.cpuUsPerRequest === null ? null : ((c.workers ?? 1) * 1e6) / c.cpuUsPerRequest;
      const needed = capacity && c.unloadedMs && (capacity * c.unloadedMs) / 1e3;
      const remedy = needed
        ? `saturating this server needs about ${round(needed)} connections`
        : "saturating this server needs more connections";
      return `the ${round(c.unloadedMs ?? c.averageMs, 3)} ms of the network limited the rate: ${c.connections} connections ÷ ${round(c.averageMs, 3)} ms = ${round(c.goodput, 3)} requests/s for any server; ${remedy}, or a nearer client`;
    }
    case "bandwidth-bound":
      return `${round(c.goodput, 3)} answers/s of ${round(c.bytesPerRequest)} bytes fill the network's ${round(((c.lineBytesPerSecond ?? 0) * 8) / 1e6)} Mbit/s: use a faster network or a nearer client`;
    case "client-bound":
      return "the load generator was at its limit, not the server: give it more cores, or its own machine";
    case "starved":
      return `other work used ${round((c.taken ?? 0) * 100)} % of the CPU: stop it (top shows processes; "st" is the host's share), or measure again later`;
    case "rate-limited":
      return "answers 429 or 503, or a CPU quota, limited the rate: lift the limit, or measure below it with --rate";
    case "invalid":
      return `${round((c.errors / c.requests) * 100)} % errors, closed connections or impossible latencies: fix the server or the network, then measure again`;
    case "service time":
      return `answers came after the next request of their connection was due, so latencies are service times, not what users see: lower --rate, or raise --connections to more than ${round(((c.targetRate ?? 0) * c.maxMs) / 1e3)}`;
    default:
      return "";
  }
}
