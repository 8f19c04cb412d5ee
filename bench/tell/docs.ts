/** What `./bench.sh report --publish` writes: README.md, docs/ and rows of results.csv, from the runs in docs/runs/. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Window } from "happy-dom";
import { markdownTable } from "markdown-table";
import { UsageError } from "../../shared/errors.ts";
import { RESULTS, writeWhole } from "../keep/files.ts";
import { appendResults } from "../keep/results.ts";
import { recommendation } from "./card.ts";
import { intervals } from "./charts.ts";
import { choicesOf, choicesSay, costOf, nameOfChoice } from "./choices.ts";
import { bullets, fenced, markdown } from "./draw.ts";
import { besideOthers } from "./others.ts";
import { draw } from "./page/draw.ts";
import { endpointOr, kindOf, newestOf, type Report, resultRows, TYPICAL } from "./report.ts";
import { capacities, notWarm, precision } from "./says.ts";
import { plain } from "./text.ts";

/** Files with blocks `<!-- name -->` that are written from the committed runs. */
export const DOCS = ["README.md", "docs/postgres.md", "docs/results.md", "docs/languages.md"];
export const PICTURE = "docs/results.svg";
export const MACHINES = "docs/machines.md";

export async function writeDocs(reports: readonly Report[]): Promise<void> {
  const read = newestOf(reports).get("read");
  if (read) write(PICTURE, picture(read));
  write(MACHINES, machinesPage(ofMatrix(reports)));
  const places = placesOf(reports);
  for (const doc of DOCS) write(doc, filled(readFileSync(doc, "utf8"), places));
  for (const report of reports) await appendResults(RESULTS, report.run, resultRows(report));
}

/** @throws UsageError if the file cannot be written. */
export function write(file: string, text: string): void {
  try {
    writeWhole(file, text);
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message})`);
  }
}

const ofMatrix = (reports: readonly Report[]) => reports.filter((report) => kindOf(report) === "read");

export const filled = (text: string, places: ReadonlyMap<string, string>): string =>
  [...places].reduce(
    (all, [place, shown]) =>
      all.replace(new RegExp(`(?<=<!-- ${place} -->\n).*?(?=<!-- /${place} -->)`, "s"), () => `\n${shown}\n\n`),
    text,
  );

export function placesOf(reports: readonly Report[]): Map<string, string> {
  const newest = newestOf(reports);
  const read = newest.get("read");
  const writes = capacities(newest.get("capacity")?.manifest ?? null);
  return new Map<string, string>([
    ...[...newest].map(([kind, report]) => [kind, markdown(report)] as const),
    ...(read ? [["answer", answer(read, ofOthers(reports, newest))] as const] : []),
    ["others", besideOthers(newest)],
    ...(writes.length > 0 ? [["writes", bullets(writes)] as const] : []),
  ]);
}

const answer = (report: Report, more: readonly string[]): string =>
  [
    bullets([...recommendation(report), ...more]),
    "![CPU time per request of each server](docs/results.svg)",
    fenced(report),
  ].join("\n\n");

/** Sentences from the newest runs of drivers, of stores, and of the ten servers on other machines. */
function ofOthers(reports: readonly Report[], newest: ReturnType<typeof newestOf>): string[] {
  const drivers = newest.get("drivers");
  const stores = newest.get("content") ?? newest.get("stacks-content");
  const byMachine = new Map(ofMatrix(reports).map((report) => [report.machineName, report]));
  byMachine.delete(newest.get("read")?.machineName ?? "");
  return [
    ...(drivers ? choicesSay(drivers, "driver", "SQLite driver") : []),
    ...(stores ? choicesSay(stores, "driver", "SQLite or Postgres") : []),
    ...[...byMachine].flatMap(([name, report]) => choicesSay(report, "runtime", `Runtime on ${name}`)),
  ];
}

/** @returns an SVG of CPU time per request at one endpoint, in light or dark colours as the reader prefers. */
export function picture({ run, endpoints }: Report): string {
  const endpoint = endpointOr(endpoints, TYPICAL);
  const { document } = new Window();
  const names = new Set(endpoint.rows.map(({ name }) => name));
  const svg = draw(intervals(endpoint), names, { width: 760, document: document as unknown as Document });
  const css = readFileSync(join(import.meta.dirname, "page/style.css"), "utf8");
  const style = document.createElement("style");
  style.textContent = /:root \{[^}]*\}/.exec(css)?.[0] ?? "";
  // A title in the picture, because people share it without the text around it.
  const title = document.createElementNS("http://www.w3.org/2000/svg", "text");
  title.textContent = `CPU time per request at ${endpoint.endpoint}, with 95 % intervals; shaded: not distinguishable (${run.slice(0, 10)})`;
  for (const [name, value] of Object.entries({ x: "8", y: "14", "text-anchor": "start" }))
    title.setAttribute(name, value);
  svg.prepend(style as unknown as Node, title as unknown as Node);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `${svg.outerHTML}\n`;
}

export function machinesPage(reports: readonly Report[]): string {
  const shown = reports.filter(({ machine, endpoints }) => machine.length > 0 && choicesOf(endpoints).length > 0);
  const names = shown.map(({ machineName, run }) => `${machineName}, ${run.slice(0, 16).replace("T", " ")}`);
  const costs = shown.map(
    ({ endpoints }) => new Map(choicesOf(endpoints, false).map((choice) => [nameOfChoice(choice), costOf(choice)])),
  );
  const choices = [...new Set(costs.flatMap((of) => [...of.keys()]))];
  const rows = choices.map((choice) => [choice, ...costs.map((of) => of.get(choice) ?? "-")]);
  const parts = [
    "# Machines",
    "What a server costs depends on the machine, and so does the ratio of two servers. So each run here stands beside its machine; none of them is _the_ answer. Written by `./bench.sh report --publish`.",
    "To add yours: run `./bench.sh --standard --machine-name hetzner-cx33`, then `./bench.sh report --publish RUN`, and send all that changed as a pull request.",
    "## What each choice costs",
    "Mean over all pairs of servers that differ in nothing else: the least and the most over the endpoints, and at how many endpoints the difference is significant.",
    markdownTable([["CPU time per request", ...names], ...rows]),
    ...shown.flatMap((report, i) => [
      `## ${names[i]}`,
      bullets([...report.machine, ...notWarm(report), ...precision(report.endpoints)].map(plain)),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}
