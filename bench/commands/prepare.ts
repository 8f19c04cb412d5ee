import { UsageError } from "../../shared/errors.ts";
import { isSequence, type Workload } from "../ask/endpoints.ts";
import { folderOf, isHere, isOurs, lackOf, SERVERS, STACKS } from "../ask/targets.ts";
import { lastLine, run } from "../host/command.ts";
import { splitCores } from "../host/cores.ts";
import { setUp } from "../host/tools.ts";
import { checkResults } from "../keep/results.ts";
import { endpointsOf, type Plan } from "../plan/plan.ts";

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

/**
 * Installs and builds what a plan needs: servers, data and load generators.
 * @param loads false if nothing will be loaded
 * @throws UsageError if `results` cannot be appended to, something cannot be installed, or a toolchain is missing
 */
export async function prepare(plan: Plan, results: string, signal: AbortSignal, loads = true): Promise<void> {
  const { targets, agents, workload } = plan;
  if (loads) checkResults(results);
  const isLoadedHere = loads && agents.length === 0 && targets.every(isHere);
  if (isLoadedHere && splitCores() === null)
    throw new UsageError(
      "measuring here requires two cores, one for servers and one for the load: use a machine with two (Docker: give it two CPUs), or measure a server elsewhere by its URL",
    );
  if (targets.some(isOurs)) await setUp("servers", signal);
  if (loads && agents.length === 0) await setUp("fortio", signal);
  if (loads && endpointsOf(plan).some((endpoint) => isSequence(workload, endpoint))) await setUp("k6", signal);
  for (const spec of targets) {
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
