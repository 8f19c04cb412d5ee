import { UsageError } from "../../shared/errors.ts";
import type { Workload } from "../ask/endpoints.ts";
import { folderOf, lackOf, SERVERS, STACKS, type TargetSpec } from "../ask/targets.ts";
import { lastLine, run } from "../host/command.ts";

/** Exit code of a stack's build.sh if its toolchain is missing: EX_UNAVAILABLE of sysexits.h. */
export const NO_TOOLCHAIN = 69;

/**
 * Replaces `all` by the servers of the matrix and the stacks that can be built here; prints why others are left out.
 * @param workload that they must serve
 * @param signal null to build nothing: then no stack is left out because of a missing toolchain
 */
export async function withoutAll(
  servers: readonly string[],
  workload: Workload,
  signal: AbortSignal | null,
): Promise<readonly string[]> {
  if (!servers.includes("all")) return servers;
  const built: string[] = [];
  for (const [name, stack] of Object.entries(STACKS)) {
    const lack = lackOf(stack, workload);
    const missing = lack ? `it has no ${lack}` : signal && (await build(folderOf(stack), signal));
    if (missing === null) built.push(name);
    else console.error(`${name} is left out: ${missing}`);
  }
  return [...new Set([...SERVERS, ...built, ...servers.filter((name) => name !== "all")])];
}

/** Builds the stacks among targets. @throws UsageError if a toolchain is missing */
export async function buildStacks(specs: readonly TargetSpec[], signal: AbortSignal): Promise<void> {
  for (const spec of specs) {
    const missing = spec.kind === "local" && spec.stack ? await build(spec.stack, signal) : null;
    if (missing !== null) throw new UsageError(missing);
  }
}

/** Folder -> result of its build. */
const builds = new Map<string, Promise<string | null>>();
const build = (folder: string, signal: AbortSignal) =>
  builds.getOrInsertComputed(folder, () => runBuild(folder, signal));

/**
 * Runs build.sh, which is quick if nothing has changed.
 * @returns null, or the line that says which toolchain is missing and how to get it
 * @throws UsageError with the end of its output if it cannot be built.
 */
async function runBuild(folder: string, signal: AbortSignal): Promise<string | null> {
  console.error(`building ${folder}`);
  const { code, stdout, stderr } = await run(["sh", `${folder}/build.sh`], { signal });
  if (code === 0) return null;
  if (code === NO_TOOLCHAIN) return lastLine(stderr);
  const lines = (stdout + stderr).trim().split("\n");
  throw new UsageError(`${folder}/build.sh failed with ${code}: ${lines.slice(-5).join("\n")}`);
}
