/** What changed from one run to another. */
import { UsageError } from "../../shared/errors.ts";
import { betweenRuns, type Comparison, type Interval, stateOf } from "../judge/statistics.ts";
import { analyse, type Measurements, NOTHING, type Row } from "../judge/tables.ts";
import type { Manifest } from "../keep/manifest.ts";
import { percent, ratio } from "./format.ts";
import { machineNameOf, machinesDiffer } from "./machine.ts";
import { renderText } from "./text.ts";

/** What is kept of one run. */
export interface Run extends Measurements {
  readonly manifest: Manifest | null;
}

const nameOf = ({ manifest, slices: [first] }: Run) => machineNameOf(manifest, first?.host ?? "?");

/** One endpoint in both runs. */
interface Both {
  readonly endpoint: string;
  readonly comparisons: readonly [Comparison, Comparison] | null;
  readonly rows: readonly (readonly [Row, Row])[];
}

/** @throws UsageError for runs that must not be compared. */
export function inBoth(a: Run, b: Run): Both[] {
  const [first, second] = [a.slices[0], b.slices[0]];
  if (first?.protocol !== second?.protocol)
    throw new UsageError(
      `run ${first?.run} is of protocol ${first?.protocol}, run ${second?.run} of protocol ${second?.protocol}: what was measured differently is not compared`,
    );
  const after = analyse(b, b.manifest ?? NOTHING);
  return analyse(a, a.manifest ?? NOTHING).flatMap(({ endpoint, step, by, comparison, rows }): Both[] => {
    const other = after.find((table) => table.endpoint === endpoint);
    if (!other || step !== null) return [];
    const both = rows.flatMap((row): [Row, Row][] => {
      const same = other.rows.find(({ name }) => name === row.name);
      return same ? [[row, same]] : [];
    });
    const comparisons =
      comparison && other.comparison && by === other.by ? ([comparison, other.comparison] as const) : null;
    return [{ endpoint, comparisons, rows: both }];
  });
}

/** Commits of what is measured, if they differ. */
function codeDiffers(a: Run, b: Run): string[] {
  const [x, y] = [a, b].map(({ manifest }) => manifest?.environment.commit ?? "unknown");
  if (x === y && !String(x).endsWith("-dirty")) return [];
  return [`The servers may differ: commit ${x} → ${y}.`];
}

/** How runs differ beyond what their restarts predict. */
function betweenLine(tables: readonly Both[]): string {
  const seen = betweenRuns(tables.flatMap(({ comparisons }) => (comparisons ? [comparisons] : [])));
  if (seen === null) return "How much runs vary is not known: they have no two servers in common that were compared.";
  const { ratio: of, sd } = seen;
  const size = `ratios of servers vary from run to run by ${of.estimate.toFixed(1)} times the variance that restarts predict (${of.low.toFixed(1)}–${of.high.toFixed(1)})`;
  return sd === 0 || of.low <= 1
    ? `Between these runs ${size}: no more than restarts explain.`
    : `Between these runs ${size}, which is ${percent(sd)} of each server's cost more: the intervals of one run are too narrow for both.`;
}

/** A table of what changed; first how machines and servers differ, last how much runs vary beyond their restarts. */
export function comparison(a: Run, b: Run): string {
  const tables = inBoth(a, b);
  const [first, second] = [a.slices[0], b.slices[0]];
  if (tables.every(({ rows }) => rows.length === 0))
    return `runs ${first?.run} and ${second?.run} have no server and endpoint in common`;
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
  return [
    `run ${second?.run} on ${nameOf(b)} ÷ run ${first?.run} on ${nameOf(a)}`,
    differ.length > 0
      ? `The machines differ, so ratios need not agree: ${differ.join("; ")}.`
      : "The machines are alike.",
    ...codeDiffers(a, b),
    renderText(["server", "endpoint", "÷ best before", "÷ best after", "CPU µs", "requests/s"], rows),
    "The intervals of a column are of that run. CPU µs and requests/s are also what the hosts did in these minutes; ÷ best is not.",
    ...opposite(tables),
    betweenLine(tables),
  ].join("\n");
}

/** Pairs that are different in both runs, in opposite directions. */
function opposite(tables: readonly Both[]): string[] {
  const found = tables.flatMap(({ endpoint, comparisons }) =>
    (comparisons?.[0].pairs ?? []).flatMap(({ a, b, ratio: of, state }) => {
      const other = comparisons?.[1].pairs.find((pair) => pair.a === a && pair.b === b);
      const isOpposite = state === "different" && other && stateOf(other.ratio) === "different";
      return isOpposite && of.estimate > 1 !== other.ratio.estimate > 1 ? [`${a} and ${b} at ${endpoint}`] : [];
    }),
  );
  return found.length > 0 ? [`Different in both, in opposite directions: ${found.join("; ")}.`] : [];
}
