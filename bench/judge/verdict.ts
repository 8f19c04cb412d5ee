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

const share = (n: number, { requests }: Pick<Evidence, "requests">) => (requests > 0 ? n / requests : 1);
/** More than 1 in 1,000 requests failed, so the cost of a successful request is unknown. */
export const isFailing = (e: Pick<Evidence, "errors" | "requests">) => share(e.errors, e) > 0.001;

/** What is wrong with the numbers of a server: failed requests, sockets that were not opened or were closed, impossible latencies. */
export type Flaw =
  | Readonly<Record<"errors" | "requests", number>>
  | Readonly<Record<"sockets" | "connections", number>>
  | Readonly<Record<"inFlight" | "connections", number>>;

/** k6, which sends sequences, may use fewer connections at a fixed rate, and opens more if its pool has none free in time. */
const hasOddSockets = ({ sockets, connections, targetRate }: Counted, isSequence: boolean) =>
  // For single requests more sockets are valid: if the server closes connections, that is part of its cost.
  isSequence ? sockets > 2 * connections || (sockets < connections && targetRate === null) : sockets < connections;

/** Deviation from Little's law that is tolerated. */
const TOLERANCE = 0.03;

/**
 * Little's law in a closed loop: requests/s × mean latency = connections, so the latencies of all requests sum up to connections
 * × seconds, less the time in which a connection had no request in flight. fortio counts every request that it sent, with its
 * whole latency, and a slice lasts until the last answer, so there are two such times. At the end a connection that has its
 * last answer waits for the slowest one: at most the longest latency. At the start connections send one after the other, no
 * slower than the server answers, so the last one begins at most a mean latency after the first: half of it on average. Latencies
 * that sum up to more than connections × seconds are impossible.
 * @returns requests in flight on average, if they are too few or too many, else null
 */
function wrongInFlight(slices: readonly Counted[]): number | null {
  const total = (of: (slice: Counted) => number) => slices.reduce((sum, slice) => sum + of(slice), 0);
  const expected = total(({ connections, seconds }) => connections * seconds);
  const seen = total(({ requests, averageMs }) => (requests * averageMs) / 1e3);
  const idle = total(({ connections, maxMs, averageMs }) => (connections * (maxMs + averageMs / 2)) / 1e3);
  const isPossible = expected * (1 - TOLERANCE) - idle <= seen && seen <= expected * (1 + TOLERANCE);
  return isPossible ? null : seen / total(({ seconds }) => seconds);
}

type Counted = Pick<
  Slice,
  "connections" | "seconds" | "requests" | "errors" | "sockets" | "averageMs" | "maxMs" | "targetRate"
>;

/**
 * @param slices all slices of one target at one scenario: together, because one of 0.1 s proves little
 * @param isSequence whether a request is a sequence, whose answers are checked before the next request is sent
 */
export function flawOf(slices: readonly Counted[], isSequence: boolean): Flaw | null {
  const total = (field: "errors" | "requests") => slices.reduce((sum, slice) => sum + slice[field], 0);
  if (slices.some(isFailing)) return { errors: total("errors"), requests: total("requests") };
  const odd = slices.find((slice) => hasOddSockets(slice, isSequence));
  if (odd) return { sockets: odd.sockets, connections: odd.connections };
  const [{ connections, targetRate }] = slices as [Counted];
  const inFlight = isSequence || targetRate !== null ? null : wrongInFlight(slices);
  return inFlight === null ? null : { inFlight, connections };
}

const flawIn = (e: Evidence): Flaw | null => flawOf([e], e.dropped !== null);
/** Impossible latencies while other work used the CPU: 5 % of the half second around a slice of 0.1 s may be a quarter of the slice. */
const isDisturbed = (e: Evidence): boolean => known(e.taken) > 0.05 && "inFlight" in (flawIn(e) ?? {});
/** Maximum share of a core's time for other work. Kernel threads that serve the load, and clock ticks of 10 ms, are up to half of it. */
const STARVED = 0.15;
const known = (value: number | null): number => value ?? Number.NaN; // compares false with everything

/**
 * The first match decides. Refusals come before other errors, so that a rate limit is not reported as a broken server.
 * Starvation comes next, because no later rule is reliable if other work used the CPU.
 */
const CLOSED: readonly (readonly [Verdict, (e: Evidence) => boolean])[] = [
  ["rate-limited", (e) => (e.refused > 0 && share(e.refused, e) > 0.001) || known(e.throttled) > 0.05],
  ["starved", (e) => known(e.taken) > STARVED || isDisturbed(e)],
  ["invalid", (e) => flawIn(e) !== null],
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
  ...CLOSED.slice(0, 3),
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
    case "service time":
      return `answers came after the next request of their connection was due, so latencies are service times, not what users see: lower --rate, or raise --connections to more than ${round(((c.targetRate ?? 0) * c.maxMs) / 1e3)}`;
    default:
      return "";
  }
}

const FIX = "fix the server or the network, then measure again";

/** @param statuses of failed requests, as far as they are known */
export function explainFlaw(flaw: Flaw, statuses: readonly string[]): string {
  if ("requests" in flaw) {
    const which = statuses.length > 0 ? ` (${statuses.join(", ")})` : "";
    if (flaw.requests === 0) return `no request was answered: ${FIX}`;
    return `${flaw.errors.toLocaleString("en-US")} of ${flaw.requests.toLocaleString("en-US")} requests failed${which}: ${FIX}`;
  }
  const { connections } = flaw;
  if ("inFlight" in flaw) {
    const seen = `requests/s × mean latency is ${flaw.inFlight.toFixed(0)} of ${connections} connections`;
    return `${seen}, so the latencies are wrong: measure again with longer slices (--seconds 1)`;
  }
  const { sockets } = flaw;
  return sockets < connections
    ? `only ${sockets} of ${connections} connections were opened: ${FIX}`
    : `${sockets - connections} connections were closed: ${FIX}`;
}
