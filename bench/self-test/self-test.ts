import matrix from "../../servers/matrix.json" with { type: "json" };
import type { LocalSpec, TargetSpec } from "../ask/targets.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { mean } from "../judge/statistics.ts";
import { compareUntilDecided } from "../run/measure.ts";
import type { Session } from "../run/session.ts";

/** Extra work per request of the first of two servers. */
export const HANDICAP = 0.05;
/** Makes a session for a pair, and closes it. */
export interface Bench {
  readonly limitSeconds: number;
  use<T>(specs: readonly TargetSpec[], use: (session: Session) => Promise<T>): Promise<T>;
}

/** Result of one pair at one endpoint: wrong if equal servers differ, or unequal ones do not. */
export interface Finding {
  readonly server: string;
  readonly endpoint: string;
  readonly handicap: number;
  /** Cost of the handicapped ÷ cost of the other. */
  readonly ratio: number;
  readonly outcome: "slower" | "faster" | "same";
  /** Time until the pair was decided. */
  readonly seconds: number;
}

/** Two copies of a server of the matrix; the first spins for `handicapUs` more, by path pattern, measured by its own clock. */
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

/** Compares pairs of equal servers, and pairs in which the first does 5 % more per request. */
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
