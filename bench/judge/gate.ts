/** What a gate says of a change: see docs/own-app.md. */
import type { Interval } from "./statistics.ts";

export type GateVerdict = "slower" | "not slower" | "undecided";

/**
 * @param ratio cost after a change ÷ before, with its interval
 * @param limit by how much it may be dearer, 0.05 for 5 %
 * @returns slower where it is dearer for sure (the interval lies above 1) and by more than the limit (the estimate); not
 *   slower where it is for sure not dearer by the limit (the interval ends below)
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
