import { ENDPOINTS, WORKLOADS, type Workload } from "../ask/endpoints.ts";
import { parseTarget } from "../ask/targets.ts";
import { coresOf, moveTo } from "../host/cores.ts";
import {
  isChanging,
  isColdAgain,
  isGettingCheaper,
  LEAST_WINDOWS,
  MOST_WINDOWS,
  noiseOf,
  relativeCosts,
  type Warmth,
} from "../judge/steadiness.ts";
import type { Session } from "./session.ts";
import { type Measured, together } from "./slices.ts";
import type { Target } from "./targets/target.ts";
import { family } from "./usage.ts";

/** Seconds after which a restart's warm-up ends, whatever the number of requests; some servers take long for connections. */
const MOST_SECONDS = 40;
/** The same of a server that still gets cheaper. In 40 s Quarkus answers 100,000 at /plain, and gets cheaper until 300,000. */
const MOST_SECONDS_CHEAPER = 120;
/** Windows after a restart are at least so long: fortio takes a tenth of a second to start. */
const LEAST_SECONDS = 0.2;

/**
 * After a restart: loads all targets at once, endpoint after endpoint, each until it has answered the least number of
 * requests and, where the plan has blocks, gets no cheaper; who is done leaves, so that the slow ones get the time. They may
 * use every core meanwhile. In every other round the reference is beside them, so that it is seen how long they are slow.
 * @param older is beside them in the other rounds, as it will be measured again: V8 drops the code of a server at rest
 */
export async function warmRestarted(
  session: Session,
  targets: readonly Target[],
  endpoints: readonly string[],
  older: Target | null = null,
): Promise<void> {
  const { plan, cores } = session.manifest;
  const { blocks, warmRequests, windows } = plan.amount;
  const windowSeconds = Math.max(plan.amount.windowSeconds, LEAST_SECONDS);
  // Where servers write, the generator is another one, and so would be what both have in common.
  if (cores && !WORKLOADS[plan.workload].store) session.reference ??= await startReference(session);
  for (const { name } of targets) session.warmth[name] = {};
  const asked = new Map(targets.map(({ name }) => [name, 0]));
  const all = warmedBy(targets, plan.workload, endpoints);
  const ours = targets.filter(({ startupMs }) => startupMs !== null);
  const since = session.now();
  const lasts = (seconds: number) => session.now() - since < seconds * 1e3;
  // What restarts until it is decided has a time limit of its own.
  const cheaper = ({ name }: Target) =>
    blocks > 0 && lasts(MOST_SECONDS_CHEAPER) && isGettingCheaper(Object.values(session.warmth[name] ?? {}));
  const late = () =>
    ours.filter((one) => ((asked.get(one.name) as number) < warmRequests && lasts(MOST_SECONDS)) || cheaper(one));
  const roaming = letRoam(session, targets);
  try {
    for (let round = 0, loaded = late(); loaded.length > 0; round++, loaded = late()) {
      const beside = round % 2 === 1 ? older : windows >= LEAST_WINDOWS ? session.reference : null;
      for (const endpoint of all) {
        for (const { target, load } of await window(session, loaded, endpoint, windowSeconds, beside, roaming.cores)) {
          asked.set(target.name, (asked.get(target.name) as number) + load.requests);
        }
      }
    }
  } finally {
    roaming.settle();
  }
}

function startReference({ manifest, signal, start }: Session): Promise<Target> {
  return start({ ...parseTarget(REFERENCE, [REFERENCE]), name: "reference" }, manifest.cores?.server, signal);
}

/** Warm after one window of load. */
const REFERENCE = "bun-raw";

/**
 * Right before the slices of an endpoint: windows of load on all targets at once, on the cores where they are measured,
 * until the rule finds no change, and in a second turn until they are no colder than in the first; who is steady leaves.
 * After the most windows a target that still changes is warming.
 * @returns about the mean latency of each target alone, ms.
 */
export async function warmEndpoint(
  session: Session,
  targets: readonly Target[],
  endpoint: string,
): Promise<Record<string, number>> {
  const { windows, windowSeconds } = session.manifest.plan.amount;
  const latencies: Record<string, number> = {};
  for (const { name } of targets) warmthOf(session, name, endpoint).turn++;
  let loaded = targets;
  for (let n = 1; loaded.length > 0 && n <= MOST_WINDOWS; n++) {
    for (const { target, load } of await window(session, loaded, endpoint, windowSeconds, session.reference)) {
      latencies[target.name] ??= load.averageMs / (targets.length + (session.reference ? 1 : 0));
    }
    if (n < windows) continue;
    const series = loaded.map(({ name }) => relativeCosts(warmthOf(session, name, endpoint).windows.slice(-n)));
    const noise = noiseOf(series);
    loaded = loaded.filter(({ name }, i) => {
      const changing = isChanging(series[i] as number[], noise);
      const warmth = warmthOf(session, name, endpoint);
      warmth.steady = !changing;
      return changing || isColdAgain(warmth.windows);
    });
  }
  return latencies;
}

/**
 * What servers are asked for after a restart: of ours all routes of the workload, so that a number does not depend on what
 * else is measured, and what they do not have.
 */
function warmedBy(targets: readonly Target[], workload: Workload, endpoints: readonly string[]): readonly string[] {
  const { warmed, endpoints: usual } = WORKLOADS[workload];
  if (targets.some(({ identity }) => identity === null)) return endpoints;
  return [...warmed, ...endpoints.filter((endpoint) => !(usual as readonly string[]).includes(endpoint))];
}

export function warmthOf(session: Session, name: string, endpoint: string): Warmth {
  session.warmth[name] ??= {};
  const ofTarget = session.warmth[name] as Record<string, Warmth>;
  ofTarget[endpoint] ??= { windows: [], steady: null, turn: 0 };
  return ofTarget[endpoint] as Warmth;
}

/**
 * Loads targets at once, and keeps what a request cost.
 * @param seconds of load per server
 * @param beside the reference, or another one whose cost is not kept
 * @param cores of the generators, where all roam
 */
async function window(
  session: Session,
  targets: readonly Target[],
  endpoint: string,
  seconds: number,
  beside: Target | null,
  cores?: string,
): Promise<Measured[]> {
  const { connections } = session.manifest.plan;
  const { reference } = session;
  const all = [...targets, ...(beside ? [beside] : [])];
  const options = { connections, seconds: seconds * all.length };
  const place = (target: Target) => (target === reference && !ENDPOINTS.includes(endpoint) ? "/plain" : endpoint);
  const seen = await together(session, all, place, options, cores);
  session.manifest.seconds.loaded += options.seconds;
  const measured = seen.slice(0, targets.length);
  const ofReference = seen.find(({ target }) => target === reference);
  for (const one of measured) {
    if (one.load.goodput === 0) continue; // the slices will say what is wrong
    const { windows, turn } = warmthOf(session, one.target.name, endpoint);
    windows.push({
      requests: (windows.at(-1)?.requests ?? 0) + one.load.requests,
      costUs: costOf(one),
      referenceUs: ofReference ? costOf(ofReference) : null,
      turn,
    });
  }
  return measured;
}

const costOf = ({ usage, load }: Measured): number => usage.cpuUsPerRequest ?? 1e6 / load.goodput;

/**
 * Lets servers of this machine use the generators' cores as well.
 * @returns the cores of both, if there are any, and a function that sets all threads back to where they were
 */
function letRoam({ manifest: { cores }, reference }: Session, targets: readonly Target[]) {
  const ours = [...targets, ...(reference ? [reference] : [])].filter(({ startupMs }) => startupMs !== null);
  const pids = cores ? ours.flatMap(({ pid }) => pid ?? []) : [];
  const before = pids.map((pid) => [pid, coresOf(pid)] as const);
  const all = cores ? `${cores.server},${cores.generator}` : undefined;
  for (const pid of pids) setCores(pid, all as string);
  return {
    cores: all,
    settle: () => {
      for (const [pid, cores] of before) if (cores) setCores(pid, cores);
    },
  };
}

/** Moves a process and its children. */
function setCores(pid: number, cores: string): void {
  for (const member of family(pid)) moveTo(cores, member);
}
