/** What a gate says of a change: see docs/own-app.md. */
import type { Outcome } from "./outcomes.ts";

export type GateVerdict = "slower" | "not slower" | "undecided";

/**
 * @param of cost after a change ÷ before
 * @param limit by how much it may be dearer, 0.05 for 5 %
 * @returns slower if it is dearer (the interval lies above 1) and by more than the limit (the estimate); not
 *   slower if it is below the limit, one-sided: that no endpoint is slower takes every one of them (an intersection-union
 *   test, Berger 1982), which needs no correction for their number
 */
export function gateVerdict({ ratio, upper }: Pick<Outcome, "ratio" | "upper">, limit: number): GateVerdict {
  if (ratio.low > 1 && ratio.estimate > 1 + limit) return "slower";
  return upper < 1 + limit ? "not slower" : "undecided";
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
  const verdicts = outcomes.map((one) => (failAbove === null ? null : gateVerdict(one, failAbove)));
  const suspect = outcomes.find(({ guard }) => guard?.state === "different") ?? null;
  const verdict = failAbove === null ? null : suspect ? "not measured" : worst(verdicts.flatMap((one) => one ?? []));
  return { outcomes, verdicts, verdict, suspect };
}

/** How pairs are decided if a gate asks. */
export const gateDeciding = (failAbove: number) => ({
  isDecided: (one: Outcome) => gateVerdict(one, failAbove) !== "undecided",
  isEnough: (one: Outcome) => gateVerdict(one, failAbove) === "slower",
});
