import { resolve } from "node:path";

/** @returns a path relative to the folder in which bench.sh was called, because bench.sh changes to its own folder. */
export const fromCaller = (path: string): string => resolve(process.env.CALLED_FROM ?? ".", path);

/** The environment in which bench.sh was called, without this project's Node and tools, so that an app runs on the user's Node. */
export const callersEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: process.env.CALLERS_PATH ?? process.env.PATH,
});
