import { spawn } from "node:child_process";
import { once } from "node:events";
import { UsageError } from "../../shared/errors.ts";
import { pinned } from "../cores.ts";

/** What a load generator saw in one slice. Latencies count from the send, errors included, in ms. */
export interface Load {
  readonly startedAt: string;
  readonly requests: number;
  /** Requests without a 2xx answer. */
  readonly errors: number;
  readonly seconds: number;
  readonly averageMs: number;
  /** 2xx answers per second. */
  readonly goodput: number;
  readonly percentilesMs: Readonly<Record<(typeof PERCENTILES)[number], number>>;
  /** Sockets opened; more than `connections` means that the server closed some. */
  readonly sockets: number;
}

export const PERCENTILES = [50, 90, 99, 99.9] as const;

/** Histogram resolution. fortio's own 1 ms would report a p50 of 0.1 ms as four times that. */
const RESOLUTION_SECONDS = 0.00001;

/** The part of fortio's JSON that is read here; durations in seconds but for ActualDuration, in nanoseconds. */
export interface FortioResult {
  readonly StartTime: string;
  readonly ActualDuration: number;
  readonly NumThreads: number;
  readonly DurationHistogram: {
    Count: number;
    Avg: number;
    Percentiles: { Percentile: number; Value: number }[] | null;
  };
  readonly RetCodes: Readonly<Record<string, number>>;
  readonly SocketCount: number;
}

/** Closed loop: each of `connections` sends its next request as soon as the last is answered. */
export async function load(
  url: string,
  { connections, seconds }: { connections: number; seconds: number },
  cores: string | undefined,
  signal: AbortSignal,
): Promise<Load> {
  const flags = {
    c: connections,
    qps: -1,
    t: `${seconds}s`,
    r: RESOLUTION_SECONDS,
    p: PERCENTILES.join(),
    json: "-",
    loglevel: "Critical",
  };
  const [command, ...args] = pinned(cores, [
    "fortio",
    "load",
    "-quiet",
    "-allow-initial-errors",
    ...Object.entries(flags).flatMap(([name, value]) => [`-${name}`, String(value)]),
    url,
  ]);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], signal });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr = (output.stderr + text).slice(-2_000);
  });
  const [code] = await once(child, "close").catch((error) => {
    signal.throwIfAborted();
    throw new UsageError(`${command} cannot be run (${error.message}): ./bench.sh installs fortio`);
  });
  signal.throwIfAborted();
  if (code !== 0) throw new UsageError(`fortio could not load ${url}: ${output.stderr.trim().split("\n").at(-1)}`);
  const result: FortioResult = JSON.parse(output.stdout);
  if (result.NumThreads !== connections) {
    throw new UsageError(`fortio used ${result.NumThreads} connections, not ${connections}: lower --connections`);
  }
  return toLoad(result);
}

/** fortio's own QPS includes errors, so goodput is computed from the return codes. */
export function toLoad(result: FortioResult): Load {
  const { Count, Avg, Percentiles } = result.DurationHistogram;
  const seconds = result.ActualDuration / 1e9;
  const good = Object.entries(result.RetCodes).reduce((sum, [code, n]) => sum + (/^2\d\d$/.test(code) ? n : 0), 0);
  const percentile = (p: number) =>
    (Percentiles?.find(({ Percentile }) => Percentile === p)?.Value ?? Number.NaN) * 1e3;
  return {
    startedAt: result.StartTime,
    requests: Count,
    errors: Count - good,
    seconds,
    averageMs: Avg * 1e3,
    goodput: good / seconds,
    percentilesMs: { 50: percentile(50), 90: percentile(90), 99: percentile(99), 99.9: percentile(99.9) },
    sockets: result.SocketCount,
  };
}
