import { spawnSync } from "node:child_process";
import { NO_TOOLCHAIN } from "../../bench/commands/stacks.ts";
import { folderOf, STACKS } from "../../bench/plan/targets.ts";

interface Build {
  readonly isBuilt: boolean;
  /** Why it is not. */
  readonly reason: string;
}

/** Name of a stack -> how its build ended. @throws where one fails for another reason than a missing toolchain */
export function buildAll(): Map<string, Build> {
  const folders = [...new Set(Object.values(STACKS).map(folderOf))];
  const builds = new Map(
    folders.map((folder) => {
      const { status, stdout, stderr } = spawnSync("sh", [`${folder}/build.sh`], { encoding: "utf8" });
      const output = `${stdout}${stderr}`.trim();
      if (status !== 0 && status !== NO_TOOLCHAIN) throw new Error(`${folder}/build.sh: ${output}`);
      return [folder, { isBuilt: status === 0, reason: output.split("\n").at(-1) ?? "" }];
    }),
  );
  return new Map(Object.entries(STACKS).map(([name, stack]) => [name, builds.get(folderOf(stack)) as Build]));
}
