/** What runs leave that could not end what they started: killed by SIGKILL, or an app that went its own way. Linux. */
import { readdirSync, readFileSync } from "node:fs";

/** Everything that a run starts has this in its environment, with the run's process and when that began. */
const MARK = "HTTP_BENCHMARK_RUN";

/** Marks what this process starts from now on, and ends what others left that are gone. @returns how many those were */
export function sweep(): number {
  process.env[MARK] = `${process.pid}-${begunAt(process.pid)}`;
  return endAll((mark) => {
    const [pid, begun] = mark.split("-");
    return begunAt(Number(pid)) !== begun;
  });
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
    const mark = new RegExp(`(?:^|\0)${MARK}=([^\0]*)`).exec(read(pid, "environ"))?.[1];
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

function processes(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Boolean);
  } catch {
    return []; // not Linux
  }
}

/** proc_pid_stat, field 22: when a process began, in ticks since the machine did; undefined for one that is gone. */
const begunAt = (pid: number): string | undefined =>
  read(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ")[22 - 3];

/** @returns nothing for what is gone, or another user's. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
