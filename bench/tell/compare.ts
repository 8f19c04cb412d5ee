import { UsageError } from "../../shared/errors.ts";
import { type Interval, independentRatio, stateOf } from "../judge/statistics.ts";
import { analyse, NOTHING } from "../judge/tables.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { ratio } from "./format.ts";
import { machinesDiffer } from "./machine.ts";
import { render } from "./text.ts";

/** Ratios of the later run to the earlier one; null where one of them does not have the values of two blocks. */
export interface Change {
  readonly endpoint: string;
  readonly name: string;
  /** CPU time per request against the servers that both runs have, from the duets: what the hosts did cancels. */
  readonly relativeCpu: Interval | null;
  /** From the solo slices: what the hosts did is in these. */
  readonly cpu: Interval | null;
  readonly goodput: Interval | null;
}

/** @param a @param b slices of one run each. @throws UsageError for runs that must not be compared. */
export function compareRuns(a: readonly Slice[], b: readonly Slice[]): Change[] {
  const [first, second] = [a[0] as Slice, b[0] as Slice];
  if (first.protocol !== second.protocol) {
    throw new UsageError(
      `run ${first.run} is of protocol ${first.protocol}, run ${second.run} of protocol ${second.protocol}: what was measured differently is not compared`,
    );
  }
  const key = ({ endpoint, name }: { endpoint: string; name: string }) => `${endpoint} ${name}`;
  const has = new Set(b.map(key));
  const cells = [...Map.groupBy(a, key)].filter(([of]) => has.has(of)).map(([, [slice]]) => slice as Slice);
  const many = cells.length;
  const [relativeA, relativeB] = [relative(a, b), relative(b, a)];
  const between = (x: readonly number[] = [], y: readonly number[] = []) =>
    x.length > 1 && y.length > 1 ? independentRatio(y, x, many) : null;
  return cells
    .map(({ endpoint, name }) => {
      const of = (slices: readonly Slice[], field: "cpuUsPerRequest" | "goodput") =>
        perBlock(
          slices.filter((slice) => slice.endpoint === endpoint && slice.name === name),
          field,
        );
      return {
        endpoint,
        name,
        relativeCpu: between(relativeA.get(key({ endpoint, name })), relativeB.get(key({ endpoint, name }))),
        cpu: between(of(a, "cpuUsPerRequest"), of(b, "cpuUsPerRequest")),
        goodput: between(of(a, "goodput"), of(b, "goodput")),
      };
    })
    .sort((x, y) => (key(x) < key(y) ? -1 : 1));
}

/** Geometric means over each block's solo slices. */
function perBlock(slices: readonly Slice[], field: "cpuUsPerRequest" | "goodput"): number[] {
  const solos = slices.filter(({ kind }) => kind !== "duet");
  return [...Map.groupBy(solos, ({ block }) => block).values()].flatMap((block) => {
    const logs = block.flatMap((slice) => (slice[field] ? [Math.log(slice[field])] : []));
    return logs.length > 0 ? [Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length)] : [];
  });
}

/** Cost of each server in each block ÷ the mean of those that the other run has too. */
function relative(slices: readonly Slice[], other: readonly Slice[]): Map<string, number[]> {
  const result = new Map<string, number[]>();
  for (const { endpoint, comparison } of analyse(slices, NOTHING)) {
    const shared = comparison?.effects.filter(({ name }) =>
      other.some((slice) => slice.kind === "duet" && slice.endpoint === endpoint && slice.name === name),
    );
    if (!shared || shared.length < 2) continue;
    for (const { name, perBlock } of shared) {
      const mean = (block: number) =>
        shared.reduce((sum, one) => sum + (one.perBlock[block] as number), 0) / shared.length;
      result.set(
        `${endpoint} ${name}`,
        perBlock.map((effect, block) => Math.exp(effect - mean(block))),
      );
    }
  }
  return result;
}

/** How two runs agree about pairs of servers that both compared, endpoint by endpoint. */
export interface Agreement {
  readonly pairs: number;
  /** Pairs whose two intervals have nothing in common. */
  readonly disagree: number;
  /** Pairs that are different in both runs, and in opposite directions. */
  readonly opposite: number;
}

/** @param a @param b slices of one run each. */
export function agreement(a: readonly Slice[], b: readonly Slice[]): Agreement {
  const ratios = (slices: readonly Slice[]) =>
    new Map(
      analyse(slices, NOTHING).flatMap(({ endpoint, comparison }) =>
        (comparison?.pairs ?? []).map(({ a, b, ratio }) => [`${endpoint} ${a} ${b}`, ratio] as const),
      ),
    );
  const second = ratios(b);
  const both = [...ratios(a)].flatMap(([pair, of]) => {
    const other = second.get(pair);
    return other ? [[of, other] as const] : [];
  });
  const apart = (x: Interval, y: Interval) => x.high < y.low || y.high < x.low;
  const against = (x: Interval, y: Interval) => (x.high < 1 && y.low > 1) || (y.high < 1 && x.low > 1);
  return {
    pairs: both.length,
    disagree: both.filter(([x, y]) => apart(x, y)).length,
    opposite: both.filter(([x, y]) => against(x, y)).length,
  };
}

function agreementLine({ pairs, disagree, opposite }: Agreement, differ: boolean): string {
  const against = opposite > 0 ? `, ${opposite} of them in opposite directions` : "";
  const why = disagree === 0 || !differ ? "" : "; the machines differ, see above";
  return `${disagree} of ${pairs} pairs disagree: their intervals of CPU time do not overlap${against}${why}.`;
}

/** A table of what changed from one run to another; first how their machines differ, last how many pairs disagree. */
export function comparison(
  a: readonly Slice[],
  b: readonly Slice[],
  manifests: readonly [Manifest | null, Manifest | null] = [null, null],
): string {
  const changes = compareRuns(a, b);
  const [first, second] = [a[0] as Slice, b[0] as Slice];
  if (changes.length === 0) return `runs ${first.run} and ${second.run} have no server and endpoint in common`;
  const cell = (interval: Interval | null) => (interval ? `${ratio(interval)} ${SIGN[stateOf(interval)]}` : "-");
  const differ = machinesDiffer(...manifests);
  return [
    `run ${second.run} on ${second.host} ÷ run ${first.run} on ${first.host}`,
    differ.length > 0
      ? `The machines differ, so ratios need not agree: ${differ.join("; ")}.`
      : "The machines are alike.",
    render<Change>(
      [
        { head: "server", show: ({ name }) => name, left: true },
        { head: "endpoint", show: ({ endpoint }) => endpoint, left: true },
        { head: "CPU against the others", show: ({ relativeCpu }) => cell(relativeCpu) },
        { head: "CPU µs", show: ({ cpu }) => cell(cpu) },
        { head: "requests/s", show: ({ goodput }) => cell(goodput) },
      ],
      changes,
    ),
    "* different, = equal within 3 %, ? undecided; the intervals of a column hold all at once, with 95 %, and are left out where few blocks leave them without an end.",
    "CPU µs and requests/s are also what the hosts did in these minutes; CPU against the others, from duets, is not.",
    agreementLine(agreement(a, b), differ.length > 0),
  ].join("\n");
}

const SIGN = { different: "*", equivalent: "=", undecided: "?" } as const;
