import matrix from "../../servers/matrix.json" with { type: "json" };
import type { LocalSpec, TargetSpec } from "../ask/targets.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { mean } from "../judge/statistics.ts";
import { compareUntilDecided } from "../run/measure.ts";
import type { Session } from "../run/session.ts";

/** What the handicapped of two servers does more per request. */
export const HANDICAP = 0.05;
/** Makes a session for a pair, and closes it. */
export interface Bench {
  readonly limitSeconds: number;
  use<T>(specs: readonly TargetSpec[], use: (session: Session) => Promise<T>): Promise<T>;
}

/** What turns said of one pair at one endpoint; wrong if they saw a difference that is not, or none that is. */
export interface Finding {
  readonly server: string;
  readonly endpoint: string;
  readonly handicap: number;
  /** Cost of the handicapped ÷ cost of the other. */
  readonly ratio: number;
  readonly outcome: "slower" | "faster" | "same";
  /** Until it was decided. */
  readonly seconds: number;
}

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

/** Pairs of equal servers, and pairs of which one does 5 % more per request: what turns say of them. */
export async function selfTest(
  bench: Bench,
  servers: readonly string[],
  tell: (finding: Finding) => void,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const server of servers) {
    let handicaps: Record<string, number> = {};
    for (const handicap of [0, HANDICAP]) {
      const found = await bench.use(pairOf(server, handicaps), async (session) => {
        const outcomes = await compareUntilDecided(session, { limitSeconds: bench.limitSeconds });
        if (handicap === 0) handicaps = handicapsOf(outcomes);
        const seconds = session.manifest.seconds.total;
        return outcomes.map(({ endpoint, ratio: { estimate: ratio }, state }): Finding => {
          const outcome = state !== "different" ? "same" : ratio > 1 ? "slower" : "faster";
          return { server, endpoint, handicap, ratio, outcome, seconds };
        });
      });
      found.forEach(tell);
      findings.push(...found);
    }
  }
  return findings;
}
