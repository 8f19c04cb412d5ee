import { type Gate, gateDeciding, gateOf } from "../judge/gate.ts";
import type { Outcome } from "../judge/outcomes.ts";
import { compareUntilDecided } from "../run/measure.ts";
import { type Bench, HANDICAP, handicapsOf, pairOf } from "./self-test.ts";

/** The verdict of one gate on two copies of a server; the first copy does `handicap` more work per request. */
export interface GateFinding {
  readonly server: string;
  readonly handicap: number;
  readonly verdict: NonNullable<Gate["verdict"]>;
  readonly seconds: number;
  readonly outcomes: readonly Pick<Outcome, "endpoint" | "logRatios">[];
}

/** `many` gates between equal copies of a server, then `many` in which the first copy does 5 % more work. */
export async function testGates(
  bench: Bench,
  server: string,
  many: number,
  failAbove: number,
  tell: (finding: GateFinding) => void,
): Promise<GateFinding[]> {
  const findings: GateFinding[] = [];
  let handicaps: Record<string, number> = {};
  for (const handicap of [0, HANDICAP]) {
    for (let i = 0; i < many; i++) {
      const since = performance.now();
      const [first, second] = pairOf(server, handicap === 0 ? {} : handicaps);
      const outcomes = await bench.use([first, second, second], (session) =>
        compareUntilDecided(session, {
          limitSeconds: bench.limitSeconds,
          family: session.manifest.plan.scenarios.length,
          ...gateDeciding(failAbove),
        }),
      );
      const verdict = gateOf(outcomes, failAbove).verdict ?? "not measured";
      const finding = { server, handicap, verdict, seconds: (performance.now() - since) / 1e3, outcomes };
      tell(finding);
      findings.push(finding);
      if (handicap === 0) handicaps = handicapsOf(outcomes);
    }
  }
  return findings;
}
