/** Runs a command to its end; all of bench/ uses this. */
import { UsageError } from "../../shared/errors.ts";

export interface Ended {
  readonly code: number | null;
  /** The signal that ended it; null if it exited. */
  readonly killedBy: Bun.Subprocess["signalCode"];
  readonly stdout: string;
  /** Its last 64 KiB. */
  readonly stderr: string;
  /** CPU time of the command and of the children that it waited for, and elapsed time. */
  readonly cpuSeconds: number;
  readonly seconds: number;
}

export interface Running {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

export interface CommandOptions {
  /** Ends it by SIGTERM. */
  readonly signal?: AbortSignal | undefined;
  readonly cwd?: string | undefined;
  /** User that runs the command; if absent, the user of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | null | undefined;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly stdin?: Bun.BunFile | Blob | ReadableStream | undefined;
  /** Its output goes to stderr of this process, and is not kept; "stderr": only its stderr. */
  readonly shown?: boolean | "stderr" | undefined;
}

/** @throws UsageError if there is no such command */
export function start(command: readonly string[], options: CommandOptions = {}): Running {
  const { signal, cwd, user, env, stdin, shown } = options;
  signal?.throwIfAborted();
  const since = performance.now();
  let child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  try {
    child = Bun.spawn([...command], {
      stdio: [(stdin ?? "ignore") as "ignore", shown === true ? (2 as never) : "pipe", shown ? (2 as never) : "pipe"],
      env: { ...process.env, ...env },
      ...(cwd && { cwd }),
      ...user,
      ...(signal && { signal }),
    });
  } catch (error) {
    throw new UsageError(`${command[0]} cannot be run (${(error as Error).message}): install it`);
  }
  const ended = async (): Promise<Ended> => {
    const [stdout, stderr] = await Promise.all([
      shown === true ? "" : new Response(child.stdout).text(),
      shown ? "" : endOf(child.stderr),
    ]);
    await child.exited;
    const seconds = (performance.now() - since) / 1e3;
    signal?.throwIfAborted();
    const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
    return { code: child.exitCode, killedBy: child.signalCode, stdout, stderr, cpuSeconds, seconds };
  };
  return { pid: child.pid, kill: (signal) => child.kill(signal), ended: ended() };
}

/** Keeps only the end, because a server may log errors for hours. */
async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of stream) text = (text + decoder.decode(part, { stream: true })).slice(-(2 ** 16));
  return text;
}

/** @throws UsageError if there is no such command */
export async function run(command: readonly string[], options?: CommandOptions): Promise<Ended> {
  return start(command, options).ended;
}

/** @returns the last line that is not empty, which mostly says what was wrong. */
export const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "";
