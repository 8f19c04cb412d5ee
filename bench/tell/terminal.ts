import type { Row } from "../judge/tables.ts";
import { card } from "./card.ts";
import { COLUMNS, type Column, notesOf, otherTables, overview, percent, SERVER_COLUMNS } from "./format.ts";
import type { Endpoint, Report } from "./report.ts";
import { fits, render, renderText, wrap } from "./text.ts";

/** Width of a report that goes to a file or a pipe. */
const WIDTH = 100;

/** The card: what a run says in about twelve lines. */
export const summary = (report: Report, width = process.stdout.columns ?? WIDTH): string =>
  card(report)
    .map((line) => {
      if (typeof line !== "string") return wrap(line[0].padEnd(LABEL) + line[1], width, LABEL);
      return line.includes("  ") ? line : wrap(line, width);
    })
    .join("\n");

/** Width of the labels of the card. */
const LABEL = 13;

/** The whole report: the card, then a table per endpoint, cheapest server first if the run can tell. */
export function terminal(report: Report, width = process.stdout.columns ?? WIDTH): string {
  const { endpoints, servers, machine } = report;
  return [
    wrap(heading(report), width),
    ...(machine.length > 0 ? [["this machine", ...machine.map((line) => wrap(line, width))].join("\n")] : []),
    summary(report, width),
    ...allTogether(endpoints, width),
    ...endpoints.map((endpoint) => table(endpoint, width)),
    `servers, after ${servers.endpoint}\n${fitted(SERVER_COLUMNS, servers.rows, width)}`,
  ].join("\n\n");
}

function heading({ run, manifest }: Report): string {
  const used =
    manifest &&
    `; ${percent(manifest.seconds.loaded / manifest.seconds.total)} of ${Math.round(manifest.seconds.total)} s was load that counts`;
  return `run ${run}${used ?? ""}`;
}

/** One row per server, at several loads. */
function allTogether(endpoints: readonly Endpoint[], width: number): string[] {
  const together = endpoints.some(({ level }) => level !== null) ? overview(endpoints) : null;
  if (together === null) return [];
  const { title, head, rows } = together;
  const broken = head.map((path) => path.replace(/(?<=[-\w])(?=\/)|(?<=-)/g, "\n"));
  return [2, 1]
    .map((gap) => `${title}\n${renderText(broken, rows, gap)}`)
    .filter((text) => fits(text, width))
    .slice(0, 1);
}

function table(shown: Endpoint, width: number): string {
  return [
    shown.endpoint,
    fitted(COLUMNS, shown.rows, width),
    ...notesOf(shown).map((note) => wrap(note, width)),
    ...otherTables(shown).map(({ title, head, rows }) => `\n${wrap(title, width)}\n${renderText(head, rows)}`),
  ].join("\n");
}

/** A table with as much as there is room for: closer together, then with fewer columns. */
function fitted(columns: readonly Column[], rows: readonly Row[], width: number): string {
  const dropOrder = Math.max(...columns.map((column) => column.dropOrder));
  const fitting = [2, 1].map((gap) => render(columns, rows, gap)).find((text) => fits(text, width));
  const fewer = columns.filter((column) => column.dropOrder < dropOrder);
  return fitting ?? (fewer.length > 0 ? fitted(fewer, rows, width) : render(columns, rows));
}
