/** Runs of the same servers on several machines, side by side. */
import { markdownTable } from "markdown-table";
import { median, stateOf } from "../judge/statistics.ts";
import { percent } from "./format.ts";
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
    "What a server costs depends on the machine, and so does the ratio of two servers. So each run here stands beside its machine; none of them is _the_ answer. Written by `./bench.sh report --publish`.",
    "To add yours: run `./bench.sh --standard --machine-name hetzner-cx33`, then `./bench.sh report --publish RUN`, and send all that changed as a pull request.",
    "## What each choice costs",
    "CPU time per request of one choice ÷ another, averaged over all pairs of servers that differ in nothing else: the least and the most over the endpoints, and at how many endpoints the difference is significant.",
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
