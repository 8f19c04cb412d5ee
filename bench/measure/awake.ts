import { join } from "node:path";
import { WORKLOADS } from "../plan/endpoints.ts";
import type { Manifest } from "../records/manifest.ts";
import { pinned } from "../targets/cores.ts";
import type { Target } from "../targets/target.ts";

/** Keeps servers from idling while others are measured. */
export interface Keeper {
  readonly targets: readonly Target[];
  /** The process that asks them; null where there is none. */
  readonly pid: number | null;
  /** The only ones that are left alone, as they are loaded. */
  leave(targets: readonly Target[]): void;
  stop(): Promise<void>;
}

const SCRIPT = join(import.meta.dirname, "../load/trickle.ts");

/**
 * Asks each target that was started here and rests for something now and then. Each such request costs 0.3 ms of the
 * servers' cores, so only those get them that have not been loaded for some seconds. What it does not prevent is in
 * docs/method.md, "Servers that get cold again".
 */
export function keepAwake({ plan, cores }: Manifest, targets: readonly Target[]): Keeper {
  const started = targets.filter(({ startupMs }) => startupMs !== null);
  const planned = plan.endpoints.filter((endpoint) => endpoint.startsWith("/"));
  const paths = started.every(({ identity }) => identity) ? WORKLOADS[plan.workload].awake : planned;
  if (started.length < 2 || paths.length === 0) return { targets, pid: null, leave: () => {}, stop: async () => {} };
  const command = pinned(cores?.generator, [
    process.execPath,
    SCRIPT,
    JSON.stringify({ urls: started.map(({ url }) => url), paths }),
  ]);
  const child = Bun.spawn(command, { stdio: ["pipe", "ignore", "ignore"] });
  return {
    targets,
    pid: child.pid,
    leave: (loaded) => {
      child.stdin.write(`${JSON.stringify(loaded.map(({ url }) => url))}\n`);
      child.stdin.flush();
    },
    stop: async () => {
      child.kill();
      await child.exited;
    },
  };
}
