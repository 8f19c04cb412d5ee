/** The tables of a report as data, for a terminal, Markdown and the page. */
import { SEQUENCE, TRANSACTION } from "../ask/endpoints.ts";
import type { Interval } from "../judge/statistics.ts";
import { analyse, type Measurements, type Row, type Table } from "../judge/tables.ts";
import type { Manifest } from "../keep/manifest.ts";
import {
  capital,
  count,
  listed,
  many,
  mega,
  ms,
  percent,
  plusMinus,
  ratio,
  shortOf,
  WARMING,
  warmingWords,
  withInterval,
  withoutInterval,
} from "./format.ts";
import { costWord, type Endpoint, type Report } from "./report.ts";
import { limits } from "./says.ts";
import { type Column, type Grid, grid, gridBy, renderText } from "./text.ts";

/** A title, tables, and notes under them. */
export interface Section {
  readonly title: string;
  /** Null if it is of no endpoint. */
  readonly endpoint: string | null;
  readonly grids: readonly Grid[];
  readonly notes: readonly string[];
}

/** What a report has beside the card. */
export const sections = (report: Report): Section[] => [
  ...precisionSection(report),
  ...report.endpoints.map((shown) => ({
    title: shown.endpoint,
    endpoint: shown.endpoint,
    grids: gridsOf(shown),
    notes: notesOf(shown),
  })),
  serversSection(report.servers),
];

/** What could not be seen, and where requests/s say nothing, if the card does not say it. */
function precisionSection({ endpoints }: Report): Section[] {
  const compared = endpoints.filter(({ comparison }) => comparison !== null);
  const shown = precision(compared);
  const grids =
    compared.length > 0 ? [grid("", ["detectable", ...compared.map(({ endpoint }) => shortOf(endpoint))], shown)] : [];
  const notes = limits(endpoints, "tables");
  return grids.length + notes.length > 0 ? [{ title: "Precision and limits", endpoint: null, grids, notes }] : [];
}

const known = (part: number | null | undefined): string => (part ? percent(part) : "-");

/** The smallest difference of servers, and the smallest change of a cost while it was measured, that a run sees. */
const precision = (tables: readonly Table[]): string[][] => [
  ["difference", ...tables.map(({ comparison }) => known(comparison?.smallestVisible))],
  ["change", ...tables.map(({ noChangeAbove }) => known(noChangeAbove))],
];

/** One row per server, one column per table. */
function sideBySide(title: string, heads: readonly string[], tables: readonly Table[], cell: (row: Row) => string) {
  const names = [...new Set(tables.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const rows = names.map((name) => [
    name,
    ...tables.map(({ rows }) => {
      const row = rows.find((one) => one.name === name);
      return row ? cell(row) : "-";
    }),
  ]);
  return grid(title, ["server", ...heads], rows);
}

/** What each server costs at all endpoints, as a multiple of the least, and its ties; with more and more connections, what it answers. */
export function overview(tables: readonly Table[]): Grid | null {
  const heads = tables.map(({ endpoint }) => endpoint);
  if (tables.some(({ level }) => level?.unit === "connections"))
    return sideBySide(
      "requests/s and p99 in ms with so many connections; - if more than 1 % failed with fewer",
      heads,
      tables,
      ({ goodput, latencyMs, errors, requests }) =>
        `${count(goodput.estimate)}, ${ms(latencyMs[99].estimate)}${errors > 0 ? `, ${percent(errors / requests)} failed` : ""}`,
    );
  if (tables.every(({ comparison }) => comparison === null)) return null;
  return sideBySide(
    `${capital(costWord(tables))} per request ÷ the least; servers that share a letter could not be distinguished`,
    heads,
    tables,
    ({ standing, warming }) =>
      standing ? `${standing.ratioToBest.estimate.toFixed(2)} ${warming ? WARMING : standing.groups}` : "-",
  );
}

/** What a run knows so far: the overview, and what cannot be detected yet. */
export function soFar({ manifest, ...measured }: Measurements & { readonly manifest: Manifest }): string {
  const tables = analyse(measured, manifest).filter(({ comparison, step }) => comparison !== null && step === null);
  const head = `after ${many(manifest.restarts, "restart")}`;
  if (tables.length === 0) return head;
  const [[, ...differences] = []] = precision(tables);
  const heads = [head, ...tables.map(({ endpoint }) => shortOf(endpoint))];
  return renderText(heads, [...(overview(tables)?.rows ?? []), ["detectable", ...differences]]);
}

const us = (value: number) => value.toFixed(1);
const CPU = "CPU µs";
const GROUP: Column<Row> = {
  head: "group",
  show: ({ standing, warming }) => (warming ? WARMING : standing?.groups || "-"),
};
const SERVER: Column<Row> = { head: "server", show: ({ name }) => name, left: true };
const TO_BEST: Column<Row> = { head: "÷ best", show: ({ standing }) => (standing ? ratio(standing.ratioToBest) : "-") };
const RATE: Column<Row> = {
  head: "requests/s",
  show: ({ goodput, standing, cpuUsPerRequest: cpu }) =>
    standing && cpu ? count(goodput.estimate) : withInterval(goodput, count),
};
const P50: Column<Row> = { head: "p50 ms", show: ({ latencyMs }) => ms(latencyMs[50].estimate), dropOrder: 2 };
const limit = ({ verdict, errors }: Row) =>
  verdict.replace("-bound", "") + (errors > 0 ? `, ${count(errors)} errors` : "");

/** A column that has the widest interval of its rows in its head. */
const measured = (
  head: string,
  rows: readonly Row[],
  [of, show]: readonly [(row: Row) => Interval | null, (value: number) => string],
  dropOrder = 0,
): Column<Row> => ({ head: head + plusMinus(rows.map(of)), show: (row) => withoutInterval(of(row), show), dropOrder });

/** One server at each endpoint. */
export const ownGrid = (rows: readonly (Row & { readonly endpoint: string })[]): Grid =>
  gridBy<(typeof rows)[number]>(
    "",
    [
      { head: "", show: ({ endpoint }) => endpoint, left: true },
      { head: CPU, show: ({ cpuUsPerRequest }) => withInterval(cpuUsPerRequest, us) },
      RATE,
      P50,
      { head: "p99 ms", show: ({ latencyMs }) => withInterval(latencyMs[99], ms) },
      { head: "limit", show: limit, left: true },
    ],
    rows,
  );

/** Limits that are none of the servers' faults, or that were asked for: a cell is empty then. */
const EXPECTED = new Set(["server-bound", "on schedule"]);

/** In a closed loop p50 only repeats requests/s. */
function serverGrid({ rows, load }: Endpoint): Grid {
  return gridBy(
    "",
    [
      GROUP,
      SERVER,
      TO_BEST,
      measured(CPU, rows, [({ cpuUsPerRequest }) => cpuUsPerRequest, us], 3),
      RATE,
      ...(load === "open" ? [P50] : []),
      measured("p99 ms", rows, [({ latencyMs }) => latencyMs[99], ms], 1),
      { head: "limit", show: (row) => (EXPECTED.has(row.verdict) && row.errors === 0 ? "" : limit(row)), left: true },
    ],
    rows,
  );
}

/** The table of servers at an endpoint, then what only some endpoints have. */
export const gridsOf = (endpoint: Endpoint): Grid[] => [
  serverGrid(endpoint),
  ...stepGrid(endpoint),
  ...databaseGrid(endpoint),
  ...rateGrid(endpoint),
];

/** Latencies of a sequence's steps, side by side. */
function stepGrid({ endpoint, steps }: Endpoint): Grid[] {
  if (steps.length === 0) return [];
  const cell = ({ latencyMs }: Row) => `${ms(latencyMs[50].estimate)} / ${ms(latencyMs[99].estimate)}`;
  const heads = steps.map(({ step }) => step ?? "");
  return [sideBySide(`${endpoint}: p50 / p99 of each step, ms`, heads, steps, cell)];
}

/** What works for servers alone, and what their connections to it do. */
function databaseGrid({ endpoint, rows }: Endpoint): Grid[] {
  const helped = rows.filter((row) => row.databaseUsPerRequest || row.poolerUsPerRequest || row.deadlocks !== null);
  if (helped.length === 0) return [];
  const mean = (connections: number | null) => connections?.toFixed(1) ?? "-";
  return [
    gridBy<Row>(
      `${endpoint}: pooler and database, whose CPU time is part of the above; memory counts shared pages once; connections wait for locks or for the server's next statement, on average`,
      [
        SERVER,
        { head: "pooler µs", show: (row) => withoutInterval(row.poolerUsPerRequest, us) },
        { head: "database µs", show: (row) => withoutInterval(row.databaseUsPerRequest, us) },
        measured("database MB", rows, [({ databaseBytes }) => databaseBytes, mega]),
        { head: "wait for locks", show: ({ lockWaiters }) => mean(lockWaiters) },
        { head: "wait for the server", show: ({ idleInTransaction }) => mean(idleInTransaction) },
        { head: "deadlocks", show: ({ deadlocks }) => deadlocks?.toString() ?? "-" },
      ],
      helped,
    ),
  ];
}

/** What became of requests at a fixed rate. */
function rateGrid({ endpoint, load, rows }: Endpoint): Grid[] {
  if (load === "closed") return [];
  const cells = rows.map(({ name, requests, errors, averageMs }) => {
    const seconds = Math.round((requests * averageMs) / 1e3);
    const latency = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return [name, count(requests - errors), count(errors), ((requests - errors) / requests).toFixed(8), latency];
  });
  const heads = ["server", "answered", "failed", "success rate", "total latency"];
  return [grid(`${endpoint}: requests at a fixed rate; the total latency is the sum of all of them`, heads, cells)];
}

/** Notes about an endpoint's numbers. */
const NOTES: Readonly<Record<string, string>> = {
  [SEQUENCE]:
    "A request is a whole sequence here: POST, GET, PUT, GET, DELETE, GET, each answer checked; its latency is their sum",
  [TRANSACTION]:
    "Each request has an account, a teller, a branch and a delta of its own, drawn by k6; of every server balances and history added up",
};

/** Notes under a table about its numbers. */
export const notesOf = ({ base, comparison, by, apart, rows }: Table): string[] => [
  ...(comparison && by === "rate" ? ["Compared by requests/s, because the CPU time of some cannot be read"] : []),
  ...(apart.length > 0 ? [`Not compared, because requests failed or a restart is missing: ${listed(apart)}`] : []),
  ...(NOTES[base] ? [NOTES[base]] : []),
  ...rows.flatMap(({ name, warming }) => (warming ? [`${name}: ${warmingWords(warming)}`] : [])),
];

/** What does not depend on the endpoint. */
function serversSection({ endpoint, rows }: Endpoint): Section {
  const shown = gridBy<Row>(
    "",
    [
      SERVER,
      measured("start ms", rows, [({ startupMs }) => startupMs, count]),
      { head: "MB", show: ({ rssBytes }) => withoutInterval(rssBytes, mega) },
      { head: "peak MB", show: ({ peakRssBytes }) => withoutInterval(peakRssBytes, mega) },
      { head: "idle CPU", show: ({ cpuAtRest }) => (cpuAtRest === null ? "-" : percent(cpuAtRest)) },
    ],
    rows,
  );
  return { title: `Servers, after ${endpoint}`, endpoint: null, grids: [shown], notes: versions(rows) };
}

/** `bun 1.4.5: elysia 1.4.30, hono 4.13.19; bun:sqlite 3.54.1`, with SQLite's version beside its driver. */
function versions(rows: readonly Row[]): string[] {
  const byRuntime = Map.groupBy(rows, ({ runtime }) => runtime);
  const all = (of: readonly Row[], field: "framework" | "driver") =>
    [...new Set(of.flatMap((row) => row[field] ?? []))].filter((one) => one !== "raw").sort();
  return [...byRuntime]
    .flatMap(([runtime, of]) => {
      const parts = [all(of, "framework"), all(of, "driver")].filter(({ length }) => length > 0);
      return runtime ? [[runtime, parts.map((part) => part.join(", ")).join("; ")].filter(Boolean).join(": ")] : [];
    })
    .sort();
}
