/** Ends processes that a run left behind, because SIGKILL ended it or an app started them outside its group. Linux only. */
import { sweepGroups } from "./group.ts";
import { environmentOf, processes, statOf } from "./proc.ts";

/** Environment variable of all processes that a run starts; its value is the run's process id and start time. */
const MARK = "HTTP_BENCHMARK_RUN";

const begunAt = (pid: number) => String(statOf(pid)?.begun);

/** Marks all that this process starts from now on, and ends processes that ended runs left, paused or not. @returns their number */
export function sweep(): number {
  process.env[MARK] = `${process.pid}-${begunAt(process.pid)}`;
  const left = endAll((mark) => {
    const [pid, begun] = mark.split("-");
    return begunAt(Number(pid)) !== begun;
  });
  sweepGroups();
  return left;
}

/** Longest wait for the end of a killed process. */
const MOST_MS = 5_000;

let apps = 0;
/** @returns an environment variable that marks one app, and a function that ends all processes that have it. */
export function markApp(): { env: Record<string, string>; end: () => void } {
  const own = `${process.env[MARK]}-${++apps}`;
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
