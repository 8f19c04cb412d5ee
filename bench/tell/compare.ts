/** What changed from one run to another. */
import { UsageError } from "../../shared/errors.ts";
import { betweenRuns, type Interval, stateOf } from "../judge/statistics.ts";
import { analyse, type Measurements, NOTHING, type Row } from "../judge/tables.ts";
import type { Manifest } from "../keep/manifest.ts";
import { percent, present, ratio } from "./format.ts";
import { machineNameOf, machinesDiffer } from "./machine.ts";
import { renderText } from "./text.ts";

export type Run = Measurements & Readonly<{ manifest: Manifest | null }>;

type Both = ReturnType<typeof inBoth>[number];

/** @throws UsageError for runs that must not be compared. */
export function inBoth(a: Run, b: Run) {
  const [first, second] = [a.slices[0], b.slices[0]];
  if (first?.protocol !== second?.protocol)
    throw new UsageError(
      `run ${first?.run} has protocol ${first?.protocol}, run ${second?.run} has protocol ${second?.protocol}: choose runs of one protocol`,
    );
  const after = analyse(b, b.manifest ?? NOTHING);
  return analyse(a, a.manifest ?? NOTHING).flatMap(({ endpoint, step, by, comparison, rows }) => {
    const other = after.find((table) => table.endpoint === endpoint);
    if (!other || step !== null) return [];
    const both = rows.flatMap((row) => {
      const same = other.rows.find(({ name }) => name === row.name);
      return same ? [[row, same] as const] : [];
    });
    const isAlike = by === other.by && comparison && other.comparison;
    return [{ endpoint, comparisons: isAlike ? ([comparison, other.comparison] as const) : null, rows: both }];
  });
}

/** The differences of machines and servers, a table of what changed, and how much the runs vary beyond their restarts. */
export function comparison(a: Run, b: Run): string {
  const tables = inBoth(a, b);
  const [first, second] = [a.slices[0], b.slices[0]];
  if (tables.every(({ rows }) => rows.length === 0))
    return `runs ${first?.run} and ${second?.run} have no server and endpoint in common`;
  const whatIs = ({ manifest, slices: [one] }: Run) => ({
    title: `run ${one?.run} on ${machineNameOf(manifest, one?.host ?? "?")}`,
    commit: String(manifest?.environment.commit ?? "unknown"),
  });
  const [before, after] = [whatIs(a), whatIs(b)];
  const differ = machinesDiffer(a.manifest, b.manifest);
  const change = (x: Interval | null, y: Interval | null) =>
    x && y ? `× ${(y.estimate / x.estimate).toFixed(2)}` : "-";
  const toBest = ({ standing }: Row) => (standing ? ratio(standing.ratioToBest) : "-");
  const rows = tables.flatMap(({ endpoint, rows }) =>
    rows.map(([x, y]) => {
      const changes = [change(x.cpuUsPerRequest, y.cpuUsPerRequest), change(x.goodput, y.goodput)];
      return [x.name, endpoint, toBest(x), toBest(y), ...changes];
    }),
  );
  const isSame = before.commit === after.commit && !after.commit.endsWith("-dirty");
  const how = differ.length > 0 ? `differ, so ratios may differ: ${differ.join("; ")}` : "are alike";
  return present([
    `${after.title} ÷ ${before.title}`,
    `The machines ${how}.`,
    !isSame && `The servers may differ: commit ${before.commit} → ${after.commit}.`,
    renderText(["server", "endpoint", "÷ best before", "÷ best after", "CPU µs", "requests/s"], rows),
    "Each ÷ best has the interval of its run. CPU µs and requests/s also change with the load of the host; ÷ best does not.",
    ...opposite(tables),
    beyondRestarts(tables),
  ]).join("\n");
}

/** Pairs that are different in both runs, in opposite directions. */
function opposite(tables: readonly Both[]): string[] {
  const found = tables.flatMap(({ endpoint, comparisons }) =>
    (comparisons?.[0].pairs ?? []).flatMap(({ a, b, ratio: of, state }) => {
      const other = comparisons?.[1].pairs.find((pair) => pair.a === a && pair.b === b)?.ratio;
      const isOpposite = state === "different" && other && stateOf(other) === "different";
      return isOpposite && of.estimate > 1 !== other.estimate > 1 ? [`${a} and ${b} at ${endpoint}`] : [];
    }),
  );
  return found.length > 0 ? [`Different in both, in opposite directions: ${found.join("; ")}.`] : [];
}

/** How runs differ beyond what their restarts predict. */
function beyondRestarts(tables: readonly Both[]): string {
  const seen = betweenRuns(tables.flatMap(({ comparisons }) => (comparisons ? [comparisons] : [])));
  if (seen === null) return "The variance between the runs is unknown: fewer than two compared servers are in both.";
  const { ratio: of, sd } = seen;
  const size = `The variance between these runs is ${of.estimate.toFixed(1)} times the variance that restarts predict (${of.low.toFixed(1)}–${of.high.toFixed(1)})`;
  return sd === 0 || of.low <= 1
    ? `${size}: restarts explain it.`
    : `${size}: costs also differ by ${percent(sd)} from run to run, so the intervals of one run are too narrow for both.`;
}
