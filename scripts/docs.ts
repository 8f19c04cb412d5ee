/** What README.md and docs/ say of the runs in docs/runs/. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Window } from "happy-dom";
import { markdownTable } from "markdown-table";
import { SERVERS } from "../bench/ask/targets.ts";
import { cheapestOf, type Factor } from "../bench/judge/effects.ts";
import { heaviest } from "../bench/tell/card.ts";
import { intervals } from "../bench/tell/charts.ts";
import { choicesOf, costOf, costs, HOW_TO_READ, nameOfChoice } from "../bench/tell/choices.ts";
import { bullets, fenced, markdown } from "../bench/tell/draw.ts";
import { capital, count, present, word } from "../bench/tell/format.ts";
import { draw } from "../bench/tell/page/draw.ts";
import { costWord, endpointOr, kindOf, newestOf, type Report, TYPICAL } from "../bench/tell/report.ts";
import { capacities, notWarm, precision } from "../bench/tell/says.ts";
import { plain } from "../bench/tell/text.ts";
import { besideOthers } from "./others.ts";

/** Files with blocks `<!-- name -->` that are written from the committed runs. */
export const DOCS = ["README.md", "docs/postgres.md", "docs/results.md", "docs/languages.md"];
export const PICTURE = "docs/results.svg";
export const MACHINES = "docs/machines.md";

/** All files that are written from runs, with their text. Text of a kind of run of which there is none stays as it is. */
export function written(reports: readonly Report[]): Map<string, string> {
  const read = newestOf(reports).get("read");
  const places = placesOf(reports);
  return new Map([
    ...(read ? [[PICTURE, picture(read)] as const] : []),
    [MACHINES, machinesPage(ofMatrix(reports))],
    ...DOCS.map((doc) => [doc, filled(readFileSync(doc, "utf8"), places)] as const),
  ]);
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
    HOW_TO_READ,
    bullets([...recommendation(report), ...more]),
    "![CPU time per request of each server](docs/results.svg)",
    fenced(report),
  ].join("\n\n");

/** What to choose according to this run. Below a tenth of its capacity every server is fast enough. */
function recommendation(report: Report): string[] {
  const seen = heaviest(report);
  const matters = ({ endpoint, who, low, high }: NonNullable<typeof seen>) =>
    `**Does it matter?** At ${endpoint} ${who} ${count(low)} (the slowest) to ${count(high)} requests/s; below ${count(Number((low / 10).toPrecision(1)))} nothing here matters: choose by taste.`;
  return present([
    choose(report),
    ...costs(choicesOf(report.endpoints)).map(([about, text]) => `**${about}**: ${text}.`),
    seen && seen.rates.length > 0 && matters(seen),
  ]);
}

/** The runtime and framework that cost least; several if they are not distinguishable. Null if there is nothing to choose. */
export function choose({ endpoints }: Report): string | null {
  const rows = endpoints.flatMap(({ rows }) => rows);
  const frameworks = rows.filter(
    ({ name, server, framework, twinOf }) => name === server && framework && word(framework) !== "raw" && !twinOf,
  );
  const names = new Map(
    frameworks.map(({ name, runtime, framework }) => [
      name,
      `${capital(word(runtime))} with ${capital(word(framework))}`,
    ]),
  );
  if (names.size < 2 || costWord(endpoints) === "time") return null;
  const best = cheapestOf(endpoints, [...names.keys()]);
  if (best.length === names.size)
    return "**Choose** by something other than CPU time: no difference between frameworks or runtimes is significant.";
  if (best.length === 0) return "**Choose** by endpoint: no server costs least at all of them.";
  const who = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
    best.map((name) => names.get(name) as string),
  );
  return `**Choose** ${who}, if CPU time decides${best.length > 1 ? "; these are not distinguishable" : ""}.`;
}

/** Sentences from the newest runs of drivers, of stores, and of the ten servers on other machines. */
function ofOthers(reports: readonly Report[], newest: ReturnType<typeof newestOf>): string[] {
  const drivers = newest.get("drivers");
  const stores = newest.get("content") ?? newest.get("stacks-content");
  const byMachine = new Map(ofMatrix(reports).map((report) => [report.machineName, report]));
  byMachine.delete(newest.get("read")?.machineName ?? "");
  const driversOf = (report: Report, about: string) => {
    const said = choicesIn(report, "driver").map((choice) => `${nameOfChoice(choice)}: ${costOf(choice)}`);
    return said.length > 0 && `**${about}**: ${said.join("; ")}.`;
  };
  return present([
    drivers && driversOf(drivers, "SQLite driver"),
    stores && driversOf(stores, "SQLite or Postgres"),
    ...[...byMachine].flatMap(([name, report]) =>
      costs(choicesIn(report, "runtime")).map(([about, text]) => `**${about}** on ${name}: ${text}.`),
    ),
  ]);
}

/** Choices of one kind between servers of the matrix. */
function choicesIn({ endpoints }: Report, of: Factor) {
  const rows = endpoints.flatMap(({ rows }) => rows);
  const matrix = new Set(rows.flatMap(({ name, server }) => (server && SERVERS.includes(server) ? [name] : [])));
  return choicesOf(endpoints).filter(({ factor, pairs }) => factor === of && pairs.some(([to]) => matrix.has(to)));
}

/** @returns an SVG of CPU time per request at one endpoint, in light or dark colours as the reader prefers. */
export function picture({ run, endpoints }: Report): string {
  const endpoint = endpointOr(endpoints, TYPICAL);
  const { document } = new Window();
  const svg = draw(intervals(endpoint), { width: 760, document: document as unknown as Document });
  const css = readFileSync(join(import.meta.dirname, "../bench/tell/page/style.css"), "utf8");
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
    ({ endpoints }) => new Map(choicesOf(endpoints).map((choice) => [nameOfChoice(choice), costOf(choice)])),
  );
  const choices = [...new Set(costs.flatMap((of) => [...of.keys()]))];
  const rows = choices.map((choice) => [choice, ...costs.map((of) => of.get(choice) ?? "-")]);
  const parts = [
    "# Machines",
    "What a server costs depends on the machine, and so does the ratio of two servers. So each run here stands beside its machine; none of them is _the_ answer. Written by `bun scripts/publish.ts`.",
    "To add yours: run `./bench.sh --standard --machine-name hetzner-cx33`, then `bun scripts/publish.ts RUN`, and send all that changed as a pull request.",
    "## What each choice costs",
    `Each row compares servers that differ in nothing else. ${HOW_TO_READ}`,
    markdownTable([["CPU time per request", ...names], ...rows]),
    ...shown.flatMap((report, i) => [
      `## ${names[i]}`,
      bullets([...report.machine, ...notWarm(report), ...precision(report.endpoints)].map(plain)),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}
