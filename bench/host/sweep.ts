/** Ends processes that a run left behind: it was killed by SIGKILL, or an app started them outside its group. Linux. */
import { sweepGroups } from "./group.ts";
import { environmentOf, processes, statOf } from "./proc.ts";

/** Everything that a run starts has this in its environment, with the run's process and when that began. */
const MARK = "HTTP_BENCHMARK_RUN";

const begunAt = (pid: number) => String(statOf(pid)?.begun);

/** Marks what this process starts from now on, and ends what others left that are gone, paused or not. @returns how many those were */
export function sweep(): number {
  process.env[MARK] = `${process.pid}-${begunAt(process.pid)}`;
  const left = endAll((mark) => {
    const [pid, begun] = mark.split("-");
    return begunAt(Number(pid)) !== begun;
  });
  sweepGroups();
  return left;
}

/** How long a process that was killed is waited for. */
const MOST_MS = 5_000;

let apps = 0;
/** @returns a mark of its own for an app, as a variable of its environment, and what ends all that has it. */
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
