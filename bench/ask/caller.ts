import { resolve } from "node:path";

/** @returns a file or folder as whoever called bench.sh sees it, which has gone to its own folder since. */
export const fromCaller = (path: string): string => resolve(process.env.CALLED_FROM ?? ".", path);
