import { UsageError } from "../../shared/errors.ts";
import { askedOf, type RequestOptions } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { partsOf } from "../ask/names.ts";
import { type LocalSpec, parseTarget, SERVERS, STACKS } from "../ask/targets.ts";
import { splitCores } from "../host/cores.ts";
import { makePlan } from "../plan/plan.ts";
import { PAIR, pairEndpoints, pairOf, warmedUp } from "../plan/presets.ts";
import { closeSession, newSession } from "../run/session.ts";
import { compareUntilDecided } from "../run/until-decided.ts";
import { outcome } from "../tell/lines.ts";
import { showProgress } from "../tell/progress.ts";
import { buildStacks } from "./stacks.ts";

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
  const plan = {
    ...makePlan(options, SERVERS),
    targets: [],
    amount: warmedUp(pairOf(workload, amount), warmup),
  };
  return newSession(plan, splitCores(), results, showProgress(seconds), signal);
}

/** @throws UsageError for a server that is not in the matrix, or has a driver or workers. */
export function plainServers({ servers: chosen = SERVERS }: Pick<PairOptions, "servers">): readonly string[] {
  const unknown = chosen.find((name) => !SERVERS.includes(name));
  if (unknown === undefined) return chosen;
  throw new UsageError(`--servers has "${unknown}": choose from ${SERVERS.join(" ")}`);
}

/** `tax`: with --workload tpcb, servers may name a client of Postgres. @throws UsageError */
export async function tax(options: PairOptions, signal: AbortSignal): Promise<void> {
  const { workload = "read", servers = SERVERS, seconds } = options;
  const pairs = servers.map((text) => {
    const server = parseTarget(text, SERVERS, workload);
    return [server, byHand(server, workload)] as const;
  });
  await buildStacks(
    pairs.map(([server]) => server),
    signal,
  );
  const limitSeconds = seconds * (options.endpoints ?? pairEndpoints(workload)).length;
  const session = await pairSession(options, limitSeconds * pairs.length, signal);
  try {
    for (const pair of pairs) {
      for (const one of await compareUntilDecided(session, pair, { limitSeconds }))
        session.progress.say(outcome(`${pair[0].name} ÷ by hand`, one));
    }
  } finally {
    await closeSession(session);
  }
}

/** The same routes without adapter and shared routes; content items in SQLite only. @throws UsageError where nobody has written them */
function byHand({ name, env }: LocalSpec, workload: Workload): LocalSpec {
  const { server, driver, workers } = partsOf(name);
  const stack = STACKS[server];
  const command = stack ? stack.byHand?.split(" ") : twinOf(server);
  if (!command || (stack && workload === "tpcb") || workers || (driver && workload !== "tpcb"))
    throw new UsageError(`--servers has "${name}": no program by hand does the same: leave it out`);
  return { kind: "local", name: `${name} by hand`, command, env: { ...env, NODE_ENV: "production" } };
}

/** That of a server of the matrix, in tests/handwritten/. */
function twinOf(server: string): string[] {
  const [runtime = "", framework = ""] = server.split("-");
  return [runtime, `tests/handwritten/${framework === "raw" ? server : framework}.ts`];
}
