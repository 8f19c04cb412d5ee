/** Runs on one core and prints its speed as JSON: see fingerprint.ts. With an argument, runs only the ALU loop, for so many ms. */
import { cc } from "bun:ffi";
import { join } from "node:path";

const loop = { args: ["int"], returns: "double" } as const;
const { symbols: c } = cc({
  source: join(import.meta.dirname, "probe.c"),
  // By its file name, because without libc's development files there is no library "c".
  flags: ["-nostdlib"],
  library: [":libc.so.6"],
  symbols: { alu: loop, loopback: loop, chase: loop },
});

/**
 * The median of as many short samples as fit into the time, at least three: short interruptions by the host do not change it,
 * a core that is slow all the time does.
 */
function median(milliseconds: number, look: () => number): number {
  const seen: number[] = [];
  for (const until = performance.now() + milliseconds; performance.now() < until || seen.length < 3; )
    seen.push(look());
  return seen.sort((a, b) => a - b)[seen.length >> 1] as number;
}

const [aluMs] = process.argv.slice(2);
const MS = 60;
const others = () => ({
  loopbackNs: median(MS, () => c.loopback(500)),
  memoryNs: median(MS, () => c.chase(100_000)),
});
const aluNs = median(Number(aluMs ?? MS), () => c.alu(20_000));
console.log(JSON.stringify({ aluNs, ...(aluMs === undefined && others()) }));
