import { UsageError } from "../../shared/errors.ts";
import { run } from "./command.ts";

/** What a run may need besides Bun and the packages of bench/: bench/setup.sh has a function for each. */
export type Tool = "fortio" | "k6" | "httpyac" | "servers";

/** Installs a tool under this folder, unless it is there. Its output goes to stderr. @throws UsageError if it cannot be installed */
export async function setUp(tool: Tool, signal?: AbortSignal): Promise<void> {
  const { code } = await run(["sh", "-c", '. bench/setup.sh && "setup_$1"', "sh", tool], { shown: true, signal });
  if (code !== 0) throw new UsageError(`${tool} could not be set up: see above`);
}
