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
  present,
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

/** What a report has beside the card: titles, tables, and notes under them. */
export function sections({ endpoints, servers }: Report) {
  const compared = endpoints.filter(({ comparison }) => comparison !== null);
  const heads = ["detectable", ...compared.map(({ endpoint }) => shortOf(endpoint))];
  const grids = compared.length > 0 ? [grid("", heads, precision(compared))] : [];
  // With one server these notes are on the card.
  const notes = endpoints.some(({ rows }) => rows.length > 1) ? limits(endpoints, "tables") : [];
  return [
    ...(grids.length + notes.length > 0 ? [{ title: "Precision and limits", endpoint: null, grids, notes }] : []),
    ...endpoints.map((one) => ({
      title: one.endpoint,
      endpoint: one.endpoint,
      grids: gridsOf(one),
      notes: notesOf(one),
    })),
    {
      title: `Servers, after ${servers.endpoint}`,
      endpoint: null,
      grids: [usageGrid(servers)],
      notes: versions(servers),
    },
  ];
}

/** The smallest difference of servers, and the smallest change of a cost while it was measured, that a run detects. */
function precision(tables: readonly Table[]): string[][] {
  const known = (part: number | null | undefined) => (part ? percent(part) : "-");
  const rows = [
    ["difference", ...tables.map(({ comparison }) => known(comparison?.smallestVisible))],
    ["change", ...tables.map(({ noChangeAbove }) => known(noChangeAbove))],
  ];
  return rows.filter(([, ...cells]) => cells.some((cell) => cell !== "-"));
}

function sideBySide(title: string, heads: readonly string[], tables: readonly Table[], cell: (row: Row) => string) {
  const names = [...new Set(tables.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const rows = names.map((name) => [
    name,
    ...tables.map(({ rows }) => rows.filter((row) => row.name === name).map(cell)[0] ?? "-"),
  ]);
  return grid(title, ["server", ...heads], rows);
}

/** Cost of each server at all endpoints ÷ the least, and its letters. */
export function overview(tables: readonly Table[]): Grid | null {
  const heads = tables.map(({ endpoint }) => endpoint);
  if (tables.every(({ comparison }) => comparison === null)) return null;
  const title = `${capital(costWord(tables))} per request ÷ the least; servers that share a letter could not be distinguished`;
  return sideBySide(title, heads, tables, ({ standing, warming }) =>
    standing ? `${standing.ratioToBest.estimate.toFixed(2)} ${warming ? WARMING : standing.groups}` : "-",
  );
}

/** Results so far: the overview, and what cannot be detected yet. */
export function soFar({ manifest, ...measured }: Measurements & { readonly manifest: Manifest }): string {
  const tables = analyse(measured, manifest).filter(({ comparison, step }) => comparison !== null && step === null);
  const head = `after ${many(manifest.restarts, "restart")}`;
  if (tables.length === 0) return head;
  const [[, ...differences] = []] = precision(tables);
  const heads = [head, ...tables.map(({ endpoint }) => shortOf(endpoint))];
  return renderText(heads, [...(overview(tables)?.rows ?? []), ["detectable", ...differences]]);
}

const us = (value: number) => value.toFixed(1);
const SERVER: Column<Row> = { head: "server", show: ({ name }) => name, left: true };
const RATE: Column<Row> = {
  head: "requests/s",
  show: ({ goodput, standing, cpuUsPerRequest: cpu }) =>
    standing && cpu ? count(goodput.estimate) : withInterval(goodput, count),
};
const P50: Column<Row> = { head: "p50 ms", show: ({ latencyMs }) => ms(latencyMs[50].estimate), dropOrder: 2 };
const limit = ({ verdict, errors }: Row) =>
  verdict.replace("-bound", "") + (errors > 0 ? `, ${count(errors)} errors` : "");

export const ownGrid = (rows: readonly (Row & { readonly endpoint: string })[]): Grid =>
  gridBy<(typeof rows)[number]>("", rows, [
    { head: "", show: ({ endpoint }) => endpoint, left: true },
    { head: "CPU µs", show: ({ cpuUsPerRequest }) => withInterval(cpuUsPerRequest, us) },
    RATE,
    P50,
    { head: "p99 ms", show: ({ latencyMs }) => withInterval(latencyMs[99], ms) },
    { head: "limit", show: limit, left: true },
  ]);

/** Columns that have the widest interval of their rows in their head. */
const measured =
  (rows: readonly Row[]) =>
  (head: string, of: (row: Row) => Interval | null, show: (value: number) => string): Column<Row> => ({
    head: head + plusMinus(rows.map(of)),
    show: (row) => withoutInterval(of(row), show),
  });

/** The server's own limit, or the rate that was set: the cell is then empty. */
const EXPECTED = new Set(["server-bound", "on schedule"]);

/** Without p50 in a closed loop, because there it only repeats requests/s. */
function serverGrid({ rows, load }: Endpoint): Grid {
  const column = measured(rows);
  return gridBy("", rows, [
    { head: "group", show: ({ standing, warming }) => (warming ? WARMING : standing?.groups || "-") },
    SERVER,
    { head: "÷ best", show: ({ standing }) => (standing ? ratio(standing.ratioToBest) : "-") },
    { ...column("CPU µs", ({ cpuUsPerRequest }) => cpuUsPerRequest, us), dropOrder: 3 },
    RATE,
    ...(load === "open" ? [P50] : []),
    { ...column("p99 ms", ({ latencyMs }) => latencyMs[99], ms), dropOrder: 1 },
    { head: "limit", show: (row) => (EXPECTED.has(row.verdict) && row.errors === 0 ? "" : limit(row)), left: true },
  ]);
}

/** The table of servers at an endpoint, then tables that only some endpoints have. */
export function gridsOf(shown: Endpoint): Grid[] {
  const { endpoint, rows, steps, load } = shown;
  const isHelped = (row: Row) => row.databaseUsPerRequest || row.poolerUsPerRequest || row.deadlocks !== null;
  const both = ({ latencyMs }: Row) => `${ms(latencyMs[50].estimate)} / ${ms(latencyMs[99].estimate)}`;
  const stepNames = steps.map(({ step }) => step ?? "");
  return [
    serverGrid(shown),
    ...(steps.length > 0 ? [sideBySide(`${endpoint}: p50 / p99 of each step, ms`, stepNames, steps, both)] : []),
    ...(rows.some(isHelped) ? [databaseGrid(endpoint, rows.filter(isHelped))] : []),
    ...(load === "open" ? [rateGrid(endpoint, rows)] : []),
  ];
}

function databaseGrid(endpoint: string, rows: readonly Row[]): Grid {
  const mean = (connections: number | null) => connections?.toFixed(1) ?? "-";
  const title = `${endpoint}: pooler and database. CPU time above includes theirs; memory counts shared pages once; waits are mean numbers of connections, for locks or for the server's next statement`;
  return gridBy(title, rows, [
    SERVER,
    { head: "pooler µs", show: (row) => withoutInterval(row.poolerUsPerRequest, us) },
    { head: "database µs", show: (row) => withoutInterval(row.databaseUsPerRequest, us) },
    measured(rows)("database MB", ({ databaseBytes }) => databaseBytes, mega),
    { head: "wait for locks", show: ({ lockWaiters }) => mean(lockWaiters) },
    { head: "wait for the server", show: ({ idleInTransaction }) => mean(idleInTransaction) },
    { head: "deadlocks", show: ({ deadlocks }) => deadlocks?.toString() ?? "-" },
  ]);
}

function rateGrid(endpoint: string, rows: readonly Row[]): Grid {
  const seconds = ({ requests, averageMs }: Row) => Math.round((requests * averageMs) / 1e3);
  const title = `${endpoint}: requests at a fixed rate; total latency is the sum over all requests`;
  return gridBy(title, rows, [
    SERVER,
    { head: "answered", show: ({ requests, errors }) => count(requests - errors) },
    { head: "failed", show: ({ errors }) => count(errors) },
    { head: "success rate", show: ({ requests, errors }) => ((requests - errors) / requests).toFixed(8) },
    { head: "total latency", show: (row) => `${Math.floor(seconds(row) / 60)} min ${seconds(row) % 60} s` },
  ]);
}

const NOTES: Readonly<Record<string, string>> = {
  [SEQUENCE]:
    "A request is a whole sequence here: POST, GET, PUT, GET, DELETE, GET, each answer checked; its latency is their sum",
  [TRANSACTION]:
    "k6 draws an account, a teller, a branch and a delta for each request; the balances of every server agreed with its history",
};

export const notesOf = ({ base, comparison, by, apart, rows }: Table): string[] =>
  present([
    comparison && by === "rate" && "Compared by requests/s, because the CPU time of some cannot be read",
    apart.length > 0 && `Not compared, because requests failed or a restart is missing: ${listed(apart)}`,
    NOTES[base],
    ...rows.map(({ name, warming }) => warming && `${name}: ${warmingWords(warming)}`),
  ] as (string | false | undefined)[]);

const usageGrid = ({ rows }: Endpoint): Grid =>
  gridBy("", rows, [
    SERVER,
    measured(rows)("start ms", ({ startupMs }) => startupMs, count),
    { head: "MB", show: ({ rssBytes }) => withoutInterval(rssBytes, mega) },
    { head: "peak MB", show: ({ peakRssBytes }) => withoutInterval(peakRssBytes, mega) },
    { head: "idle CPU", show: ({ cpuAtRest }) => (cpuAtRest === null ? "-" : percent(cpuAtRest)) },
  ]);

/** `bun 1.4.5: elysia 1.4.30, hono 4.13.19; bun:sqlite 3.54.1`, with SQLite's version beside its driver. */
function versions({ rows }: Endpoint): string[] {
  const lines = [...Map.groupBy(rows, ({ runtime }) => runtime)].flatMap(([runtime, of]) => {
    const parts = [of.map(({ framework }) => framework), of.map(({ driver }) => driver)].map((all) =>
      [...new Set(all)]
        .filter((one) => one !== null && one !== "raw")
        .sort()
        .join(", "),
    );
    return runtime ? [present([runtime, present(parts).join("; ")]).join(": ")] : [];
  });
  return lines.sort();
}
