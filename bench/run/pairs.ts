/** Two targets, or one and two copies of another, restarted until every endpoint is decided or the time is up. */
import { type Outcome, outcomeAt, type Sides } from "../judge/outcomes.ts";
import { measure } from "./measure.ts";
import type { Session } from "./session.ts";

/** When it is enough. */
export interface Deciding {
  readonly limitSeconds: number;
  /** Whether an endpoint needs no more restarts; when it is different or equivalent, if absent. */
  readonly isDecided?: (one: Outcome) => boolean;
  /** Whether one endpoint decides for all. */
  readonly isEnough?: (one: Outcome) => boolean;
  /** How many intervals are to hold at once, with 95 %. */
  readonly family?: number;
}

const isNotUndecided = ({ state }: Outcome): boolean => state !== "undecided";

/** @param session of a plan with just these targets: the first, the second, and perhaps its copy. */
export async function compareUntilDecided(
  session: Session,
  { limitSeconds, isDecided = isNotUndecided, isEnough, family = 1 }: Deciding,
): Promise<Outcome[]> {
  const { manifest } = session;
  const { scenarios } = manifest.plan;
  const [first = "", second = "", copy = null] = manifest.plan.targets.map(({ name }) => name);
  const sides: Sides = { first, second, copy };
  const outcomes = (isLast: boolean) =>
    scenarios.map((scenario) =>
      outcomeAt(scenario, { windows: session.windows, turns: manifest.turns }, sides, { family, isLast }),
    );
  let isOver = false;
  const open = () => {
    const now = outcomes(false);
    isOver = isEnough !== undefined && now.some(isEnough);
    return isOver ? [] : scenarios.filter((_, i) => !isDecided(now[i] as Outcome));
  };
  await measure(session, { seconds: limitSeconds, open });
  const now = outcomes(false);
  const last = outcomes(true);
  return isOver ? now : now.map((one, i) => (isDecided(one) ? one : (last[i] as Outcome)));
}
