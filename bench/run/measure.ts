/** Measures restart after restart, until the time of the run is over or the comparison of two targets is decided. */
import { failuresOf } from "../judge/gate.ts";
import { type Outcome, outcomesOf } from "../judge/outcomes.ts";
import { shareOf } from "../judge/statistics.ts";
import type { Scenario } from "../plan/plan.ts";
import { lookAtMachine, measureRestart } from "./restart.ts";
import { lastRestart, type Session } from "./session.ts";

/** Fewer restarts give no interval. */
const LEAST_RESTARTS = 2;

/** When a run ends, and what it calls before that. */
export interface Until {
  /** Time limit for all sessions of the run together. */
  readonly seconds: number;
  /** Scenarios that are not decided yet; all if absent. */
  readonly open?: () => readonly Scenario[];
  /** Called after each restart. */
  readonly after?: () => void;
}

/** Measures as many restarts as fit into the time, at least two, or until nothing is open. */
export async function measure(session: Session, { seconds, open, after }: Until): Promise<void> {
  const { manifest } = session;
  const before = manifest.seconds.total;
  const since = session.now();
  const spent = () => before + (session.now() - since) / 1e3;
  let latest = 0;
  if (manifest.fingerprints.length === 0) await lookAtMachine(session, 0);
  for (;;) {
    const scenarios = open?.() ?? manifest.plan.scenarios;
    const isOver = manifest.restarts >= LEAST_RESTARTS && spent() + latest > seconds;
    if (scenarios.length === 0 || isOver) break;
    const begun = spent();
    try {
      // An interrupted restart keeps its number and its data; the next restart gets a new number.
      const restart = 1 + lastRestart(session);
      await measureRestart(session, restart, scenarios);
      await lookAtMachine(session, restart);
    } finally {
      manifest.seconds.total = spent();
      session.save();
    }
    latest = spent() - begun;
    session.progress.at(spent());
    after?.();
  }
}

/** When a comparison stops. */
export interface Deciding {
  readonly limitSeconds: number;
  /** Whether a scenario needs no more restarts; by default if it is different or equivalent. */
  readonly isDecided?: (one: Outcome) => boolean;
  /** Whether this one outcome decides the whole comparison. */
  readonly isEnough?: (one: Outcome) => boolean;
  /** Number of intervals that must all hold together, with 95 % confidence. */
  readonly family?: number;
  /** Whether a failed request, or a target that no longer answers, ends the comparison. */
  readonly mustAnswer?: boolean;
}

const isNotUndecided = ({ state }: Outcome): boolean => state !== "undecided";

/** @param session its plan has exactly these targets: the first, the second, and optionally a copy of the second. */
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
      { windows: session.windows, turns: manifest.turns },
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
