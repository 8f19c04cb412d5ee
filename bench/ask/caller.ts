import { resolve } from "node:path";

/** @returns a file or folder as whoever called bench.sh sees it, which has gone to its own folder since. */
export const fromCaller = (path: string): string => resolve(process.env.CALLED_FROM ?? ".", path);

/** The environment of whoever called bench.sh, without this project's own Node and tools: an app runs on the Node that it has elsewhere. */
export const callersEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: process.env.CALLERS_PATH ?? process.env.PATH,
});
