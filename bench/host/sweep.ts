/** Ends processes that a run left behind, because SIGKILL ended it or an app started them outside its group. */
import { sweepPrivate } from "./folders.ts";
import { sweepGroups } from "./group.ts";
import { hasEnded, OWNER } from "./owner.ts";
import { environmentOf, processes } from "./proc.ts";

/** Environment variable of all processes that this process starts. */
const MARK = "HTTP_BENCHMARK_OWNER";
process.env[MARK] = OWNER;

/** Ends the processes, paused or not, and removes the control groups and private files, of runs that have provably ended. */
export function sweep(): void {
  const left = endAll(hasEnded);
  sweepGroups();
  sweepPrivate();
  if (left > 0) console.error(`ended ${left} processes left by a run that was killed`);
}

/** Longest wait for the end of a killed process. */
const MOST_MS = 5_000;

let apps = 0;
/** @returns an environment variable that marks one app, and a function that ends all processes that have it. */
export function markApp(): { env: Record<string, string>; end: () => void } {
  const own = `${OWNER}-${++apps}`;
  return { env: { [MARK]: own }, end: () => void endAll((mark) => mark === own) };
}

function endAll(isLeft: (mark: string) => boolean): number {
  const isOne = (pid: number) => {
    const mark = new RegExp(`(?:^|\0)${MARK}=([^\0]*)`).exec(environmentOf(pid))?.[1];
    return mark !== undefined && isLeft(mark);
  };
  const left = processes().filter(isOne);
  for (const pid of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended since
    }
  }
  // On a busy machine the kernel takes a moment.
  for (const since = Date.now(); left.some(isOne) && Date.now() - since < MOST_MS; ) Bun.sleepSync(5);
  return left.length;
}
