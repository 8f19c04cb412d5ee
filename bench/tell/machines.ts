/** The same question on several machines: side by side, none of them the answer. */
import { markdownTable } from "markdown-table";
import { median, stateOf } from "../judge/statistics.ts";
import { percent, WARMING } from "./format.ts";
import { duration, machineLine } from "./machine.ts";
import type { Report } from "./report.ts";

/** Runs that are shown: of several servers, with their machine. */
const isShown = ({ manifest, endpoints }: Report) =>
  manifest?.machine !== undefined && endpoints.some(({ effects }) => effects.length > 0);

/** `hetzner-cx33, 2026-11-22 13:30` */
const nameOf = ({ machineName, run }: Report) => `${machineName}, ${run.slice(0, 16).replace("T", " ")}`;

/** What each choice costs at the endpoint where it matters least and most, machine by machine. */
export function sideBySide(reports: readonly Report[]): string {
  const shown = reports.filter(isShown);
  const choices = [
    ...new Set(
      shown.flatMap(({ endpoints }) =>
        endpoints.flatMap(({ effects }) => effects.map(({ to, from }) => `${to} instead of ${from}`)),
      ),
    ),
  ];
  const cell = ({ endpoints }: Report, choice: string) => {
    const of = endpoints.flatMap(({ effects }) =>
      effects.flatMap(({ to, from, cpu }) => (`${to} instead of ${from}` === choice && cpu ? [cpu] : [])),
    );
    if (of.length === 0) return "-";
    const estimates = of.map(({ estimate }) => estimate);
    const different = of.filter((one) => stateOf(one) === "different").length;
    return `× ${Math.min(...estimates).toFixed(2)}–${Math.max(...estimates).toFixed(2)}, shown at ${different} of ${of.length}`;
  };
  return markdownTable([
    ["CPU time per request", ...shown.map(nameOf)],
    ...choices.map((choice) => [choice, ...shown.map((report) => cell(report, choice))]),
  ]);
}

const counted = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** CPU time per request of every server ÷ the least, at every endpoint: the least and the most over all runs. */
export function acrossRuns(reports: readonly Report[]) {
  const rows = reports.flatMap(({ endpoints }) =>
    endpoints.flatMap(({ endpoint, rows }) =>
      rows.flatMap(({ name, standing, warming, twinOf }) =>
        standing && !twinOf
          ? [{ endpoint, name, warming, groups: standing.groups, ratio: standing.ratioToBest.estimate }]
          : [],
      ),
    ),
  );
  const endpoints = [...new Set(rows.map(({ endpoint }) => endpoint))];
  const names = [...new Set(rows.map(({ name }) => name))].sort();
  const cell = (name: string, endpoint: string) => {
    const warm = rows.filter((row) => row.name === name && row.endpoint === endpoint && row.warming === null);
    if (warm.length === 0) return WARMING;
    const ties = warm.filter(({ groups }) => groups.includes("a")).length;
    const ratios = warm.map(({ ratio }) => ratio);
    const range = [...new Set([Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)))].join("–");
    return ties === warm.length ? `${range} =` : ties > 0 ? `${range} ≈` : range;
  };
  const machines = new Set(reports.map(({ manifest }) => manifest && machineLine(manifest)));
  return {
    title: `CPU time per request ÷ the least of its run: the least and the most of ${counted(reports.length, "run")} on ${counted(machines.size, "machine")}; = tied for the least in each run, ≈ in some`,
    head: ["server", ...endpoints],
    rows: names.map((name) => [name, ...endpoints.map((endpoint) => cell(name, endpoint))]),
  };
}

/** What was seen of the machine of a run, and what that run could tell. */
function factsOf({ manifest, endpoints }: Report): [fact: string, seen: string][] {
  const seen = manifest?.fingerprints ?? [];
  type Look = (typeof seen)[number];
  const of = (value: (one: Look) => number, show: (value: number) => string) =>
    seen.length > 0 ? show(median(seen.map(value))) : "-";
  const most = (value: (one: Look) => number) => (seen.length > 0 ? percent(Math.max(...seen.map(value))) : "-");
  const times = (value: number) => `× ${value.toFixed(2)}`;
  const visible = endpoints.flatMap(({ comparison }) => comparison?.smallestVisible ?? []);
  const warming = endpoints.flatMap(({ rows }) => rows.filter((row) => row.warming)).length;
  return [
    ["a loop beside the same loop on the other cores", of(({ together }) => together, times)],
    ["system call", of(({ speed }) => speed.syscallNs, duration)],
    ["a byte there and back on loopback", of(({ speed }) => speed.loopbackNs, duration)],
    [
      "a load from the cache, from memory",
      `${of(({ speed }) => speed.cachedNs, duration)}, ${of(({ speed }) => speed.memoryNs, duration)}`,
    ],
    ["first touch of a page", of(({ speed }) => speed.touchNs, duration)],
    [
      "stolen by the host, taken by others, at most",
      `${most(({ stolen }) => stolen)}, ${most(({ others }) => others)}`,
    ],
    [
      "restarts; differences not detectable below",
      visible.length > 0
        ? `${manifest?.restarts}; ${percent(Math.min(...visible))} to ${percent(Math.max(...visible))}`
        : "-",
    ],
    ["rows still warming", `${warming} of ${endpoints.reduce((sum, { rows }) => sum + rows.length, 0)}`],
  ];
}

/** docs/machines.md: every published run of the matrix, with the machine that it is true of. */
export function machinesPage(reports: readonly Report[]): string {
  const shown = reports.filter(isShown);
  const facts = shown.map((report) => new Map(factsOf(report)));
  return [
    "# Machines",
    "What a server costs depends on the machine, and so do ratios of two servers: the more of a request is HTTP, the more. So each run here stands beside the machine that it was measured on; none of them is _the_ answer. Written by `./bench.sh report --publish`.",
    "To add yours: run `./bench.sh --standard --machine-name hetzner-cx33`, then `./bench.sh report --publish RUN`, and send all that changed as a pull request.",
    "## What each choice costs",
    "CPU time per request of one choice ÷ another, averaged over all pairs of servers that differ in nothing else: the least and the most over the endpoints, and at how many of them it is shown to differ from 1.",
    sideBySide(reports),
    "## The machines",
    markdownTable([
      ["", ...shown.map(nameOf)],
      ...[...(facts[0]?.keys() ?? [])].map((name) => [name, ...facts.map((of) => of.get(name) ?? "-")]),
    ]),
    ...shown.map((report) =>
      [
        `### ${nameOf(report)}`,
        machineLine(report.manifest as NonNullable<Report["manifest"]>),
        report.machine
          .slice(1)
          .map((line) => `- ${line}`)
          .join("\n"),
      ].join("\n\n"),
    ),
  ]
    .join("\n\n")
    .concat("\n");
}
