import matrix from "../../servers/matrix.json" with { type: "json" };
import type { LocalSpec, TargetSpec } from "../ask/targets.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { mean, meanInterval, type State, stateOf } from "../judge/statistics.ts";
import { compareUntilDecided } from "../run/pairs.ts";
import { withTargets } from "../run/restart.ts";
import { lastRestart, type Session } from "../run/session.ts";
import { solo } from "../run/solo.ts";
import { warmAll } from "../run/warm.ts";

/** What the handicapped of two servers does more per request. */
export const HANDICAP = 0.05;
/** Runs as others make them: one long, then short ones with restarts. */
const FIELD = { oneSeconds: 10, restartSeconds: 1, restarts: 6 };

/** Makes a session for a pair, and closes it. */
export interface Bench {
  readonly limitSeconds: number;
  use<T>(specs: readonly TargetSpec[], use: (session: Session) => Promise<T>): Promise<T>;
}

/** What one way of measuring said of one pair at one endpoint; `wrong` if it saw a difference that is not, or none that is. */
export interface Finding {
  readonly way: string;
  readonly server: string;
  readonly endpoint: string;
  readonly handicap: number;
  /** Cost of the handicapped ÷ cost of the other, as this way sees it. */
  readonly ratio: number;
  readonly outcome: "slower" | "faster" | "same";
  /** Until it was decided, if that is asked. */
  readonly seconds?: number;
}

const WAYS = {
  turns: "turns, until decided",
  one: `one ${FIELD.oneSeconds} s run each, faster by 2.5 %`,
  best: `best of three ${FIELD.restartSeconds} s runs, faster by 2.5 %`,
  inTurn: `one after the other, random order, six restarts of ${FIELD.restartSeconds} s, 95 % t interval`,
};

/** Two copies of a server of the matrix; the first spins so many µs more per path pattern, by a clock of its own. */
export function pairOf(server: string, handicapUs: Record<string, number>): [LocalSpec, LocalSpec] {
  const command = (matrix[server as keyof typeof matrix] as string)
    .replace("servers/main.ts", "bench/self-test/handicapped.ts")
    .split(" ");
  const spec = (name: string, handicap: object): LocalSpec => ({
    kind: "local",
    name,
    command,
    env: { NODE_ENV: "production", HANDICAP_US: JSON.stringify(handicap) },
  });
  return [spec(`${server}+`, handicapUs), spec(server, {})];
}

/** @param outcomes of two equal copies @returns µs per path pattern that are 5 % of what a request costs */
export const handicapsOf = (outcomes: readonly Pick<Outcome, "endpoint" | "base">[]): Record<string, number> =>
  Object.fromEntries(
    outcomes.map(({ endpoint, base }) => [endpoint.replace(/\/\d+$/, "/:size"), HANDICAP * mean(base)]),
  );

/**
 * Pairs of equal servers, and pairs of which one does 5 % more per request: what turns say of them and, with `field`,
 * what other ways of measuring say of the same pairs.
 */
export async function selfTest(
  bench: Bench,
  servers: readonly string[],
  field: boolean,
  tell: (finding: Finding) => void,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const server of servers) {
    let handicaps: Record<string, number> = {};
    for (const handicap of [0, HANDICAP]) {
      const pair = pairOf(server, handicaps);
      const found = await bench.use(pair, async (session) => {
        const outcomes = await compareUntilDecided(session, { limitSeconds: bench.limitSeconds });
        if (handicap === 0) handicaps = handicapsOf(outcomes);
        const seconds = session.manifest.seconds.total;
        const byTurns = outcomes.map(({ endpoint, ratio: { estimate }, state }): Finding => {
          const outcome = verdictOf(estimate, state);
          return { way: WAYS.turns, server, endpoint, handicap, ratio: estimate, outcome, seconds };
        });
        return field ? [...byTurns, ...(await asTheField(session, server, handicap, pair))] : byTurns;
      });
      found.forEach(tell);
      findings.push(...found);
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
  const { scenarios } = session.manifest.plan;
  const runs = scenarios.map(() => pair.map((): number[] => []));
  const first = 1 + lastRestart(session);
  for (let restart = 0; restart < FIELD.restarts; restart++) {
    const order = Math.random() < 0.5 ? [0, 1] : [1, 0];
    for (const side of order) {
      await withTargets(session, [pair[side] as LocalSpec], async ([target]) => {
        if (!target) return;
        await warmAll(session, [target]);
        for (const [e, scenario] of scenarios.entries()) {
          const seconds = restart === 0 ? FIELD.oneSeconds : FIELD.restartSeconds;
          runs[e]?.[side]?.push((await solo(session, first + restart, scenario, target, seconds)).slice.goodput);
        }
      });
    }
  }
  return scenarios.flatMap(({ endpoint }, e): Finding[] => {
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
