import CliTable from "cli-table3";
import type { Row } from "../analysis.ts";
import type { Comparison } from "../statistics.ts";
import { COLUMNS, type Column, percent, SERVER_COLUMNS } from "./format.ts";
import type { Endpoint, Report } from "./report.ts";

/** Width of a report that goes to a file or a pipe. */
const WIDTH = 100;

/** The answer in plain words, then a table per endpoint, cheapest server first where the run can tell. */
export function terminal(report: Report, width = process.stdout.columns ?? WIDTH): string {
  const { endpoints, answer } = report;
  const heaviest = endpoints.find(({ endpoint }) => endpoint === "/sqlite/random-30fields/10") ?? endpoints[0];
  return [
    heading(report),
    answer.map((line) => wrap(line, width)).join("\n"),
    ...endpoints.map((endpoint) => table(endpoint, width)),
    ...(heaviest ? [`servers, after ${heaviest.endpoint}\n${fitted(SERVER_COLUMNS, heaviest.rows, width)}`] : []),
  ].join("\n\n");
}

function heading({ run, host, connections, manifest }: Report): string {
  const { cpu, cores } = manifest?.environment ?? {};
  const machine = cpu ? ` (${cores} × ${cpu})` : "";
  const used =
    manifest &&
    `; ${percent(manifest.seconds.loaded / manifest.seconds.total)} of ${Math.round(manifest.seconds.total)} s were slices or warm-up`;
  return `run ${run} on ${host}${machine}, ${connections} connections${used ?? ""}`;
}

function table({ endpoint, rows, comparison, remarks, load }: Endpoint, width: number): string {
  return [
    endpoint,
    fitted(COLUMNS, rows, width),
    ...(comparison ? [wrap(sight(comparison), width)] : []),
    ...(load === "open" ? [] : ["closed loop: latencies are service times"]),
    ...remarks.map(({ verdict, names, text }) =>
      wrap(
        `${names.length === rows.length ? "all" : names.join(", ")} ${verdict}, so not ranked by requests/s: ${text}`,
        width,
      ),
    ),
  ].join("\n");
}

/** What a comparison could see. */
export function sight({ blocks, spread, smallestVisible, components }: Comparison): string {
  const within = components.within === null ? "" : `, of one duet ${percent(components.within)}`;
  return `${blocks} blocks; spread ${percent(spread)} (between restarts ${percent(components.between)}${within}); smallest visible difference ${percent(smallestVisible)}`;
}

/** A table without the columns that do not fit. */
function fitted(columns: readonly Column[], rows: readonly Row[], width: number): string {
  const text = render(columns, rows);
  const spare = Math.max(...columns.map((column) => column.spare));
  const fits = Math.max(...text.split("\n").map((line) => Bun.stringWidth(line))) <= width;
  return fits || spare === 0
    ? text
    : fitted(
        columns.filter((column) => column.spare < spare),
        rows,
        width,
      );
}

/** A table without lines. */
export function render<T>(
  columns: readonly { readonly head: string; readonly show: (row: T) => string; readonly left?: true }[],
  rows: readonly T[],
): string {
  const border =
    "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid";
  const table = new CliTable({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ left }) => (left ? "left" : "right")),
    chars: { ...Object.fromEntries(border.split(" ").map((part) => [part, ""])), middle: " " },
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 1 },
  });
  table.push(...rows.map((row) => columns.map(({ show }) => show(row))));
  return String(table);
}

/** Lines of a paragraph, indented by two after the first. */
const wrap = (text: string, width: number) => Bun.wrapAnsi(text, width - 2).replaceAll("\n", "\n  ");
