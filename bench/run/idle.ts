/** What servers cost that nobody asks: memory of idle connections, CPU time at rest, time until the first answer. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalSpec, TargetSpec } from "../ask/targets.ts";
import { withTargets } from "./blocks.ts";
import type { Session } from "./session.ts";
import type { Target } from "./targets/target.ts";
import { family, memoryOf, threadTimes } from "./usage.ts";

/** One start of one target; null for what cannot be seen or done here. */
export interface Idle {
  readonly name: string;
  /** Resident memory before the first request but those that ask whether it is up. */
  readonly rssBytes: number | null;
  /** More memory with 1,000 connections that each have asked once. */
  readonly perThousandBytes: number | null;
  /** CPU time ÷ time with these connections open and nothing asked. */
  readonly cpu: number | null;
  readonly startupMs: number | null;
  /** The same with a quarter of a core. */
  readonly startupQuarterMs: number | null;
}

/** What the first requests of all need is not counted. */
const FIRST = 100;
const CONNECTIONS = 1_000;
const SETTLE_MS = 500;
const REST_SECONDS = 3;
/** Of a core, for a start on a small machine. */
export const QUOTA = 0.25;

/** @param path that is asked once on each connection */
export async function idleOf(session: Session, spec: TargetSpec, path: string): Promise<Idle> {
  const idle = await withTargets(session, [spec], async ([target]) => atRest(target as Target, path));
  return { ...idle, startupQuarterMs: spec.kind === "local" ? await startWithin(session, spec) : null };
}

async function atRest({ name, url, pid, startupMs }: Target, path: string) {
  const rss = () => (pid === null ? null : memoryOf(family(pid), "VmRSS"));
  const atFirst = rss();
  const sockets = await open(new URL(url), path, FIRST);
  try {
    await sleep(SETTLE_MS);
    const before = rss();
    sockets.push(...(await open(new URL(url), path, CONNECTIONS)));
    await sleep(SETTLE_MS);
    const after = rss();
    const ranMs = () => (pid === null ? null : sum(threadTimes(family(pid)).values()));
    const [from, since] = [ranMs(), performance.now()];
    await sleep(REST_SECONDS * 1e3);
    const to = ranMs();
    return {
      name,
      rssBytes: atFirst,
      perThousandBytes: before === null || after === null ? null : ((after - before) / CONNECTIONS) * 1_000,
      cpu: from === null || to === null ? null : (to - from) / (performance.now() - since),
      startupMs,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, one) => total + one, 0);

/** @returns keep-alive connections that each had one answer. */
function open({ hostname, port, host }: URL, path: string, length: number): Promise<Socket[]> {
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  return Promise.all(
    Array.from(
      { length },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(Number(port) || 80, hostname, () => socket.write(request));
          socket.once("data", () => resolve(socket.on("error", () => {}).resume()));
          socket.once("error", reject);
        }),
    ),
  );
}

/** Where control groups are made, and their quota: version 2, and version 1 with its usual period of 0.1 s. */
const GROUPS = [
  { folder: "/sys/fs/cgroup", file: "cpu.max", quota: `${QUOTA * 1e5} 100000` },
  { folder: "/sys/fs/cgroup/cpu", file: "cpu.cfs_quota_us", quota: `${QUOTA * 1e5}` },
];

/** @returns a new group whose processes have a quarter of a core; null where none may be made. */
function newGroup(): string | null {
  for (const { folder, file, quota } of GROUPS) {
    // Where the folder of a group has no such file, it is none.
    if (!existsSync(join(folder, "cgroup.procs"))) continue;
    const group = join(folder, `http-benchmark-${process.pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue; // not by this user
    }
    try {
      writeFileSync(join(group, file), quota);
      return group;
    } catch {
      rmdirSync(group);
    }
  }
  return null;
}

/** @returns how long a start takes with a quarter of a core; null where that cannot be had. */
async function startWithin(session: Session, spec: LocalSpec): Promise<number | null> {
  const group = newGroup();
  if (group === null) return null;
  try {
    // A shell enters the group, so that nothing of the start is outside it.
    const command = ["sh", "-c", `echo $$ > ${group}/cgroup.procs && exec "$@"`, "sh", ...spec.command];
    return await withTargets(session, [{ ...spec, command }], async ([target]) => target?.startupMs ?? null);
  } finally {
    await remove(group);
  }
}

/** A group may be busy for a moment after its processes are gone. */
async function remove(group: string): Promise<void> {
  for (let tries = 50; ; tries--) {
    try {
      return rmdirSync(group);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || tries === 0) throw error;
    }
    await sleep(100);
  }
}
