/** What a choice costs (runtime, framework, driver), in words. */
import { SEQUENCE } from "../ask/endpoints.ts";
import type { MainEffect } from "../judge/effects.ts";
import { stateOf } from "../judge/statistics.ts";
import { capital, shortOf, signed, word } from "./format.ts";
import { costWord, type Endpoint } from "./report.ts";
import { renderText } from "./text.ts";

const NO_DATABASE = new Set(["/plain", "/html-template"]);

export type Choice = ReturnType<typeof choicesOf>[number];

/** Each choice with the endpoints that compared it, and those at which it is significant. Endpoints without a database say nothing of drivers. */
export function choicesOf(endpoints: readonly Endpoint[]) {
  const every = endpoints.flatMap(({ endpoint, effects }) => effects.map((effect) => ({ endpoint, ...effect })));
  const all = every.filter(({ factor, endpoint }) => factor !== "driver" || !NO_DATABASE.has(endpoint));
  const choices = [...Map.groupBy(all, nameOfChoice).values()].map((seen) => {
    const [{ to, from, on, factor }] = seen as [(typeof seen)[0]];
    const compared = seen.flatMap(({ endpoint, cpu }) => (cpu ? [{ endpoint, of: cpu }] : []));
    const significant = compared.filter(({ of }) => stateOf(of) === "different");
    return { to, from, on, factor, compared, significant, pairs: seen.flatMap(({ pairs }) => pairs) };
  });
  return choices.filter(({ compared }) => compared.length > 0);
}

type Named = Pick<MainEffect, "to" | "from" | "on" | "factor">;

const frameworkOf = (name: string): string => (name === "raw" ? "no framework" : capital(name));

/** `Bun vs Node`, `Hono vs no framework` */
function namesOf({ to, from, factor }: Named): string {
  const nameOf = { runtime: (text: string) => capital(word(text)), framework: frameworkOf }[factor as string];
  return [to, from].map((text) => nameOf?.(text) ?? text).join(" vs ");
}

/** ` with Fastify`, ` on Bun` */
function contextOf({ to, from, on, factor }: Named): string {
  if (factor === "workers") return "";
  if (factor === "settings") return ` with ${on}`;
  if (factor !== "runtime") return ` on ${capital(on)}`;
  // With different drivers, each runtime has its default one.
  const [[, one], [, other]] = [to.split(" with "), from.split(" with ")];
  return ` with ${frameworkOf(on)}${one === other ? ` and ${one}` : ""}`;
}

/** `Bun vs Node with Fastify`, `Hono vs no framework on Bun` */
export const nameOfChoice = (choice: Named): string => namesOf(choice) + contextOf(choice);

/** `8–34 % more (8/8)`: over the endpoints at which it is significant, and how many these are. */
export function costOf({ compared, significant }: Choice): string {
  if (significant.length === 0) return "no significant difference";
  const changes = significant.map(({ of }) => Math.round((of.estimate - 1) * 100));
  const [low, high] = [Math.min(...changes), Math.max(...changes)];
  const span = (a: number, b: number) => (a === b ? `${a} %` : `${a}–${b} %`);
  const at = `(${significant.length}/${compared.length})`;
  if (significant.every(({ of }) => of.estimate < 1)) return `${span(-high, -low)} less ${at}`;
  if (significant.every(({ of }) => of.estimate > 1)) return `${span(low, high)} more ${at}`;
  return `depends on the endpoint, ${-low} % less to ${high} % more ${at}`;
}

/** How to read `costOf`. */
export const HOW_TO_READ =
  "CPU time per request. (3/8): the difference is significant at 3 of 8 endpoints; the range covers only these.";

export function byWeight(endpoints: readonly Endpoint[]): Endpoint[] {
  const rate = ({ rows }: Endpoint) => rows.reduce((sum, { goodput }) => sum + goodput.estimate, 0) / rows.length;
  return endpoints.toSorted((a, b) => rate(b) - rate(a));
}

/** What each choice costs at the lightest and at the heaviest endpoint, and at how many it is significant: lines of a table. */
export function choicesTable(endpoints: readonly Endpoint[]): string[] {
  const all = choicesOf(endpoints);
  if (all.length === 0) return [];
  const sorted = byWeight(endpoints.filter(({ comparison }) => comparison !== null));
  const ends = [...new Set([sorted[0], sorted.at(-1)])].flatMap((one) => one?.endpoint ?? []);
  const rows = all.map((choice) => [
    `  ${nameOfChoice(choice)}`,
    ...ends.map((end) => {
      const here = choice.compared.find(({ endpoint }) => endpoint === end)?.of;
      return here ? `${signed(here.estimate)} %` : "-";
    }),
    `${choice.significant.length} of ${choice.compared.length}`,
  ]);
  const per = endpoints.every(({ endpoint }) => endpoint === SEQUENCE) ? "sequence" : "request";
  const heads = [`${costWord(endpoints)} per ${per}`, ...ends.map(shortOf), "significant at"];
  return renderText(heads, rows).split("\n");
}

/** Costs of all choices: for runtimes one line with every framework, for frameworks one line for each runtime. */
export function costs(all: readonly Choice[]): [about: string, text: string][] {
  const lines = all.map((choice): [string, string] => {
    const cost = costOf(choice);
    if (choice.factor === "runtime") return [namesOf(choice), `${contextOf(choice).trim()} ${cost}`];
    if (choice.factor !== "framework") return [nameOfChoice(choice), cost];
    return [`Framework vs no framework${contextOf(choice)}`, `${frameworkOf(choice.to)} ${cost}`];
  });
  return [...Map.groupBy(lines, ([about]) => about)].map(([about, of]) => [
    about,
    of.map(([, text]) => text).join("; "),
  ]);
}
