import { parseTarget, SERVERS, type TargetSpec } from "../ask/targets.ts";
import { GATE_SECONDS, PAIR_ENDPOINTS } from "../plan/presets.ts";
import type { Session } from "../run/session.ts";
import { compareWithAlone } from "../self-test/alone.ts";
import { type GateFinding, testGates } from "../self-test/gates.ts";
import { type Bench, type Finding, selfTest } from "../self-test/self-test.ts";
import { aloneLine, found, gateLine, gatesTable, selfTestTable } from "../tell/lines.ts";
import { type PairOptions, pairSession, plainServers } from "./pair.ts";

export interface SelfTestOptions extends Omit<PairOptions, "seconds"> {
  readonly seconds?: number;
  readonly alone?: boolean;
  readonly gates?: number;
}

const SECONDS = 90;

/** A session for each pair. @param limitSeconds of a session, for all endpoints together */
const benchOf = (options: SelfTestOptions, limitSeconds: number, signal: AbortSignal): Bench => ({
  limitSeconds,
  async use<T>(specs: readonly TargetSpec[], use: (session: Session) => Promise<T>): Promise<T> {
    await using session = await pairSession(options, specs, limitSeconds, signal);
    return await use(session);
  },
});

/** `self-test`: tests the verdicts on equal servers, and on 5 % more work. @throws UsageError */
export async function proveItself(options: SelfTestOptions, signal: AbortSignal): Promise<void> {
  if (options.alone) return proveAlone(options, signal);
  if (options.gates) return proveGates(options, options.gates, signal);
  const limit = (options.seconds ?? SECONDS) * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const bench = benchOf(options, limit, signal);
  const tell = (one: Finding) => console.log(found(one));
  const findings = await selfTest(bench, plainServers(options), tell);
  console.log(`\n${selfTestTable(findings)}`);
}

/** --fail-above of these gates: less than the 5 % more work that they must detect. */
const FAIL_ABOVE = 0.02;
const GATE_ENDPOINTS = ["/plain", "/html-template", "/sqlite/random-5fields/5"];

/** Gates whose right verdict is known, for each chosen server (default: node-fastify). */
async function proveGates(options: SelfTestOptions, many: number, signal: AbortSignal): Promise<void> {
  const { endpoints = GATE_ENDPOINTS, servers = ["node-fastify"] } = options;
  const bench = benchOf({ ...options, endpoints }, (options.seconds ?? GATE_SECONDS) * endpoints.length, signal);
  const findings: GateFinding[] = [];
  for (const server of plainServers({ ...options, servers }))
    findings.push(...(await testGates(bench, server, many, FAIL_ABOVE, (one) => console.log(gateLine(one)))));
  console.log(`\n${gatesTable(findings)}`);
}

const ALONE = { servers: ["bun-raw", "bun-express", "node-raw", "node-fastify"], restarts: 3, looks: 10, seconds: 720 };
const ALONE_ENDPOINTS = ["/plain", "/sqlite/random-30fields/10"];

/** Compares the cost of servers in turns with their cost alone. */
async function proveAlone(options: SelfTestOptions, signal: AbortSignal): Promise<void> {
  const { endpoints = ALONE_ENDPOINTS, servers = ALONE.servers } = options;
  const specs = plainServers({ ...options, servers }).map((name) => parseTarget(name, SERVERS));
  await using session = await pairSession({ ...options, endpoints }, specs, ALONE.seconds, signal);
  for (const one of await compareWithAlone(session, ALONE.restarts, ALONE.looks)) session.progress.say(aloneLine(one));
}
