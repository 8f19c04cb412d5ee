import { UsageError } from "../../../shared/errors.ts";
import { isHere, type UrlSpec } from "../../ask/targets.ts";
import { listenerOf } from "../../host/proc.ts";
import { clocksOf, readIdentity, readItself, type Target } from "./target.ts";

/** A server that runs already, here or elsewhere; it is left running. One of this machine that does not say its CPU time is read from outside. */
export async function attach(spec: UrlSpec, signal: AbortSignal): Promise<Target> {
  const { url, name } = spec;
  const identity = await readIdentity(url, signal);
  const { port, protocol } = new URL(url);
  const pid = identity === null && isHere(spec) ? listenerOf(Number(port || (protocol === "https:" ? 443 : 80))) : null;
  return {
    spec,
    name,
    url,
    identity,
    pid,
    clocks: pid === null ? null : clocksOf(pid, null),
    databaseUrl: null,
    startupMs: null,
    read: async () => identity && readItself(url, signal),
    ended: () => null,
    stop: async () => {},
  };
}

/** @returns the name of a server that says it. @throws UsageError if it does not */
export async function nameAt(url: string, signal: AbortSignal): Promise<string> {
  const identity = await readIdentity(url, signal);
  if (identity) return identity.server;
  throw new UsageError(`${url}/ does not say what server it is: say it with --name NAME`);
}
