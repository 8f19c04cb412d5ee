import { markdownTable } from "markdown-table";
import type { Row } from "../judge/tables.ts";
import { COLUMNS, type Column, notesOf, otherTables, overview, SERVER_COLUMNS } from "./format.ts";
import { acrossRuns } from "./machines.ts";
import type { Endpoint, Report } from "./report.ts";
import { summary } from "./terminal.ts";

/** The answer, CPU time of all servers at all endpoints, and each endpoint's table folded. */
export function markdown({ run, host, machine, answer, endpoints, servers }: Report): string {
  const together = overview(endpoints);
  return [
    `Run ${run} on ${host}${machine.length > 0 ? `: ${machine[0]}` : "."}`,
    ...(machine.length > 1 ? [fold("This machine", machine.slice(1))] : []),
    answer.map((line) => `- ${line}`).join("\n"),
    ...(together ? [`${together.title}.`, table(together.head, together.rows, (i) => i === 0)] : []),
    ...endpoints.map(folded),
    fold(`Servers, after ${servers.endpoint}`, [tableOf(SERVER_COLUMNS, servers.rows)]),
  ].join("\n\n");
}

/** README's answer: the picture, the newest card, and one table of all servers over all runs. @param reports oldest first */
export function firstScreen(reports: readonly Report[]): string {
  const { title, head, rows } = acrossRuns(reports);
  return [
    "![CPU time per request of each server](docs/results.svg)",
    `\`\`\`\n${summary(reports.at(-1) as Report, 120)}\n\`\`\``,
    `${title}.`,
    table(head, rows, (i) => i === 0),
  ].join("\n\n");
}

function folded(shown: Endpoint): string {
  return fold(shown.endpoint, [
    tableOf(COLUMNS, shown.rows),
    ...notesOf(shown),
    ...otherTables(shown).flatMap(({ title, head, rows }) => [`${title}:`, table(head, rows, (i) => i === 0)]),
  ]);
}

const fold = (title: string, paragraphs: string[]): string =>
  [`<details><summary>${title}</summary>`, ...paragraphs, "</details>"].join("\n\n");

const tableOf = (columns: readonly Column[], rows: readonly Row[]): string =>
  table(
    columns.map(({ head }) => head),
    rows.map((row) => columns.map(({ show }) => show(row))),
    (i) => columns[i]?.left === true,
  );

const table = (head: string[], rows: string[][], isLeft: (column: number) => boolean) =>
  markdownTable([head, ...rows], {
    align: head.map((_, i) => (isLeft(i) ? "left" : "right")),
    stringLength: Bun.stringWidth,
  });
