/** What a change costs: the record that --json prints, and the same as a table. */
import { markdownTable } from "markdown-table";
import type { GateVerdict } from "../judge/gate.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { type Interval, mean, meanInterval, median } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { count } from "./format.ts";
import { machineLine } from "./machine.ts";
import { renderText } from "./text.ts";

/** Base and head, and head ÷ base with its 95 % interval; its limits are null where too few restarts leave it open. */
export interface Measure {
  readonly base: number;
  readonly head: number;
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Version 2 of the record: docs/gate.schema.json. */
export interface GateReport {
  readonly version: 2;
  /** Null where nothing was asked: no --fail-above. */
  readonly verdict: GateVerdict | "not measured" | null;
  /** Why it could not be measured. */
  readonly reason: string | null;
  readonly failAbove: number | null;
  readonly base: { readonly name: string; readonly commit: string | null };
  readonly head: { readonly name: string; readonly commit: string | null };
  readonly run: string;
  readonly machine: string;
  /** Of each side. */
  readonly restarts: number;
  readonly seconds: number;
  /** Part of the time in which the host or other processes had the cores, in the median slice. */
  readonly taken: number | null;
  readonly endpoints: readonly {
    readonly endpoint: string;
    readonly verdict: GateVerdict | null;
    /** CPU µs per request. */
    readonly cpuUs: Measure;
    /** At a fixed rate per second, the same for both. */
    readonly p99Ms: (Measure & { readonly rate: number }) | null;
    /** A second copy of base ÷ the first; nothing but the instrument's noise. */
    readonly guard: Pick<Measure, "ratio" | "low" | "high"> | null;
    /** Whether the cost of one of them still changed while it was measured. */
    readonly warming: boolean;
  }[];
  /** After load, and the most since the start. */
  readonly rssBytes: Measure | null;
  readonly peakRssBytes: Measure | null;
  readonly startupMs: Measure | null;
}

type Names = { readonly base: string; readonly head: string };

/** What a gate measured. */
export interface GateRun {
  readonly manifest: Manifest;
  readonly slices: readonly Slice[];
}

/** @param verdicts one per outcome, null if nothing was asked */
export function gateReport(
  { manifest, slices }: GateRun,
  { base, head }: Pick<GateReport, "base" | "head">,
  outcomes: readonly Outcome[],
  asked: Pick<GateReport, "verdict" | "reason" | "failAbove">,
  verdicts: readonly (GateVerdict | null)[],
): GateReport {
  const names = { base: base.name, head: head.name };
  const takenTimes = slices.flatMap(({ taken }) => taken ?? []);
  return {
    version: 2,
    ...asked,
    base,
    head,
    run: manifest.run,
    machine: machineLine(manifest),
    restarts: manifest.restarts,
    seconds: manifest.seconds.total,
    taken: takenTimes.length > 0 ? median(takenTimes) : null,
    endpoints: outcomes.map((one, i) => {
      const at = slices.filter(({ scenario }) => scenario === one.endpoint);
      const baseUs = one.baseUs.length > 0 ? Math.exp(mean(one.baseUs.map(Math.log))) : Number.NaN;
      const p99 = measureOf(at, names, "p99Ms");
      return {
        endpoint: one.endpoint,
        verdict: verdicts[i] ?? null,
        cpuUs: { base: baseUs, head: baseUs * one.ratio.estimate, ...limitsOf(one.ratio) },
        p99Ms: p99 && { ...p99, rate: at[0]?.targetRate ?? 0 },
        guard: one.guard && limitsOf(one.guard.ratio),
        warming: one.isWarming,
      };
    }),
    rssBytes: measureOf(slices, names, "rssBytes"),
    peakRssBytes: measureOf(slices, names, "peakRssBytes"),
    startupMs: measureOf(slices, names, "startupMs"),
  };
}

/** A limit beyond all measure, as two restarts may leave it, says nothing. */
const limitsOf = ({ estimate, low, high }: Interval): Pick<Measure, "ratio" | "low" | "high"> =>
  Number.isFinite(high) && high < 100 * low
    ? { ratio: estimate, low, high }
    : { ratio: estimate, low: null, high: null };

/** Restart by restart, each side's mean; null if no restart has both. */
function measureOf(
  slices: readonly Slice[],
  { base, head }: Names,
  field: "p99Ms" | "rssBytes" | "peakRssBytes" | "startupMs",
): Measure | null {
  const restarts = [...Map.groupBy(slices, ({ restart }) => restart).values()].flatMap((all) => {
    const of = (isSide: (slice: Slice) => boolean) =>
      mean(all.flatMap((slice) => (isSide(slice) && slice[field] ? [Math.log(slice[field])] : [])));
    const isBase = ({ name, twinOf }: Slice) => name === base || twinOf === base;
    const one = { base: of(isBase), head: of(({ name }) => name === head) };
    return Number.isNaN(one.base + one.head) ? [] : [one];
  });
  if (restarts.length === 0) return null;
  return {
    base: Math.exp(mean(restarts.map(({ base }) => base))),
    head: Math.exp(mean(restarts.map(({ head }) => head))),
    ...limitsOf(
      meanInterval(
        restarts.map(({ base, head }) => Math.exp(head - base)),
        true,
      ),
    ),
  };
}

/** `+5.1 % (+3.9 to +6.3)` */
export function change({ ratio, low, high }: Pick<Measure, "ratio" | "low" | "high">): string {
  const signed = (value: number) => {
    const text = ((value - 1) * 100).toFixed(1);
    return text.startsWith("-") ? text.replace("-", "−") : `+${text}`;
  };
  return `${signed(ratio)} %${low === null || high === null ? "" : ` (${signed(low)} to ${signed(high)})`}`;
}

/** One row per figure: what it is, base, head, the change, the verdict. */
function rowsOf({ endpoints, rssBytes, peakRssBytes, startupMs }: GateReport): string[][] {
  const row = (what: string, of: Measure | null, show: (value: number) => string, verdict: string | null = null) =>
    of === null ? [] : [[what, show(of.base), show(of.head), change(of), verdict ?? ""]];
  const us = (value: number) => `${value.toFixed(value < 100 ? 1 : 0)} µs`;
  const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
  const mb = (value: number) => `${count(value / 1e6)} MB`;
  return [
    ...endpoints.flatMap(({ endpoint, cpuUs, verdict }) =>
      row(`${endpoint}: CPU time per request`, cpuUs, us, verdict),
    ),
    ...endpoints.flatMap(({ endpoint, p99Ms }) =>
      row(`${endpoint}: p99 at ${count(p99Ms?.rate ?? 0)} requests/s`, p99Ms, ms),
    ),
    ...row("memory after load", rssBytes, mb),
    ...row("most memory", peakRssBytes, mb),
    ...row("start until the first answer", startupMs, ms),
  ];
}

/** The answer, in one line. */
export function headline({ verdict, reason, failAbove, base, head, endpoints }: GateReport): string {
  const of = `${head.name} against ${base.name}`;
  const limit = `${((failAbove ?? 0) * 100).toFixed(1).replace(/\.0$/, "")} %`;
  const named = (wanted: string) =>
    endpoints.flatMap(({ endpoint, verdict }) => (verdict === wanted ? [endpoint] : [])).join(", ");
  if (verdict === null) return of;
  if (verdict === "not measured") return `${of}: not measured: ${reason}`;
  if (verdict === "slower") return `${of}: slower by more than ${limit} at ${named("slower")}`;
  if (verdict === "not slower") return `${of}: not slower by ${limit} at any endpoint, for sure`;
  return `${of}: undecided in this time whether it is slower by ${limit} at ${named("undecided")}; raise --seconds`;
}

/** How sure it is, in sentences. */
function grounds({ base, restarts, seconds, endpoints, machine, taken }: GateReport): string[] {
  const guards = endpoints.flatMap(({ endpoint, guard }) => (guard ? [`${change(guard)} at ${endpoint}`] : []));
  const cold = endpoints.filter(({ warming }) => warming);
  return [
    `${restarts} restarts of each side in ${seconds.toFixed(0)} s; 95 % intervals, of CPU time at all endpoints at once.`,
    ...(guards.length > 0
      ? [`${base.name} against a copy of itself, where only noise is seen: ${guards.join(", ")}.`]
      : []),
    ...cold.map(({ endpoint }) => `Still warming at ${endpoint}: raise --warmup.`),
    `Measured on ${machine}${taken === null ? "" : `; the host and others had ${(taken * 100).toFixed(0)} % of the cores' time`}.`,
  ];
}

const heads = ({ base, head }: GateReport) => ["", base.name, head.name, "change", ""];

/** For a terminal. */
export const gateText = (report: GateReport): string =>
  [headline(report), "", renderText(heads(report), rowsOf(report)), "", ...grounds(report)].join("\n");

/** For a comment on a pull request. */
export const gateMarkdown = (report: GateReport): string =>
  [
    `**${headline(report)}**`,
    "",
    markdownTable([heads(report), ...rowsOf(report)], { align: ["l", "r", "r", "r", "l"] }),
    "",
    "<details><summary>How sure is this?</summary>",
    "",
    ...grounds(report),
    "",
    "</details>",
    "",
  ].join("\n");
