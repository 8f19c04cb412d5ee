import { afterAll, beforeAll, describe, type TestOptions, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { splitCores } from "../bench/host/cores.ts";
import { freePort } from "../bench/host/free-port.ts";
import { runFile, runsIn } from "../bench/keep/files.ts";
import { needPgbouncer } from "../bench/run/stores/pooler.ts";
import { findPrograms } from "../bench/run/stores/postgres.ts";
import matrix from "../servers/matrix.json" with { type: "json" };

// Tests also find what setup.sh has installed, and programs that Debian has elsewhere.
const INSTALLED = [resolve(".tools/bin"), resolve("node_modules/.bin")];
const ELSEWHERE = ["/usr/sbin", "/sbin", findPrograms() ?? []].flat();
process.env.PATH = [...INSTALLED, process.env.PATH, ...ELSEWHERE].join(delimiter);

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

/** @returns the path of a program, null if it is missing */
export const find = (program: string): string | null => Bun.which(program, { PATH: process.env.PATH ?? "" });

export const COMPOSES = [["docker", "compose"], ["docker-compose"]] as const;
export const CHROMIUM = ["chromium", "chromium-browser", "google-chrome"].map(find).find(Boolean);

/** Programs that are on PATH or not, and their packages in Debian. */
const PACKAGES = {
  chrt: "util-linux",
  dockerd: "docker.io",
  ip: "iproute2",
  nginx: "nginx-light",
  npm: "npm",
  nsenter: "util-linux",
  openssl: "openssl",
  pgbench: "postgresql",
  ps: "procps",
  python3: "python3",
  script: "bsdutils",
  shellcheck: "shellcheck",
  ssh: "openssh-client",
  "ssh-keygen": "openssh-client",
  sshd: "openssh-server",
  tc: "iproute2",
};

/** Everything else that a test may need: whether it is there, and what to do if it is not. */
const OTHERS = {
  act: [() => find("act") !== null, "act is missing: go install github.com/nektos/act@latest"],
  chromium: [() => CHROMIUM !== undefined, "Chromium is missing: install chromium"],
  compose: [
    () => COMPOSES.some((one) => works(...one, "version")),
    "Docker Compose is missing: install docker-compose",
  ],
  docker: [() => works("docker", "info"), "no Docker engine answers: start Docker"],
  ipv6: [
    () => Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1")),
    "this machine has no IPv6: enable it for the loopback interface",
  ],
  k6: [() => find("k6") !== null, "k6 is missing: ./test.sh all builds it"],
  linux: [() => process.platform === "linux", "this is not Linux"],
  pgbouncer: [() => isFine(needPgbouncer), "pgbouncer 1.24 or later is missing: install pgbouncer"],
  postgres: [() => findPrograms() !== null, "PostgreSQL is missing: install postgresql"],
  root: [() => process.getuid?.() === 0, "this user is not root"],
  "two cores": [() => splitCores() !== null, "this is not Linux with two cores"],
  venv: [() => works("python3", "-c", "import ensurepip"), "Python makes no venv: install python3-venv"],
} as const;

function isFine(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

export type Need = keyof typeof PACKAGES | keyof typeof OTHERS;

/**
 * The only place where a test asks for what not every machine has: testIf(...needs("k6"), name, body).
 * @returns whether all of it is there, and what is missing and how to get it
 */
export function needs(...all: readonly Need[]): [isThere: boolean, missing: string] {
  const missing = all.flatMap((one) => {
    if (one in PACKAGES)
      return find(one) ? [] : [`${one} is missing: install ${PACKAGES[one as keyof typeof PACKAGES]}`];
    const [isThere, what] = OTHERS[one as keyof typeof OTHERS];
    return isThere() ? [] : [what];
  });
  return [missing.length === 0, missing.join("; ")];
}

/** @returns what those arguments of bench.sh need beside what it always does */
export const needsOf = (args: readonly string[]): Need[] => [
  ...(args.some((arg) => arg === "content" || arg === "tpcb") ? ["k6" as const] : []),
];

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

/**
 * For a test that has run, but could not show what it is for, because the machine was disturbed. Bun cannot skip a test
 * that runs, so this says it, and corrects the counts that test.sh prints: one fewer passed, one more skipped.
 */
export function notShown(what: string, reason: string): void {
  console.warn(`SKIPPED ${what}: ${reason}`);
  const { REPORTS } = process.env;
  if (REPORTS) writeFileSync(join(REPORTS, `not-shown-${Bun.randomUUIDv7()}.xml`), COUNTS);
}
const COUNTS = '<testsuites name="not shown" tests="0" assertions="0" failures="0" skipped="1">\n</testsuites>\n';
