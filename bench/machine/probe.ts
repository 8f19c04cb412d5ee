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

/** The median of several looks: a host that halts the core now and then does not count, one that is slow throughout does. */
function median(looks: number, look: () => number): number {
  const seen = Array.from({ length: looks }, look).sort((a, b) => a - b);
  return seen[Math.floor(looks / 2)] as number;
}

const [what, milliseconds] = process.argv.slice(2);
if (what === "alu") {
  const until = performance.now() + Number(milliseconds);
  const looks: number[] = [];
  while (performance.now() < until) looks.push(c.alu(20_000));
  console.log(JSON.stringify({ aluNs: median(looks.length, () => looks.pop() as number) }));
} else {
  console.log(
    JSON.stringify({
      aluNs: median(41, () => c.alu(50_000)),
      syscallNs: median(21, () => c.syscalls(20_000)),
      indirectNs: median(21, () => c.indirect(50_000)),
      loopbackNs: median(11, () => c.loopback(2_000)),
      cachedNs: median(11, () => c.chase(2 ** 18, 100_000)),
      memoryNs: median(3, () => c.chase(2 ** 27, 200_000)),
      touchNs: median(7, () => c.touch(4_096)),
    }),
  );
}
