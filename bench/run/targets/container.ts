import type { Identity } from "../../../shared/identity.ts";
import type { DockerSpec } from "../../ask/targets.ts";
import type { Engine } from "../../host/engine.ts";
import { groupOf } from "../../host/group.ts";
import { text } from "../../host/proc.ts";
import { clocksOf, type Reading, type Target, untilReady } from "./target.ts";

/** On a remote machine, a container gets a free port of this range, so that a firewall can allow the range. */
const PORTS = "3000-3099";

/** The part of the engine's answer for a container that is read here. */
interface Inspected {
  readonly State: { readonly Running: boolean; readonly Pid: number };
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>>;
    readonly Ports: Readonly<Record<string, readonly { readonly HostPort: string }[] | null>>;
  };
}

/** The part of the engine's statistics that is read here; times in ns, memory in bytes. */
interface Stats {
  readonly cpu_stats: {
    readonly cpu_usage: { readonly total_usage: number };
    readonly online_cpus: number;
    readonly throttling_data?: { readonly throttled_time: number };
  };
  readonly memory_stats: { readonly stats?: Readonly<Record<string, number>> };
}

/** Starts a server in a container and waits until it answers. */
export async function startContainer(
  engine: Engine,
  spec: DockerSpec,
  cores: string | undefined,
  signal: AbortSignal,
): Promise<Target> {
  const { name, env, engine: how } = spec;
  const { address, image, run } = how;
  const since = performance.now();
  const remote = address.startsWith("ssh://");
  const id = await engine.docker(
    ...["run", "--detach", "--no-healthcheck", ...engine.common, "--publish", `${remote ? PORTS : "127.0.0.1:"}:3000`],
    ...(cores ? ["--cpuset-cpus", cores] : []),
    ...run,
    ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    image,
  );
  // If the engine does not answer now, this run or the next one removes the container later.
  const stop = () =>
    engine.docker("rm", "--force", "--volumes", id).then(
      () => {},
      () => {},
    );
  try {
    const inspect = () => engine.get<Inspected>(`/containers/${id}/json`);
    const { State, NetworkSettings } = await inspect();
    const pid = !remote && isOurs(State.Pid, id) ? State.Pid : null;
    // Prefers the container's own address, because a published port goes through a proxy process.
    const inside = pid === null ? undefined : Object.values(NetworkSettings.Networks)[0]?.IPAddress;
    const published = NetworkSettings.Ports["3000/tcp"]?.[0]?.HostPort;
    const url = inside ? `http://${inside}:3000` : `http://${engine.host}:${published}`;
    const { identity } = await untilReady(name, signal, async () => {
      const up = (await inspect()).State.Running;
      return { up, url, log: up ? "" : await engine.docker("logs", id) };
    });
    const read = async () =>
      readingOf(await engine.get<Stats>(`/containers/${id}/stats?stream=false&one-shot=true`), identity);
    const clocks = pid === null ? null : clocksOf(pid, groupOf(pid));
    const startupMs = performance.now() - since;
    return { spec, name, url, identity, pid, clocks, databaseUrl: null, startupMs, read, ended: () => null, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether a container's process can be seen here; not if Docker runs in a virtual machine. */
const isOurs = (pid: number, id: string): boolean => text(`/proc/${pid}/cgroup`).includes(id);

/** Memory as processes count it, without the page cache: cgroup v2 and v1 name it differently. */
function readingOf({ cpu_stats: cpu, memory_stats: { stats = {} } }: Stats, identity: Identity | null): Reading {
  const v2 = stats.anon === undefined ? null : stats.anon + (stats.file_mapped ?? 0);
  return {
    cpuUs: cpu.cpu_usage.total_usage / 1e3,
    rssBytes: v2 ?? stats.rss ?? null,
    throttledMs: (cpu.throttling_data?.throttled_time ?? 0) / 1e6,
    cores: identity?.workers ?? cpu.online_cpus,
  };
}
