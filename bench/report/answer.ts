import type { MainEffect } from "../effects.ts";
import type { Manifest } from "../session.ts";
import { stateOf } from "../statistics.ts";
import { listed, percent, ratio } from "./format.ts";
import type { Endpoint } from "./report.ts";

/** What a run says, in plain words: one thing per line, most useful first. */
export function answerOf(endpoints: readonly Endpoint[], manifest: Manifest | null): string[] {
  return [
    ...twinSays(endpoints),
    ...firsts(endpoints),
    network(endpoints),
    ...effects(endpoints),
    ...neverTold(endpoints),
    ...limits(endpoints),
    ...circumstances(endpoints, manifest),
  ];
}

/** Endpoints of one kind of work, by how their paths begin. */
const KINDS: Readonly<Record<string, string>> = { "/sqlite/": "JSON from SQLite" };

/** Who needs the least CPU time, for each kind of work. */
function firsts(endpoints: readonly Endpoint[]): string[] {
  const compared = endpoints.flatMap(({ endpoint, comparison }) => (comparison ? [{ endpoint, ...comparison }] : []));
  const start = (endpoint: string) => Object.keys(KINDS).find((start) => endpoint.startsWith(start)) ?? endpoint;
  return [...Map.groupBy(compared, ({ endpoint }) => start(endpoint))].map(([start, of]) => {
    const [only] = of;
    const visible = of.map(({ smallestVisible }) => smallestVisible).sort((a, b) => a - b);
    const sight = [...new Set([visible[0], visible.at(-1)].map((part) => percent(part as number)))].join(" to ");
    const winners = of.flatMap(({ standings }) => standings.filter(({ first, name }) => first && !name.includes("#")));
    const wins = [...Map.groupBy(winners, ({ name }) => name)]
      .map(([name, times]) => ({ name, times: times.length }))
      .sort((a, b) => b.times - a.times || (a.name < b.name ? -1 : 1));
    if (only && of.length === 1) {
      const verb = wins.length > 1 ? "tie for" : "needs";
      const next = only.standings.find(({ first }) => !first);
      const than = next ? `; the next, ${next.name}, needs ${ratio(next.ratioToBest)} times as much` : "";
      return `${only.endpoint}: ${listed(wins.map(({ name }) => name))} ${verb} the least CPU time per request${than} (smallest visible difference ${sight}).`;
    }
    const byTimes = [...Map.groupBy(wins, ({ times }) => times)].map(
      ([times, all]) => `${listed(all.map(({ name }) => name))} at ${times}`,
    );
    return `${KINDS[start] ?? start}, ${of.length} endpoints: first or tied for it by CPU time per request are ${byTimes.join(", ")}, no other at any (smallest visible difference ${sight}).`;
  });
}

/** What each choice costs or gains: at the endpoints where it matters least and most. */
function effects(endpoints: readonly Endpoint[]): string[] {
  const all = endpoints.flatMap(({ endpoint, effects }) => effects.map((effect) => ({ endpoint, ...effect })));
  return [...Map.groupBy(all, ({ to, from }) => `${to} instead of ${from}`)].map(([choice, of]) => {
    // A driver matters only where it is asked.
    const seen = of.filter(({ factor, endpoint }) => factor !== "driver" || endpoint.startsWith("/sqlite"));
    const different = seen.filter(({ cpu }) => stateOf(cpu) === "different").length;
    const workers = seen[0]?.factor === "workers" ? `; ${extremes(seen, "goodput", "requests/s")}` : "";
    return `${choice}: ${extremes(seen, "cpu", "CPU time")}${workers}; different at ${different} of ${seen.length} endpoints.`;
  });
}

/** `CPU time × 0.64 (0.61–0.68) at /plain to × 0.83 (0.78–0.88) at /html-template` */
function extremes(of: readonly (MainEffect & { endpoint: string })[], field: "cpu" | "goodput", what: string): string {
  const sorted = of.toSorted((a, b) => a[field].estimate - b[field].estimate);
  const [least, most] = [sorted[0], sorted.at(-1)].map((one) => one && `× ${ratio(one[field])} at ${one.endpoint}`);
  return `${what} ${least === most ? least : `${least} to ${most}`}`;
}

/** Pairs that no endpoint told apart. */
function neverTold(endpoints: readonly Endpoint[]): string[] {
  const pairs = endpoints.flatMap(({ comparison }) => comparison?.pairs ?? []);
  const alike = [...Map.groupBy(pairs, ({ a, b }) => `${a} and ${b}`)]
    .filter(([, of]) => of.every(({ state }) => state !== "different"))
    .map(([pair]) => pair)
    .filter((pair) => !pair.includes("#"));
  return alike.length > 0 ? [`Not told apart at any endpoint: ${alike.join("; ")}.`] : [];
}

/** Whether the network was what was measured. */
function network(endpoints: readonly Endpoint[]): string {
  const verdicts = endpoints.flatMap(({ rows }) => rows.map(({ verdict }) => verdict));
  const counts = [...Map.groupBy(verdicts, (verdict) => verdict)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([verdict, of]) => `${of.length} ${verdict}`);
  const was = verdicts.some((verdict) => verdict === "network-bound" || verdict === "bandwidth-bound");
  return `The network was ${was ? "a" : "never the"} limit: of ${verdicts.length} measurements of a server at an endpoint, ${listed(counts)}.`;
}

/** Where requests per second say nothing of the servers. */
function limits(endpoints: readonly Endpoint[]): string[] {
  const remarks = endpoints.flatMap(({ endpoint, rows, remarks }) =>
    remarks.map(({ verdict, names, text }) => ({
      verdict,
      text,
      where: `${names.length === rows.length ? "all" : listed(names)} at ${endpoint}`,
    })),
  );
  return [...Map.groupBy(remarks, ({ verdict }) => verdict)].map(
    ([verdict, of]) =>
      `${verdict[0]?.toUpperCase()}${verdict.slice(1)}, so not ranked by requests/s: ${of.map(({ where }) => where).join("; ")}: ${of[0]?.text}.`,
  );
}

function twinSays(endpoints: readonly Endpoint[]): string[] {
  const twins = endpoints.flatMap(({ endpoint, comparison }) =>
    (comparison?.pairs ?? [])
      .filter(({ a, b }) => b === `${a}#2` || a === `${b}#2`)
      .map((pair) => ({ ...pair, endpoint, name: pair.a.replace(/#2$/, "") })),
  );
  const wrong = twins.filter(({ state }) => state === "different");
  const [first] = twins;
  if (!first) return [];
  if (wrong.length === 0) {
    return [`A/A twin: ${first.name} measured twice is not different at any of ${twins.length} endpoints.`];
  }
  const where = wrong.map(({ endpoint, ratio: of }) => `${endpoint} (${ratio(of)})`).join(", ");
  return [
    `DO NOT TRUST THIS RUN: ${first.name} measured twice came out different at ${where}: something on this machine treated two copies of one server unequally.`,
  ];
}

function circumstances(endpoints: readonly Endpoint[], manifest: Manifest | null): string[] {
  const unranked = endpoints.filter(({ comparison }) => comparison === null);
  const running = manifest?.plan.targets.some(({ kind }) => kind === "url") ?? false;
  return [
    ...(unranked.length > 0
      ? [
          `${listed(unranked.map(({ endpoint }) => endpoint))}: not ranked; that takes two servers on one machine, their CPU time and two blocks.`,
        ]
      : []),
    ...(running
      ? [
          "Servers that run already are not restarted: how much they differ from start to start is not in these intervals.",
        ]
      : []),
  ];
}
