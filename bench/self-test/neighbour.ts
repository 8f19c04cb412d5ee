/**
 * A noisy neighbour, to test its effect on measurements: uses every core 60 % of the time in bursts of 20 to 150 ms, with a higher
 * priority than all other processes if permitted (root, chrt), until it is stopped. `bun bench/self-test/neighbour.ts [share]`
 */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseCpuList, splitCores } from "../host/cores.ts";

const BURST_MS = [20, 150] as const;
const [share = "0.6", part] = process.argv.slice(2);

if (part === undefined) {
  const cores = splitCores();
  if (cores === null) throw new Error("a neighbour needs taskset and two cores");
  const children = [cores.server, cores.generator].flatMap(parseCpuList).map((core) => {
    const first = process.getuid?.() === 0 ? ["chrt", "--fifo", "1"] : ["nice", "-n", "-1"];
    const command = [...first, "taskset", "-c", String(core), process.execPath, import.meta.path, share, "burst"];
    return spawn(command[0] as string, command.slice(1), { stdio: "inherit" });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => children.forEach((child) => void child.kill()));
} else {
  const [least, most] = BURST_MS;
  while (true) {
    const burst = least + Math.random() * (most - least);
    for (const until = performance.now() + burst; performance.now() < until; );
    await sleep(burst / Number(share) - burst);
  }
}
