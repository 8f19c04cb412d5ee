/** A run: restart after restart, until it is enough. */
import type { Scenario } from "../plan/plan.ts";
import { lookAtMachine, measureRestart } from "./restart.ts";
import { lastRestart, type Session } from "./session.ts";

/** Fewer restarts have no interval. */
const LEAST_RESTARTS = 2;

/** When a run is over, and what is done as it goes on. */
export interface Until {
  /** Its time limit, all sessions of the run together. */
  readonly seconds: number;
  /** Scenarios that are not decided yet; all if absent. */
  readonly open?: () => readonly Scenario[];
  /** After each restart. */
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
      // A restart that was interrupted keeps its number and what it has.
      await measureRestart(session, 1 + lastRestart(session), scenarios);
      await lookAtMachine(session, manifest.restarts);
    } finally {
      manifest.seconds.total = spent();
      session.save();
    }
    latest = spent() - begun;
    session.progress.at(spent());
    after?.();
  }
}
