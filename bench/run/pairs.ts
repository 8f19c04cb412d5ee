/** Two targets, or one and two copies of another, restarted until every endpoint is decided or the time is up. */
import { failuresOf } from "../judge/gate.ts";
import { type Outcome, outcomesOf } from "../judge/outcomes.ts";
import { shareOf } from "../judge/statistics.ts";
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
  /** Whether failed requests, or a target that is gone, end it. */
  readonly mustAnswer?: boolean;
}

const isNotUndecided = ({ state }: Outcome): boolean => state !== "undecided";

/** @param session of a plan with just these targets: the first, the second, and perhaps its copy. */
export async function compareUntilDecided(
  session: Session,
  { limitSeconds, isDecided = isNotUndecided, isEnough = () => false, family = 1, mustAnswer = false }: Deciding,
): Promise<Outcome[]> {
  const { manifest } = session;
  const { scenarios } = manifest.plan;
  const [first = "", second = "", copy = null] = manifest.plan.targets.map(({ name }) => name);
  const decided = new Map<number, Outcome>();
  const look = (share: number) =>
    outcomesOf(
      scenarios,
      {
        windows: session.windows,
        turns: manifest.turns,
        taken: session.slices.flatMap(({ taken }) => taken ?? []),
      },
      { first, second, copy },
      { family, share },
    );
  const open = () => {
    if (mustAnswer && (manifest.left.length > 0 || failuresOf(manifest.turns).length > 0)) return [];
    const share = shareOf(manifest.restarts, false);
    for (const [i, one] of share > 0 ? look(share).entries() : [])
      if (!decided.has(i) && isDecided(one)) decided.set(i, one);
    return [...decided.values()].some(isEnough) ? [] : scenarios.filter((_, i) => !decided.has(i));
  };
  await measure(session, { seconds: limitSeconds, open });
  return look(shareOf(manifest.restarts, true)).map((last, i) => decided.get(i) ?? last);
}
