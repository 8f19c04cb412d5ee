/** Removes the secrets of a run from what is written about it. */
import type { TargetSpec } from "../ask/targets.ts";
import { type Hide, hashOf, hiddenCommand, hiddenHeaders, hiddenRequest, hiddenText } from "../load/secrets.ts";
import type { Plan } from "../plan/plan.ts";
import type { Manifest } from "./manifest.ts";

/** Whether a plan has secrets, so that it cannot be continued without them. */
export const hasSecrets = (plan: Plan): boolean => JSON.stringify(hiddenPlan(plan, hashOf)) !== JSON.stringify(plan);

/** @returns the manifest with a short hash in place of each secret, also where a server or an error repeats one */
export function withoutSecrets(manifest: Manifest): Manifest {
  const secrets: string[] = [];
  const plan = hiddenPlan(manifest.plan, (secret) => {
    if (hashOf(secret) !== secret) secrets.push(secret);
    return hashOf(secret);
  });
  const hidden = hiderOf(secrets);
  return {
    ...manifest,
    plan,
    ...(secrets.length > 0 && { secrets: "hashed" }),
    // Earlier versions kept neither.
    ...(manifest.left && { left: manifest.left.map((one) => ({ ...one, reason: hidden(one.reason) })) }),
    ...(manifest.remarks && { remarks: manifest.remarks.map(hidden) }),
  };
}

/** Shorter ones are words that stand in other texts too. */
const LEAST_PART = 6;
const PART = /[=:\s"][=:\s"/]*([^=:\s"/;,&@{}[\]]+)(?!"\s*:)(?=["\s;,&@}\]]|$)/g;
/** @returns it, and what of it may be repeated alone: a token without Bearer, one cookie, the password of a URL, a field of a body */
const partsOf = (secret: string): string[] =>
  [secret, ...[...secret.matchAll(PART)].map(([, part = ""]) => part)].filter(({ length }) => length >= LEAST_PART);

/** @returns a function that hides these secrets, and those of URLs, in what a server or an error says */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
  const longestFirst = [...new Set(secrets.flatMap(partsOf))].sort((a, b) => b.length - a.length);
  return (text) => hiddenText(longestFirst.reduce((all, secret) => all.replaceAll(secret, hashOf(secret)), text));
}

const hiddenPlan = (plan: Plan, hide: Hide): Plan => {
  const { requests, live } = plan;
  const hidden = Object.entries(requests ?? {}).map(([name, one]) => [name, hiddenRequest(one, hide)] as const);
  return {
    ...plan,
    targets: plan.targets.map((spec) => hiddenTarget(spec, hide)),
    ...(requests && { requests: Object.fromEntries(hidden) }),
    ...(live && { live: { ...live, ...(live.headers && { headers: hiddenHeaders(live.headers, hide) }) } }),
  };
};

/** Our own servers have settings only. */
function hiddenTarget(spec: TargetSpec, hide: Hide): TargetSpec {
  if (spec.kind === "url") return { ...spec, name: hiddenText(spec.name, hide), url: hiddenText(spec.url, hide) };
  if (spec.kind === "docker" || !spec.app) return spec;
  const { command, env, app } = spec;
  // STORE is not the user's.
  const values = Object.entries(env).map(([name, value]) => [name, name === "STORE" ? value : hide(value)]);
  return {
    ...spec,
    command: command.map((word) => hiddenCommand(word, hide)),
    env: Object.fromEntries(values),
    app: { ...app, ready: app.ready && hiddenRequest(app.ready, hide) },
  };
}
