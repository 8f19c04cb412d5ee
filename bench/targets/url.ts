import { UsageError } from "../../shared/errors.ts";
import type { UrlSpec } from "../plan/targets.ts";
import { readIdentity, readItself, type Target } from "./target.ts";

/** A server that runs already, here or elsewhere; it is left running. */
export async function attach({ url, name }: UrlSpec, signal: AbortSignal): Promise<Target> {
  const identity = await readIdentity(url, signal);
  const shownName = name ?? identity?.server;
  if (shownName === undefined) throw new UsageError(`${url}/ does not say what server it is: say it with --name NAME`);
  const read = async () => identity && readItself(url, signal);
  return { name: shownName, url, identity, pid: null, databasePid: null, startupMs: null, read, stop: async () => {} };
}
