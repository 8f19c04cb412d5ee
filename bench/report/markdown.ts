import { markdownTable } from "markdown-table";
import type { Row } from "../analysis.ts";
import { COLUMNS } from "./format.ts";
import type { Endpoint, Report } from "./report.ts";
import { sight } from "./terminal.ts";

/** The answer, CPU time of all servers at all endpoints, and each endpoint's table folded. */
export function markdown({ run, host, answer, endpoints }: Report): string {
  return [
    `Run ${run} on ${host}.`,
    answer.map((line) => `- ${line}`).join("\n"),
    "CPU time per request, as a multiple of the least; servers that share a letter in a column are not different.",
    overview(endpoints),
    ...endpoints.map(folded),
  ].join("\n\n");
}

/** One row per server, one column per endpoint; by name, as there is no one order over all endpoints. */
function overview(endpoints: readonly Endpoint[]): string {
  const names = [...new Set(endpoints.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const cell = (rows: readonly Row[], name: string) => {
    const standing = rows.find((row) => row.name === name)?.standing;
    return standing ? `${standing.ratioToBest.estimate.toFixed(2)} ${standing.groups}` : "-";
  };
  const body = names.map((name) => [name, ...endpoints.map(({ rows }) => cell(rows, name))]);
  return table(["server", ...endpoints.map(({ endpoint }) => endpoint)], body, (i) => i === 0);
}

function folded({ endpoint, rows, comparison, remarks }: Endpoint): string {
  return [
    `<details><summary>${endpoint}</summary>`,
    table(
      COLUMNS.map(({ head }) => head),
      rows.map((row) => COLUMNS.map(({ show }) => show(row))),
      (i) => COLUMNS[i]?.left === true,
    ),
    ...(comparison ? [sight(comparison)] : []),
    ...remarks.map(
      ({ verdict, names, text }) => `${names.join(", ")} ${verdict}, so not ranked by requests/s: ${text}`,
    ),
    "</details>",
  ].join("\n\n");
}

const table = (head: string[], rows: string[][], isLeft: (column: number) => boolean) =>
  markdownTable([head, ...rows], {
    align: head.map((_, i) => (isLeft(i) ? "left" : "right")),
    stringLength: Bun.stringWidth,
  });
