import { splitCores } from "../host/cores.ts";
import { GATE, GATE_SECONDS, PAIR_ENDPOINTS } from "../plan/presets.ts";
import { closeSession, newSession } from "../run/session.ts";
import { type GateFinding, testGates } from "../self-test/gates.ts";
import { measureSchedules, scheduledPlan } from "../self-test/schedules.ts";
import { type Finding, selfTest } from "../self-test/self-test.ts";
import { found, gateLine, gatesTable, scheduleLine, selfTestTable } from "../tell/lines.ts";
import { type PairOptions, pairSession, plainServers } from "./pair.ts";
import { progressOf } from "./run.ts";

/** As the command line has them. */
export interface SelfTestOptions extends Omit<PairOptions, "seconds"> {
  /** Time limit of a pair per endpoint. */
  readonly seconds?: number;
  readonly field?: boolean;
  readonly schedules?: boolean;
  /** How many of each kind. */
  readonly gates?: number;
}

const SECONDS = 90;

/** `self-test`: what is said of equal servers, and of 5 % more work. @throws UsageError */
export async function proveItself(options: SelfTestOptions, signal: AbortSignal): Promise<void> {
  if (options.schedules) return proveWarmUp(options, signal);
  if (options.gates) return proveGates(options, options.gates, signal);
  const chosen = plainServers(options);
  const limit = (options.seconds ?? SECONDS) * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const session = await pairSession(options, 3 * limit * chosen.length, signal);
  try {
    const tell = (one: Finding) => session.progress.say(found(one));
    const findings = await selfTest(session, chosen, limit, options.field ?? false, tell);
    session.progress.say(`\n${selfTestTable(findings)}`);
  } finally {
    await closeSession(session);
  }
}

/** Percent of more work that a gate lets pass here: less than the 5 that are to be seen. */
const FAIL_ABOVE = 0.02;
const GATE_ENDPOINTS = ["/plain", "/html-template", "/sqlite/random-5fields/5"];

/** Gates of which it is known what they should say: a server after the other of those chosen, node-fastify if none is. */
async function proveGates(options: SelfTestOptions, many: number, signal: AbortSignal): Promise<void> {
  const { endpoints = GATE_ENDPOINTS, servers = ["node-fastify"] } = options;
  const limit = (options.seconds ?? GATE_SECONDS) * endpoints.length;
  const total = (2 * many + 1) * servers.length * limit;
  const session = await pairSession({ ...options, endpoints }, total, signal, GATE);
  try {
    const findings: GateFinding[] = [];
    for (const server of plainServers({ ...options, servers })) {
      const tell = (one: GateFinding) => session.progress.say(gateLine(one));
      findings.push(...(await testGates(session, server, many, FAIL_ABOVE, limit, tell)));
    }
    session.progress.say(`\n${gatesTable(findings)}`);
  } finally {
    await closeSession(session);
  }
}

/** Servers whose cost is known request by request: what comes out is right, or says that it is not warm. */
async function proveWarmUp(options: SelfTestOptions, signal: AbortSignal): Promise<void> {
  const plan = scheduledPlan(options);
  const session = await newSession(plan, splitCores(), options.results, progressOf(plan), signal);
  try {
    for (const one of await measureSchedules(session)) session.progress.say(scheduleLine(one));
  } finally {
    await closeSession(session);
  }
}
