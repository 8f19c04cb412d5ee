import { ENDPOINTS, SEQUENCE, TRANSACTION } from "../ask/endpoints.ts";
import type { Calibration, Manifest, Turns } from "../keep/manifest.ts";
import type { Slice, Verdict, Window } from "../keep/slices.ts";
import { percentile } from "../load/histogram.ts";
import { type Comparison, compare, type Interval, mean, pooledMeans, type Standing } from "./statistics.ts";
import { changesIn, costOf, type Layout, layoutOf, levelsOf, rateOf } from "./turns.ts";
import { explain, explainFlaw, flawOf, isFailing, UNRANKED } from "./verdict.ts";

/** The result of one target at one scenario; a field is null if it was not measured. */
export interface Row
  extends Pick<
    Slice,
    "name" | "runtime" | "framework" | "driver" | "workers" | "server" | "chosenDriver" | "settings" | "twinOf"
  > {
  /** By how much its cost still changed, −0.1 for 10 % less; null if it is not warming. */
  readonly warming: number | null;
  /** Its rank by CPU time per request, or by requests/s if the CPU time of a target is unknown. */
  readonly standing: Standing | null;
  /** From the windows. Intervals, here and below, come from the variance between restarts. */
  readonly cpuUsPerRequest: Interval | null;
  /** The part of it that the server's own database and pooler use. */
  readonly databaseUsPerRequest: Interval | null;
  readonly poolerUsPerRequest: Interval | null;
  /** CPU time ÷ time between its windows, while it is idle: 0.01 is 1 % of a core. */
  readonly cpuAtRest: number | null;
  /** Requests/s: from the windows, or from the slices if the network or a fixed rate sets it. */
  readonly goodput: Interval;
  /** From the merged histograms of the slices. */
  readonly latencyMs: Readonly<Record<50 | 90 | 99 | 99.9, Interval>>;
  readonly databaseBytes: Interval | null;
  /** Mean number of its database connections that wait for a lock, and in a transaction for the server's next statement. */
  readonly lockWaiters: number | null;
  readonly idleInTransaction: number | null;
  /** Sum over all slices; null if unknown. */
  readonly deadlocks: number | null;
  readonly rssBytes: Interval | null;
  readonly peakRssBytes: Interval | null;
  readonly startupMs: Interval | null;
  /** Sum over all slices. */
  readonly requests: number;
  readonly errors: number;
  readonly averageMs: number;
  readonly perSecond: number;
  readonly verdict: Verdict;
}

/** The result of one scenario. */
export interface Table {
  /** The scenario's name. */
  readonly endpoint: string;
  /** The endpoint without its rate. */
  readonly base: string;
  /** How the slices were loaded: `open` at a fixed rate. */
  readonly load: "closed" | "open";
  /** Requests per second, if the endpoint has several fixed rates. */
  readonly rate: number | null;
  /** Name of the step, if this table is for one step of a sequence. */
  readonly step: string | null;
  /** What is compared: CPU time per request, or requests/s if the CPU time of a target is unknown. */
  readonly by: "cpu" | "rate";
  /** Null if targets could not be compared: fewer than two, or fewer than two restarts. */
  readonly comparison: Comparison | null;
  /** The same by seconds per request; null if the rate was fixed or the network limited it. */
  readonly throughput: Comparison | null;
  /** Targets that are not compared, because requests failed or a restart is missing. */
  readonly apart: readonly string[];
  /** Upper bound for the change of cost of targets that are not warming, e.g. 0.05; null if unknown. */
  readonly noChangeAbove: number | null;
  readonly rows: readonly Row[];
  /** Each verdict that forbids a ranking by throughput, the targets that got it, and a sentence that explains it. */
  readonly remarks: readonly { readonly verdict: Verdict; readonly names: readonly string[]; readonly text: string }[];
}

/** The part of the manifest that tables need. */
export type Context = Pick<Manifest, "histograms" | "lineBytesPerSecond" | "turns"> & {
  readonly calibration: Readonly<Record<string, Readonly<Record<string, Pick<Calibration, "unloadedMs">>>>>;
};

/** The context of a run without manifest. */
export const NOTHING: Context = { histograms: {}, calibration: {}, lineBytesPerSecond: {}, turns: [] };

/** Slices and windows of one run. */
export interface Measurements {
  readonly slices: readonly Slice[];
  readonly windows: readonly Window[];
}

/** @returns a table for each scenario, and for each step of sequences. */
export function analyse({ slices, windows }: Measurements, context: Context): Table[] {
  const keyOf = ({ scenario, endpoint, step }: Slice) => (step === null ? scenario : `${endpoint} ${step}`);
  return [...Map.groupBy(inOrder(slices), keyOf)]
    .map(([name, group]) => ({ name, group, first: group[0] as Slice }))
    .sort(
      ({ first: a }, { first: b }) =>
        place(ENDPOINTS, a.endpoint) - place(ENDPOINTS, b.endpoint) ||
        compareText(a.endpoint, b.endpoint) ||
        compareText(a.step ?? "", b.step ?? "") ||
        (a.targetRate ?? 0) - (b.targetRate ?? 0),
    )
    .map(({ name, group }) => tableOf(name, group, windows, context));
}

function tableOf(name: string, slices: readonly Slice[], all: readonly Window[], context: Context): Table {
  const [first] = slices as [Slice];
  const windows = first.step === null ? all.filter(({ scenario }) => scenario === first.scenario) : [];
  const turns = context.turns.filter(({ scenario }) => first.step === null && scenario === first.scenario);
  const failing = new Set([...turns, ...slices].filter(isFailing).map(({ name }) => name));
  const usable = windows.filter((window) => !failing.has(window.name));
  const layouts = { cost: layoutOf(usable, costOf), rate: layoutOf(usable, rateOf) };
  const isByCpu = layouts.cost.measured.length >= Math.max(1, layouts.rate.measured.length);
  const { warming, noChangeAbove } = changesIn(isByCpu ? layouts.cost : layouts.rate);
  const cold = new Set(warming.keys());
  // Requests/s are then those of the network or of the generator, not of the server.
  const isOverLine = slices.some(({ verdict }) => verdict === "network-bound" || verdict === "bandwidth-bound");
  const isGiven = first.kind === "open" || isOverLine;
  const throughput = isGiven ? null : compare(inverse(layouts.rate), cold);
  const comparison = isByCpu ? compare(layouts.cost.measured, cold) : throughput;
  const byName = Map.groupBy(slices, ({ name }) => name);
  const rows = rowsOf(byName, { name, windows: usable, turns, layouts, isGiven, warming, comparison, context });
  const order = comparison?.standings.map(({ name }) => name) ?? [];
  const names = [...new Set([...byName.keys(), ...windows.map((window) => window.name)])];
  return {
    endpoint: name,
    base: first.endpoint,
    step: first.step,
    rate: first.scenario === first.endpoint ? null : first.targetRate,
    load: first.kind,
    by: isByCpu ? "cpu" : "rate",
    comparison,
    throughput,
    apart: comparison === null ? [] : names.filter((name) => !order.includes(name)).sort(),
    // 0 means unknown: a single round, as at a fixed rate, cannot show a change.
    noChangeAbove: noChangeAbove || null,
    rows: rows.toSorted((a, b) => place(order, a.name) - place(order, b.name) || compareText(a.name, b.name)),
    remarks: remarksOf(first.endpoint, rows, byName, context),
  };
}

/** Seconds per request, so that less is better. */
const inverse = ({ measured }: Layout) =>
  measured.map(({ name, perRestart }) => ({ name, perRestart: perRestart.map((ln) => -ln) }));

/** In the order in which they were measured. */
export const inOrder = (slices: readonly Slice[]): Slice[] =>
  slices.toSorted(
    (a, b) => a.slice - b.slice || compareText(a.name, b.name) || compareText(a.step ?? "", b.step ?? ""),
  );
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Names that are not in the list come last. */
const place = (list: readonly string[], item: string) => (list.includes(item) ? list.indexOf(item) : list.length);

interface Cells {
  readonly name: string;
  readonly windows: readonly Window[];
  readonly turns: readonly Turns[];
  readonly layouts: { readonly cost: Layout; readonly rate: Layout };
  /** Whether the network or a fixed rate sets requests/s. */
  readonly isGiven: boolean;
  readonly warming: ReadonlyMap<string, number>;
  readonly comparison: Comparison | null;
  readonly context: Context;
}

/** Fields of slices that are shown as means over restarts. */
const MEANS = [
  "cpuUsPerRequest",
  "goodput",
  "p50Ms",
  "p90Ms",
  "p99Ms",
  "p999Ms",
  "databaseBytes",
  "rssBytes",
  "peakRssBytes",
  "startupMs",
] as const;
type Means = Readonly<Record<(typeof MEANS)[number] | "cost" | "rate", Interval | null>>;

/** Starved slices show the machine, not the server: they count only if a target has no others. */
function fed(slices: readonly Slice[]): readonly Slice[] {
  const others = slices.filter(({ verdict }) => verdict !== "starved");
  return others.length > 0 ? others : slices;
}

function rowsOf(byName: ReadonlyMap<string, readonly Slice[]>, cells: Cells): Row[] {
  const used = [...byName.values()].map(fed);
  const levels = (value: (window: Window) => number | null, layout: Layout) =>
    pooledMeans([...byName.keys()].map((name) => levelsOf(layoutFor(name, layout, cells.windows, value), name)));
  const means = Object.entries({
    cost: levels(costOf, cells.layouts.cost),
    rate: levels(rateOf, cells.layouts.rate),
    ...Object.fromEntries(MEANS.map((field) => [field, pooledMeans(used.map((of) => perRestart(of, field)))])),
  });
  return [...byName.values()].map((all, i) => {
    const own = Object.fromEntries(means.map(([field, of]) => [field, of[i] ?? null])) as Means;
    return rowOf(used[i] as readonly Slice[], all, own, cells);
  });
}

const UNKNOWN: Interval = { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };

/** @param slices those of the target that count @param all all of the target */
function rowOf(slices: readonly Slice[], all: readonly Slice[], means: Means, cells: Cells): Row {
  const { name, runtime, framework, driver, workers, server, chosenDriver, settings, twinOf } = slices[0] as Slice;
  const { databaseBytes, rssBytes, peakRssBytes, startupMs } = means;
  const histogram = cells.context.histograms[name]?.[cells.name];
  const latency = (p: 50 | 90 | 99 | 99.9, restarts: Interval | null): Interval =>
    shifted(restarts, histogram ? percentile(histogram, p) * 1e3 : (restarts?.estimate ?? Number.NaN));
  const total = (field: (slice: Slice) => number) => slices.reduce((sum, slice) => sum + field(slice), 0);
  const average = (field: "lockWaiters" | "idleInTransaction") => {
    const known = slices.flatMap((slice) => slice[field] ?? []);
    return known.length > 0 ? mean(known) : null;
  };
  const perSecond = total((one) => one.goodput * one.seconds) / total(({ seconds }) => seconds);
  const rest = cells.turns.flatMap((one) => (one.name === name ? (one.restUsPerSecond ?? []) : []));
  const cpu = means.cost ?? (cells.windows.length === 0 ? null : means.cpuUsPerRequest);
  return {
    ...{ name, runtime, framework, driver, workers, server, chosenDriver, settings, twinOf },
    warming: cells.warming.get(name) ?? null,
    standing: cells.comparison?.standings.find((one) => one.name === name) ?? null,
    cpuUsPerRequest: cpu,
    databaseUsPerRequest: cpu && partOf(cells.windows, name, cpu, "databaseUs"),
    poolerUsPerRequest: cpu && partOf(cells.windows, name, cpu, "poolerUs"),
    cpuAtRest: rest.length > 0 ? mean(rest) / 1e6 : null,
    goodput: (cells.isGiven ? null : means.rate) ?? shifted(means.goodput, perSecond),
    latencyMs: {
      50: latency(50, means.p50Ms),
      90: latency(90, means.p90Ms),
      99: latency(99, means.p99Ms),
      99.9: latency(99.9, means.p999Ms),
    },
    databaseBytes,
    lockWaiters: average("lockWaiters"),
    idleInTransaction: average("idleInTransaction"),
    deadlocks: slices.some(({ deadlocks }) => deadlocks !== null) ? total((one) => one.deadlocks ?? 0) : null,
    rssBytes,
    peakRssBytes,
    startupMs,
    requests: total((one) => one.requests),
    errors: all.reduce((sum, slice) => sum + slice.errors, 0),
    averageMs: total((one) => one.averageMs * one.requests) / total((one) => one.requests),
    perSecond,
    verdict: sharedVerdict(slices),
  };
}

/** Moves the interval of the restarts to an estimate from all slices together. */
function shifted(interval: Interval | null, estimate: number): Interval {
  const seen = interval ?? UNKNOWN;
  const shift = estimate / seen.estimate;
  return { estimate, low: seen.low * shift, high: seen.high * shift };
}

/** A server that is not compared is estimated from its own windows alone. */
function layoutFor(name: string, layout: Layout, windows: readonly Window[], value: (window: Window) => number | null) {
  if (layout.measured.some((one) => one.name === name)) return layout;
  return layoutOf(
    windows.filter((window) => window.name === name),
    value,
  );
}

/** The CPU time of the database or pooler in all windows, with the interval of the whole scaled to it. */
function partOf(windows: readonly Window[], name: string, whole: Interval, field: "databaseUs" | "poolerUs") {
  const own = windows.filter((window) => window.name === name && window.counts && window.cpuUs);
  if (!own.some((window) => window[field] !== null)) return null;
  const total = (of: typeof field | "cpuUs") => own.reduce((sum, window) => sum + (window[of] ?? 0), 0);
  return shifted(whole, (whole.estimate * total(field)) / total("cpuUs"));
}

/** Means of each restart's slices; restarts without a value are left out. */
function perRestart(slices: readonly Slice[], field: (typeof MEANS)[number]): Map<number, number> {
  const known = Map.groupBy(
    slices.filter((slice) => slice[field]),
    ({ restart }) => restart,
  );
  return new Map([...known].map(([restart, of]) => [restart, mean(of.map((slice) => slice[field] as number))]));
}

const flawIn = (slices: readonly Slice[]) =>
  flawOf(
    slices,
    slices.some(({ endpoint }) => endpoint === SEQUENCE || endpoint === TRANSACTION),
  );

/** The verdict of several slices: invalid if they are so together, else the most frequent; one short slice alone proves nothing. */
function sharedVerdict(slices: readonly Slice[]): Verdict {
  const verdicts = slices.map(({ verdict }) => verdict);
  if (verdicts.includes("rate-limited")) return "rate-limited";
  if (!verdicts.includes("starved") && flawIn(slices)) return "invalid";
  const others = verdicts.filter((verdict) => verdict !== "invalid");
  const counts = [...Map.groupBy(others, (verdict) => verdict)].sort(([, a], [, b]) => b.length - a.length);
  return counts[0]?.[0] ?? "undetermined";
}

function remarksOf(
  endpoint: string,
  rows: readonly Row[],
  byName: ReadonlyMap<string, readonly Slice[]>,
  context: Context,
): Table["remarks"] {
  const forbidding = rows.filter(({ verdict }) => UNRANKED.has(verdict) || verdict === "service time");
  // What is wrong with an invalid row may be another thing for each.
  const groups = Map.groupBy(forbidding, ({ verdict, name }) => (verdict === "invalid" ? name : verdict));
  return [...groups.values()].map((group) => {
    const { name, verdict } = group[0] as Row;
    const slices = byName.get(name) ?? [];
    const slice = slices.find((one) => one.verdict === verdict) as Slice;
    const { scenario } = slices[0] as Slice;
    const turns = context.turns.filter((one) => one.name === name && one.scenario === scenario);
    const statuses = [...new Set(turns.flatMap(({ failed }) => Object.keys(failed)))];
    const flaw = verdict === "invalid" ? flawIn(fed(slices)) : null;
    const text = flaw
      ? explainFlaw(flaw, statuses)
      : explain(verdict, {
          ...slice,
          maxMs: Math.max(...slices.map(({ maxMs }) => maxMs)),
          unloadedMs: context.calibration[name]?.[endpoint]?.unloadedMs ?? null,
          lineBytesPerSecond: context.lineBytesPerSecond[name] ?? null,
        });
    return { verdict, names: group.map((row) => row.name), text };
  });
}
