import { UsageError } from "../../shared/errors.ts";
import { askedOf, type RequestOptions, type ToAsk } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { type LocalSpec, parseTarget, SERVERS, stackOf, type TargetSpec } from "../ask/targets.ts";
import { makePlan, type Plan } from "../plan/plan.ts";
import { pairAmount, pairEndpoints } from "../plan/presets.ts";
import { compareUntilDecided } from "../run/measure.ts";
import { newSession, type Session } from "../run/session.ts";
import { outcome } from "../tell/lines.ts";
import { showProgress } from "../tell/progress.ts";
import { prepare } from "./prepare.ts";

export interface PairOptions extends RequestOptions {
  readonly workload?: Workload;
  readonly servers?: string[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmup?: number;
  readonly results: string;
  readonly name?: string[];
}

/** A session for just these targets. @param limitSeconds for all endpoints together @param more other fields of the plan */
export async function pairSession(
  options: Omit<PairOptions, "seconds"> & { readonly asked?: ToAsk },
  specs: readonly TargetSpec[],
  limitSeconds: number,
  signal: AbortSignal,
  more: Partial<Plan> = {},
): Promise<Session> {
  const { workload = "read", connections, warmup, results } = options;
  const asked = options.asked ?? (await askedOf(options));
  const amount = pairAmount(workload);
  const endpoints = asked.endpoints.length > 0 ? asked.endpoints : pairEndpoints(workload);
  const none = { urls: [], names: [], servers: [], preset: "quick", seed: 0 } as const;
  const plan = {
    ...makePlan({ ...asked, ...none, targets: specs, endpoints, workload, connections }, SERVERS),
    amount: { ...amount, minutes: limitSeconds / 60, warmRequests: warmup ?? amount.warmRequests },
    ...more,
  };
  await prepare(plan, results, signal);
  return newSession(plan, results, showProgress(limitSeconds), signal);
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
  const limitSeconds = seconds * (options.endpoints ?? pairEndpoints(workload)).length;
  for (const pair of pairs) {
    await using session = await pairSession(options, pair, limitSeconds, signal);
    for (const one of await compareUntilDecided(session, { limitSeconds }))
      session.progress.say(outcome(`${pair[0].name} ÷ by hand`, one, session.manifest));
  }
}

/** The handwritten program with the same routes, without adapter and shared routes; content items in SQLite only. @throws UsageError if there is none */
function byHand({ name, env, choices }: LocalSpec, workload: Workload): LocalSpec {
  const { server = name, driver = null, workers = null } = choices ?? {};
  if (stackOf(server) || workers || (driver && workload !== "tpcb"))
    throw new UsageError(`--servers has "${name}", which has no handwritten counterpart: leave it out`);
  return { kind: "local", name: `${name} by hand`, command: twinOf(server), env: { ...env, NODE_ENV: "production" } };
}

/** Command of the handwritten program, in tests/handwritten/. */
function twinOf(server: string): string[] {
  const [runtime = "", framework = ""] = server.split("-");
  return [runtime, `tests/handwritten/${framework === "raw" ? server : framework}.ts`];
}
