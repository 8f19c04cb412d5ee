import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Forward to a server whose processes are elsewhere, as those of containers. */
const FORWARDERS = new Set(["docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "ssh"]);

/**
 * @returns the process of this machine that listens on a port, or that started all that do; null where it cannot be seen
 *   (it is another user's, or the system is not Linux), where it only forwards, and where there is no one such
 */
export function listenerOf(port: number): number | null {
  const sockets = new Set(["tcp", "tcp6"].flatMap((file) => socketsOf(`/proc/net/${file}`, port)));
  const pids = names("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => names(`/proc/${pid}/fd`).some((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`))));
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
  const roots = pids.filter((pid) => !parents.has(parents.get(pid) as string));
  const above = new Set(roots.map((pid) => parents.get(pid) as string));
  const [root, ...more] = roots.length > 1 ? above : roots;
  if (root === undefined || more.length > 0 || root === "1") return null;
  return FORWARDERS.has(read(`/proc/${root}/comm`).trim()) ? null : Number(root);
}

/** proc_net_tcp: the local address is field 2, its port in hex; state 0A listens; field 10 is the inode. */
function socketsOf(file: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return read(file)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === "0A")
    .map((fields) => `socket:[${fields[9]}]`);
}

/** proc_pid_stat: field 4, after the name in parentheses. */
const parentOf = (pid: string): string =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ")[1] ?? "";

/** @returns nothing of what has ended or may not be read. */
const quietly =
  <T>(get: (path: string) => T, otherwise: T) =>
  (path: string): T => {
    try {
      return get(path);
    } catch {
      return otherwise;
    }
  };
const read = quietly((path) => readFileSync(path, "latin1"), "");
const names = quietly((path) => readdirSync(path), []);
const linkOf = quietly((path) => readlinkSync(path), "");
