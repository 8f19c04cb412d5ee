import { join } from "node:path";
import { run } from "../command.ts";
import { type Cores, parseCpuList, pinned } from "../cores.ts";
import { readCores } from "../proc.ts";

/** How fast a core is, in nanoseconds; medians, so that short pauses do not count. */
export interface Speed {
  /** One iteration of four xorshifts. */
  readonly aluNs: number;
  /** Round trip of one byte over TCP, both ends in one thread. */
  readonly loopbackNs: number;
  /** A memory load that waits for the one before, within 128 MiB. */
  readonly memoryNs: number;
}

/** What a machine was like at one moment, on the cores that a run uses. */
export interface Fingerprint {
  readonly at: string;
  readonly speed: Speed;
  /**
   * Time of the ALU loop on all these cores at once ÷ on one alone. 1: separate cores; near 2: threads of one core, even if
   * the virtual machine reports separate cores.
   */
  readonly together: number;
  /** Share of these cores' time that the host took (steal), and that other processes used. */
  readonly stolen: number;
  readonly others: number;
}

const ALU_MS = 150;
const PROBE = join(import.meta.dirname, "probe.ts");

/** Takes about a second, in which nothing else may be loaded. @returns null if cores cannot be chosen, or Bun cannot compile C. */
export async function takeFingerprint(cores: Cores | null, signal: AbortSignal): Promise<Fingerprint | null> {
  if (cores === null) return null;
  const all = [cores.server, cores.generator].flatMap(parseCpuList);
  const at = new Date();
  let ranMs = 0;
  const probe = async (core: number, ...args: string[]): Promise<Speed | null> => {
    const command = pinned(String(core), [process.execPath, PROBE, ...args]);
    const { code, stdout, cpuSeconds } = await run(command, { signal });
    ranMs += cpuSeconds * 1e3;
    return code === 0 ? JSON.parse(stdout) : null;
  };
  const alu = async (core: number) => (await probe(core, String(ALU_MS)))?.aluNs ?? Number.NaN;
  const ourUsage = process.cpuUsage();
  const before = readCores(all);
  const speed = await probe(all[0] as number);
  if (speed === null) return null;
  // One core of each side stands for the others.
  const sides = [all[0], all.at(-1)] as [number, number];
  const alone = [await alu(sides[0]), await alu(sides[1])];
  const atOnce = await Promise.all(all.map(alu));
  const together = [atOnce[0] as number, atOnce.at(-1) as number].map((ns, i) => ns / (alone[i] as number));
  const after = readCores(all);
  const { user, system } = process.cpuUsage(ourUsage);
  const spentMs = (Date.now() - at.getTime()) * all.length;
  return {
    at: at.toISOString(),
    speed,
    together: Math.max(...together),
    stolen: (after.stolenMs - before.stolenMs) / spentMs,
    others: Math.max(0, after.busyMs - before.busyMs - ranMs - (user + system) / 1e3) / spentMs,
  };
}
