import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { folderOf, STACKS, type Stack } from "../../bench/ask/targets.ts";
import { NO_TOOLCHAIN } from "../../bench/commands/prepare.ts";
import { describeIf } from "../harness.ts";

/** Folder -> why its stacks are not built, empty if they are. */
type Builds = Readonly<Record<string, string>>;

/** Where test.sh keeps how the builds ended, so that each test file finds them built. */
const BUILDS_FILE = process.env.BUILDS_FILE ?? "";
/** Tests ask what a server answers, not how fast: so Rust compiles in a third of the time. */
const QUICKLY = {
  CARGO_PROFILE_RELEASE_OPT_LEVEL: "0",
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
};

export type Named = Stack & { readonly server: string };

/**
 * Skips those whose toolchain is missing, and says so.
 * @param isMeant of a runtime @returns the stacks that have a workload @throws if a build fails for another reason than a missing toolchain
 */
export function stacksOf(workload: string, isMeant = (_runtime: string) => true): readonly Named[] {
  const builds: Builds = existsSync(BUILDS_FILE) ? JSON.parse(readFileSync(BUILDS_FILE, "utf8")) : buildFolders();
  return Object.entries(STACKS).flatMap(([server, stack]) => {
    if (!stack.workloads.includes(workload) || !isMeant(stack.runtime)) return [];
    const missing = builds[folderOf(stack)] as string;
    if (missing === "") return [{ server, ...stack }];
    describeIf(false, missing, server, () => test("is built", () => expect(missing).toBe("")));
    return [];
  });
}

function buildFolders(): Builds {
  const folders = [...new Set(Object.values(STACKS).map(folderOf))];
  return Object.fromEntries(
    folders.map((folder) => {
      const env = { ...process.env, ...QUICKLY };
      const { status, stdout, stderr } = spawnSync("sh", [`${folder}/build.sh`], { encoding: "utf8", env });
      const output = `${stdout}${stderr}`.trim();
      if (status !== 0 && status !== NO_TOOLCHAIN) throw new Error(`${folder}/build.sh: ${output}`);
      return [folder, status === 0 ? "" : (output.split("\n").at(-1) as string)];
    }),
  );
}

/** Drivers or clients that only this server has: those of Node are the ten's, so one shows that it uses them. */
export const ownOf = (runtime: string, names: readonly string[]) => (runtime === "node" ? names.slice(0, 1) : names);

/** Of each group the first, for tests that the others of it could not fail otherwise. */
export const firstOfEach = <T>(all: readonly T[], groupOf: (one: T) => string): T[] =>
  [...Map.groupBy(all, groupOf).values()].map(([first]) => first as T);

if (import.meta.main) writeFileSync(BUILDS_FILE, JSON.stringify(buildFolders()));
