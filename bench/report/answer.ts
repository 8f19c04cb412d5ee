import type { MainEffect } from "../effects.ts";
import type { Manifest } from "../session.ts";
import { stateOf } from "../statistics.ts";
import { UNRANKED } from "../verdict.ts";
import { listed, percent, ratio } from "./format.ts";
import type { Endpoint } from "./report.ts";

/** What a run says, in plain words: one sentence per paragraph, most useful first. */
export function answerOf(endpoints: readonly Endpoint[], manifest: Manifest | null): string[] {
  return [
    ...twinSays(endpoints),
    ...firsts(endpoints),
    ...effects(endpoints),
    ...neverTold(endpoints),
    ...limits(endpoints),
    ...circumstances(endpoints, manifest),
  ];
}

/** Endpoints at which the same is to be said, together. */
function together(endpoints: readonly Endpoint[], what: (endpoint: Endpoint) => string | null): [string, Endpoint[]][] {
  const said = endpoints.flatMap((endpoint) => {
    const text = what(endpoint);
    return text === null ? [] : [{ text, endpoint }];
  });
  return [...Map.groupBy(said, ({ text }) => text)].map(([text, of]) => [text, of.map(({ endpoint }) => endpoint)]);
}

const at = (of: readonly Endpoint[]) => listed(of.map(({ endpoint }) => endpoint));

/** Who needs the least CPU time. */
function firsts(endpoints: readonly Endpoint[]): string[] {
  const winners = ({ comparison }: Endpoint) =>
    comparison &&
    listed(
      comparison.standings
        .filter(({ groups }) => groups.includes("a"))
        .map(({ name }) => name)
        .sort(),
    );
  return together(endpoints, winners).map(([names, of]) => {
    const visible = of.flatMap(({ comparison }) => comparison?.smallestVisible ?? []);
    const tie = names.includes(" and ")
      ? "tie for the least CPU time per request"
      : "needs the least CPU time per request";
    return `${at(of)}: ${names} ${tie} (a difference from ${percent(Math.max(...visible))} on would have been seen).`;
  });
}

/** What each choice costs or gains: the endpoints where it matters least and most. */
function effects(endpoints: readonly Endpoint[]): string[] {
  const all = endpoints.flatMap(({ endpoint, effects }) => effects.map((effect) => ({ endpoint, ...effect })));
  return [...Map.groupBy(all, ({ to, from }) => `${to} instead of ${from}`)].map(([choice, of]) => {
    // A driver matters only where it is asked.
    const seen = of.filter(({ factor, endpoint }) => factor !== "driver" || endpoint.startsWith("/sqlite"));
    const sorted = seen.toSorted((a, b) => a.cpu.estimate - b.cpu.estimate);
    const ends = [...new Set([sorted[0], sorted.at(-1)])].flatMap((one) => one ?? []);
    const different = seen.filter(({ cpu }) => stateOf(cpu) === "different").length;
    const workers = seen[0]?.factor === "workers" ? `; ${gain(seen)}` : "";
    return `${choice}: ${ends.map(({ cpu, endpoint }) => `${ratio(cpu)} of the CPU time at ${endpoint}`).join(" to ")}; different at ${different} of ${seen.length} endpoints${workers}.`;
  });
}

function gain(of: readonly (MainEffect & { endpoint: string })[]): string {
  const sorted = of.toSorted((a, b) => a.goodput.estimate - b.goodput.estimate);
  const ends = [...new Set([sorted[0], sorted.at(-1)])].flatMap((one) => one ?? []);
  return `${ends.map(({ goodput, endpoint }) => `${ratio(goodput)} of the requests/s at ${endpoint}`).join(" to ")}`;
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

/** Where requests per second say nothing of the servers. */
function limits(endpoints: readonly Endpoint[]): string[] {
  const remarks = endpoints.flatMap(({ endpoint, rows, remarks }) =>
    remarks
      .filter(({ verdict }) => UNRANKED.has(verdict) || verdict === "service time")
      .map(({ verdict, names, text }) => ({
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
      ? [`${at(unranked)}: not ranked; that takes two servers on one machine, their CPU time and two blocks.`]
      : []),
    ...(running
      ? [
          "Servers that run already are not restarted: how much they differ from start to start is not in these intervals.",
        ]
      : []),
  ];
}
