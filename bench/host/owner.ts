import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { begunAt, linkOf, seesItself, text } from "./proc.ts";

const namespace = /\d+/.exec(linkOf("/proc/self/ns/pid"))?.[0] ?? "";
const boot = text("/proc/sys/kernel/random/boot_id").trim().replaceAll("-", "");
/** Where process ids mean the same as here, and belong to the same user. */
const PLACE = `${process.getuid?.()}-${namespace}-${boot}`;

/** Names this process for good: process id, start, user, PID namespace and boot. What a run makes has this name in its own. */
export const OWNER = `${process.pid}-${begunAt(process.pid)}-${PLACE}`;

/** The same for names of databases, which have at most 63 bytes and may be on a server that other machines use too. */
const HERE = createHash("sha256").update(`${hostname()}-${PLACE}`).digest("hex").slice(0, 16);
export const SHORT_OWNER = `${process.pid}_${begunAt(process.pid)}_${HERE}`;

/**
 * Whether the owner has provably ended. A process of another user, of another PID namespace (a container's), of another boot or
 * of another machine may still run.
 * @param name an {@link OWNER} or a {@link SHORT_OWNER}, or one followed by its separator and anything
 */
export function hasEnded(name: string): boolean {
  const long = /^(\d+)-(\d+)-(\d+-\d+-[0-9a-f]{32})(?:-|$)/.exec(name);
  const [, pid, begun, place] = long ?? /^(\d+)_(\d+)_([0-9a-f]{16})(?:_|$)/.exec(name) ?? [];
  return seesItself && place === (long ? PLACE : HERE) && begunAt(Number(pid)) !== Number(begun);
}
