import { SEQUENCE, TRANSACTION } from "../ask/endpoints.ts";
import type { Comparison, Interval } from "../judge/statistics.ts";
import type { Row } from "../judge/tables.ts";
import type { Endpoint } from "./report.ts";

export const count = (value: number) => Math.round(value).toLocaleString("en-US");
const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1);
export const mega = (bytes: number) => count(bytes / 1e6);
export const percent = (part: number) => `${(part * 100).toFixed(part > 0 && part < 0.0995 ? 1 : 0)} %`;

/** A value ± the wider half of its 95 % interval; without one if too few restarts leave it open. */
export function withInterval(interval: Interval | null, show: (value: number) => string): string {
  if (interval === null || Number.isNaN(interval.estimate)) return "-";
  const half = interval.high / interval.estimate - 1;
  const width = Number.isNaN(half) ? "" : half > 1 ? " ±>100%" : ` ±${Math.ceil(half * 100)}%`;
  return show(interval.estimate) + width;
}

/** An interval of a hundredfold or more, as two restarts may leave it, says nothing and is left out. */
const TELLING = 100;
/** `1.19 (1.12–1.27)` */
export const ratio = ({ estimate, low, high }: Interval, digits = 2): string =>
  estimate.toFixed(digits) +
  (low === high || !(high <= TELLING * low) ? "" : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`);

/** Shown in place of a server's letters, and beside its numbers. */
export const WARMING = "warming";

/** `its cost rose by 8 % while it was measured` */
export const warmingWords = (by: number): string =>
  `its cost ${by > 0 ? "rose" : "fell"} by ${Math.abs(by * 100).toFixed(0)} % while it was measured`;

export const NOT_RANKED = "so not ranked by requests/s";
/** What forbids a ranking by throughput. @param all servers of the table */
const remarkLine = ({ verdict, names, text }: Endpoint["remarks"][number], all: number): string =>
  `${names.length === all ? "all" : names.join(", ")} ${verdict}, ${NOT_RANKED}: ${text}`;

/** One column of a table of servers. */
export interface Column {
  readonly head: string;
  readonly show: (row: Row) => string;
  /** Text, not a number. */
  readonly left?: true;
  /** If there is no room for all columns, those with the highest number are left out first. */
  readonly dropOrder: number;
}

/** What is shown of a server at an endpoint. */
export const COLUMNS: readonly Column[] = [
  { head: "group", show: ({ standing, warming }) => (warming ? WARMING : standing?.groups || "-"), dropOrder: 0 },
  { head: "server", show: ({ name }) => name, left: true, dropOrder: 0 },
  { head: "÷ best", show: ({ standing }) => (standing ? ratio(standing.ratioToBest) : "-"), dropOrder: 0 },
  { head: "CPU µs", show: ({ cpuUsPerRequest }) => withInterval(cpuUsPerRequest, (us) => us.toFixed(1)), dropOrder: 3 },
  {
    head: "requests/s",
    show: ({ goodput, standing, cpuUsPerRequest: cpu }) =>
      standing && cpu ? count(goodput.estimate) : withInterval(goodput, count),
    dropOrder: 0,
  },
  { head: "p50 ms", show: ({ latencyMs }) => ms(latencyMs[50].estimate), dropOrder: 2 },
  { head: "p99 ms", show: ({ latencyMs }) => withInterval(latencyMs[99], ms), dropOrder: 1 },
  {
    head: "limit",
    show: ({ verdict, errors }) => verdict.replace("-bound", "") + (errors > 0 ? `, ${count(errors)} errors` : ""),
    left: true,
    dropOrder: 0,
  },
];

/** What servers are compared by, per request. */
export const costWord = (endpoints: readonly Pick<Endpoint, "by">[]): "CPU time" | "time" =>
  endpoints.every(({ by }) => by === "cpu") ? "CPU time" : "time";

/** CPU time per request of one server at all endpoints, as a multiple of the least, and its ties; null without a comparison. */
export const overview = (endpoints: readonly Endpoint[]) => {
  if (endpoints.some(({ level }) => level?.unit === "connections")) return ladder(endpoints);
  if (endpoints.every(({ comparison }) => comparison === null)) return null;
  const names = [...new Set(endpoints.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const cell = ({ rows }: Endpoint, name: string) => {
    const { standing, warming } = rows.find((row) => row.name === name) ?? {};
    return standing ? `${standing.ratioToBest.estimate.toFixed(2)} ${warming ? WARMING : standing.groups}` : "-";
  };
  return {
    title: `${capital(costWord(endpoints))} per request ÷ the least; servers that share a letter could not be distinguished`,
    head: ["server", ...endpoints.map(({ endpoint }) => endpoint)],
    rows: names.map((name) => [name, ...endpoints.map((endpoint) => cell(endpoint, name))]),
  };
};

/** What each server answers with more and more connections. */
function ladder(endpoints: readonly Endpoint[]) {
  const names = [...new Set(endpoints.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const cell = ({ rows }: Endpoint, name: string) => {
    const row = rows.find((row) => row.name === name);
    if (!row) return "-";
    const failed = row.errors > 0 ? `, ${percent(row.errors / row.requests)} failed` : "";
    return `${count(row.goodput.estimate)}, ${ms(row.latencyMs[99].estimate)}${failed}`;
  };
  return {
    title: "requests/s and p99 in ms with so many connections; - if more than 1 % failed with fewer",
    head: ["server", ...endpoints.map(({ endpoint }) => endpoint)],
    rows: names.map((name) => [name, ...endpoints.map((endpoint) => cell(endpoint, name))]),
  };
}

/** What an endpoint has beside the table of its servers. */
export const otherTables = (endpoint: Endpoint) =>
  [stepTable(endpoint), helpersTable(endpoint), waitsTable(endpoint), rateTable(endpoint)].filter(
    (one) => one !== null,
  );

/** Latencies of a sequence's steps, side by side; null if the endpoint is no sequence. */
function stepTable({ endpoint, steps }: Endpoint) {
  if (steps.length === 0) return null;
  const names = [...new Set(steps.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const cell = (rows: readonly Row[], of: string) => {
    const row = rows.find(({ name }) => name === of);
    return row ? [50, 99].map((p) => ms(row.latencyMs[p as 50].estimate)).join(" / ") : "-";
  };
  return {
    title: `${endpoint}: p50 / p99 of each step, ms`,
    head: ["server", ...steps.map(({ step }) => step ?? "")],
    rows: names.map((name) => [name, ...steps.map(({ rows }) => cell(rows, name))]),
  };
}

/** CPU time of what works for servers alone; null if nothing does. */
function helpersTable({ endpoint, rows }: Endpoint) {
  const helped = rows.filter(
    ({ databaseUsPerRequest, poolerUsPerRequest }) => databaseUsPerRequest ?? poolerUsPerRequest,
  );
  if (helped.length === 0) return null;
  const us = (interval: Interval | null) => withInterval(interval, (us) => us.toFixed(1));
  return {
    title: `${endpoint}: CPU µs per request of server, pooler and database, and the database's memory (shared pages count once)`,
    head: ["server", "all µs", "pooler µs", "database µs", "database MB"],
    rows: helped.map(({ name, cpuUsPerRequest, poolerUsPerRequest, databaseUsPerRequest, databaseBytes }) => [
      name,
      us(cpuUsPerRequest),
      us(poolerUsPerRequest),
      us(databaseUsPerRequest),
      withInterval(databaseBytes, mega),
    ]),
  };
}

/** What connections to databases do; null if that was not seen. */
function waitsTable({ endpoint, rows }: Endpoint) {
  const seen = rows.filter(({ deadlocks }) => deadlocks !== null);
  if (seen.length === 0) return null;
  const mean = (connections: number | null) => connections?.toFixed(1) ?? "-";
  return {
    title: `${endpoint}: database connections at a moment, on average, that wait for a lock of another transaction, or for the server's next statement`,
    head: ["server", "wait for locks", "wait for the server", "deadlocks"],
    rows: seen.map(({ name, lockWaiters, idleInTransaction, deadlocks }) => [
      name,
      mean(lockWaiters),
      mean(idleInTransaction),
      count(deadlocks as number),
    ]),
  };
}

/** What became of requests at a fixed rate; null in a closed loop. */
function rateTable({ endpoint, load, rows }: Endpoint) {
  if (load === "closed") return null;
  return {
    title: `${endpoint}: requests at a fixed rate; the total latency is the sum of all of them`,
    head: ["server", "answered", "failed", "success rate", "total latency"],
    rows: rows.map(({ name, requests, errors, averageMs }) => [
      name,
      count(requests - errors),
      count(errors),
      ((requests - errors) / requests).toFixed(8),
      minutes((requests * averageMs) / 1e3),
    ]),
  };
}

/** `12 min 12 s` */
function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Notes under a table about its numbers. */
export function notesOf({ base, comparison, by, apart, rows, remarks, noChangeAbove }: Endpoint): string[] {
  const note = NOTES[base];
  return [
    ...(comparison ? [precisionLine(comparison, noChangeAbove)] : []),
    ...(comparison && by === "rate" ? ["Compared by requests/s, because the CPU time of some cannot be read"] : []),
    ...(apart.length > 0 ? [`Not compared, because requests failed or a restart is missing: ${listed(apart)}`] : []),
    ...(note ? [note] : []),
    ...rows.flatMap(({ name, warming }) => (warming ? [`${name} is ${WARMING}: ${warmingWords(warming)}`] : [])),
    ...remarks.map((remark) => remarkLine(remark, rows.length)),
  ];
}

/** What a comparison could see. */
const precisionLine = ({ restarts, spread, smallestVisible }: Comparison, noChangeAbove: number | null): string =>
  `${restarts} restarts vary by ${percent(spread)}; not detectable: differences below ${percent(smallestVisible)}` +
  (noChangeAbove === null ? "" : `, changes below ${percent(noChangeAbove)}`);

/** Notes about an endpoint's numbers. */
const NOTES: Readonly<Record<string, string>> = {
  [SEQUENCE]:
    "A request is a whole sequence here: POST, GET, PUT, GET, DELETE, GET, each answer checked; its latency is their sum",
  [TRANSACTION]:
    "Each request has an account, a teller, a branch and a delta of its own, drawn by k6; of every server balances and history added up",
};

/** Columns of a server that do not depend on the endpoint. */
export const SERVER_COLUMNS: readonly Column[] = [
  { head: "server", show: ({ name }) => name, left: true, dropOrder: 0 },
  { head: "runtime", show: ({ runtime }) => runtime ?? "-", left: true, dropOrder: 3 },
  { head: "framework", show: ({ framework }) => framework ?? "-", left: true, dropOrder: 2 },
  { head: "driver, SQLite", show: ({ driver }) => driver ?? "-", left: true, dropOrder: 1 },
  { head: "start ms", show: ({ startupMs }) => withInterval(startupMs, count), dropOrder: 0 },
  { head: "MB", show: ({ rssBytes }) => (rssBytes ? mega(rssBytes.estimate) : "-"), dropOrder: 0 },
  { head: "peak MB", show: ({ peakRssBytes }) => (peakRssBytes ? mega(peakRssBytes.estimate) : "-"), dropOrder: 0 },
  { head: "CPU at rest", show: ({ cpuAtRest }) => (cpuAtRest === null ? "-" : percent(cpuAtRest)), dropOrder: 0 },
];

/** @returns the names of twins. */
export const twinsAmong = (endpoints: readonly Pick<Endpoint, "rows">[]): Set<string> =>
  new Set(endpoints.flatMap(({ rows }) => rows.flatMap(({ name, twinOf }) => (twinOf ? [name] : []))));

/** `bun` of `bun 1.4.5`; `other` of a server that does not say. */
export const word = (text: string | null): string => text?.split(" ")[0] ?? "other";

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `bun-raw, bun-hono and bun-elysia` */
export const listed = (items: readonly string[]): string => new Intl.ListFormat("en-GB").format(items);

/** `5 × 10` of /sqlite/random-5fields/10: fields and rows. */
export const shortOf = (endpoint: string) =>
  endpoint.replace(/^\/sqlite\/random-(\d+)fields\/(\d+)$/, "$1×$2").replace(/^\/(\w+)-template$/, "$1");
