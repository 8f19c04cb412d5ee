import { UsageError } from "../../shared/errors.ts";
import { run } from "./command.ts";

/** What a run may need besides Bun and the packages of bench/: bench/setup.sh has a function for each. */
export type Tool = "fortio" | "k6" | "httpyac" | "servers";

/** Says to stdout what failed, because stderr shows what happens. */
const SET_UP = '. bench/setup.sh; fail() { echo "$*"; exit 1; }; alone "setup_$1"';

/** Installs a tool under this folder, unless it is there. Its output goes to stderr. @throws UsageError if it cannot be installed */
export async function setUp(tool: Tool, signal?: AbortSignal): Promise<void> {
  const { code, stdout } = await run(["sh", "-c", SET_UP, "sh", tool], { shown: "stderr", signal });
  if (code !== 0) throw new UsageError(stdout.trim() || `${tool} could not be set up: see above`);
}
