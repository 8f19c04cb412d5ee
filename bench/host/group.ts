/** Control groups count what all processes of a server use, including ended children, if the user may make groups. */
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasEnded, OWNER } from "./owner.ts";
import { names, text } from "./proc.ts";

export interface Group {
  readonly folder: string;
  /** @returns the command in a shell that enters the group first, so that the group counts the whole start. */
  enter(command: readonly string[]): string[];
  remove(): Promise<void>;
}

const NAME = "http-benchmark-";
const V2 = "/sys/fs/cgroup";
const V1 = "/sys/fs/cgroup/cpuacct";
const V1_QUOTA = "/sys/fs/cgroup/cpu";
const isV2 = text(join(V2, "cgroup.procs")) !== "";

let made = 0;

/** @returns null if none can be made */
export function newGroup(): Group | null {
  const parent = isV2 ? V2 : V1;
  // A folder that is no control group has no such file.
  if (text(join(parent, "cgroup.procs")) === "") return null;
  const folder = join(parent, `${NAME}${OWNER}-${++made}`);
  try {
    mkdirSync(folder);
  } catch {
    return null;
  }
  const enter = (command: readonly string[]) => [
    ...["sh", "-c", `echo $$ >${folder}/cgroup.procs && exec "$@"`, "sh"],
    ...command,
  ];
  return { folder, enter, remove: () => remove(folder) };
}

/** @returns the folder of a process's group; null if it is also the group of this process. */
export function groupOf(pid: number): string | null {
  const path = pathOf(text(`/proc/${pid}/cgroup`));
  return path === null || path === pathOf(text("/proc/self/cgroup")) ? null : join(isV2 ? V2 : V1, path);
}

const pathOf = (groups: string): string | null =>
  (isV2 ? /^0::(.+)$/m : /^\d+:(?:[^:]*,)?cpuacct(?:,[^:]*)?:(.*)$/m).exec(groups)?.[1] ?? null;

/** @returns CPU time of all processes that are or were in a group, µs; null if the group does not exist. */
export function usedBy(folder: string): number | null {
  const v1 = text(join(folder, "cpuacct.usage"));
  if (v1 !== "") return Number(v1) / 1e3;
  const v2 = /^usage_usec (\d+)/m.exec(text(join(folder, "cpu.stat")))?.[1];
  return v2 === undefined ? null : Number(v2);
}

export const membersOf = (folder: string): number[] =>
  text(join(folder, "cgroup.procs")).split("\n").filter(Boolean).map(Number);

/** @returns milliseconds that a process's group was kept from running by its quota. */
export function throttledMs(pid: number): number {
  const groups = text(`/proc/${pid}/cgroup`);
  const v1 = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1];
  const stat = text(join(V2, pathOf(groups) ?? "", "cpu.stat")) || text(join(V1_QUOTA, v1 ?? "", "cpu.stat"));
  const us = /^throttled_usec (\d+)/m.exec(stat)?.[1];
  const ns = /^throttled_time (\d+)/m.exec(stat)?.[1];
  return us ? Number(us) / 1e3 : Number(ns ?? 0) / 1e6;
}

/** Removes the groups of runs that have ended. */
export function sweepGroups(): void {
  for (const parent of [V2, V1]) {
    for (const name of names(parent)) {
      if (!name.startsWith(NAME) || !hasEnded(name.slice(NAME.length))) continue;
      try {
        rmdirSync(join(parent, name));
      } catch {
        // it has processes
      }
    }
  }
}

/** A group may be busy for a moment after its processes are gone. */
async function remove(folder: string): Promise<void> {
  for (let tries = 50; ; tries--) {
    try {
      return rmdirSync(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || tries === 0) return;
    }
    await sleep(20);
  }
}
