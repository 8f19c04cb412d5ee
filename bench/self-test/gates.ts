import type { GateVerdict } from "../judge/gate.ts";
import { measureGate } from "../run/gate.ts";
import type { Session } from "../run/session.ts";
import type { Outcome } from "../run/until-decided.ts";
import { HANDICAP, handicapsOf, pairOf } from "./self-test.ts";

/** What one gate said of two copies of a server, the first of which does more per request. */
export interface GateFinding {
  readonly server: string;
  readonly handicap: number;
  readonly verdict: GateVerdict | "not measured";
  readonly seconds: number;
  readonly outcomes: readonly Pick<Outcome, "endpoint" | "cpuUs" | "logRatios">[];
}

/** Gates between equal copies of a server, and between one that does 5 % more work and one that does not; as many of each. */
export async function testGates(
  session: Session,
  server: string,
  many: number,
  failAbove: number,
  limitSeconds: number,
  tell: (finding: GateFinding) => void,
): Promise<GateFinding[]> {
  const findings: GateFinding[] = [];
  let turns: Record<string, number> = {};
  for (const handicap of [0, HANDICAP]) {
    for (let i = 0; i < many; i++) {
      const since = session.now();
      const { outcomes, verdict } = await measureGate(session, pairOf(server, turns), failAbove, {
        limitSeconds,
      });
      const finding = {
        server,
        handicap,
        verdict: verdict ?? "not measured",
        seconds: (session.now() - since) / 1e3,
        outcomes,
      };
      tell(finding);
      findings.push(finding);
    }
    if (handicap === 0) turns = await handicapsOf(session, server, findings.at(-1)?.outcomes ?? [], limitSeconds);
  }
  return findings;
}
