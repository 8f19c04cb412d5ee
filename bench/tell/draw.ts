/** A report for a terminal, and as Markdown. */
import { markdownTable } from "markdown-table";
import { card } from "./card.ts";
import { present } from "./format.ts";
import type { Report } from "./report.ts";
import { overview, sections } from "./tables.ts";
import { drawn, fitted, type Grid, type Line, plain, wrap } from "./text.ts";

/** Width of a report that goes to a file or a pipe. */
const WIDTH = 100;

export const summary = (report: Report, width = process.stdout.columns ?? WIDTH): string => drawn(card(report), width);

/** The machine and the card, then a table per endpoint, cheapest server first if servers were compared. */
export function terminal(report: Report, width = process.stdout.columns ?? WIDTH): string {
  const { run, endpoints, machine } = report;
  const heading: Line[] = [["Run", run], ...machine];
  const rates = endpoints.some(({ rate }) => rate !== null) ? overview(endpoints) : null;
  return present([
    drawn(heading, width),
    summary(report, width),
    rates && table("", rates, width),
    ...sections(report).map(({ title, grids, notes }) =>
      [
        ...grids.map((one, i) => (i > 0 ? "\n" : "") + table(title, one, width)),
        ...notes.map((note) => wrap(note, width)),
      ].join("\n"),
    ),
  ]).join("\n\n");
}

/** A table without a title has the section's title as the head of its server column. */
function table(section: string, { title, heads, rows }: Grid, width: number): string {
  const named = heads.map((one) => (one.head === "server" && section ? { ...one, head: section } : one));
  const text = fitted({ title, rows, heads: title ? heads : named }, width);
  return title ? `${wrap(title, width)}\n${text}` : text;
}

/** The card, the cost of all servers at all endpoints, and each section folded. */
export function markdown(report: Report): string {
  const { run, machineName, machine, endpoints } = report;
  const together = endpoints.length > 1 ? overview(endpoints) : null;
  return present([
    `Run ${run} on ${machineName}.`,
    machine.length > 0 && fold("This machine", [bullets(machine.map(plain))]),
    fenced(report),
    together && titled(together),
    ...sections(report).map(({ title, grids, notes }) => fold(title, [...grids.map(titled), ...notes])),
  ]).join("\n\n");
}

export const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

export const fenced = (report: Report): string => `\`\`\`\n${summary(report, 120)}\n\`\`\``;

const fold = (title: string, paragraphs: string[]): string =>
  [`<details><summary>${title}</summary>`, ...paragraphs, "</details>"].join("\n\n");

const titled = ({ title, heads, rows }: Grid): string =>
  (title ? `${title}:\n\n` : "") +
  markdownTable([heads.map(({ head }) => head), ...rows], {
    align: heads.map(({ left }) => (left ? "left" : "right")),
    stringLength: Bun.stringWidth,
  });
