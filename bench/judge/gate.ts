/** What a gate says of a change: see docs/own-app.md. */
import type { Outcome } from "./outcomes.ts";
import type { Interval } from "./statistics.ts";

export type GateVerdict = "slower" | "not slower" | "undecided";

/**
 * @param ratio cost after a change ÷ before, with its interval
 * @param limit by how much it may be dearer, 0.05 for 5 %
 * @returns slower if it is dearer (the interval lies above 1) and by more than the limit (the estimate); not
 *   slower if the interval ends below the limit
 */
export function gateVerdict({ estimate, low, high }: Interval, limit: number): GateVerdict {
  if (low > 1 && estimate > 1 + limit) return "slower";
  return high < 1 + limit ? "not slower" : "undecided";
}

/** Of several endpoints the worst counts. */
export const worst = (verdicts: readonly GateVerdict[]): GateVerdict =>
  (["slower", "undecided"] as const).find((one) => verdicts.includes(one)) ?? "not slower";

/** What a gate exits with. */
export const EXIT = { "not slower": 0, slower: 1, undecided: 2, "not measured": 3 } as const;

/** What a gate found; the verdicts are of its endpoints, null if it was not asked for any. */
export interface Gate {
  readonly outcomes: readonly Outcome[];
  readonly verdicts: readonly (GateVerdict | null)[];
  readonly verdict: GateVerdict | "not measured" | null;
  /** The endpoint at which two copies of one side came out different, so that nothing can be believed. */
  readonly suspect: Outcome | null;
}

/** @param failAbove 0.05 for 5 %, null if nothing is asked */
export function gateOf(outcomes: readonly Outcome[], failAbove: number | null): Gate {
  const verdicts = outcomes.map(({ ratio }) => (failAbove === null ? null : gateVerdict(ratio, failAbove)));
  const suspect = outcomes.find(({ guard }) => guard?.state === "different") ?? null;
  const verdict = failAbove === null ? null : suspect ? "not measured" : worst(verdicts.flatMap((one) => one ?? []));
  return { outcomes, verdicts, verdict, suspect };
}

/** How pairs are decided if a gate asks. */
export const gateDeciding = (failAbove: number) => ({
  isDecided: ({ ratio }: Outcome) => gateVerdict(ratio, failAbove) !== "undecided",
  isEnough: ({ ratio }: Outcome) => gateVerdict(ratio, failAbove) === "slower",
});
