import type { TargetSpec } from "../ask/targets.ts";
import {
  type Interval,
  median,
  type State,
  sequentialRatio,
  sequentialSmallestVisible,
  stateOf,
} from "../judge/statistics.ts";
import type { Slice } from "../keep/slices.ts";
import { lookAtMachine, withTargets } from "./blocks.ts";
import { lastBlock, type Session } from "./session.ts";
import { duet } from "./slices.ts";
import type { Target } from "./targets/target.ts";
import { warmEndpoint, warmRestarted, warmthOf } from "./warmup.ts";

/** What two targets are to each other at one endpoint. */
export interface Outcome {
  readonly endpoint: string;
  /** ln(CPU per request of the first ÷ of the second), one median per block. */
  readonly logRatios: number[];
  /** CPU µs per request of the first, slice by slice. */
  readonly cpuUs: number[];
  readonly ratio: Interval;
  readonly state: State;
  readonly smallestVisible: number;
  /** What a second copy of the second is to the first copy; null where there was none. */
  readonly guard: { readonly ratio: Interval; readonly state: State } | null;
  /** Blocks in which one of them still changed when its slices began; their values count all the same. */
  readonly warming: number;
  /** From the start until it was decided, or the time was up; other endpoints were measured meanwhile. */
  readonly seconds: number;
}

/** How two targets are compared. */
export interface Comparing {
  readonly limitSeconds: number;
  /** Whether the second is measured as two copies, which are to come out equal. */
  readonly isGuarded?: boolean;
  /** Whether an endpoint needs no more blocks; when it is different or equivalent, if absent. */
  readonly isDecided?: (one: Outcome) => boolean;
  /** Whether one endpoint decides for all. */
  readonly isEnough?: (one: Outcome) => boolean;
  /** How many intervals are to hold at once, with 95 %. */
  readonly family?: number;
  /** What is asked of the targets at each endpoint, once, before its first duets. */
  readonly check?: (endpoint: string, targets: readonly Target[]) => Promise<void>;
  /** What is done besides at each endpoint of each block, while the targets are up. */
  readonly besides?: (block: number, endpoint: string, targets: readonly Target[]) => Promise<void>;
}

/** Who plays in the duets of one endpoint in one block, and whose generator starts first. */
const DUETS = [
  [0, 1],
  [1, 0],
  [0, 1],
  [1, 0],
] as const;
/**
 * Each plays as often as the others, as one that plays more has another heap; comes as often into a duet from idleness as
 * its partners do, as that is dearer; and has its generator started first as often.
 */
const GUARDED = [
  [0, 1],
  [1, 2],
  [1, 0],
  [0, 2],
  [2, 0],
  [2, 1],
] as const;

/**
 * Duets between two targets, freshly started in every block, until each endpoint is decided or the time is up. After
 * every block it is asked whether the interval decides; the interval is one that allows that (see sequentialInterval).
 */
export async function compareUntilDecided(
  session: Session,
  [first, second]: readonly [TargetSpec, TargetSpec],
  { limitSeconds, isGuarded = false, isDecided = isNotUndecided, isEnough, family = 1, check, besides }: Comparing,
): Promise<Outcome[]> {
  const { endpoints } = session.manifest.plan;
  const specs = isGuarded ? [first, second, second] : [first, second];
  const since = session.now();
  const elapsed = () => (session.now() - since) / 1e3;
  let behind = 0;
  let names: readonly string[] = [];
  const seen = endpoints.map((endpoint) => ({
    endpoint,
    logRatios: [] as number[],
    guards: [] as number[],
    cpuUs: [] as number[],
    warming: 0,
    seconds: 0,
  }));
  const outcomeOf = ({ guards, ...one }: (typeof seen)[0], isLast: boolean): Outcome => {
    const ratio = sequentialRatio(one.logRatios, family, isLast);
    const guard = sequentialRatio(guards, family, isLast);
    return {
      ...one,
      ratio,
      state: stateOf(ratio),
      smallestVisible: sequentialSmallestVisible(one.logRatios, family, isLast),
      guard: isGuarded ? { ratio: guard, state: stateOf(guard) } : null,
    };
  };
  const before = lastBlock(session);
  await lookAtMachine(session, before + 1);
  for (let block = before + 1; ; block++) {
    const outcomes = seen.map((one) => outcomeOf(one, false));
    const isOver = isEnough !== undefined && outcomes.some(isEnough);
    const open = isOver ? [] : seen.filter((_, i) => !isDecided(outcomes[i] as Outcome));
    const pace = elapsed() / (block - before - 1 || 1);
    if (open.length === 0 || (block > before + 2 && elapsed() + pace > limitSeconds)) {
      session.progress.done(Math.max(0, limitSeconds - behind));
      await lookAtMachine(session, block - 1);
      return isOver
        ? outcomes
        : outcomes.map((one, i) => (isDecided(one) ? one : outcomeOf(seen[i] as (typeof seen)[0], true)));
    }
    session.warmth = {};
    // Who is started last is first in the next block; each keeps its name.
    const inTurn = <T>(all: readonly T[]) => ((block - before) % 2 === 0 ? all.toReversed() : all);
    const compare = async (started: readonly Target[]) => {
      const targets = inTurn(started);
      names = targets.map(({ name }) => name);
      const [a, b] = names as [string, string];
      session.progress.now(`${a} and ${b}: block ${block - before}`);
      await warmRestarted(
        session,
        targets,
        open.map(({ endpoint }) => endpoint),
      );
      for (const one of open) {
        const { endpoint } = one;
        if (one.seconds === 0) await check?.(endpoint, targets);
        await warmEndpoint(session, targets, endpoint);
        if (targets.some(({ name }) => warmthOf(session, name, endpoint).steady === false)) one.warming++;
        const from = session.slices.length;
        for (const pair of isGuarded ? GUARDED : DUETS) {
          await duet(session, block, endpoint, pair.map((i) => targets[i]) as [Target, Target]);
        }
        const slices = session.slices.slice(from);
        push(one.logRatios, logRatiosOf(slices, a, [b, targets[2]?.name]));
        const [original, copy] = copiesOf(names, block - before);
        push(one.guards, logRatiosOf(slices, copy, [original]));
        one.cpuUs.push(
          ...slices.flatMap(({ name, cpuUsPerRequest }) => (name === a && cpuUsPerRequest ? [cpuUsPerRequest] : [])),
        );
        await besides?.(block, endpoint, targets);
      }
    };
    await withTargets(session, inTurn(specs), compare, inTurn(names));
    for (const one of open) one.seconds = elapsed();
    session.manifest.blocks.push({ block, turns: [], warmup: session.warmth });
    session.save();
    session.progress.done(elapsed() - behind);
    behind = elapsed();
  }
}

/**
 * Of two equal copies the one that was started first is about 1 % dearer, and beside a neighbour the one that plays second
 * may be. Who is started first changes with every block, who plays second never. So of four blocks the first and the last
 * compare the copies one way round and the two between the other: neither effect is taken for a difference.
 * @param names of the new side and of both copies, as they play; of one copy where there is no guard
 * @param block from 1
 */
export const copiesOf = ([, one, other]: readonly string[], block: number): readonly (string | undefined)[] =>
  block % 4 < 2 ? [one, other] : [other, one];

const isNotUndecided = ({ state }: Outcome): boolean => state !== "undecided";

/** A block is one value, none where all its duets were void: the median, as bursts of a neighbour make a few duets far off. */
const push = (values: number[], ofBlock: readonly number[]) => ofBlock.length > 0 && values.push(median(ofBlock));

/** @returns ln(CPU per request of `name` ÷ of its partner), duet by duet, where the partner is one of some. */
function logRatiosOf(
  slices: readonly Slice[],
  name: string | undefined,
  partners: readonly (string | undefined)[],
): number[] {
  const usable = slices.filter(({ verdict, cpuUsPerRequest }) => verdict !== "void" && cpuUsPerRequest);
  return usable.flatMap((one) => {
    const partner = usable.find((other) => other.slice === one.slice && other !== one);
    if (one.name !== name || !partner || !partners.includes(partner.name)) return [];
    return [Math.log((one.cpuUsPerRequest as number) / (partner.cpuUsPerRequest as number))];
  });
}
