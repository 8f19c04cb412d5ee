import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { type CommandOptions, lastLine, run } from "../host/command.ts";
import { pinned } from "../host/cores.ts";
import { privateFolder } from "../host/folders.ts";
import type { Failed } from "./failed.ts";
import { type Histogram, percentile } from "./histogram.ts";
import { type Asked, bytesOf, headersOf } from "./request.ts";
import { hiddenText } from "./secrets.ts";

/** What a load generator saw in one slice. Latencies count from the send, errors included, in ms. */
export interface Load {
  /** When the first measured request was sent, in ms since 1970. */
  readonly startedAt: number;
  readonly requests: number;
  /** Requests without a 2xx answer. */
  readonly errors: number;
  /** Absent if the generator does not report it. */
  readonly failed?: Failed;
  /** Requests answered by 429 or 503. */
  readonly refused: number;
  readonly seconds: number;
  readonly averageMs: number;
  readonly maxMs: number;
  readonly goodput: number;
  readonly percentilesMs: Readonly<Record<(typeof PERCENTILES)[number], number>>;
  readonly histogram: Histogram;
  /** Sockets opened; more than `connections` means that the server closed some. */
  readonly sockets: number;
  /** Size of an answer with its headers. */
  readonly bytesPerRequest: number;
  /** CPU time of the generator ÷ the time it ran; 1 is a whole core; null if it runs on other machines. */
  readonly generatorCpu: number | null;
  /** Share of the time during which all generators ran; 1 if there is only one. */
  readonly overlap: number;
  /** The steps of a sequence; its `requests` are whole sequences. */
  readonly steps?: Readonly<Record<string, StepLoad>>;
  /** Sequences that were not sent, because no connection was free when they were due. */
  readonly dropped?: number;
  /** Bytes sent per request, if the generator reports them. */
  readonly sentPerRequest?: number;
}

export type StepLoad = Pick<Load, "requests" | "errors" | "averageMs" | "maxMs" | "percentilesMs" | "histogram">;

export interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second, evenly spaced even if answers are late (open loop); if absent, as many as possible (closed loop). */
  readonly rate?: number | undefined;
  /** Width of the finest histogram bucket; fortio's own 1 ms would report a p50 of 0.1 ms as four times that. */
  readonly resolutionSeconds?: number | undefined;
}

export const PERCENTILES = [50, 90, 99, 99.9] as const;
const RESOLUTION_SECONDS = 1e-5;

/** The part of fortio's JSON that is read here; durations in seconds, except ActualDuration in nanoseconds. */
export interface FortioResult {
  readonly StartTime: string;
  readonly ActualDuration: number;
  readonly NumThreads: number;
  readonly DurationHistogram: {
    Count: number;
    Avg: number;
    Max: number;
    Data: { Start: number; End: number; Count: number }[] | null;
  };
  readonly Sizes: { Avg: number };
  readonly RetCodes: Readonly<Record<string, number>>;
  readonly SocketCount: number;
}

/** Loads one URL with one fortio process. The first request of each connection comes before the slice and does not count. */
export async function load(
  asked: Asked,
  options: LoadOptions,
  cores: string | undefined,
  signal: AbortSignal,
): Promise<Load> {
  const { stdout, generatorCpu } = await generate("fortio", pinned(cores, commandOf(asked, options)), asked.url, {
    signal,
  });
  return { ...toLoad(JSON.parse(stdout), options), generatorCpu, overlap: 1 };
}

/** @param more flags of fortio */
export function commandOf(asked: Asked, options: LoadOptions, more: Readonly<Record<string, string>> = {}): string[] {
  const flags = { ...settings(options), json: "-", loglevel: "Critical", ...more };
  return [
    ...["fortio", "load", "-quiet", "-allow-initial-errors", "-log-errors=false"],
    ...(options.rate === undefined ? [] : ["-uniform"]),
    ...argumentsOf(asked),
    ...Object.entries(flags).flatMap(([name, value]) => [`-${name}`, String(value)]),
    asked.url,
  ];
}

/** fortio's default time limit of a request; it is raised if answers before the load were slow. */
const TIMEOUT_MS = 3_000;
/** Assumed latency under load ÷ latency of one request alone: in a closed loop, up to the number of connections. */
const SLOWER_UNDER_LOAD = 100;
/** fortio's default buffer. If an answer is longer, fortio reads the rest as the next answer. */
const BUFFER_KB = 128;

/** fortio's -content-type makes the request a POST; -X overrides that. */
function argumentsOf(asked: Asked): string[] {
  const { method = "GET", body, insecure, mayClose, answer } = asked;
  const { "content-type": type, ...others } = headersOf(asked);
  const milliseconds = Math.round((answer?.ms ?? 0) * SLOWER_UNDER_LOAD);
  return [
    ...(body === undefined ? [] : ["-payload-file", payloadFile(asked), "-content-type", type ?? ""]),
    ...(method === (body === undefined ? "GET" : "POST") ? [] : ["-X", method]),
    ...Object.entries(body === undefined && type !== undefined ? { ...others, "content-type": type } : others).flatMap(
      ([name, value]) => ["-H", `${name}: ${value}`],
    ),
    ...(insecure ? ["-k"] : []),
    // fortio's own client waits for a body that does not come, and takes 103 as the answer; Go's client is slower but correct.
    ...(answer?.isUnusual || method === "HEAD" ? ["-stdclient"] : []),
    // If a server announces a limit of requests per connection (Node: maxRequestsPerSocket), the client must close it.
    ...(answer?.perConnection
      ? ["-connection-reuse", `${answer.perConnection}:${answer.perConnection}`]
      : mayClose
        ? ["-httpccch"]
        : []),
    ...(answer && answer.bytes > BUFFER_KB * 512 ? ["-httpbufferkb", String(Math.ceil(answer.bytes / 512))] : []),
    ...(milliseconds > TIMEOUT_MS ? ["-timeout", `${milliseconds}ms`] : []),
  ];
}

/** Bodies are passed as files, because Linux limits an argument to 128 KiB, and other users can read it. */
function payloadFile(asked: Asked): string {
  const bytes = bytesOf(asked) ?? Buffer.alloc(0);
  const file = join(privateFolder(), createHash("sha256").update(bytes).digest("hex"));
  if (!existsSync(file)) writeFileSync(file, bytes, { mode: 0o600 });
  return file;
}

/** fortio's settings, under the names that its command and its REST interface share. */
export function settings({ connections, seconds, rate, resolutionSeconds = RESOLUTION_SECONDS }: LoadOptions) {
  const timing = rate === undefined ? { qps: -1, t: `${seconds}s` } : schedule(rate, connections, seconds);
  return { c: connections, ...timing, r: resolutionSeconds };
}

/**
 * fortio's settings for exactly connections ÷ rate seconds between the sends of a connection. fortio rounds the number n of
 * sends down, and stretches the time between them by n ÷ (n − 1) (periodic.go); this function corrects that.
 */
function schedule(rate: number, connections: number, seconds: number): { qps: number; t: string } {
  const sends = Math.max(2, Math.round((seconds * rate) / connections));
  const qps = (rate * sends) / (sends - 1);
  return { qps, t: `${((sends + 0.01) * connections) / qps}s` };
}

/**
 * Runs a load generator to its end.
 * @throws UsageError if it is missing, and with the last line it logged if it fails.
 */
export async function generate(
  name: string,
  command: readonly string[],
  url: string,
  options: CommandOptions,
): Promise<{ stdout: string; generatorCpu: number }> {
  needGenerator(name);
  const { code, stdout, stderr, cpuSeconds, seconds } = await run(command, options);
  if (code !== 0) throw new UsageError(`${name} could not load ${hiddenText(url)}: ${lastLine(stderr)}`);
  return { stdout, generatorCpu: cpuSeconds / seconds };
}

/** @throws UsageError if it is not installed. */
export function needGenerator(name: string): void {
  if (!Bun.which(name, { PATH: process.env.PATH ?? "" }))
    throw new UsageError(`${name} is missing: ./bench.sh installs ${name}`);
}

/**
 * fortio's own QPS includes errors, so goodput is computed from the return codes.
 * @throws UsageError if fortio did not use all connections.
 */
export function toLoad(
  result: FortioResult,
  { connections }: Pick<LoadOptions, "connections">,
): Omit<Load, "generatorCpu" | "overlap"> {
  if (result.NumThreads !== connections) {
    throw new UsageError(
      `fortio used ${result.NumThreads} connections, not ${connections}: lower --connections, or raise --seconds or --rate`,
    );
  }
  const { Count, Avg, Max, Data } = result.DurationHistogram;
  const seconds = result.ActualDuration / 1e9;
  const answered = (codes: RegExp) =>
    Object.entries(result.RetCodes).reduce((sum, [code, n]) => sum + (codes.test(code) ? n : 0), 0);
  const good = answered(/^2\d\d$/);
  const histogram = (Data ?? []).map(({ Start, End, Count }) => [Start, End, Count] as const);
  // If the host takes the CPU away, a slice may end before its first answer.
  const ms = (p: number) => (Count > 0 ? percentile(histogram, p) * 1e3 : 0);
  return {
    startedAt: Date.parse(result.StartTime),
    requests: Count,
    errors: Count - good,
    failed: Object.fromEntries(
      Object.entries(result.RetCodes)
        .filter(([code]) => !/^2\d\d$/.test(code))
        .map(([code, n]) => [code === "-1" ? "no answer" : code, n]),
    ),
    refused: answered(/^(429|503)$/),
    seconds,
    averageMs: Avg * 1e3,
    maxMs: Max * 1e3,
    goodput: good / seconds,
    percentilesMs: { 50: ms(50), 90: ms(90), 99: ms(99), 99.9: ms(99.9) },
    histogram,
    sockets: result.SocketCount,
    bytesPerRequest: result.Sizes.Avg,
  };
}
