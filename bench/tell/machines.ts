/** docs/machines.md: runs of the same servers on several machines, each beside its machine. */
import { markdownTable } from "markdown-table";
import { choicesOf, costOf, nameOfChoice } from "./choices.ts";
import type { Report } from "./report.ts";
import { notWarm, precision } from "./says.ts";
import { plain } from "./text.ts";

/** `hetzner-cx33, 2026-11-22 13:30` */
const nameOf = ({ machineName, run }: Report) => `${machineName}, ${run.slice(0, 16).replace("T", " ")}`;

/** What each choice costs over the endpoints, machine by machine. */
function sideBySide(reports: readonly Report[]): string {
  const all = reports.map(
    ({ endpoints }) => new Map(choicesOf(endpoints, false).map((choice) => [nameOfChoice(choice), costOf(choice)])),
  );
  const choices = new Set(all.flatMap((of) => [...of.keys()]));
  return markdownTable([
    ["CPU time per request", ...reports.map(nameOf)],
    ...[...choices].map((choice) => [choice, ...all.map((of) => of.get(choice) ?? "-")]),
  ]);
}

/** @param reports of the ten servers */
export function machinesPage(reports: readonly Report[]): string {
  const shown = reports.filter(({ machine, endpoints }) => machine.length > 0 && choicesOf(endpoints).length > 0);
  return [
    "# Machines",
    "What a server costs depends on the machine, and so does the ratio of two servers. So each run here stands beside its machine; none of them is _the_ answer. Written by `./bench.sh report --publish`.",
    "To add yours: run `./bench.sh --standard --machine-name hetzner-cx33`, then `./bench.sh report --publish RUN`, and send all that changed as a pull request.",
    "## What each choice costs",
    "CPU time per request of servers that differ in nothing else, on average over all such pairs: the least and the most over the endpoints, and at how many of them that is significant.",
    sideBySide(shown),
    ...shown.flatMap((report) => [
      `## ${nameOf(report)}`,
      [...report.machine, ...notWarm(report), ...precision(report.endpoints)]
        .map((line) => `- ${plain(line)}`)
        .join("\n"),
    ]),
  ]
    .join("\n\n")
    .concat("\n");
}
