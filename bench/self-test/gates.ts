import type { GateVerdict } from "../analysis/gate.ts";
import { measureGate } from "../measure/gate.ts";
import type { Session } from "../measure/session.ts";
import type { Outcome } from "../measure/until-decided.ts";
import { HANDICAP, handicapsOf, pairOf } from "./self-test.ts";

/** What one gate said of two copies of a server, the first of which does more per request. */
export interface GateFinding {
  readonly server: string;
  readonly handicap: number;
  readonly verdict: GateVerdict | "not measured";
  readonly seconds: number;
  /** ln(CPU per request of the first ÷ of the second), of each restart at each endpoint. */
  readonly logRatios: readonly number[];
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
  let nanoseconds: Record<string, number> = {};
  for (const handicap of [0, HANDICAP]) {
    let last: readonly Outcome[] = [];
    for (let i = 0; i < many; i++) {
      const since = session.now();
      const { outcomes, verdict } = await measureGate(session, pairOf(server, nanoseconds), failAbove, {
        limitSeconds,
      });
      const finding = {
        server,
        handicap,
        verdict: verdict ?? "not measured",
        seconds: (session.now() - since) / 1e3,
        logRatios: outcomes.flatMap(({ logRatios }) => logRatios),
      };
      tell(finding);
      findings.push(finding);
      last = outcomes;
    }
    if (handicap === 0) nanoseconds = await handicapsOf(session, server, last, limitSeconds);
  }
  return findings;
}
