/** The verdict of a gate on a change: see docs/ci-gate.md. */
import type { Turns } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { sumOf } from "../load/failed.ts";
import type { Compared, Outcome } from "./outcomes.ts";
import { type Interval, mean, meanInterval } from "./statistics.ts";
import { isFailing } from "./verdict.ts";

export type GateVerdict = "slower" | "not slower" | "undecided";

/** Two restarts may agree by chance, above all if other work uses the CPU. */
const LEAST_RESTARTS = 3;

/**
 * @param compared cost after a change ÷ before; undecided with fewer than three restarts
 * @param limit allowed increase of cost, 0.05 for 5 %
 * @returns slower if the interval lies above 1 and the estimate above the limit; not slower if the one-sided upper limit
 *   of the ratio is below it. All endpoints must be "not slower" (an intersection-union test, Berger 1982), so the upper
 *   limits need no correction for the number of endpoints
 */
export function verdictBy(
  { ratio, upper, logRatios }: Pick<Compared, "ratio" | "upper"> & Partial<Compared>,
  limit: number,
): GateVerdict {
  if (logRatios && logRatios.length < LEAST_RESTARTS) return "undecided";
  if (ratio.low > 1 && ratio.estimate > 1 + limit) return "slower";
  return upper < 1 + limit ? "not slower" : "undecided";
}

/** What decides: CPU time; also time per request if a server waits, because CPU time does not show waiting. */
export const decidingOf = (one: Outcome): Compared[] => (one.isWaiting && one.time ? [one, one.time] : [one]);

export const gateVerdict = (one: Outcome, limit: number): GateVerdict =>
  worst(decidingOf(one).map((by) => verdictBy(by, limit)));

export const worst = (verdicts: readonly GateVerdict[]): GateVerdict =>
  (["slower", "undecided"] as const).find((one) => verdicts.includes(one)) ?? "not slower";

/** Exit codes of a gate. A later commit that fails must not pass, so it exits like a slower one. */
export const EXIT = { "not slower": 0, slower: 1, failed: 1, undecided: 2, "not measured": 3 } as const;

/** The result of a gate; one verdict per endpoint, null without --fail-above. */
export interface Gate {
  readonly outcomes: readonly Outcome[];
  readonly verdicts: readonly (GateVerdict | null)[];
  readonly verdict: keyof typeof EXIT | null;
  /** Where the two copies of one side differ, and by which cost, so that no result can be trusted. */
  readonly suspect: { readonly endpoint: string; readonly by: Outcome["by"]; readonly ratio: Interval } | null;
}

/** @param failAbove 0.05 for 5 %, null without --fail-above */
export function gateOf(outcomes: readonly Outcome[], failAbove: number | null): Gate {
  const verdicts = outcomes.map((one) => (failAbove === null ? null : gateVerdict(one, failAbove)));
  const suspects = outcomes.flatMap((one) =>
    decidingOf(one).flatMap((compared) => {
      const by = compared === one.time ? "rate" : one.by;
      return compared.guard?.state === "different" ? [{ endpoint: one.endpoint, by, ratio: compared.guard.ratio }] : [];
    }),
  );
  const suspect = suspects[0] ?? null;
  const verdict = failAbove === null ? null : suspect ? "not measured" : worst(verdicts.flatMap((one) => one ?? []));
  return { outcomes, verdicts, verdict, suspect };
}

/** When a gate stops: at an endpoint when it has a verdict, everywhere when one endpoint is slower. */
export const gateDeciding = (failAbove: number) => ({
  isDecided: (one: Outcome) => gateVerdict(one, failAbove) !== "undecided",
  isEnough: (one: Outcome) => gateVerdict(one, failAbove) === "slower",
});

/** Requests of one target, at all endpoints together. */
export type Failures = Pick<Turns, "name" | "requests" | "errors" | "failed">;

/** @returns targets that failed more than 1 request in 1,000 at an endpoint */
export function failuresOf(turns: readonly Turns[]): Failures[] {
  const failing = new Set(turns.filter(isFailing).map(({ name }) => name));
  return [...failing].map((name) => {
    const own = turns.filter((one) => one.name === name);
    const total = (of: (one: Turns) => number) => own.reduce((sum, one) => sum + of(one), 0);
    const failed = sumOf(own.map((one) => one.failed));
    return { name, requests: total(({ requests }) => requests), errors: total(({ errors }) => errors), failed };
  });
}

/** Base and head, and head ÷ base with its 95 % interval; the limits are null if there are too few restarts. */
export interface Measure extends Readonly<Record<"base" | "head" | "ratio", number>> {
  readonly low: number | null;
  readonly high: number | null;
}

/** Leaves out an interval that is too wide to be useful, as with two restarts. */
export const limitsOf = ({ estimate, low, high }: Interval): Pick<Measure, "ratio" | "low" | "high"> =>
  Number.isFinite(high) && high < 100 * low
    ? { ratio: estimate, low, high }
    : { ratio: estimate, low: null, high: null };

export type SideNames = Readonly<Record<"base" | "head", string>>;

/** Compares the sides' means of each restart; null if no restart has both. @param of value of a slice, null if unknown */
export function measureOf(
  slices: readonly Slice[],
  { base, head }: SideNames,
  of: (slice: Slice) => number | null,
): Measure | null {
  const restarts = [...Map.groupBy(slices, ({ restart }) => restart).values()].flatMap((all) => {
    const side = (isSide: (slice: Slice) => boolean) =>
      mean(all.flatMap((slice) => (isSide(slice) && of(slice) ? [Math.log(of(slice) as number)] : [])));
    const one = {
      base: side(({ name, twinOf }) => name === base || twinOf === base),
      head: side(({ name }) => name === head),
    };
    return Number.isNaN(one.base + one.head) ? [] : [one];
  });
  if (restarts.length === 0) return null;
  return {
    base: Math.exp(mean(restarts.map(({ base }) => base))),
    head: Math.exp(mean(restarts.map(({ head }) => head))),
    ...limitsOf(meanInterval(restarts.map(({ base, head }) => Math.exp(head - base)))),
  };
}

/** Other measures that may decide, and the allowed increase of each. */
export type Also = Readonly<Partial<Record<"memory" | "p99", number>>>;

/** @returns null without a limit or a measurement */
export function verdictOf(of: Measure | null, limit: number | undefined): GateVerdict | null {
  if (of === null || limit === undefined) return null;
  const { ratio: estimate, low, high } = of;
  const upper = high ?? Number.POSITIVE_INFINITY;
  return verdictBy({ ratio: { estimate, low: low ?? 0, high: upper }, upper }, limit);
}
