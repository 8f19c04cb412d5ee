import { UsageError } from "../../shared/errors.ts";
import { closeSession, newSession } from "../measure/session.ts";
import { compareUntilDecided } from "../measure/until-decided.ts";
import type { Workload } from "../plan/endpoints.ts";
import { partsOf } from "../plan/names.ts";
import { makePlan } from "../plan/plan.ts";
import { PAIR, pairEndpoints, pairOf } from "../plan/presets.ts";
import { type LocalSpec, parseTarget, SERVERS } from "../plan/targets.ts";
import { outcome } from "../report/lines.ts";
import { showProgress } from "../report/progress.ts";
import { splitCores } from "../targets/cores.ts";
import { askedOf, type RequestOptions } from "./apps.ts";

/** As the command line has them. */
export interface PairOptions extends RequestOptions {
  /** read if absent. */
  readonly workload?: Workload;
  readonly servers?: string[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmup?: number;
  readonly results: string;
  readonly name?: string[];
}

/** A session for pairs of targets; the plan names none, as they change. */
export async function pairSession(
  { workload = "read", connections, warmup, results, ...asked }: Omit<PairOptions, "seconds">,
  seconds: number,
  signal: AbortSignal,
  amount = PAIR,
) {
  const { endpoints, requests } = askedOf(asked);
  const options = {
    workload,
    urls: [],
    names: [],
    servers: [],
    endpoints: endpoints.length > 0 ? endpoints : pairEndpoints(workload),
    requests,
    connections,
    preset: "quick",
    seed: 0,
  } as const;
  const pairAmount = pairOf(workload, amount);
  const plan = {
    ...makePlan(options, SERVERS),
    targets: [],
    amount: { ...pairAmount, warmRequests: warmup ?? pairAmount.warmRequests },
  };
  return newSession(plan, splitCores(), results, showProgress(seconds), signal);
}

/** @throws UsageError for a server that is not in the matrix, or has a driver or workers: those have no twin. */
export function plainServers({ servers: chosen = SERVERS }: PairOptions): readonly string[] {
  const unknown = chosen.find((name) => !SERVERS.includes(name));
  if (unknown === undefined) return chosen;
  throw new UsageError(`--servers has "${unknown}": choose from ${SERVERS.join(" ")}`);
}

/** `tax`: with --workload tpcb, servers may name a client of Postgres. @throws UsageError */
export async function tax(options: PairOptions, signal: AbortSignal): Promise<void> {
  const { workload = "read", servers, seconds } = options;
  const chosen = workload === "tpcb" && servers ? servers : plainServers(options);
  const limitSeconds = seconds * (options.endpoints ?? pairEndpoints(workload)).length;
  const session = await pairSession(options, limitSeconds * chosen.length, signal);
  try {
    for (const text of chosen) {
      const server = parseTarget(text, SERVERS, workload);
      for (const one of await compareUntilDecided(session, [server, byHand(server)], { limitSeconds }))
        session.progress.say(outcome(`${text} ÷ by hand`, one));
    }
  } finally {
    await closeSession(session);
  }
}

/** The same routes without adapter and shared routes, in tests/handwritten/. */
function byHand({ name, env }: LocalSpec): LocalSpec {
  const { server } = partsOf(name);
  const [runtime = "", framework = ""] = server.split("-");
  const file = `tests/handwritten/${framework === "raw" ? server : framework}.ts`;
  return {
    kind: "local",
    name: `${name} by hand`,
    command: [runtime, file],
    env: { ...env, NODE_ENV: "production" },
  };
}
