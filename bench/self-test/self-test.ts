import matrix from "../../servers/matrix.json" with { type: "json" };
import type { LocalSpec } from "../ask/targets.ts";
import { meanInterval, type State, stateOf } from "../judge/statistics.ts";
import { withTargets } from "../run/blocks.ts";
import { lastBlock, type Session } from "../run/session.ts";
import { solo } from "../run/slices.ts";
import { compareUntilDecided, type Outcome } from "../run/until-decided.ts";
import { warmEndpoint, warmRestarted } from "../run/warmup.ts";

/** What the handicapped of two servers does more per request. */
export const HANDICAP = 0.05;
/** Runs as others make them: one long, then short ones with restarts. */
const FIELD = { oneSeconds: 10, blockSeconds: 1, blocks: 6 };

/** What one way of measuring said of one pair at one endpoint; `wrong` where it saw a difference that is not, or none that is. */
export interface Finding {
  readonly way: string;
  readonly server: string;
  readonly endpoint: string;
  readonly handicap: number;
  /** Cost of the handicapped ÷ cost of the other, as this way sees it. */
  readonly ratio: number;
  readonly outcome: "slower" | "faster" | "same";
  /** Until it was decided, where that is asked. */
  readonly seconds?: number;
}

const WAYS = {
  duet: "duets, until decided",
  one: `one ${FIELD.oneSeconds} s run each, faster by 2.5 %`,
  best: `best of three ${FIELD.blockSeconds} s runs, faster by 2.5 %`,
  inTurn: `in turn, random order, six restarts of ${FIELD.blockSeconds} s, 95 % t interval`,
};

/** Two copies of a server of the matrix; the first spins `turns` more per path pattern. */
export function pairOf(server: string, turns: Record<string, number>): [LocalSpec, LocalSpec] {
  const command = (matrix[server as keyof typeof matrix] as string)
    .replace("servers/main.ts", "bench/self-test/handicapped.ts")
    .split(" ");
  const spec = (name: string, handicap: object): LocalSpec => ({
    kind: "local",
    name,
    command,
    env: { NODE_ENV: "production", HANDICAP: JSON.stringify(handicap) },
  });
  return [spec(`${server}+`, turns), spec(server, {})];
}

/** About what a turn of `spin` takes, for a first guess. */
const NANOSECONDS_PER_TURN = 2;
/** How many times the handicap is tried out with: what one look cannot tell of 5 % it can of 50. */
const TRIED = 10;
/** Half the width of the interval of what that costs, in parts of it, at which it is known well enough. */
const TOLERANCE = 0.05;

/**
 * @param outcomes of two equal copies
 * @returns turns of `spin` per path pattern that make a request 5 % dearer. Ten times a first guess, 5 % of the fastest slice, is
 * measured in duets, and scaled by what it cost there: work that is timed by itself costs otherwise than among requests
 */
export async function handicapsOf(
  session: Session,
  server: string,
  outcomes: readonly Pick<Outcome, "endpoint" | "cpuUs">[],
  limitSeconds: number,
): Promise<Record<string, number>> {
  const patternOf = (endpoint: string) => endpoint.replace(/\/\d+$/, "/:size");
  const tried = Object.fromEntries(
    outcomes.map(({ endpoint, cpuUs }) => [
      patternOf(endpoint),
      Math.round((TRIED * HANDICAP * 1e3 * Math.min(...cpuUs)) / NANOSECONDS_PER_TURN),
    ]),
  );
  const seen = await compareUntilDecided(session, pairOf(server, tried), {
    limitSeconds,
    isDecided: ({ ratio: { estimate, low, high } }) => (high - low) / 2 < TOLERANCE * (estimate - 1),
  });
  return Object.fromEntries(
    seen.map(({ endpoint, ratio }) => {
      const pattern = patternOf(endpoint);
      const costs = ratio.estimate > 1 ? ratio.estimate - 1 : TRIED * HANDICAP;
      return [pattern, Math.round(((tried[pattern] as number) * HANDICAP) / costs)];
    }),
  );
}

/**
 * Pairs of equal servers, and pairs of which one does 5 % more per request: what duets say of them and, with `field`,
 * what other ways of measuring say of the same pairs.
 * @param limitSeconds of the duets of one pair, all endpoints together
 */
export async function selfTest(
  session: Session,
  servers: readonly string[],
  limitSeconds: number,
  field: boolean,
  tell: (finding: Finding) => void,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const server of servers as (keyof typeof matrix)[]) {
    let turns: Record<string, number> = {};
    for (const handicap of [0, HANDICAP]) {
      const pair = pairOf(server, turns);
      const outcomes = await compareUntilDecided(session, pair, { limitSeconds });
      const found: Finding[] = outcomes.map(({ endpoint, ratio, state, seconds }) => ({
        way: WAYS.duet,
        server,
        endpoint,
        handicap,
        ratio: ratio.estimate,
        outcome: verdictOf(ratio.estimate, state),
        seconds,
      }));
      if (field) found.push(...(await asTheField(session, server, handicap, pair)));
      found.forEach(tell);
      findings.push(...found);
      if (handicap === 0) turns = await handicapsOf(session, server, outcomes, limitSeconds);
    }
  }
  return findings;
}

const verdictOf = (ratio: number, state: State): Finding["outcome"] =>
  state !== "different" ? "same" : ratio > 1 ? "slower" : "faster";

/** The same pair by throughput, one server at a time: restarted and warmed for every run, in random order. */
async function asTheField(
  session: Session,
  server: string,
  handicap: number,
  pair: readonly [LocalSpec, LocalSpec],
): Promise<Finding[]> {
  const { endpoints } = session.manifest.plan;
  const runs = endpoints.map(() => pair.map((): number[] => []));
  const first = 1 + lastBlock(session);
  for (let block = 0; block < FIELD.blocks; block++) {
    const order = Math.random() < 0.5 ? [0, 1] : [1, 0];
    for (const side of order) {
      await withTargets(session, [pair[side] as LocalSpec], async ([target]) => {
        if (!target) return;
        session.progress.now(`${target.name} alone: run ${block + 1}`);
        await warmRestarted(session, [target], endpoints);
        for (const [e, endpoint] of endpoints.entries()) {
          await warmEndpoint(session, [target], endpoint);
          const seconds = block === 0 ? FIELD.oneSeconds : FIELD.blockSeconds;
          runs[e]?.[side]?.push((await solo(session, first + block, endpoint, target, null, seconds)).goodput);
        }
      });
    }
  }
  return endpoints.flatMap((endpoint, e): Finding[] => {
    const [slow = [], fast = []] = runs[e] ?? [];
    const ratios = fast.map((goodput, i) => goodput / (slow[i] as number));
    const best = Math.max(...fast.slice(1, 4)) / Math.max(...slow.slice(1, 4));
    const inTurn = meanInterval(ratios, true);
    const plain = (ratio: number): State => (Math.abs(Math.log(ratio)) > HANDICAP / 2 ? "different" : "undecided");
    const finding = (way: string, ratio: number, state: State): Finding => ({
      way,
      server,
      endpoint,
      handicap,
      ratio,
      outcome: verdictOf(ratio, state),
    });
    return [
      finding(WAYS.one, ratios[0] as number, plain(ratios[0] as number)),
      finding(WAYS.best, best, plain(best)),
      finding(WAYS.inTurn, inTurn.estimate, stateOf(inTurn)),
    ];
  });
}
