import { begunAt, linkOf, seesItself, text } from "./proc.ts";

const namespace = /\d+/.exec(linkOf("/proc/self/ns/pid"))?.[0] ?? "";
const boot = text("/proc/sys/kernel/random/boot_id").trim().replaceAll("-", "");
/** Where process ids mean the same as here, and belong to the same user. */
const PLACE = `${process.getuid?.()}-${namespace}-${boot}`;

/** Names this process for good: process id, start, user, PID namespace and boot. What a run makes has this name in its own. */
export const OWNER = `${process.pid}-${begunAt(process.pid)}-${PLACE}`;

/**
 * Whether the owner has provably ended. A process of another user, of another PID namespace (a container's) or of another boot
 * may still run.
 * @param name an {@link OWNER}, or one followed by `-` and anything
 */
export function hasEnded(name: string): boolean {
  const [, pid, begun, place] = /^(\d+)-(\d+)-(\d+-\d+-[0-9a-f]{32})(?:-|$)/.exec(name) ?? [];
  return seesItself && place === PLACE && begunAt(Number(pid)) !== Number(begun);
}
