/** What a change costs: the record that --json prints, also as a table. */
import { markdownTable } from "markdown-table";
import type { Also, Failures, Gate, GateVerdict, Measure, SideNames } from "../judge/gate.ts";
import { limitsOf, measureOf, verdictBy, verdictOf, worst } from "../judge/gate.ts";
import type { Compared } from "../judge/outcomes.ts";
import { mean, median } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { count, many, present, signed } from "./format.ts";
import { machineLine } from "./machine.ts";
import { otherWork } from "./says.ts";
import { renderText } from "./text.ts";

type Side = Readonly<{ name: string; commit: string | null }>;
export type Judged = Measure & Readonly<{ verdict: GateVerdict | null }>;

/** Version 2 of the record that --json prints: docs/gate.schema.json says what each field is. */
export type GateReport = ReturnType<typeof gateReport>;
type GateEndpoint = GateReport["endpoints"][number];

export function gateReport(
  { manifest, slices }: { readonly manifest: Manifest; readonly slices: readonly Slice[] },
  { base, head }: { readonly base: Side; readonly head: Side },
  { outcomes, verdicts, verdict, suspect }: Gate,
  { failAbove, also }: { readonly failAbove: number | null; readonly also: Also },
) {
  const names = { base: base.name, head: head.name };
  const taken = slices.flatMap((slice) => slice.taken ?? []);
  const over = (of: readonly Slice[], field: (slice: Slice) => number | null) => measureOf(of, names, field);
  const judged = (limit: number | undefined, of: Measure | null): Judged | null =>
    of && { ...of, verdict: verdictOf(of, limit) };
  const by = (of: Compared) => (failAbove === null ? null : verdictBy(of, failAbove));
  const endpoints = outcomes.map((one, i) => {
    const at = slices.filter(({ scenario }) => scenario === one.endpoint);
    const [cpu, time] = one.by === "cpu" ? [one, one.time] : [null, one];
    const p99 = judged(
      also.p99,
      over(at, ({ p99Ms }) => p99Ms),
    );
    return {
      endpoint: one.endpoint,
      verdict: verdicts[i] ?? null,
      cpuUs: cpu && cpu.base.length > 0 ? { ...measureIn(cpu), verdict: by(cpu) } : null,
      perSecond: time && { ...inverse(measureIn(time)), verdict: one.isWaiting || !cpu ? by(time) : null },
      waiting: one.isWaiting,
      p99Ms: p99 && { ...p99, rate: at[0]?.targetRate ?? 0 },
      kernelUs: over(at, ({ kernelUsPerRequest }) => kernelUsPerRequest),
      bytes: over(at, ({ bytesPerRequest }) => bytesPerRequest),
      switches: over(at, ({ switchesPerRequest }) => switchesPerRequest),
      collectorUs: over(at, ({ collectorUsPerRequest }) => collectorUsPerRequest),
      childUs: childrenOf(at, names),
      guard: one.guard && limitsOf(one.guard.ratio),
      warming: one.isWarming,
    };
  });
  const rssBytes = judged(
    also.memory,
    over(slices, (slice) => slice.rssBytes),
  );
  const others = [...endpoints.map(({ p99Ms }) => p99Ms), rssBytes].flatMap((of) => of?.verdict ?? []);
  const isOpen = verdict === "slower" || verdict === "not slower" || verdict === "undecided";
  return {
    version: 2 as const,
    verdict: isOpen ? worst([verdict, ...others]) : verdict,
    reason: suspect
      ? `${base.name} differs from its own copy at ${suspect.endpoint}: ${change(limitsOf(suspect.ratio))} ${suspect.by === "cpu" ? "CPU time" : "time"} per request, so no result can be trusted`
      : null,
    ...{ failAbove, base, head, run: manifest.run, machine: machineLine(manifest) },
    ...{ restarts: manifest.restarts, seconds: manifest.seconds.total },
    taken: taken.length > 0 ? median(taken) : null,
    ...{ endpoints, rssBytes },
    peakRssBytes: over(slices, (slice) => slice.peakRssBytes),
    startupMs: over(slices, (slice) => slice.startupMs),
  };
}

/** Means, not a ratio, because most apps have no child processes. */
function childrenOf(at: readonly Slice[], { base, head }: SideNames) {
  const of = (side: string) =>
    mean(at.flatMap(({ name, childUsPerRequest }) => (name === side ? (childUsPerRequest ?? []) : [])));
  const sides = { base: of(base), head: of(head) };
  return Number.isNaN(sides.base + sides.head) ? null : sides;
}

/** Base and head in the unit of what was compared. */
function measureIn({ base, ratio }: Compared): Measure {
  const level = Math.exp(mean(base.map(Math.log)));
  return { base: level, head: level * ratio.estimate, ...limitsOf(ratio) };
}

const inverse = ({ base, head, ratio, low, high }: Measure): Measure => ({
  base: 1 / base,
  head: 1 / head,
  ratio: 1 / ratio,
  low: high && 1 / high,
  high: low && 1 / low,
});

/** `+5.1 % (+3.9 to +6.3)` */
const change = ({ ratio, low, high }: Pick<Measure, "ratio" | "low" | "high">): string =>
  `${signed(ratio, 1)} %${low === null || high === null ? "" : ` (${signed(low, 1)} to ${signed(high, 1)})`}`;

/** A likely cause has a row if its change is significant and larger than this. */
const TELLING = 0.02;
const isTelling = ({ low, high, ratio }: Measure): boolean =>
  low !== null && high !== null && (low > 1 || high < 1) && Math.abs(ratio - 1) > TELLING;

const us = (value: number) => `${value.toFixed(value < 100 ? 1 : 0)} µs`;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const mb = (value: number) => `${count(value / 1e6)} MB`;

function rowsOf({ endpoints, rssBytes, peakRssBytes, startupMs }: GateReport): string[][] {
  const row = (what: string, of: Measure | Judged | null, show: (value: number) => string) =>
    of === null ? [] : [[what, show(of.base), show(of.head), change(of), ("verdict" in of && of.verdict) || ""]];
  const cause = (what: string, of: Measure | null, show: (value: number) => string) =>
    of && isTelling(of) ? row(what, of, show) : [];
  return [
    ...endpoints.flatMap(({ endpoint, cpuUs, perSecond, p99Ms, kernelUs, collectorUs, bytes, switches }) => [
      ...row(`${endpoint}: CPU time per request`, cpuUs, us),
      ...row(`${endpoint}: requests/s`, perSecond, count),
      ...row(`${endpoint}: p99 at ${count(p99Ms?.rate ?? 0)} requests/s`, p99Ms, ms),
      ...cause(`${endpoint}: CPU time in the kernel`, kernelUs, us),
      ...cause(`${endpoint}: CPU time of collector threads`, collectorUs, us),
      ...cause(`${endpoint}: bytes of an answer`, bytes, count),
      ...cause(`${endpoint}: context switches per request`, switches, (value) => value.toFixed(1)),
    ]),
    ...row("memory after load", rssBytes, mb),
    ...row("most memory", peakRssBytes, mb),
    ...row("start until the first answer", startupMs, ms),
  ];
}

/** `/ by about 6 % (1.5 to 10 %) of the CPU time` */
function slowerAt({ endpoint, cpuUs, perSecond }: GateEndpoint): string {
  const [of, what] =
    cpuUs?.verdict === "slower" || !perSecond ? [cpuUs, "CPU time"] : ([perSecond, "requests/s"] as const);
  const [least, most] = [of?.low, of?.high].map((limit) => Math.abs((limit ?? Number.NaN) - 1)).sort((a, b) => a - b);
  const show = (value = Number.NaN) => (value * 100).toFixed(value < 0.1 ? 1 : 0);
  const part = of ? `about ${show(Math.abs(of.ratio - 1))} % (${show(least)} to ${show(most)} %)` : "an unknown part";
  return `${endpoint} by ${part} of the ${what}`;
}

function headline({ verdict, reason, failAbove, base, head, endpoints, rssBytes }: GateReport): string {
  const of = `${head.name} against ${base.name}`;
  const limit = `${((failAbove ?? 0) * 100).toFixed(1).replace(/\.0$/, "")} %`;
  const named = endpoints.filter((one) => one.verdict === verdict);
  const others = [
    ...(rssBytes?.verdict === verdict ? ["memory"] : []),
    ...endpoints.flatMap(({ endpoint, p99Ms }) => (p99Ms?.verdict === verdict ? [`p99 at ${endpoint}`] : [])),
  ];
  if (verdict === null) return of;
  if (verdict === "not measured" || verdict === "failed") return `${of}: ${verdict}: ${reason}`;
  if (verdict === "slower")
    return `${of}: slower: ${[...named.map(slowerAt), ...others.map((what) => `more ${what}`)].join(", ")}`;
  if (verdict === "not slower") return `${of}: not slower by more than ${limit} at any endpoint`;
  const open = [...named.map(({ endpoint }) => endpoint), ...others].join(", ");
  return `${of}: undecided: the time was too short to tell whether it is slower by more than ${limit} at ${open}; raise --seconds`;
}

function grounds({ base, head, restarts, seconds, endpoints, machine, taken }: GateReport): string[] {
  const guards = endpoints.flatMap(({ endpoint, guard }) => (guard ? [`${change(guard)} at ${endpoint}`] : []));
  const sides = `${many(restarts, "restart")} of each side in ${seconds.toFixed(0)} s`;
  return present([
    `${sides}; 95 % intervals; those of CPU time and requests/s hold at all endpoints at once.`,
    guards.length > 0 && `${base.name} against its own copy, where every difference is noise: ${guards.join(", ")}.`,
    ...endpoints.flatMap(({ endpoint, cpuUs, childUs: child, waiting, warming }) => [
      waiting && `At ${endpoint} a server waits for something, so requests/s decide as well as CPU time.`,
      child &&
        Math.abs(child.head - child.base) > TELLING * (cpuUs?.base ?? Number.NaN) &&
        `At ${endpoint} child processes use ${us(child.base)} per request in ${base.name}, ${us(child.head)} in ${head.name}.`,
      warming && `Still warming at ${endpoint}: raise --warmup.`,
    ]),
    `Measured on ${machine}${taken === null ? "" : `; ${otherWork(taken)}`}.`,
  ]);
}

const heads = ({ base, head }: GateReport) => ["", base.name, head.name, "change", ""];

export const gateText = (report: GateReport): string =>
  [headline(report), "", renderText(heads(report), rowsOf(report)), "", ...grounds(report)].join("\n");

export const gateMarkdown = (report: GateReport): string =>
  [
    `**${headline(report)}**\n`,
    `${markdownTable([heads(report), ...rowsOf(report)], { align: ["l", "r", "r", "r", "l"] })}\n`,
    "<details><summary>How sure is this?</summary>\n",
    ...grounds(report),
    "\n</details>\n",
  ].join("\n");

export const atMost = (head: string, base: string, endpoints: number, seconds: number): string =>
  `${head} against ${base}, ${many(endpoints, "endpoint")}: at most ${seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`}`;

/** `HEAD: 57 of 4,100 requests failed (500)` */
export function failureLine({ name, requests, errors, failed }: Failures): string {
  const statuses = Object.entries(failed).map(([status, n], _, { length }) =>
    length === 1 ? status : `${status}: ${count(n)}`,
  );
  const which = statuses.length > 0 ? ` (${statuses.join(", ")})` : "";
  return `${name}: ${count(errors)} of ${count(requests)} requests failed${which}`;
}
