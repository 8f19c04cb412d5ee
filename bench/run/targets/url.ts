import { UsageError } from "../../../shared/errors.ts";
import { isHere, type UrlSpec } from "../../ask/targets.ts";
import { listenerOf } from "../../host/proc.ts";
import { ask } from "../../load/ask.ts";
import { clocksOf, readIdentity, readItself, type Target } from "./target.ts";

/** Attaches to a running server, and leaves it running. If it is on this machine and does not report its CPU time, reads its processes. */
export async function attach(spec: UrlSpec, signal: AbortSignal): Promise<Target> {
  const { name } = spec;
  const url = await reachable(spec, signal);
  // An error at / does not matter: the endpoints are checked later.
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

/** @returns the URL, with `localhost` replaced by the address that answers (IPv4 or IPv6), because generators try only the first. */
async function reachable({ url, insecure = false }: UrlSpec, signal: AbortSignal): Promise<string> {
  if (new URL(url).hostname !== "localhost") return url;
  for (const loopback of ["127.0.0.1", "[::1]"]) {
    const at = url.replace("//localhost", `//${loopback}`);
    const isUp = await ask({ url: at, insecure }, signal).then(
      () => true,
      () => false,
    );
    // Fails for a certificate that is valid only for the name `localhost`; the URL then keeps the name.
    if (isUp) return at;
  }
  return url;
}

/** @returns the name that a server reports. @throws UsageError if it reports none */
export async function nameAt({ url, insecure }: UrlSpec, signal: AbortSignal): Promise<string> {
  const identity = await readIdentity(url, signal, insecure);
  if (identity) return identity.server;
  throw new UsageError(`${url}/ does not name the server: give --name NAME`);
}
