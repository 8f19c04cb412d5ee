import { join } from "node:path";
import { pinned } from "../host/cores.ts";
import { generate, type Load, type LoadOptions, type StepLoad } from "./fortio.ts";
import { binned, type Histogram } from "./histogram.ts";

/** A Load whose requests are whole sequences or transactions. Latency is the sum over the steps; `refused` counts steps. */
export interface SequenceLoad extends Load {
  /** By name, in the order they are sent. */
  readonly steps: Readonly<Record<string, StepLoad>>;
  readonly dropped: number;
  readonly sentPerRequest: number;
}

/** What sequence.js prints. */
interface Summary {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly sequence: Latencies;
  readonly steps: Readonly<Record<string, Latencies>>;
  readonly refused: number;
  readonly sockets: number;
  readonly dropped: number;
  readonly bytes: number;
  readonly sent: number;
}

interface Latencies {
  readonly requests: number;
  readonly errors: number;
  readonly averageMs: number;
  /** Ascending, from 0 to 100 percent. */
  readonly quantilesMs: readonly (readonly [percent: number, ms: number])[];
}

const SCRIPT = Bun.file(join(import.meta.dirname, "sequence.js"));
/** k6 refuses fewer. */
const LEAST_SECONDS = 1;
/** The script. GOGC 400 needs 10 % less CPU time per request than Go's default of 100, and 50 % more memory. */
export const INPUT = { stdin: SCRIPT, env: { GOGC: "400" } };

/** What k6 loads. If it has a scale of pgbench's tables, each sequence is one transaction, whose rows stay. */
export interface Sequence {
  readonly url: string;
  readonly scale?: number | undefined;
}

/**
 * Loads one server with one k6 process for `seconds`, at least 1, and until the last sequence has ended, because it deletes
 * what it created. `rate` counts sequences.
 * @throws UsageError if k6 is missing or fails.
 */
export async function loadSequence(
  asked: Sequence,
  options: LoadOptions,
  cores: string | undefined,
  signal: AbortSignal,
): Promise<SequenceLoad> {
  const { stdout, generatorCpu } = await generate("k6", pinned(cores, commandOf(asked, options)), asked.url, {
    ...INPUT,
    signal,
  });
  return { ...toLoad(JSON.parse(stdout), options.rate), generatorCpu, overlap: 1 };
}

export function commandOf({ url, scale }: Sequence, { connections, seconds, rate }: LoadOptions): string[] {
  const settings = {
    URL: new URL(url).origin,
    CONNECTIONS: connections,
    SECONDS: Math.max(LEAST_SECONDS, seconds),
    ...(rate === undefined ? {} : { RATE: rate }),
    ...(scale === undefined ? {} : { SCALE: scale }),
  };
  return [
    ...["k6", "run", "--quiet", "--no-usage-report", "--address=", "--include-system-env-vars=false"],
    ...Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`),
    "-",
  ];
}

export function toLoad(
  summary: Summary,
  rate = Number.POSITIVE_INFINITY,
): Omit<SequenceLoad, "generatorCpu" | "overlap"> {
  const { startedAt, endedAt, refused, sockets, dropped, bytes, sent } = summary;
  const sequence = toStepLoad(summary.sequence);
  // n evenly spaced sends span n - 1 intervals, and the last answer may come in less than one interval.
  const seconds = Math.max((endedAt - startedAt) / 1e3, (sequence.requests + dropped) / rate);
  const steps = Object.entries(summary.steps).map(([name, step]) => [name, toStepLoad(step)]);
  return {
    ...sequence,
    startedAt,
    refused,
    seconds,
    goodput: (sequence.requests - sequence.errors) / seconds,
    sockets,
    bytesPerRequest: bytes / sequence.requests,
    sentPerRequest: sent / sequence.requests,
    steps: Object.fromEntries(steps),
    dropped,
  };
}

function toStepLoad({ requests, errors, averageMs, quantilesMs }: Latencies): StepLoad {
  const byPercent = new Map(quantilesMs);
  const ms = (percent: number) => byPercent.get(percent) ?? Number.NaN;
  const histogram: Histogram = quantilesMs.slice(1).map(([percent, to], i) => {
    const [before, from] = quantilesMs[i] as readonly [number, number];
    return [from / 1e3, to / 1e3, (requests * (percent - before)) / 100];
  });
  return {
    requests,
    errors,
    averageMs,
    maxMs: ms(100),
    percentilesMs: { 50: ms(50), 90: ms(90), 99: ms(99), 99.9: ms(99.9) },
    histogram: requests > 0 ? binned(histogram) : [],
  };
}
