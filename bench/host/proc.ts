/** All reads of /proc and /sys. Empty if a process has ended or a file cannot be read. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const quietly =
  <T>(get: (path: string) => T, otherwise: T) =>
  (path: string): T => {
    try {
      return get(path);
    } catch {
      return otherwise;
    }
  };
export const text = quietly((path) => readFileSync(path, "latin1"), "");
export const names = quietly((path) => readdirSync(path), []);
export const linkOf = quietly((path) => readlinkSync(path), "");

/** The unit of times in /proc: USER_HZ, the same on every Linux machine that Bun runs on. */
export const TICK_MS = 10;

/** Fields of proc_pid_stat; times in ms since the process began. */
export interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly userMs: number;
  readonly kernelMs: number;
  /** CPU time of its children that have ended. */
  readonly endedMs: number;
  /** Start of the process, in ticks since boot. */
  readonly begun: number;
}

/** @param id a process, or `PID/task/TID` for a thread @returns null for one that has ended */
export function statOf(id: number | string): Stat | null {
  const all = text(`/proc/${id}/stat`);
  if (all === "") return null;
  // The name, in parentheses, may hold anything.
  const fields = all.slice(all.lastIndexOf(")") + 2).split(" ");
  const at = (place: number) => Number(fields[place - 3]);
  return {
    state: fields[0] as string,
    parent: at(4),
    userMs: at(14) * TICK_MS,
    kernelMs: at(15) * TICK_MS,
    endedMs: (at(16) + at(17)) * TICK_MS,
    begun: at(22),
  };
}

/** @returns the start of a process, in ticks since boot; null if it does not exist. */
export const begunAt = (pid: number): number | null => statOf(pid)?.begun ?? null;

/** False if /proc belongs to another PID namespace, whose process ids mean other processes here. */
export const seesItself = linkOf("/proc/self") === String(process.pid);
export const processes = (): number[] => (seesItself ? names("/proc").map(Number).filter(Boolean) : []);
export const environmentOf = (pid: number): string => text(`/proc/${pid}/environ`);
export const nameOf = (pid: number): string => text(`/proc/${pid}/comm`).trim();
const tasksOf = (pid: number) => names(`/proc/${pid}/task`).map((task) => `${pid}/task/${task}`);

/** @returns a process and its descendants. */
export function family(pid: number): number[] {
  const children = tasksOf(pid).flatMap((task) => text(`/proc/${task}/children`).split(" ").filter(Boolean));
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

/** Whether any thread runs, waits for a core, or waits for a disk. */
export const isBusy = (pids: readonly number[]): boolean =>
  pids.some((pid) => tasksOf(pid).some((task) => /[RD]/.test(statOf(task)?.state ?? "")));

/** Whether a process exists, and has not ended: until its parent knows, it stays as a zombie. */
export const isAlive = (pid: number): boolean => /[^ZX]/.test(statOf(pid)?.state ?? "X");

/** Whether every thread is stopped, or gone. */
export const isStopped = (pid: number): boolean =>
  tasksOf(pid).every((task) => /[TtZX]/.test(statOf(task)?.state ?? "X"));

/** @returns thread -> milliseconds that it has run (proc_pid_schedstat, field 1); only threads that have not ended. */
export const threadTimes = (pids: readonly number[]): Map<string, number> =>
  new Map(
    pids.flatMap(tasksOf).flatMap((task): [string, number][] => {
      const ranNs = text(`/proc/${task}/schedstat`).split(" ")[0];
      return ranNs ? [[task, Number(ranNs) / 1e6]] : [];
    }),
  );

/** Names of the threads that collect garbage in V8 (they also compile), Java and JavaScriptCore. */
const COLLECTORS = /V8Worker|^(GC|G1) |HeapHelper/;

export const isCollector = (task: string): boolean => COLLECTORS.test(text(`/proc/${task}/comm`));

/** @returns context switches of the threads that still run (proc_pid_schedstat, field 3). */
export const switchesOf = (pids: readonly number[]): number =>
  total(pids.flatMap((pid) => tasksOf(pid).map((task) => Number(text(`/proc/${task}/schedstat`).split(" ")[2]) || 0)));

/** @returns bytes that a process has written, to files and sockets alike. */
export const writtenBy = (pid: number): number => Number(/^wchar: (\d+)/m.exec(text(`/proc/${pid}/io`))?.[1] ?? 0);

/** @returns memory in bytes: resident now (VmRSS), resident maximum since the start (VmHWM), or shared pages counted once (Pss). */
export function memoryOf(pids: readonly number[], field: "VmRSS" | "VmHWM" | "Pss"): number {
  const size = new RegExp(`^${field}:\\s*(\\d+) kB`, "m");
  const file = field === "Pss" ? "smaps_rollup" : "status";
  return total(pids.map((pid) => Number(size.exec(text(`/proc/${pid}/${file}`))?.[1] ?? 0) * 1024));
}

/** @returns the cores that a process may use, as the kernel lists them; null for one that has ended. */
export const coresOf = (pid: number | "self"): string | null =>
  /^Cpus_allowed_list:\s*(.*)$/m.exec(text(`/proc/${pid}/status`))?.[1] ?? null;

/** Busy time of cores since boot, and time that the host took from them (not part of the busy time), ms. */
export function readCores(cores: readonly number[]): { readonly busyMs: number; readonly stolenMs: number } {
  const wanted = new Set(cores.map((core) => `cpu${core}`));
  const lines = text("/proc/stat").split("\n");
  const of = lines.map((line) => line.split(" ")).filter(([name = ""]) => wanted.has(name));
  const sum = (...places: number[]) =>
    TICK_MS * total(of.flatMap((ticks) => places.map((place) => Number(ticks[1 + place] ?? 0))));
  // user, nice, system, irq, softirq; not idle, iowait, guest.
  return { busyMs: sum(0, 1, 2, 5, 6), stolenMs: sum(7) };
}

/** Programs that forward to a server in another process tree, e.g. in a container. */
const FORWARDERS = new Set("docker-proxy rootlessport rootlesskit slirp4netns pasta ssh kubectl socat".split(" "));

export const isForwarder = (pid: number): boolean => FORWARDERS.has(nameOf(pid));

/**
 * @returns the process of this machine that listens on a port, or the common parent of all that do; null if there is no
 *   such single process, if it belongs to another user, or if it only forwards
 */
export function listenerOf(port: number): number | null {
  const sockets = new Set(listening().flatMap((one) => (one.port === port ? one.socket : [])));
  const pids = processes().filter((pid) => socketsOf(pid).some((socket) => sockets.has(socket)));
  const parents = new Map(pids.map((pid) => [pid, statOf(pid)?.parent ?? 0]));
  const roots = pids.filter((pid) => !parents.has(parents.get(pid) as number));
  const above = new Set(roots.map((pid) => parents.get(pid) as number));
  const [root, ...more] = roots.length > 1 ? above : roots;
  if (root === undefined || more.length > 0 || root === 1) return null;
  return isForwarder(root) ? null : root;
}

interface Listening {
  /** As a URL has it; `0.0.0.0` and `[::]` are every address. */
  readonly host: string;
  readonly port: number;
  readonly socket: string;
}

/** @returns where processes of this network namespace listen by TCP (proc_net_tcp: fields 2, 4 and 10; state 0A listens). */
function listening(): Listening[] {
  return ["tcp", "tcp6"].flatMap((file) =>
    text(`/proc/net/${file}`)
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === "0A")
      .map(([, local = "", , , , , , , , inode]) => {
        const [address = "", port = ""] = local.split(":");
        return { host: hostOf(address), port: Number.parseInt(port, 16), socket: `socket:[${inode}]` };
      }),
  );
}

/** @param hex words of 32 bits, each with its bytes reversed */
function hostOf(hex: string): string {
  const bytes = Buffer.from(hex, "hex").swap32();
  if (bytes.length === 4) return bytes.join(".");
  if (hex.startsWith("0000000000000000FFFF0000")) return bytes.subarray(12).join(".");
  return new URL(`http://[${bytes.toString("hex").match(/.{4}/g)?.join(":")}]`).hostname;
}

const socketsOf = (pid: number): string[] => names(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));

/** @returns where any of these processes listens; nothing for processes of other users. */
export function listeningOf(pids: readonly number[]): Listening[] {
  const own = new Set(pids.flatMap(socketsOf));
  return listening().filter(({ socket }) => own.has(socket));
}

const total = (values: Iterable<number>): number => [...values].reduce((sum, value) => sum + value, 0);
