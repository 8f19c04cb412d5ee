import { markdownTable } from "markdown-table";
import type { Row } from "../judge/tables.ts";
import { recommendation } from "./card.ts";
import { COLUMNS, type Column, notesOf, otherTables, overview, SERVER_COLUMNS } from "./format.ts";
import type { Endpoint, Report } from "./report.ts";
import { summary } from "./terminal.ts";

/** The card, CPU time of all servers at all endpoints, and each endpoint's table folded. */
export function markdown(report: Report): string {
  const { run, machineName, machine, endpoints, servers } = report;
  const together = overview(endpoints);
  return [
    `Run ${run} on ${machineName}.`,
    ...(machine.length > 0 ? [fold("This machine", [...machine])] : []),
    `\`\`\`\n${summary(report, 120)}\n\`\`\``,
    ...(together ? [`${together.title}.`, table(together.head, together.rows, (i) => i === 0)] : []),
    ...endpoints.map(folded),
    fold(`Servers, after ${servers.endpoint}`, [tableOf(SERVER_COLUMNS, servers.rows)]),
  ].join("\n\n");
}

/** README's answer: what to choose, the picture, and the card of a run. @param more sentences of other runs */
export const firstScreen = (report: Report, more: readonly string[]): string =>
  [
    [...recommendation(report), ...more].map((line) => `- ${line}`).join("\n"),
    "![CPU time per request of each server](docs/results.svg)",
    `\`\`\`\n${summary(report, 120)}\n\`\`\``,
  ].join("\n\n");

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
