/** Runs on one core and prints how fast it is, as JSON: see fingerprint.ts. Its argument says for how long the ALU loop runs. */
import { cc } from "bun:ffi";
import { join } from "node:path";

const int = "int";
const double = "double";
const { symbols: c } = cc({
  source: join(import.meta.dirname, "probe.c"),
  symbols: {
    alu: { args: [int], returns: double },
    syscalls: { args: [int], returns: double },
    indirect: { args: [int], returns: double },
    chase: { args: [int, int], returns: double },
    touch: { args: [int], returns: double },
    loopback: { args: [int], returns: double },
  },
});

/**
 * The median of many short looks, as many as there is time for, at least three: a host that halts the core now and then does
 * not count, one that is slow throughout does.
 */
function median(milliseconds: number, look: () => number): number {
  const seen: number[] = [];
  for (const until = performance.now() + milliseconds; performance.now() < until || seen.length < 3; )
    seen.push(look());
  return seen.sort((a, b) => a - b)[seen.length >> 1] as number;
}

const [what, milliseconds] = process.argv.slice(2);
const MS = 60;
console.log(
  JSON.stringify(
    what === "alu"
      ? { aluNs: median(Number(milliseconds), () => c.alu(20_000)) }
      : {
          aluNs: median(MS, () => c.alu(20_000)),
          syscallNs: median(MS, () => c.syscalls(20_000)),
          indirectNs: median(MS, () => c.indirect(50_000)),
          loopbackNs: median(MS, () => c.loopback(500)),
          cachedNs: median(MS, () => c.chase(2 ** 18, 100_000)),
          memoryNs: median(MS, () => c.chase(2 ** 27, 100_000)),
          touchNs: median(MS, () => c.touch(4_096)),
        },
  ),
);
