import type { TargetSpec } from "../ask/targets.ts";
import { type GateVerdict, gateVerdict, worst } from "../judge/gate.ts";
import type { Session } from "./session.ts";
import { type Comparing, compareUntilDecided, type Outcome } from "./until-decided.ts";

/** What a gate found; the verdicts are of its endpoints, null where it was not asked for any. */
export interface Gate {
  readonly outcomes: readonly Outcome[];
  readonly verdicts: readonly (GateVerdict | null)[];
  readonly verdict: GateVerdict | "not measured" | null;
  /** The endpoint at which two copies of one side came out different, so that nothing can be believed. */
  readonly suspect: Outcome | null;
}

/**
 * Compares a change with what was before, the latter as two copies unless it runs already.
 * @param pair the one after the change, and the one before; @param failAbove 0.05 for 5 %, null where nothing is asked
 */
export async function measureGate(
  session: Session,
  pair: readonly [TargetSpec, TargetSpec],
  failAbove: number | null,
  comparing: Pick<Comparing, "limitSeconds" | "check" | "besides">,
): Promise<Gate> {
  const verdictOf = ({ ratio }: Outcome) => (failAbove === null ? null : gateVerdict(ratio, failAbove));
  const outcomes = await compareUntilDecided(session, pair, {
    ...comparing,
    isGuarded: pair[1].kind !== "url",
    family: session.manifest.plan.endpoints.length,
    ...(failAbove !== null && {
      isDecided: (one: Outcome) => verdictOf(one) !== "undecided",
      isEnough: (one: Outcome) => verdictOf(one) === "slower",
    }),
  });
  const verdicts = outcomes.map(verdictOf);
  const suspect = outcomes.find(({ guard }) => guard?.state === "different") ?? null;
  const verdict = failAbove === null ? null : suspect ? "not measured" : worst(verdicts.flatMap((one) => one ?? []));
  return { outcomes, verdicts, verdict, suspect };
}
