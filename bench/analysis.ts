import { type Histogram, percentile } from "./load/histogram.ts";
import { ENDPOINTS } from "./plan.ts";
import type { Slice } from "./results.ts";
import { type Comparison, compare, type Duet, type Interval, meanInterval, type Standing } from "./statistics.ts";
import { explain, UNRANKED, type Verdict } from "./verdict.ts";

/** What a run says of one target at one endpoint; null where it did not see it. */
export interface Row {
  readonly name: string;
  /** With versions, e.g. `bun 1.4.5`; null for a server that does not say. */
  readonly runtime: string | null;
  readonly framework: string | null;
  readonly driver: string | null;
  readonly workers: number | null;
  /** Its place by CPU time per request, from the duets. */
  readonly standing: Standing | null;
  /** From the solo slices: geometric means over the blocks. */
  readonly cpuUsPerRequest: Interval | null;
  readonly goodput: Interval;
  /** Of the merged histograms; the intervals are of the blocks. */
  readonly latencyMs: Readonly<Record<50 | 90 | 99 | 99.9, Interval>>;
  readonly busiest: Interval | null;
  readonly rssBytes: Interval | null;
  readonly peakRssBytes: Interval | null;
  readonly startupMs: Interval | null;
  readonly errors: number;
  readonly verdict: Verdict;
}

/** What a run says of one endpoint. */
export interface Table {
  readonly endpoint: string;
  /** How the solo slices were loaded: `open` at a fixed rate. */
  readonly load: "closed" | "open";
  /** Null where the targets could not be compared: fewer than two, or fewer than two whole blocks. */
  readonly comparison: Comparison | null;
  readonly rows: readonly Row[];
  /** Verdict and the targets that got it, with a plain sentence; only those that forbid a ranking by throughput. */
  readonly remarks: readonly { readonly verdict: Verdict; readonly names: readonly string[]; readonly text: string }[];
}

/** What is needed of the manifest. */
export interface Context {
  readonly histograms: Readonly<Record<string, Readonly<Record<string, Histogram>>>>;
  readonly calibration: Readonly<Record<string, Readonly<Record<string, { readonly unloadedMs: number }>>>>;
  readonly lineBytesPerSecond: Readonly<Record<string, number | null>>;
}

/** Of a run without manifest. */
export const NOTHING: Context = { histograms: {}, calibration: {}, lineBytesPerSecond: {} };

/** @param slices of one run, in any order. */
export function analyse(slices: readonly Slice[], context: Context): Table[] {
  const groups = [...Map.groupBy(inOrder(slices), ({ endpoint }) => endpoint)];
  return groups
    .sort(([a], [b]) => place(ENDPOINTS, a) - place(ENDPOINTS, b) || compareText(a, b))
    .map(([endpoint, group]) => {
      const solos = group.filter(({ kind }) => kind !== "duet");
      const comparison = compareDuets(group);
      const standings = comparison?.standings ?? [];
      const byName = Map.groupBy(solos, ({ name }) => name);
      const rows = [...byName].map(([name, of]) =>
        rowOf(of, standings.find((one) => one.name === name) ?? null, context.histograms[name]?.[endpoint]),
      );
      const order = standings.map(({ name }) => name);
      return {
        endpoint,
        load: solos.some(({ kind }) => kind === "open") ? "open" : "closed",
        comparison,
        rows: rows.toSorted((a, b) => place(order, a.name) - place(order, b.name) || compareText(a.name, b.name)),
        remarks: remarksOf(endpoint, rows, byName, context),
      };
    });
}

/** As they were measured. */
export const inOrder = (slices: readonly Slice[]): Slice[] =>
  slices.toSorted((a, b) => a.slice - b.slice || compareText(a.name, b.name) || compareText(a.endpoint, b.endpoint));
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Those that are not in the list come last. */
const place = (list: readonly string[], item: string) => (list.includes(item) ? list.indexOf(item) : list.length);

function compareDuets(slices: readonly Slice[]): Comparison | null {
  const pairs = Map.groupBy(
    slices.filter(({ kind, verdict }) => kind === "duet" && verdict !== "void"),
    ({ slice }) => slice,
  );
  const duets = [...pairs.values()].flatMap(([a, b]): Duet[] =>
    a?.cpuUsPerRequest && b?.cpuUsPerRequest
      ? [{ block: a.block, a: a.name, b: b.name, logRatio: Math.log(a.cpuUsPerRequest / b.cpuUsPerRequest) }]
      : [],
  );
  return compare([...new Set(duets.flatMap(({ a, b }) => [a, b]))].sort(), duets);
}

function rowOf(slices: readonly Slice[], standing: Standing | null, histogram: Histogram | undefined): Row {
  const { name, runtime, framework, driver, workers } = slices[0] as Slice;
  const over = (field: (slice: Slice) => number | null) => {
    const blocks = [...Map.groupBy(slices, ({ block }) => block).values()];
    const values = blocks.flatMap((block) => {
      const known = block.map(field).filter((value) => value !== null && value > 0);
      return known.length > 0 ? [known.reduce((a: number, b) => a + (b as number), 0) / known.length] : [];
    });
    return values.length > 0 ? meanInterval(values, true) : null;
  };
  const latency = (p: 50 | 90 | 99 | 99.9, field: (slice: Slice) => number): Interval => {
    const blocks = over(field) ?? { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };
    const merged = histogram ? percentile(histogram, p) * 1e3 : blocks.estimate;
    const shift = merged / blocks.estimate;
    return { estimate: merged, low: blocks.low * shift, high: blocks.high * shift };
  };
  return {
    name,
    runtime,
    framework,
    driver,
    workers,
    standing,
    cpuUsPerRequest: over((slice) => slice.cpuUsPerRequest),
    goodput: over((slice) => slice.goodput) ?? { estimate: 0, low: 0, high: 0 },
    latencyMs: {
      50: latency(50, (slice) => slice.p50Ms),
      90: latency(90, (slice) => slice.p90Ms),
      99: latency(99, (slice) => slice.p99Ms),
      99.9: latency(99.9, (slice) => slice.p999Ms),
    },
    busiest: over((slice) => slice.busiest),
    rssBytes: over((slice) => slice.rssBytes),
    peakRssBytes: over((slice) => slice.peakRssBytes),
    startupMs: over((slice) => slice.startupMs),
    errors: slices.reduce((sum, slice) => sum + slice.errors, 0),
    verdict: common(slices),
  };
}

/** The verdict of several slices: one that makes a slice worthless, else the most frequent. */
function common(slices: readonly Slice[]): Verdict {
  const verdicts = slices.map(({ verdict }) => verdict as Verdict);
  const worthless = verdicts.find((verdict) => verdict === "rate-limited" || verdict === "invalid");
  const counts = [...Map.groupBy(verdicts, (verdict) => verdict)].sort(([, a], [, b]) => b.length - a.length);
  return worthless ?? (counts[0]?.[0] as Verdict);
}

function remarksOf(
  endpoint: string,
  rows: readonly Row[],
  byName: ReadonlyMap<string, readonly Slice[]>,
  context: Context,
): Table["remarks"] {
  const forbidding = rows.filter(({ verdict }) => UNRANKED.has(verdict) || verdict === "service time");
  return [...Map.groupBy(forbidding, ({ verdict }) => verdict)].map(([verdict, group]) => {
    const { name } = group[0] as Row;
    const slices = byName.get(name) ?? [];
    const slice = slices.find((one) => one.verdict === verdict) as Slice;
    return {
      verdict,
      names: group.map((row) => row.name),
      text: explain(verdict, {
        ...slice,
        maxMs: Math.max(...slices.map(({ maxMs }) => maxMs)),
        unloadedMs: context.calibration[name]?.[endpoint]?.unloadedMs ?? null,
        lineBytesPerSecond: context.lineBytesPerSecond[name] ?? null,
      }),
    };
  });
}
