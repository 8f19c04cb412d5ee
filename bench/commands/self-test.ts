import { closeSession, newSession } from "../measure/session.ts";
import { PAIR_ENDPOINTS } from "../plan/presets.ts";
import { found, scheduleLine, selfTestTable } from "../report/lines.ts";
import { measureSchedules, scheduledPlan } from "../self-test/schedules.ts";
import { type Finding, selfTest } from "../self-test/self-test.ts";
import { splitCores } from "../targets/cores.ts";
import { type PairOptions, pairSession, plainServers } from "./pair.ts";
import { progressOf } from "./run.ts";

/** As the command line has them. */
export interface SelfTestOptions extends PairOptions {
  readonly field?: boolean;
  readonly schedules?: boolean;
}

/** `self-test`: what is said of equal servers, and of 5 % more work. @throws UsageError */
export async function proveItself(options: SelfTestOptions, signal: AbortSignal): Promise<void> {
  if (options.schedules) return proveWarmUp(options, signal);
  const chosen = plainServers(options);
  const limit = options.seconds * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const session = await pairSession(options, 2 * limit * chosen.length, signal);
  try {
    const tell = (one: Finding) => session.progress.say(found(one));
    const findings = await selfTest(session, chosen, limit, options.field ?? false, tell);
    session.progress.say(`\n${selfTestTable(findings)}`);
  } finally {
    await closeSession(session);
  }
}

/** Servers whose cost is known request by request: what comes out is right, or says that it is not warm. */
async function proveWarmUp(options: PairOptions, signal: AbortSignal): Promise<void> {
  const plan = scheduledPlan(options);
  const session = await newSession(plan, splitCores(), options.results, progressOf(plan), signal);
  try {
    for (const one of await measureSchedules(session)) session.progress.say(scheduleLine(one));
  } finally {
    await closeSession(session);
  }
}
