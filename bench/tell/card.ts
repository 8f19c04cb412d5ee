/** What a run says in about twelve lines: who needs least, what a choice costs, whether it matters, what the run cannot see. */

import { parseCpuList } from "../host/cores.ts";
import type { Machine } from "../host/machine/identity.ts";
import type { Findings } from "../judge/findings.ts";
import { UNRANKED } from "../judge/verdict.ts";
import { PRESETS } from "../plan/presets.ts";
import { capacities, choicesOf, circumstances, gone, limits, promises, twinSays } from "./answer.ts";
import {
  COLUMNS,
  capital,
  costWord,
  count,
  listed,
  mega,
  percent,
  ratio,
  shortOf,
  twinsAmong,
  word,
} from "./format.ts";
import { type Endpoint, kindOf, type Report } from "./report.ts";
import { render } from "./text.ts";

/** More of the cores' time than this, taken by the host or other processes, is said. */
const NOISY = 0.1;

/** Some have not arrived, some got cold again while others were measured. */
const REMEDY = "raise --warmup";

/** Verdicts that are said of an endpoint, as its numbers are of something else than the servers. */
const ELSEWHERE = new Set(["network-bound", "bandwidth-bound", "rate-limited", "invalid", "service time"]);

export function card(report: Report): string[] {
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
    ...aligned(choices(endpoints)).map((line) => `  ${line}`),
    ...matters(report).map((line) => `Does it matter? ${line}`),
    ...memory(servers),
    ...limits(
      endpoints.map(({ remarks, ...shown }) => ({
        ...shown,
        remarks: remarks.filter(({ verdict }) => ELSEWHERE.has(verdict)),
      })),
    ),
    ...gone(findings),
    ...circumstances(findings),
    ...promises(manifest),
    ...notWarm(report),
    ...noise(report),
    ...blind(endpoints),
    ...next(report),
  ];
}

/** Requests per second of an ordinary app, for which a cost is brought to mind. */
const USUAL_RATE = 200;

/** How fast one server is: each endpoint, the dearest first, and what that means. */
function cardOfOne(report: Report): string[] {
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
      ? [`In practice: ${USUAL_RATE} requests/s of ${dearest?.endpoint} keep ${percent(core)} of a core busy`]
      : []),
    ...(sizes.length > 0 ? [`Memory: ${sizes.join(", ")}`] : []),
    ...(of?.startupMs ? [`Start: ${count(of.startupMs.estimate)} ms until the first answer`] : []),
    ...(core === null ? ["CPU time is not known: its processes cannot be seen here"] : []),
    ...limits(endpoints),
    ...circumstances({ ...findings, unranked: [] }),
    ...gone(findings),
    ...promises(manifest),
    ...notWarm(report),
    ...noise(report),
  ];
}

/** The same as four questions, for the page. */
export function tiles(report: Report): { title: string; lines: string[] }[] {
  const { endpoints, servers, findings } = report;
  return [
    { title: "Which?", lines: least(endpoints) },
    {
      title: "How much?",
      lines: choices(endpoints).map(([choice, cost, shown]) => `${choice}: ${cost} (${shown})`),
    },
    {
      title: "Does it matter?",
      lines: [...matters(report), ...memory(servers)],
    },
    {
      title: "Can I trust it?",
      lines: [
        restarts(report),
        ...twinSays(findings),
        ...gone(findings),
        ...notWarm(report),
        ...noise(report),
        ...blind(endpoints),
      ],
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

const NAMES = { quick: "First look", standard: "Standard run", full: "Full run" };

/** `Standard run: 12 restarts in 15 min, one server measured twice` */
function restarts(report: Report): string {
  const { manifest, run, host } = report;
  if (!manifest) return `Run ${run} on ${host}`;
  if (kindOf(report) === "capacity") return "The highest rate that keeps a promise";
  const { preset, amount } = manifest.plan;
  const name = amount.minutes === PRESETS[preset].minutes ? NAMES[preset] : "Run";
  const minutes = Math.max(1, Math.round(manifest.seconds.total / 60));
  const check = amount.twin ? "one server measured twice" : "no self-check";
  return `${name}: ${manifest.restarts} restarts in ${minutes} min, ${check}`;
}

function title(report: Report): string {
  const { manifest, connections } = report;
  const on = manifest?.machine ? `; on ${manifest.machine.cores} × ${nameOf(manifest.machine)}` : "";
  return `${restarts(report)}${on}, ${connections} connections`;
}

/** `Intel Xeon Processor, model 167`: what tells two of one name apart stands in the report. */
function nameOf({ cpu, vendor, model }: Machine): string {
  const name = (cpu ?? vendor ?? "an unknown processor").replaceAll(/\((R|TM)\)/g, "");
  return model === null ? name : `${name}, model ${model}`;
}

/** What forbids to believe it. */
const trust = ({ twins, ...findings }: Findings): string[] =>
  twinSays({ ...findings, twins: twins.filter(({ state }) => state === "different") });

function least(endpoints: readonly Endpoint[]): string[] {
  const ranked = endpoints.filter(({ comparison }) => comparison !== null);
  const compared = ranked.flatMap(({ comparison }) => comparison ?? []);
  const twins = twinsAmong(endpoints);
  const firsts = compared.flatMap(({ standings }) => standings.filter(({ first, name }) => first && !twins.has(name)));
  const times = [...Map.groupBy(firsts, ({ name }) => name)].map(([name, of]) => ({ name, times: of.length }));
  const most = Math.max(...times.map(({ times }) => times));
  const names = times.filter(({ times }) => times === most).map(({ name }) => name);
  return names.length === 0
    ? []
    : [
        `Least ${costWord(ranked)} per request, or tied for it: ${listed(names.sort())}, at ${most} of ${compared.length} endpoints`,
      ];
}

/** Each choice, what it costs where it matters least and most, and at how many endpoints that is shown. */
function choices(endpoints: readonly Endpoint[]): [choice: string, cost: string, shown: string][] {
  return choicesOf(endpoints)
    .filter(({ compared }) => compared.length > 0)
    .map(({ to, from, compared, different }) => {
      const changes = compared.map(({ of }) => Math.round((of.estimate - 1) * 100));
      const cost = change(Math.min(...changes), Math.max(...changes));
      return [`${to}, not ${from}`, cost, `shown at ${different} of ${compared.length}`];
    });
}

/** Lines of a table without heads. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const columns = (rows[0] ?? []).map((_, i) => ({
    head: "",
    show: (row: readonly string[]) => row[i] ?? "",
    left: true as const,
  }));
  return rows.length === 0 ? [] : render(columns, rows).split("\n").slice(1);
}

/** `18–47 % less`, of changes in percent. */
function change(low: number, high: number): string {
  const span = (a: number, b: number) => (a === b ? `${a} %` : `${a}–${b} %`);
  if (high < 0) return `${span(-high, -low)} less`;
  return low >= 0 ? `${span(low, high)} more` : `${-low} % less to ${high} % more`;
}

/** What a core answers where a request is most work. */
function matters({ endpoints, manifest }: Report): string[] {
  const closed = endpoints.filter(({ load }) => load === "closed");
  const slowest = ({ rows }: Endpoint) => Math.min(...rows.map(({ goodput }) => goodput.estimate));
  const [heaviest] = closed.toSorted((a, b) => slowest(a) - slowest(b));
  if (!heaviest || heaviest.rows.length < 2) return [];
  const atLimit = heaviest.rows.filter(({ verdict }) => !UNRANKED.has(verdict));
  const [one] = atLimit;
  if (!one) return [`Not known: at ${heaviest.endpoint} no server was at its own limit`];
  const rates = atLimit.map(({ goodput }) => goodput.estimate);
  const cores = manifest?.cores ? parseCpuList(manifest.cores.server).length : 0;
  const where = cores === 0 ? "" : ` on ${cores === 1 ? "one core" : `${cores} cores`}`;
  const of = rates.length === heaviest.rows.length ? "all" : `${rates.length} of ${heaviest.rows.length}`;
  return [
    rates.length === 1
      ? `At ${heaviest.endpoint} only ${one.name} was at its own limit: ${count(one.goodput.estimate)} requests/s${where}`
      : `At ${heaviest.endpoint} ${of} answer ${count(Math.min(...rates))}–${count(Math.max(...rates))} requests/s${where}`,
  ];
}

function memory({ rows }: Endpoint): string[] {
  const known = rows.flatMap(({ runtime, rssBytes }) =>
    runtime && rssBytes ? [{ runtime: word(runtime), mb: Math.round(rssBytes.estimate / 1e6) }] : [],
  );
  const of = [...Map.groupBy(known, ({ runtime }) => runtime)].sort().map(([runtime, all]) => {
    const sizes = all.map(({ mb }) => mb);
    const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
    return `${runtime} ${low === high ? low : `${low}–${high}`} MB`;
  });
  return of.length === 0 ? [] : [`Memory: ${of.join(", ")}`];
}

function notWarm({ endpoints, findings: { warming } }: Report): string[] {
  const rows = endpoints.reduce((sum, { rows }) => sum + rows.length, 0);
  const [first] = warming;
  if (!first) return [];
  const others = warming.length === 1 ? "" : ", …";
  return [
    `Not warm, so not ranked: ${warming.length} of ${rows} rows (${first.name} at ${first.endpoint}${others}): ${REMEDY}`,
  ];
}

function noise({ findings: { taken } }: Report): string[] {
  return taken === null || taken < NOISY
    ? []
    : [`Noisy: other work used ${percent(taken)} of the CPU in the median slice`];
}

function blind(endpoints: readonly Endpoint[]): string[] {
  const sights = endpoints
    .flatMap(({ endpoint, comparison }) => (comparison ? [{ endpoint, least: comparison.smallestVisible }] : []))
    .sort((a, b) => a.least - b.least);
  const [best, worst] = [sights[0], sights.at(-1)];
  if (!best || !worst) return [];
  const where = ({ endpoint, least }: typeof best) => `${percent(least)} (${endpoint})`;
  const span = sights.length === 1 ? where(best) : `${where(best)} to ${where(worst)}`;
  return [`Cannot detect differences below ${span}; ties are inconclusive`];
}

function next({ manifest, endpoints }: Report): string[] {
  if (manifest?.plan.preset !== "quick" || !endpoints.some(({ comparison }) => comparison)) return [];
  return [`Next: --standard detects smaller ones, and checks itself by a twin (${PRESETS.standard.minutes} min)`];
}
