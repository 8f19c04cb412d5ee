import { UsageError } from "../../shared/errors.ts";
import { closeSession, newSession } from "../measure/session.ts";
import { compareUntilDecided } from "../measure/until-decided.ts";
import { makePlan } from "../plan/plan.ts";
import { PAIR, PAIR_ENDPOINTS } from "../plan/presets.ts";
import { type LocalSpec, parseTarget, SERVERS } from "../plan/targets.ts";
import { outcome } from "../report/lines.ts";
import { showProgress } from "../report/progress.ts";
import { splitCores } from "../targets/cores.ts";
import { askedOf, type RequestOptions } from "./apps.ts";

/** As the command line has them. */
export interface PairOptions extends RequestOptions {
  readonly servers?: string[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmup?: number;
  readonly results: string;
  readonly name?: string[];
}

/** A session for pairs of targets; the plan names none, as they change. */
export async function pairSession(
  { connections, warmup, results, ...asked }: Omit<PairOptions, "seconds">,
  seconds: number,
  signal: AbortSignal,
  amount = PAIR,
) {
  const { endpoints, requests } = askedOf(asked);
  const options = {
    urls: [],
    names: [],
    servers: [],
    endpoints: endpoints.length > 0 ? endpoints : PAIR_ENDPOINTS,
    requests,
    connections,
    preset: "quick",
    seed: 0,
  } as const;
  const plan = {
    ...makePlan(options, SERVERS),
    targets: [],
    amount: { ...amount, warmRequests: warmup ?? amount.warmRequests },
  };
  return newSession(plan, splitCores(), results, showProgress(seconds), signal);
}

/** @throws UsageError for a server that is not in the matrix, or has a driver or workers: those have no twin. */
export function plainServers({ servers: chosen = SERVERS }: PairOptions): readonly string[] {
  const unknown = chosen.find((name) => !SERVERS.includes(name));
  if (unknown === undefined) return chosen;
  throw new UsageError(`--servers has "${unknown}": choose from ${SERVERS.join(" ")}`);
}

/** `tax`. @throws UsageError */
export async function tax(options: PairOptions, signal: AbortSignal): Promise<void> {
  const chosen = plainServers(options);
  const limit = options.seconds * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const session = await pairSession(options, limit * chosen.length, signal);
  try {
    for (const server of chosen) {
      for (const one of await compareUntilDecided(session, [parseTarget(server, SERVERS), byHand(server)], {
        limitSeconds: limit,
      }))
        session.progress.say(outcome(`${server} ÷ by hand`, one));
    }
  } finally {
    await closeSession(session);
  }
}

/** The same routes without adapter and shared routes, in tests/handwritten/. */
function byHand(server: string): LocalSpec {
  const [runtime = "", framework = ""] = server.split("-");
  const file = `tests/handwritten/${framework === "raw" ? server : framework}.ts`;
  return { kind: "local", name: `${server} by hand`, command: [runtime, file], env: { NODE_ENV: "production" } };
}
