import {
  type Interval,
  mean,
  type State,
  sequentialInterval,
  sequentialSmallestVisible,
  sequentialState,
} from "../analysis/statistics.ts";
import type { TargetSpec } from "../plan/targets.ts";
import { lookAtMachine, withTargets } from "./blocks.ts";
import { lastBlock, type Session } from "./session.ts";
import { duet } from "./slices.ts";
import { warmEndpoint, warmRestarted, warmthOf } from "./warmup.ts";

/** What two targets are to each other at one endpoint. */
export interface Outcome {
  readonly endpoint: string;
  /** ln(CPU per request of the first ÷ of the second), one mean per block. */
  readonly logRatios: number[];
  /** CPU µs per request of the first, slice by slice. */
  readonly cpuUs: number[];
  readonly ratio: Interval;
  readonly state: State;
  readonly smallestVisible: number;
  /** Blocks in which one of the two still changed when its slices began; their values count all the same. */
  readonly warming: number;
  /** From the start until it was decided, or the time was up; other endpoints were measured meanwhile. */
  readonly seconds: number;
}

/** Duets of one endpoint in one block. */
const DUETS = 4;

/**
 * Duets between two targets, freshly started in every block, until each endpoint is decided or the time is up. After
 * every block it is asked whether the interval decides; the interval is one that allows that (see sequentialInterval).
 */
export async function compareUntilDecided(
  session: Session,
  specs: readonly [TargetSpec, TargetSpec],
  limitSeconds: number,
): Promise<Outcome[]> {
  const { endpoints } = session.manifest.plan;
  const since = session.now();
  const elapsed = () => (session.now() - since) / 1e3;
  let behind = 0;
  const seen = endpoints.map((endpoint) => ({
    endpoint,
    logRatios: [] as number[],
    cpuUs: [] as number[],
    warming: 0,
    seconds: 0,
  }));
  const outcomes = () =>
    seen.map((one): Outcome => {
      const { estimate, low, high } = sequentialInterval(one.logRatios);
      return {
        ...one,
        ratio: { estimate: Math.exp(estimate), low: Math.exp(low), high: Math.exp(high) },
        state: sequentialState(one.logRatios),
        smallestVisible: sequentialSmallestVisible(one.logRatios),
      };
    });
  const first = lastBlock(session);
  await lookAtMachine(session, first + 1);
  for (let block = first + 1; ; block++) {
    const open = seen.filter(({ logRatios }) => sequentialState(logRatios) === "undecided");
    const pace = elapsed() / (block - first - 1 || 1);
    if (open.length === 0 || (block > first + 2 && elapsed() + pace > limitSeconds)) {
      session.progress.done(Math.max(0, limitSeconds - behind));
      await lookAtMachine(session, block - 1);
      return outcomes();
    }
    session.warmth = {};
    await withTargets(session, specs, async (targets) => {
      const [a, b] = targets as [(typeof targets)[0], (typeof targets)[0]];
      session.progress.now(`${a.name} and ${b.name}: block ${block - first}`);
      await warmRestarted(
        session,
        targets,
        open.map(({ endpoint }) => endpoint),
      );
      for (const one of open) {
        const { endpoint } = one;
        await warmEndpoint(session, targets, endpoint);
        if (targets.some(({ name }) => warmthOf(session, name, endpoint).steady === false)) one.warming++;
        const from = session.slices.length;
        for (let i = 0; i < DUETS; i++) await duet(session, block, endpoint, i % 2 === 0 ? [a, b] : [b, a]);
        const costs = (name: string) =>
          session.slices
            .slice(from)
            .filter((slice) => slice.name === name && slice.verdict !== "void")
            .flatMap(({ cpuUsPerRequest }) => (cpuUsPerRequest ? [Math.log(cpuUsPerRequest)] : []));
        const [ofA, ofB] = [costs(a.name), costs(b.name)];
        if (ofA.length === 0 || ofB.length === 0) continue;
        one.logRatios.push(mean(ofA) - mean(ofB));
        one.cpuUs.push(...ofA.map(Math.exp));
      }
    });
    for (const one of open) one.seconds = elapsed();
    session.manifest.blocks.push({ block, turns: [], warmup: session.warmth });
    session.save();
    session.progress.done(elapsed() - behind);
    behind = elapsed();
  }
}
