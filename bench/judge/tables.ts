import { ENDPOINTS } from "../ask/endpoints.ts";
import { withoutLoad } from "../ask/names.ts";
import type { Slice } from "../keep/slices.ts";
import { type Histogram, percentile } from "../load/histogram.ts";
import {
  type Comparison,
  comparable,
  compare,
  type Drift,
  type Duet,
  drifts,
  type Interval,
  median,
  pooledMeans,
  type Standing,
  stateOf,
} from "./statistics.ts";
import { changeOf, TOLERANCE, type Warmths } from "./steadiness.ts";
import { explain, UNRANKED, type Verdict } from "./verdict.ts";

/** What a run says of one target at one endpoint; null where it did not see it. */
export interface Row {
  readonly name: string;
  /** With versions, e.g. `bun 1.4.5`; null for a server that does not say. */
  readonly runtime: string | null;
  readonly framework: string | null;
  readonly driver: string | null;
  readonly workers: number | null;
  /**
   * Why its numbers are not those of a warm server, in plain words: its cost still changed before its slices, or while
   * they were measured. Null for one that was steady, or of which that is not known.
   */
  readonly warming: string | null;
  /** Its place by CPU time per request, from the duets. */
  readonly standing: Standing | null;
  /** From the solo slices, all requests together; the intervals, here and below, are of the blocks. */
  readonly cpuUsPerRequest: Interval | null;
  /** What it cost in duets ÷ what it cost alone, of each block the medians. */
  readonly besideToAlone: Interval | null;
  readonly goodput: Interval;
  /** From the merged histograms. */
  readonly latencyMs: Readonly<Record<50 | 90 | 99 | 99.9, Interval>>;
  readonly utilization: Interval | null;
  /** Of `cpuUsPerRequest`, its own database and pooler; memory of that database. */
  readonly databaseUsPerRequest: Interval | null;
  readonly poolerUsPerRequest: Interval | null;
  readonly databaseBytes: Interval | null;
  /** Its connections at a moment: those that wait for locks, and for the server in a transaction. */
  readonly lockWaiters: Interval | null;
  readonly idleInTransaction: Interval | null;
  /** Of all solo slices; null where that is not seen. */
  readonly deadlocks: number | null;
  readonly rssBytes: Interval | null;
  readonly peakRssBytes: Interval | null;
  readonly startupMs: Interval | null;
  readonly requests: number;
  readonly errors: number;
  readonly averageMs: number;
  readonly verdict: Verdict;
}

/** Requests per second, or connections. */
export interface Level {
  readonly unit: "requests/s" | "connections";
  readonly value: number;
}

/** What a run says of one endpoint. */
export interface Table {
  readonly endpoint: string;
  /** How the solo slices were loaded: `open` at a fixed rate. */
  readonly load: "closed" | "open";
  /** Where an endpoint has a table for each of several loads: which one this is. */
  readonly level: Level | null;
  /** Null where the targets could not be compared: fewer than two, or fewer than two whole blocks. */
  readonly comparison: Comparison | null;
  /** Targets that were loaded in duets and yet cannot be compared, as too few of these could be used. */
  readonly apart: readonly string[];
  readonly rows: readonly Row[];
  /** Verdict and the targets that got it, with a plain sentence; only those that forbid a ranking by throughput. */
  readonly remarks: readonly { readonly verdict: Verdict; readonly names: readonly string[]; readonly text: string }[];
}

/** What is needed of the manifest. */
export interface Context {
  readonly histograms: Readonly<Record<string, Readonly<Record<string, Histogram>>>>;
  readonly calibration: Readonly<Record<string, Readonly<Record<string, { readonly unloadedMs: number }>>>>;
  readonly lineBytesPerSecond: Readonly<Record<string, number | null>>;
  /** Target -> endpoint -> its warm-up, block by block. */
  readonly blocks: readonly { readonly warmup: Warmths }[];
}

/** The context of a run without manifest. */
export const NOTHING: Context = { histograms: {}, calibration: {}, lineBytesPerSecond: {}, blocks: [] };

/** @param slices of one run, in any order. */
export function analyse(slices: readonly Slice[], context: Context): Table[] {
  const groups = [...Map.groupBy(inOrder(slices), ({ endpoint }) => endpoint)];
  return groups
    .sort(([a, [x]], [b, [y]]) => {
      const [first, second] = [withoutLoad(a), withoutLoad(b)];
      const byLevel = (levelOf(a, [x])?.value ?? 0) - (levelOf(b, [y])?.value ?? 0);
      return place(ENDPOINTS, first) - place(ENDPOINTS, second) || compareText(first, second) || byLevel;
    })
    .map(([endpoint, group]) => {
      const solos = group.filter(({ kind }) => kind !== "duet");
      const duets = duetsOf(group);
      const targets = [...new Set(duets.flatMap(({ a, b }) => [a, b]))].sort();
      const warming = warmingOf(group, drifts(changesAt(endpoint, targets, context)));
      const compared = comparable(targets, duets);
      const comparison = compare(compared, duets, new Set(warming.keys()));
      const loaded = group.filter(({ kind }) => kind === "duet").map(({ name }) => name);
      const byName = Map.groupBy(solos, ({ name }) => name);
      const rows = rowsOf(
        byName,
        besideToAlone(group),
        comparison?.standings ?? [],
        warming,
        (name) => context.histograms[name]?.[endpoint],
      );
      const order = comparison?.standings.map(({ name }) => name) ?? [];
      return {
        endpoint,
        level: levelOf(endpoint, solos),
        load: solos.some(({ kind }) => kind === "open") ? "open" : "closed",
        comparison,
        apart: [...new Set(loaded)].filter((name) => !compared.includes(name)).sort(),
        rows: rows.toSorted((a, b) => place(order, a.name) - place(order, b.name) || compareText(a.name, b.name)),
        remarks: remarksOf(endpoint, rows, byName, context),
      };
    });
}

function levelOf(endpoint: string, [solo]: readonly (Slice | undefined)[]): Level | null {
  if (!solo || withoutLoad(endpoint) === endpoint) return null;
  const { targetRate, connections } = solo;
  return targetRate === null ? { unit: "connections", value: connections } : { unit: "requests/s", value: targetRate };
}

/** As they were measured. */
export const inOrder = (slices: readonly Slice[]): Slice[] =>
  slices.toSorted((a, b) => a.slice - b.slice || compareText(a.name, b.name) || compareText(a.endpoint, b.endpoint));
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Those that are not in the list come last. */
const place = (list: readonly string[], item: string) => (list.includes(item) ? list.indexOf(item) : list.length);

/**
 * A duet in which both sides cost a tenth more than they mostly do counts half: the host was busy, and what it does to two
 * servers is not quite the same. On a host that took a third of the cores' time this lowered the spread between blocks by
 * 23 % over the eight tables of a standard run; a robust fit (Huber 1964) by 10 %, and both together by no more.
 */
const SLOWNESS = 0.1;

function duetsOf(slices: readonly Slice[]): Duet[] {
  const used = slices.filter(
    ({ kind, verdict, cpuUsPerRequest }) => kind === "duet" && verdict !== "void" && cpuUsPerRequest,
  );
  const cost = ({ cpuUsPerRequest }: Slice) => Math.log(cpuUsPerRequest as number);
  const usual = new Map([...Map.groupBy(used, ({ name }) => name)].map(([name, of]) => [name, median(of.map(cost))]));
  const slowness = (slice: Slice) => cost(slice) - (usual.get(slice.name) as number);
  return [...Map.groupBy(used, ({ slice }) => slice).values()].flatMap(([a, b]): Duet[] => {
    if (!a || !b) return [];
    const both = Math.max(0, (slowness(a) + slowness(b)) / 2);
    return [
      { block: a.block, a: a.name, b: b.name, logRatio: cost(a) - cost(b), weight: 1 / (1 + (both / SLOWNESS) ** 2) },
    ];
  });
}

/** How much a cost may go up in some blocks and down in others: less is noise that blocks average away. */
const SWING = 0.1;

/** Targets that were not steady, and why. */
function warmingOf(slices: readonly Slice[], changed: ReadonlyMap<string, Drift>): Map<string, string> {
  const unsteady = Map.groupBy(
    slices.filter(({ warm }) => warm === "warming"),
    ({ name }) => name,
  );
  const blocks = new Set(slices.map(({ block }) => block)).size;
  const before = [...unsteady].map(([name, of]): [string, string] => {
    const times = new Set(of.map(({ block }) => block)).size;
    return [name, `its cost still changed when ${times} of ${blocks} blocks began`];
  });
  const meanwhile = [...changed].flatMap(([name, { change, swing }]): [string, string][] => {
    const by = change.estimate - 1;
    const said = (verb: string, part: number): [string, string][] => [
      [name, `its cost ${verb} by ${(Math.abs(part) * 100).toFixed(0)} % while it was measured`],
    ];
    if (Math.abs(by) > TOLERANCE && stateOf(change) === "different") return said(by > 0 ? "rose" : "fell", by);
    return swing > SWING ? said("swung", Math.expm1(swing)) : [];
  });
  return new Map([...meanwhile, ...before]);
}

/** By how much each target's cost changed between its two turns of a block, ln scale, as far as that was seen. */
const changesAt = (endpoint: string, targets: readonly string[], { blocks }: Context): Map<string, number[]> =>
  new Map(
    targets.map((name) => [
      name,
      blocks.flatMap(({ warmup }) => changeOf(warmup[name]?.[endpoint]?.windows ?? []) ?? []),
    ]),
  );

/** What each target cost in duets ÷ what it cost alone. */
function besideToAlone(slices: readonly Slice[]): Map<string, Interval | null> {
  const usable = slices.filter(({ verdict, cpuUsPerRequest }) => cpuUsPerRequest && !UNUSABLE.has(verdict));
  const cost = (of: readonly Slice[]) => median(of.map(({ cpuUsPerRequest }) => cpuUsPerRequest as number));
  const byName = [...Map.groupBy(usable, ({ name }) => name)];
  const ratios = byName.map(([, of]) =>
    [...Map.groupBy(of, ({ block }) => block).values()].flatMap((block) => {
      const { beside, alone } = Object.groupBy(block, ({ kind }) => (kind === "duet" ? "beside" : "alone"));
      return beside && alone ? [cost(beside) / cost(alone)] : [];
    }),
  );
  return new Map(pooledMeans(ratios).map((interval, i) => [byName[i]?.[0] as string, interval]));
}
const UNUSABLE = new Set<Slice["verdict"]>(["void", "starved"]);

function rowsOf(
  byName: ReadonlyMap<string, readonly Slice[]>,
  besides: ReadonlyMap<string, Interval | null>,
  standings: readonly Standing[],
  warming: ReadonlyMap<string, string>,
  histogramOf: (name: string) => Histogram | undefined,
): Row[] {
  // What a starved slice saw is the machine's; it counts where there is nothing else.
  const used = [...byName.values()].map((slices) => {
    const fed = slices.filter(({ verdict }) => verdict !== "starved");
    return fed.length > 0 ? fed : slices;
  });
  const over = (field: (slice: Slice) => number | null) => pooledMeans(used.map((slices) => perBlock(slices, field)));
  const means = {
    cpuUsPerRequest: over((slice) => slice.cpuUsPerRequest),
    goodput: over((slice) => slice.goodput),
    p50: over((slice) => slice.p50Ms),
    p90: over((slice) => slice.p90Ms),
    p99: over((slice) => slice.p99Ms),
    p999: over((slice) => slice.p999Ms),
    utilization: over((slice) => slice.utilization),
    databaseUsPerRequest: over((slice) => slice.databaseUsPerRequest),
    poolerUsPerRequest: over((slice) => slice.poolerUsPerRequest),
    databaseBytes: over((slice) => slice.databaseBytes),
    lockWaiters: over((slice) => slice.lockWaiters),
    idleInTransaction: over((slice) => slice.idleInTransaction),
    rssBytes: over((slice) => slice.rssBytes),
    peakRssBytes: over((slice) => slice.peakRssBytes),
    startupMs: over((slice) => slice.startupMs),
  };
  return used.map((slices, i) => {
    const { name, runtime, framework, driver, workers } = slices[0] as Slice;
    const all = byName.get(name) as readonly Slice[];
    const of = (field: keyof typeof means): Interval | null => means[field][i] ?? null;
    // All slices together; the intervals are of the blocks.
    const shifted = (interval: Interval | null, estimate: number): Interval => {
      const seen = interval ?? { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };
      const shift = seen.isRange ? 1 : estimate / seen.estimate;
      return { ...seen, estimate, low: seen.low * shift, high: seen.high * shift };
    };
    const histogram = histogramOf(name);
    const latency = (p: 50 | 90 | 99 | 99.9, blocks: Interval | null): Interval =>
      shifted(blocks, histogram ? percentile(histogram, p) * 1e3 : (blocks?.estimate ?? Number.NaN));
    const total = (field: (slice: Slice) => number) => slices.reduce((sum, slice) => sum + field(slice), 0);
    const goodput = of("goodput");
    const cpu = of("cpuUsPerRequest");
    return {
      name,
      runtime,
      framework,
      driver,
      workers,
      warming: warming.get(name) ?? null,
      standing: standings.find((one) => one.name === name) ?? null,
      cpuUsPerRequest:
        cpu &&
        shifted(
          cpu,
          total(({ cpuUsPerRequest, requests }) => (cpuUsPerRequest ?? 0) * requests) /
            total((one) => (one.cpuUsPerRequest ? one.requests : 0)),
        ),
      besideToAlone: besides.get(name) ?? null,
      goodput: goodput
        ? shifted(goodput, total((one) => one.goodput * one.seconds) / total(({ seconds }) => seconds))
        : { estimate: 0, low: 0, high: 0 },
      latencyMs: {
        50: latency(50, of("p50")),
        90: latency(90, of("p90")),
        99: latency(99, of("p99")),
        99.9: latency(99.9, of("p999")),
      },
      utilization: of("utilization"),
      databaseUsPerRequest: of("databaseUsPerRequest"),
      poolerUsPerRequest: of("poolerUsPerRequest"),
      databaseBytes: of("databaseBytes"),
      lockWaiters: of("lockWaiters"),
      idleInTransaction: of("idleInTransaction"),
      deadlocks: slices.some(({ deadlocks }) => deadlocks !== null) ? total((one) => one.deadlocks ?? 0) : null,
      rssBytes: of("rssBytes"),
      peakRssBytes: of("peakRssBytes"),
      startupMs: of("startupMs"),
      requests: total((one) => one.requests),
      errors: all.reduce((sum, slice) => sum + slice.errors, 0),
      averageMs: total((one) => one.averageMs * one.requests) / total((one) => one.requests),
      verdict: sharedVerdict(slices),
    };
  });
}

/** Means of each block's slices; blocks without a value are left out. */
function perBlock(slices: readonly Slice[], field: (slice: Slice) => number | null): number[] {
  return [...Map.groupBy(slices, ({ block }) => block).values()].flatMap((block) => {
    const known = block.map(field).filter((value) => value !== null && value > 0);
    return known.length > 0 ? [known.reduce((a: number, b) => a + (b as number), 0) / known.length] : [];
  });
}

/** The verdict of several slices: one that makes a slice worthless, else the most frequent. */
function sharedVerdict(slices: readonly Slice[]): Verdict {
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
