/** Load from several machines: agents are `fortio server`s, asked through their REST interface. */
import { lookup } from "node:dns/promises";
import { UsageError } from "../../shared/errors.ts";
import { sumOf } from "./failed.ts";
import { type FortioResult, type Load, type LoadOptions, PERCENTILES, settings, toLoad } from "./fortio.ts";
import { merge, percentile } from "./histogram.ts";

/**
 * @param agents `host:port`; a name with several addresses (`tasks.agent` in Docker Swarm, a headless Service in
 *   Kubernetes) is as many agents
 * @returns `address:port` of each. @throws UsageError for one that is not a fortio server.
 */
export async function findAgents(agents: readonly string[], signal: AbortSignal): Promise<string[]> {
  const found = [...new Set((await Promise.all(agents.map(addresses))).flat())];
  await Promise.all(found.map((agent) => ask(agent, "status", {}, signal)));
  return found;
}

async function addresses(agent: string): Promise<string[]> {
  const url = URL.canParse(`http://${agent}`) ? new URL(`http://${agent}`) : undefined;
  if (!url?.port || url.pathname !== "/") throw new UsageError(`--agents has "${agent}": write it as host:port`);
  const all = await lookup(url.hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  if (all.length === 0) throw new UsageError(`--agents has "${agent}": there is no such host`);
  return all.map(({ address, family }) => `${family === 6 ? `[${address}]` : address}:${url.port}`);
}

/**
 * Loads one URL from all agents at once, each with its part of the connections and of the rate.
 * @throws UsageError naming the agent that failed; the results of the others are not used.
 */
export async function loadFrom(
  agents: readonly string[],
  url: string,
  options: LoadOptions,
  signal: AbortSignal,
): Promise<Load> {
  const { connections, rate } = options;
  const used = agents.slice(0, connections);
  const one = async (agent: string, i: number) => {
    const share = Math.floor(connections / used.length) + (i < connections % used.length ? 1 : 0);
    const part = { ...options, connections: share, rate: rate && (rate * share) / connections };
    const asked = { url, ...settings(part), ...(rate !== undefined && { uniform: "on" }) };
    const result = (await ask(agent, "run", asked, signal)) as FortioResult;
    // By the clock of this machine, because clocks of agents may differ. An agent answers when its slice has ended.
    return { ...toLoad(result, part), startedAt: Date.now() - result.ActualDuration / 1e6 };
  };
  try {
    return combine(await Promise.all(used.map(one)));
  } catch (error) {
    // The others would load on until their slices end.
    await Promise.allSettled(used.map((agent) => ask(agent, "stop", {}, AbortSignal.timeout(2_000))));
    throw error;
  }
}

/** Share of the longest slice during which all agents ran. */
export function overlap(loads: readonly Pick<Load, "startedAt" | "seconds">[]): number {
  const since = Math.max(...loads.map(({ startedAt }) => startedAt));
  const until = Math.min(...loads.map(({ startedAt, seconds }) => startedAt + seconds * 1e3));
  return Math.max(0, until - since) / 1e3 / Math.max(...loads.map(({ seconds }) => seconds));
}

type Seen = Omit<Load, "generatorCpu" | "overlap">;

/** Combines the results of generators that ran at the same time into one result. */
export function combine(parts: readonly Seen[]): Load {
  const sum = (field: (part: Seen) => number) => parts.reduce((all, part) => all + field(part), 0);
  const requests = sum((part) => part.requests);
  const mean = (field: (part: Seen) => number) => sum((part) => field(part) * part.requests) / requests;
  const histogram = merge(parts.map((part) => part.histogram));
  const percentilesMs = Object.fromEntries(PERCENTILES.map((p) => [p, percentile(histogram, p) * 1e3]));
  return {
    startedAt: Math.min(...parts.map(({ startedAt }) => startedAt)),
    requests,
    errors: sum((part) => part.errors),
    failed: sumOf(parts.map(({ failed = {} }) => failed)),
    refused: sum((part) => part.refused),
    seconds: Math.max(...parts.map(({ seconds }) => seconds)),
    averageMs: mean((part) => part.averageMs),
    maxMs: Math.max(...parts.map(({ maxMs }) => maxMs)),
    goodput: sum((part) => part.goodput),
    percentilesMs: percentilesMs as Load["percentilesMs"],
    histogram,
    sockets: sum((part) => part.sockets),
    bytesPerRequest: mean((part) => part.bytesPerRequest),
    generatorCpu: null,
    overlap: overlap(parts),
  };
}

/** @throws UsageError if the agent does not answer, or reports an error. */
async function ask(
  agent: string,
  what: "run" | "status" | "stop",
  asked: object,
  signal: AbortSignal,
): Promise<unknown> {
  const failed = (why: string) =>
    new UsageError(`the agent ${agent} failed (${why}): start "fortio server" there, or take it off --agents`);
  try {
    const text = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, String(value)]));
    const response = await fetch(`http://${agent}/fortio/rest/${what}`, {
      method: "POST",
      body: JSON.stringify(text),
      signal,
    });
    const answer = await response.json();
    if (response.ok) return answer;
    throw failed((answer as { error?: string }).error ?? `status ${response.status}`);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof UsageError ? error : failed((error as Error).message);
  }
}
