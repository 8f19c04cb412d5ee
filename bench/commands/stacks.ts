import { spawn } from "node:child_process";
import { once } from "node:events";
import { UsageError } from "../../shared/errors.ts";
import type { Workload } from "../ask/endpoints.ts";
import { folderOf, lackOf, SERVERS, STACKS, type TargetSpec } from "../ask/targets.ts";

/** What build.sh of a stack exits with if its toolchain is missing: EX_UNAVAILABLE of sysexits.h. */
export const NO_TOOLCHAIN = 69;

/**
 * `all` -> the servers of the matrix and the stacks that can be built here; says of the others why they are left out.
 * @param workload what they are to serve.
 * @param signal null to build nothing, and leave none out for want of a toolchain
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

/** Folder -> how its build ended. */
const builds = new Map<string, Promise<string | null>>();

/** Builds a stack, once. */
function build(folder: string, signal: AbortSignal): Promise<string | null> {
  const built = builds.get(folder) ?? runBuild(folder, signal);
  builds.set(folder, built);
  return built;
}

/**
 * Runs build.sh, which takes a moment if nothing has changed.
 * @returns null, or the line that says which toolchain is missing and how to get it
 * @throws UsageError with the end of its output if it cannot be built.
 */
async function runBuild(folder: string, signal: AbortSignal): Promise<string | null> {
  console.error(`building ${folder}`);
  const child = spawn("sh", [`${folder}/build.sh`], { stdio: ["ignore", "pipe", "pipe"], signal });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-2_000);
    });
  }
  const [code] = await once(child, "close");
  if (code === 0) return null;
  const lines = output.trim().split("\n");
  if (code === NO_TOOLCHAIN) return lines.at(-1) as string;
  throw new UsageError(`${folder}/build.sh failed with ${code}: ${lines.slice(-5).join("\n")}`);
}
