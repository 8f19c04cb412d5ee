import { UsageError } from "../../../shared/errors.ts";
import { isHere, type UrlSpec } from "../../ask/targets.ts";
import { listenerOf } from "../../host/proc.ts";
import { ask } from "../../load/ask.ts";
import { clocksOf, readIdentity, readItself, type Target } from "./target.ts";

/** A server that runs already, here or elsewhere; it is left running. One of this machine that does not say its CPU time is read from outside. */
export async function attach(spec: UrlSpec, signal: AbortSignal): Promise<Target> {
  const { name } = spec;
  const url = await reachable(spec, signal);
  // Whether it answers what is asked is seen later: nothing is needed of /.
  const identity = await readIdentity(url, signal, spec.insecure).catch(() => null);
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
    read: async () => identity && readItself(url, signal, spec.insecure),
    ended: () => null,
    stop: async () => {},
  };
}

/** @returns its address: `localhost` is one of two, and generators try only the first. */
async function reachable({ url, insecure = false }: UrlSpec, signal: AbortSignal): Promise<string> {
  if (new URL(url).hostname !== "localhost") return url;
  for (const loopback of ["127.0.0.1", "[::1]"]) {
    const at = url.replace("//localhost", `//${loopback}`);
    const isUp = await ask({ url: at, insecure }, signal).then(
      () => true,
      () => false,
    );
    // A certificate may be of the name only.
    if (isUp) return at;
  }
  return url;
}

/** @returns the name of a server that says it. @throws UsageError if it does not */
export async function nameAt({ url, insecure }: UrlSpec, signal: AbortSignal): Promise<string> {
  const identity = await readIdentity(url, signal, insecure);
  if (identity) return identity.server;
  throw new UsageError(`${url}/ does not name the server: give --name NAME`);
}
