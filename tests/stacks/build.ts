import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { folderOf, STACKS } from "../../bench/ask/targets.ts";
import { NO_TOOLCHAIN } from "../../bench/commands/stacks.ts";

interface Build {
  readonly isBuilt: boolean;
  /** Why it is not. */
  readonly reason: string;
}

/** Where test.sh keeps how the builds ended, so that each test file finds them built. */
const BUILDS_FILE = process.env.BUILDS_FILE ?? "";

/** Name of a stack -> how its build ended. @throws where one fails for another reason than a missing toolchain */
export function buildAll(): Map<string, Build> {
  const builds = existsSync(BUILDS_FILE)
    ? new Map<string, Build>(JSON.parse(readFileSync(BUILDS_FILE, "utf8")))
    : buildFolders();
  return new Map(Object.entries(STACKS).map(([name, stack]) => [name, builds.get(folderOf(stack)) as Build]));
}

function buildFolders(): Map<string, Build> {
  const folders = [...new Set(Object.values(STACKS).map(folderOf))];
  return new Map(
    folders.map((folder) => {
      const { status, stdout, stderr } = spawnSync("sh", [`${folder}/build.sh`], { encoding: "utf8" });
      const output = `${stdout}${stderr}`.trim();
      if (status !== 0 && status !== NO_TOOLCHAIN) throw new Error(`${folder}/build.sh: ${output}`);
      return [folder, { isBuilt: status === 0, reason: output.split("\n").at(-1) ?? "" }];
    }),
  );
}

/** Of each group the first, for tests that the others of it could not fail otherwise. */
export const firstOfEach = <T>(all: readonly T[], groupOf: (one: T) => string): T[] =>
  [...Map.groupBy(all, groupOf).values()].map(([first]) => first as T);

if (import.meta.main) writeFileSync(BUILDS_FILE, JSON.stringify([...buildFolders()]));
