/** What a run says in about fifteen lines: who needs least, what a choice costs, whether it matters, what the run cannot see. */

import { SERVERS } from "../ask/targets.ts";
import { parseCpuList } from "../host/cores.ts";
import type { Findings } from "../judge/findings.ts";
import { UNRANKED } from "../judge/verdict.ts";
import { PRESETS } from "../plan/presets.ts";
import {
  COLUMNS,
  capital,
  costWord,
  count,
  mega,
  percent,
  ratio,
  shortOf,
  twinsAmong,
  warmingWords,
  word,
} from "./format.ts";
import { type Endpoint, kindOf, type Report } from "./report.ts";
import {
  atRest,
  capacities,
  circumstances,
  gone,
  limits,
  promises,
  remarksOf,
  splitChoicesOf,
  twinSays,
} from "./sentences.ts";
import { render } from "./text.ts";

/** The card says how much of the cores' time the host or other processes used, if it is more than this. */
const NOISY = 0.1;

/** Rows that are still warming up, or got cold while others were measured. */
const REMEDY = "raise --warmup";

/** Verdicts that the card names, because the numbers of such an endpoint are not those of the servers. */
const ELSEWHERE = new Set(["network-bound", "bandwidth-bound", "rate-limited", "invalid", "service time"]);

/** A line of the card: a label and what it says, or a line of a table. */
export type Line = readonly [label: string, text: string] | string;

export function card(report: Report): Line[] {
  const { endpoints, servers, manifest, findings } = report;
  if (kindOf(report) === "capacity") {
    return [
      title(report),
      ...capacities(manifest),
      ...memory(servers),
      ...promises(manifest),
      ...notWarm(report),
      ...noise(report),
    ];
  }
  if (new Set(endpoints.flatMap(({ rows }) => rows.map(({ name }) => name))).size === 1) return cardOfOne(report);
  return [
    title(report),
    ...trust(findings),
    ...least(endpoints),
    ...choices(endpoints),
    ...matters(report),
    ...memory(servers),
    ...limits(
      endpoints.map(({ remarks, ...shown }) => ({
        ...shown,
        remarks: remarks.filter(({ verdict }) => ELSEWHERE.has(verdict)),
      })),
    ),
    ...gone(findings),
    ...remarksOf(findings),
    ...circumstances(findings),
    ...promises(manifest),
    ...atRest(findings),
    ...notWarm(report),
    ...noise(report),
    ...findings.twins.flatMap(({ name, state, ratio: of }): Line[] =>
      state === "different"
        ? []
        : [["Self-check", `${name} measured twice: ${ratio(of, 3)} of itself, as it should be`]],
    ),
    ...precision(endpoints),
    ...next(report),
  ];
}

/** Requests per second of an ordinary app, for which the card tells what a cost means. */
const USUAL_RATE = 200;

/** How fast one server is: each endpoint, the dearest first, and what that means. */
function cardOfOne(report: Report): Line[] {
  const { endpoints, servers, findings, manifest } = report;
  const rows = endpoints.flatMap(({ endpoint, rows }) => rows.map((row) => ({ endpoint, ...row })));
  const costOf = ({ cpuUsPerRequest, goodput }: (typeof rows)[number]) =>
    cpuUsPerRequest?.estimate ?? 1e6 / goodput.estimate;
  rows.sort((a, b) => costOf(b) - costOf(a));
  const table = render(
    [
      { head: "", show: ({ endpoint }) => endpoint, left: true },
      ...COLUMNS.filter(({ head }) => ["CPU µs", "requests/s", "p50 ms", "p99 ms", "limit"].includes(head)),
    ],
    rows,
  );
  const [dearest] = rows;
  const core = dearest?.cpuUsPerRequest && (dearest.cpuUsPerRequest.estimate * USUAL_RATE) / 1e6;
  const [of] = servers.rows;
  const sizes = [
    ...(of?.rssBytes ? [`${mega(of.rssBytes.estimate)} MB after load`] : []),
    ...(of?.peakRssBytes ? [`${mega(of.peakRssBytes.estimate)} MB at most`] : []),
  ];
  return [
    title(report),
    ...table.split("\n"),
    ...(core
      ? [
          [
            "In practice",
            `${USUAL_RATE} requests/s of ${dearest?.endpoint} keep ${percent(core)} of a core busy`,
          ] as const,
        ]
      : []),
    ...(sizes.length > 0 ? [["Memory", sizes.join(", ")] as const] : []),
    ...(of?.startupMs ? [["Start", `${count(of.startupMs.estimate)} ms until the first answer`] as const] : []),
    ...(core === null ? ["CPU time is not known: its processes cannot be seen here"] : []),
    ...limits(endpoints),
    ...circumstances({ ...findings, unranked: [] }),
    ...gone(findings),
    ...remarksOf(findings),
    ...promises(manifest),
    ...notWarm(report),
    ...noise(report),
  ];
}

/** The same as four questions, for the page. */
export function tiles(report: Report): { title: string; lines: string[] }[] {
  const { endpoints, servers, findings } = report;
  const texts = (lines: readonly Line[]) => lines.map((line) => (typeof line === "string" ? line : line.join(": ")));
  return [
    { title: "Which?", lines: texts(least(endpoints)) },
    { title: "How much?", lines: howMuch(comparedChoices(endpoints)) },
    { title: "Does it matter?", lines: texts([...matters(report), ...memory(servers)]) },
    {
      title: "Can I trust it?",
      lines: texts([
        restarts(report),
        ...twinSays(findings),
        ...gone(findings),
        ...remarksOf(findings),
        ...notWarm(report),
        ...noise(report),
        ...precision(endpoints),
      ]),
    },
  ].filter(({ lines }) => lines.length > 0);
}

/** Ratio at which a cell of the heat map has its full colour. */
const HOTTEST = 4;

/** Servers × endpoints: CPU time per request ÷ the least; `heat` from 0, for a tie with the least, to 1. Null without a comparison. */
export function heatMap(endpoints: readonly Endpoint[]) {
  const compared = endpoints.filter(({ comparison }) => comparison !== null);
  const names = [...new Set(compared.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  const twins = twinsAmong(compared);
  if (compared.length === 0) return null;
  const cell = ({ endpoint, rows }: Endpoint, server: string) => {
    const { standing, warming } = rows.find(({ name }) => name === server) ?? {};
    if (!standing) return { endpoint, text: "-", heat: "0", note: `${server} at ${endpoint}: not compared` };
    const { ratioToBest, first } = standing;
    return {
      endpoint,
      text: ratioToBest.estimate.toFixed(2) + (warming ? "?" : ""),
      heat: first ? "0" : Math.min(1, Math.max(0, Math.log(ratioToBest.estimate) / Math.log(HOTTEST))).toFixed(2),
      note: `${server} at ${endpoint}: ${ratio(ratioToBest)}${warming ? ", warming" : ""}`,
    };
  };
  return {
    title: `${capital(costWord(compared))} per request ÷ the least`,
    columns: compared.map(({ endpoint }) => ({ endpoint, short: shortOf(endpoint) })),
    rows: names
      .filter((name) => !twins.has(name))
      .sort()
      .map((name) => ({ name, cells: compared.map((endpoint) => cell(endpoint, name)) })),
  };
}

/** `8 restarts in 14 min` */
function restarts(report: Report): string {
  const { manifest, run } = report;
  if (!manifest) return `run ${run}`;
  if (kindOf(report) === "capacity") return "the highest rate that keeps a promise";
  return `${manifest.restarts} restarts in ${Math.max(1, Math.round(manifest.seconds.total / 60))} min`;
}

/** `10 servers · 2 × AMD EPYC (23/1) · 100 connections · 8 restarts in 14 min` */
function title(report: Report): string {
  const { machineName, connections, endpoints } = report;
  const twins = twinsAmong(endpoints);
  const names = new Set(endpoints.flatMap(({ rows }) => rows.map(({ name }) => name)));
  const many = [...names].filter((name) => !twins.has(name)).length;
  return [
    many === 1 ? [...names][0] : `${many} servers`,
    machineName,
    `${connections} connections`,
    restarts(report),
  ].join(" · ");
}

/** Reasons not to trust the run. */
const trust = ({ twins, ...findings }: Findings): string[] =>
  twinSays({ ...findings, twins: twins.filter(({ state }) => state === "different") });

function least(endpoints: readonly Endpoint[]): Line[] {
  const ranked = endpoints.filter(({ comparison }) => comparison !== null);
  const compared = ranked.flatMap(({ comparison }) => comparison ?? []);
  const twins = twinsAmong(endpoints);
  const firsts = compared.flatMap(({ standings }) => standings.filter(({ first, name }) => first && !twins.has(name)));
  const times = [...Map.groupBy(firsts, ({ name }) => name)].map(([name, of]) => ({ name, times: of.length }));
  const most = Math.max(...times.map(({ times }) => times));
  const names = times.filter(({ times }) => times === most).map(({ name }) => name);
  if (names.length === 0) return [];
  const tied = names.length > 1 ? ": not distinguishable" : "";
  return [
    [
      costWord(ranked) === "time" ? "Least time" : "Least CPU",
      `${names.sort().join(", ")}${tied} at ${most} of ${compared.length} endpoints`,
    ],
  ];
}

type Choice = ReturnType<typeof splitChoicesOf>[number];

/** The two that are compared: `Bun + bun:sqlite` and `Node + better-sqlite3`, `Hono` and `raw`. */
const namesOf = ({ to, from, factor }: Choice): string[] =>
  [to, from].map((text) => {
    if (factor === "runtime") return capital(text).replace(" with ", " + ");
    return factor === "framework" && text !== "raw" ? capital(text) : text;
  });

/** `Bun + bun:sqlite vs Node + better-sqlite3`, `Hono vs raw on Bun` */
const nameOfChoice = (choice: Choice): string =>
  namesOf(choice).join(" vs ") + (choice.on === null ? "" : ` on ${capital(choice.on)}`);

/** Choices of which something was compared. */
const comparedChoices = (endpoints: readonly Endpoint[]): Choice[] =>
  splitChoicesOf(endpoints).filter(({ compared }) => compared.length > 0);

/** Of all endpoints together, ln scale: choices are ordered by it. */
const costOfChoice = ({ compared }: Choice): number => compared.reduce((sum, { of }) => sum + Math.log(of.estimate), 0);
const byCost = (a: Choice, b: Choice): number => costOfChoice(a) - costOfChoice(b);

/** `8–34 % more`, over the endpoints. */
function extentOf({ compared }: Choice): string {
  const changes = compared.map(({ of }) => Math.round((of.estimate - 1) * 100));
  return change(Math.min(...changes), Math.max(...changes));
}

/** `−57 %` */
const signed = (ratio: number): string => {
  const percents = Math.round((ratio - 1) * 100);
  return `${percents < 0 ? "−" : "+"}${Math.abs(percents)} %`;
};

/** What each choice costs at the lightest and at the heaviest endpoint, and at how many it is significant. */
function choices(endpoints: readonly Endpoint[]): Line[] {
  const all = comparedChoices(endpoints);
  if (all.length === 0) return [];
  const shown = extremesOf(endpoints);
  const columns = [
    {
      head: `${costWord(endpoints)} per request`,
      show: (choice: Choice) => `  ${nameOfChoice(choice)}`,
      left: true as const,
    },
    ...shown.map((wanted) => ({
      head: shortOf(wanted),
      show: ({ compared }: Choice) => {
        const here = compared.find(({ endpoint }) => endpoint === wanted)?.of;
        return here ? signed(here.estimate) : "-";
      },
    })),
    { head: "significant at", show: ({ compared, different }: Choice) => `${different} of ${compared.length}` },
  ];
  return render(columns, all).split("\n");
}

/** The endpoints that take least and most of those that are compared; one if there is one. */
function extremesOf(endpoints: readonly Endpoint[]): string[] {
  const rate = ({ rows }: Endpoint) => rows.reduce((sum, { goodput }) => sum + goodput.estimate, 0) / rows.length;
  const sorted = endpoints.filter(({ comparison }) => comparison !== null).toSorted((a, b) => rate(b) - rate(a));
  return [...new Set([sorted[0], sorted.at(-1)].flatMap((one) => one?.endpoint ?? []))];
}

/** A choice in words: `Hono vs raw on Bun: 8–34 % more (significant at 8 of 8)`. */
const sentence = (choice: Choice): string =>
  `${nameOfChoice(choice)}: ${extentOf(choice)} (significant at ${choice.different} of ${choice.compared.length})`;

/** The cheaper runtime, and the framework that costs least on it. */
function choiceOf(all: readonly Choice[]): string[] {
  const [runtime] = all.filter(({ factor }) => factor === "runtime").toSorted(byCost);
  if (!runtime) return [];
  const isBetter = costOfChoice(runtime) < 0;
  const on = word(isBetter ? runtime.to : runtime.from);
  const [framework] = all
    .filter((one) => one.factor === "framework" && (one.on === null || one.on === on))
    .toSorted(byCost);
  const better = namesOf(runtime)[isBetter ? 0 : 1];
  return framework ? [`**Choose** ${better} with ${capital(framework.to)}, if CPU time decides.`] : [];
}

/** A server with less load than this part of its capacity has time enough, whichever it is. */
const LITTLE = 0.1;

/** What the runtime and the frameworks cost: the subject, and a sentence about it. */
function costs(all: readonly Choice[]): (readonly [about: string, text: string])[] {
  const runtimes = all.flatMap((choice) => {
    if (choice.factor !== "runtime") return [];
    const [to, from] = namesOf(choice);
    const shown = `significant at ${choice.different} of ${choice.compared.length} endpoints`;
    return [["Runtime", `${to} needs ${extentOf(choice)} CPU time per request than ${from} (${shown}).`] as const];
  });
  const frameworks = Map.groupBy(
    all.filter(({ factor }) => factor === "framework"),
    ({ on }) => on,
  );
  return [
    ...runtimes,
    ...[...frameworks].map(([on, of]) => {
      const each = of.toSorted(byCost).map((one) => `${capital(one.to)} ${extentOf(one)}`);
      return [
        `Framework${on === null ? "" : ` on ${capital(on)}`}`,
        `compared with none, ${each.join(", ")}.`,
      ] as const;
    }),
  ];
}

/** The same, and what other choices cost. */
const howMuch = (all: readonly Choice[]): string[] => [
  ...costs(all).map(([about, text]) => `${about}: ${text}`),
  ...all.filter(({ factor }) => factor !== "runtime" && factor !== "framework").map(sentence),
];

/** What to choose, by this run: in sentences, as Markdown. */
export function recommendation(report: Report): string[] {
  const { endpoints } = report;
  const all = comparedChoices(endpoints);
  const heaviest = endpoints.find(({ endpoint }) => endpoint === extremesOf(endpoints).at(-1));
  const rates =
    heaviest?.rows.flatMap(({ goodput, verdict }) => (UNRANKED.has(verdict) ? [] : [goodput.estimate])) ?? [];
  const [slowest, fastest] = [Math.min(...rates), Math.max(...rates)];
  const floor = Number((slowest * LITTLE).toPrecision(1));
  return [
    ...choiceOf(all),
    ...costs(all).map(([about, text]) => `**${about}**: ${text}`),
    ...(heaviest && rates.length > 0
      ? [
          `**Does it matter?** At ${heaviest.endpoint} one core answers ${count(slowest)} (the slowest) to ${count(fastest)} requests/s. Below ${count(floor)} requests/s nothing here matters: choose by taste.`,
        ]
      : []),
  ];
}

/** What each choice of one kind costs servers of the matrix by this run: a sentence in Markdown, if there is one. @param about what it begins with */
export function choicesSay({ endpoints }: Report, of: Choice["factor"], about: string): string[] {
  const rows = endpoints.flatMap(({ rows }) => rows);
  const matrix = new Set(rows.flatMap(({ name, server }) => (server && SERVERS.includes(server) ? [name] : [])));
  const chosen = comparedChoices(endpoints).filter(
    ({ factor, seen }) => factor === of && seen.some(({ pairs }) => pairs.some(([to]) => matrix.has(to))),
  );
  return chosen.length > 0 ? [`**${about}**, CPU time per request: ${chosen.map(sentence).join("; ")}.`] : [];
}

/** `18–47 % less`, of changes in percent. */
function change(low: number, high: number): string {
  const span = (a: number, b: number) => (a === b ? `${a} %` : `${a}–${b} %`);
  if (high < 0) return `${span(-high, -low)} less`;
  return low >= 0 ? `${span(low, high)} more` : `${-low} % less to ${high} % more`;
}

/** What a core answers at the heaviest endpoint. */
function matters({ endpoints, manifest }: Report): Line[] {
  const closed = endpoints.filter(({ load }) => load === "closed");
  const slowest = ({ rows }: Endpoint) => Math.min(...rows.map(({ goodput }) => goodput.estimate));
  const [heaviest] = closed.toSorted((a, b) => slowest(a) - slowest(b));
  if (!heaviest || heaviest.rows.length < 2) return [];
  const atLimit = heaviest.rows.filter(({ verdict }) => !UNRANKED.has(verdict));
  const what = `requests/s of ${shortOf(heaviest.endpoint)}`;
  if (atLimit.length === 0)
    return [["In practice", `not known: no server was at its own limit at ${heaviest.endpoint}`]];
  const rates = atLimit.map(({ goodput }) => goodput.estimate);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const cores = manifest?.cores ? parseCpuList(manifest.cores.server).length : 0;
  const who = cores === 0 ? "servers answer" : cores === 1 ? "one core answers" : `${cores} cores answer`;
  const range = low === high ? count(low) : `${count(low)} to ${count(high)}`;
  const spread = atLimit.length > 1 ? `; fastest ÷ slowest ${(high / low).toFixed(2)}` : "";
  const of =
    atLimit.length === heaviest.rows.length
      ? ""
      : ` (${atLimit.length} of ${heaviest.rows.length} were at their limit)`;
  return [["In practice", `${who} ${range} ${what}${spread}${of}`]];
}

function memory({ rows }: Endpoint): Line[] {
  const known = rows.flatMap(({ runtime, rssBytes }) =>
    runtime && rssBytes ? [{ runtime: word(runtime), mb: Math.round(rssBytes.estimate / 1e6) }] : [],
  );
  const of = [...Map.groupBy(known, ({ runtime }) => runtime)].sort().map(([runtime, all]) => {
    const sizes = all.map(({ mb }) => mb);
    const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
    return `${capital(runtime)} ${low === high ? low : `${low}–${high}`} MB`;
  });
  return of.length === 0 ? [] : [["Memory", of.join(", ")]];
}

/** The first rows are named. */
const NAMED = 3;

function notWarm({ endpoints, findings: { warming } }: Report): Line[] {
  const rows = endpoints.reduce((sum, { rows }) => sum + rows.length, 0);
  if (warming.length === 0) return [];
  const named = warming.slice(0, NAMED).map(({ name, endpoint, by }) => `${name} at ${endpoint}: ${warmingWords(by)}`);
  const others = warming.length > NAMED ? "; …" : "";
  const which = `${warming.length} of ${rows} rows (${named.join("; ")}${others})`;
  return [["Not warm", `${which}, so not ranked: ${REMEDY}`]];
}

function noise({ findings: { taken } }: Report): Line[] {
  return taken === null || taken < NOISY
    ? []
    : [["Noisy", `other work used ${percent(taken)} of the CPU in the median slice`]];
}

function precision(endpoints: readonly Endpoint[]): Line[] {
  const sights = endpoints
    .flatMap(({ endpoint, comparison }) => (comparison ? [{ endpoint, least: comparison.smallestVisible }] : []))
    .sort((a, b) => a.least - b.least);
  const [best, worst] = [sights[0], sights.at(-1)];
  if (!best || !worst) return [];
  const at = ({ endpoint, least }: typeof best) => `${percent(least)} (${shortOf(endpoint)})`;
  const span = sights.length === 1 ? at(best) : `${at(best)} to ${at(worst)}`;
  return [["Precision", `differences below ${span} are not detectable`]];
}

function next({ manifest, endpoints }: Report): Line[] {
  if (manifest?.plan.preset !== "quick" || !endpoints.some(({ comparison }) => comparison)) return [];
  return [
    [
      "Next",
      `--standard halves that (${PRESETS.standard.minutes} min); ./bench.sh report --details prints every table`,
    ],
  ];
}
