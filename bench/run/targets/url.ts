import { UsageError } from "../../../shared/errors.ts";
import { isHere, type UrlSpec } from "../../ask/targets.ts";
import { listenerOf } from "../../host/listener.ts";
import { NO_HELPERS, readIdentity, readItself, type Target } from "./target.ts";

/** A server that runs already, here or elsewhere; it is left running. One of this machine that does not say its CPU time is read from outside. */
export async function attach(spec: UrlSpec, signal: AbortSignal): Promise<Target> {
  const { url, name } = spec;
  const identity = await readIdentity(url, signal);
  const { port, protocol } = new URL(url);
  const pid = identity === null && isHere(spec) ? listenerOf(Number(port || (protocol === "https:" ? 443 : 80))) : null;
  const shownName = name ?? identity?.server;
  if (shownName === undefined) throw new UsageError(`${url}/ does not say what server it is: say it with --name NAME`);
  const read = async () => identity && readItself(url, signal);
  return { name: shownName, url, identity, pid, helpers: NO_HELPERS, startupMs: null, read, stop: async () => {} };
}
