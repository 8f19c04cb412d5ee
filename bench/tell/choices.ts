/** What a choice costs (runtime, framework, driver), and what to choose, in words. */
import { SEQUENCE } from "../ask/endpoints.ts";
import { SERVERS } from "../ask/targets.ts";
import type { Factor, MainEffect } from "../judge/effects.ts";
import { type Interval, stateOf } from "../judge/statistics.ts";
import { capital, shortOf, signed, word } from "./format.ts";
import { costWord, type Endpoint, type Report } from "./report.ts";
import { renderText } from "./text.ts";

const NO_DATABASE = new Set(["/plain", "/html-template"]);

export type Choice = ReturnType<typeof choicesOf>[number];

/**
 * Each choice with the endpoints that compared it, and at how many it is significant. Endpoints without a database say nothing of drivers.
 * @param isSplit whether a choice with different costs on two runtimes becomes one choice per runtime (`on`)
 */
export function choicesOf(endpoints: readonly Endpoint[], isSplit = true) {
  const every = endpoints.flatMap(({ endpoint, effects }) => effects.map((effect) => ({ endpoint, ...effect })));
  const all = every.filter(({ factor, endpoint }) => factor !== "driver" || !NO_DATABASE.has(endpoint));
  const choices = [...Map.groupBy(all, ({ to, from }) => `${to} ÷ ${from}`).values()].flatMap((seen) => {
    const [{ to, from, factor }] = seen as [(typeof seen)[0]];
    const choiceOn = (on: string | null, cost: (effect: MainEffect) => Interval | null | undefined) => {
      const compared = seen.flatMap((one) => {
        const of = cost(one);
        return of ? [{ endpoint: one.endpoint, of }] : [];
      });
      const different = compared.filter(({ of }) => stateOf(of) === "different").length;
      return { to, from, factor, on, compared, different, seen };
    };
    if (!isSplit || !seen.some(({ interacts }) => interacts)) return [choiceOn(null, ({ cpu }) => cpu)];
    const runtimes = [...new Set(seen.flatMap(({ byRuntime }) => byRuntime.map(({ runtime }) => runtime)))].sort();
    return runtimes.map((on) => choiceOn(on, ({ byRuntime }) => byRuntime.find((one) => one.runtime === on)?.cpu));
  });
  return choices.filter(({ compared }) => compared.length > 0);
}

/** The two that are compared: `Bun + bun:sqlite` and `Node + better-sqlite3`, `Hono` and `raw`. */
function namesOf({ to, from, factor }: Choice): [string, string] {
  const isName = (text: string) => factor === "runtime" || (factor === "framework" && text !== "raw");
  const nameOf = (text: string) => (isName(text) ? capital(text).replace(" with ", " + ") : text);
  return [nameOf(to), nameOf(from)];
}

/** `Bun + bun:sqlite vs Node + better-sqlite3`, `Hono vs raw on Bun` */
export const nameOfChoice = (choice: Choice): string =>
  namesOf(choice).join(" vs ") + (choice.on === null ? "" : ` on ${capital(choice.on)}`);

/** Sum over all endpoints, ln scale, to sort choices. */
const costOfChoice = ({ compared }: Choice): number => compared.reduce((sum, { of }) => sum + Math.log(of.estimate), 0);
const byCost = (a: Choice, b: Choice): number => costOfChoice(a) - costOfChoice(b);

/** `8–34 % more`, over the endpoints. */
function extentOf({ compared }: Choice): string {
  const changes = compared.map(({ of }) => Math.round((of.estimate - 1) * 100));
  const [low, high] = [Math.min(...changes), Math.max(...changes)];
  const span = (a: number, b: number) => (a === b ? `${a} %` : `${a}–${b} %`);
  if (high < 0) return `${span(-high, -low)} less`;
  return low >= 0 ? `${span(low, high)} more` : `${-low} % less to ${high} % more`;
}

/** `8–34 % more (significant at 8/8)` */
export const costOf = (choice: Choice): string =>
  choice.different === 0
    ? "no significant difference"
    : `${extentOf(choice)} (significant at ${choice.different}/${choice.compared.length})`;

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
    `${choice.different} of ${choice.compared.length}`,
  ]);
  const per = endpoints.every(({ endpoint }) => endpoint === SEQUENCE) ? "sequence" : "request";
  const heads = [`${costWord(endpoints)} per ${per}`, ...ends.map(shortOf), "significant at"];
  return renderText(heads, rows).split("\n");
}

export function costs(all: readonly Choice[]): (readonly [about: string, text: string])[] {
  const of = (wanted: Factor) => all.filter(({ factor }) => factor === wanted);
  return [
    ...of("runtime").map((choice) => {
      const [to, from] = namesOf(choice);
      const seen = `(significant at ${choice.different}/${choice.compared.length} endpoints)`;
      return ["Runtime", `${to} needs ${extentOf(choice)} CPU time per request than ${from} ${seen}.`] as const;
    }),
    ...[...Map.groupBy(of("framework"), ({ on }) => on)].map(([on, frameworks]) => {
      const each = frameworks.toSorted(byCost).map((one) => `${capital(one.to)} ${extentOf(one)}`);
      // `Hono 6–20 %, Express 24–132 % more`: "more" is written once.
      const isMore = each.every((text) => text.endsWith(" % more"));
      const said = isMore ? `${each.join(", ").replaceAll(" more", "")} more` : each.join(", ");
      return [`Framework${on === null ? "" : ` on ${capital(on)}`}`, `${said} than none.`] as const;
    }),
  ];
}

/** The cheaper runtime, and the framework that costs least on it. */
export function bestOf(all: readonly Choice[]): string | null {
  const of = (wanted: Factor) => all.filter(({ factor }) => factor === wanted).toSorted(byCost);
  const [runtime] = of("runtime");
  if (!runtime) return null;
  const isBetter = costOfChoice(runtime) < 0;
  const on = word(isBetter ? runtime.to : runtime.from);
  const framework = of("framework").find((one) => one.on === null || one.on === on);
  return framework ? `${namesOf(runtime)[isBetter ? 0 : 1]} with ${capital(framework.to)}` : null;
}

/** What each choice of one kind costs servers of the matrix in this run, as a Markdown sentence; empty if the run has no such choice. */
export function choicesSay({ endpoints }: Report, of: Factor, about: string): string[] {
  const rows = endpoints.flatMap(({ rows }) => rows);
  const matrix = new Set(rows.flatMap(({ name, server }) => (server && SERVERS.includes(server) ? [name] : [])));
  const chosen = choicesOf(endpoints).filter(
    ({ factor, seen }) => factor === of && seen.some(({ pairs }) => pairs.some(([to]) => matrix.has(to))),
  );
  const said = chosen.map((choice) => `${nameOfChoice(choice)}: ${costOf(choice)}`);
  return said.length > 0 ? [`**${about}**, CPU time: ${said.join("; ")}.`] : [];
}
