import { afterAll, beforeAll, describe, type TestOptions, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { freePort } from "../bench/host/free-port.ts";
import { runFile, runsIn } from "../bench/keep/files.ts";
import matrix from "../servers/matrix.json" with { type: "json" };

export const SERVERS = Object.keys(matrix);

/** Makes a folder, and removes it after the tests of this file. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "http-benchmark-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** @returns a function that returns a new file name for results. */
export function resultsIn(folder: string): () => string {
  let files = 0;
  return () => join(folder, `results-${++files}.csv`);
}

export function makeDatabase(file: string, rows = 1_000): string {
  must(["bun", "createdb.ts", "--rows", String(rows), "--file", file]);
  return file;
}

/** A running program; `output` returns what it has printed so far. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  output(): string;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
}

export function run(command: string[], env: Record<string, string> = {}): Program {
  const [name = "", ...args] = command;
  const child = spawn(name, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return { child, pid: child.pid as number, output: () => output, ended };
}

export async function finish(command: string[], env?: Record<string, string>) {
  const program = run(command, env);
  return { ...(await program.ended), output: program.output() };
}

/** @returns what the program printed. @throws with its output if it does not exit 0 */
export function must(command: string[], env: Record<string, string> = {}): string {
  const [name = "", ...args] = command;
  const { status, stdout, stderr } = spawnSync(name, args, { encoding: "utf8", env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${command.join(" ")}: ${stderr}${stdout}`);
  return stdout.trim();
}

/** One per process, because test files run at the same time. */
export const IMAGE = `http-benchmark:test-${process.pid}`;

/** Builds the image for the tests of a `describe`, and removes it afterwards. */
export function withImage(): void {
  beforeAll(() => {
    must(["docker", "build", "--network=host", "--tag", IMAGE, "."]);
  });
  afterAll(() => {
    must(["docker", "rmi", "-f", IMAGE]);
  });
}

export interface Server extends Program {
  readonly url: string;
  readonly port: number;
}

/** On Linux: the file descriptors with which a process has a file open. */
export function descriptorsOf(pid: number, file: string): string[] {
  const isOpenAs = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === file;
    } catch {
      return false; // closed meanwhile
    }
  };
  return readdirSync(`/proc/${pid}/fd`).filter(isOpenAs);
}

/** On Linux: how many sockets listen on a port; each worker that is ready has one. */
export function listenersOn(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return readFileSync("/proc/net/tcp", "utf8").split(`:${hex} 00000000:0000 0A `).length - 1;
}

/** Starts the server that SERVER names; a server of stacks/ must be built already. */
export const START = ["sh", "servers/start.sh", "built"];

/** Starts a server and waits until it answers. */
export async function startServer(env: Record<string, string>, command = START): Promise<Server> {
  const port = await freePort();
  const program = run(command, { HOST: "127.0.0.1", PORT: String(port), ...env });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (program.child.exitCode !== null) throw new Error(`the server ended: ${program.output()}`);
    return (await fetch(url).catch(() => null))?.status === 200;
  });
  return { ...program, url, port };
}

export async function stopServer(server: Server | undefined): Promise<void> {
  server?.child.kill("SIGKILL");
  await server?.ended;
}

/** Sends SIGTERM, so that the server ends its own processes too. */
export async function endServer({ child, ended }: Server): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}

/** A quick bench.sh: two restarts, short slices, few connections, little warm-up. It appends to `file`. */
export const bench = (file: string, ...args: string[]) => [
  ...["./bench.sh", "--results", file, "--minutes", "0", "--seconds", "0.3", "--connections", "8", "--warmup", "500"],
  ...args,
];

/** The rows of a CSV file with a header. */
export const csvOf = (file: string): Record<string, string>[] => parse(readFileSync(file), { columns: true });
/** The slices, or the windows, of all runs in `results`. */
export const rowsOf = (results: string, kind: "csv" | "windows.csv" = "csv") =>
  runsIn(results).flatMap((run) => csvOf(runFile(results, run, kind)));

/** Processes that a bench.sh with MARKER=marker in its environment has left behind. */
export function left(marker: string): string[] {
  const read = (pid: string, file: string) => readFileSync(`/proc/${pid}/${file}`, "latin1");
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        return read(pid, "environ").includes(`MARKER=${marker}`) ? [read(pid, "cmdline").replaceAll("\0", " ")] : [];
      } catch {
        return []; // ended meanwhile
      }
    });
}

/** Waits up to 10 minutes, so that only a hang fails, even on a busy machine. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 600_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`still false after 10 minutes: ${condition}`);
    await sleep(20);
  }
}

/** The program is installed and exits 0. */
export const works = (...[command = "", ...args]: string[]): boolean => spawnSync(command, args).status === 0;

/** If set, only the `describe` of this name may be skipped; all others run and fail if something is missing. */
const { SKIP_ONLY } = process.env;

/** Skips the tests, with the reason, on a machine that lacks something. */
export function describeIf(condition: boolean, reason: string, name: string, body: () => void): void {
  if (condition || (SKIP_ONLY !== undefined && name !== SKIP_ONLY)) describe(name, body);
  else {
    console.warn(`SKIPPED ${name}: ${reason}`);
    describe.skip(`${name} (${reason})`, body);
  }
}

export function testIf(
  condition: boolean,
  reason: string,
  name: string,
  body: () => void | Promise<void>,
  options?: number | TestOptions,
): void {
  describeIf(condition, reason, name, () => test(name, body, options));
}
