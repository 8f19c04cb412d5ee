/** The card, about fifteen lines: which server needs least, what a choice costs, whether it matters, what the run cannot detect. */
import { SEQUENCE } from "../ask/endpoints.ts";
import { parseCpuList } from "../host/cores.ts";
import type { Interval } from "../judge/statistics.ts";
import { UNRANKED } from "../judge/verdict.ts";
import { PRESETS } from "../plan/presets.ts";
import { byWeight, choicesOf, choicesTable, costs, HOW_TO_READ } from "./choices.ts";
import { capital, count, many, mega, percent, present, shortOf, word } from "./format.ts";
import { costWord, type Endpoint, kindOf, type Report, twinsAmong } from "./report.ts";
import { capacities, caveats, twinsSay } from "./says.ts";
import { ownGrid } from "./tables.ts";
import { type Line, labeled, plain, render } from "./text.ts";

export function card(report: Report): Line[] {
  const { manifest, servers, endpoints, findings } = report;
  const isSearch = kindOf(report) === "capacity";
  const isOne = isSearch || namesIn(endpoints).length === 1;
  const answer = () => {
    if (isSearch) return [...capacities(manifest), ...memory(servers)];
    if (isOne) return ofOne(report);
    const compared = [...least(endpoints), ...choicesTable(endpoints), ...matters(report)];
    return [...twinsSay(findings, true), ...compared, ...memory(servers)];
  };
  return [title(report), ...answer(), ...caveats(report, isOne), ...next(report)];
}

/** `requests/s of /plain`; for the content API a rate counts whole sequences. */
const rateAt = (endpoint: string, name = endpoint): string =>
  endpoint === SEQUENCE ? "sequences/s (six requests each)" : `requests/s of ${name}`;

/** Requests/s of an ordinary app: the card shows how busy a core is at this rate. */
const USUAL_RATE = 200;

function ofOne({ endpoints, servers }: Report): Line[] {
  const rows = endpoints.flatMap(({ endpoint, rows }) => rows.map((row) => ({ ...row, endpoint })));
  const costOf = ({ cpuUsPerRequest, goodput }: (typeof rows)[number]) =>
    cpuUsPerRequest?.estimate ?? 1e6 / goodput.estimate;
  rows.sort((a, b) => costOf(b) - costOf(a));
  const [dearest] = rows;
  const core = dearest?.cpuUsPerRequest && (dearest.cpuUsPerRequest.estimate * USUAL_RATE) / 1e6;
  const [of] = servers.rows;
  const busy = core ? `${USUAL_RATE} ${rateAt(dearest.endpoint)} keep ${percent(core)} of a core busy` : null;
  const size = (bytes: Interval | null | undefined, what: string) => bytes && `${mega(bytes.estimate)} MB ${what}`;
  const sizes = present([size(of?.rssBytes, "after load"), size(of?.peakRssBytes, "at most")]);
  return [
    ...render(ownGrid(rows)).split("\n"),
    ...labeled("In practice", busy ?? "the CPU time is not known, because the server's processes cannot be seen here"),
    ...labeled("Memory", sizes.join(", ") || null),
    ...labeled("Start", of?.startupMs ? `${count(of.startupMs.estimate)} ms until the first answer` : null),
  ];
}

/** The card as four questions, for the page. */
export function tiles(report: Report): { title: string; lines: string[] }[] {
  const { endpoints, servers, findings } = report;
  const choices = costs(choicesOf(endpoints)).map(plain);
  const trust = [...twinsSay(findings, true), ...caveats(report, namesIn(endpoints).length === 1)];
  return [
    { title: "Which?", lines: least(endpoints).map(plain) },
    { title: "How much?", lines: choices.length > 0 ? [...choices, HOW_TO_READ] : [] },
    { title: "Does it matter?", lines: [...matters(report), ...memory(servers)].map(plain) },
    { title: "Can I trust it?", lines: [restarts(report), ...trust].map(plain) },
  ].filter(({ lines }) => lines.length > 0);
}

export function namesIn(endpoints: readonly Endpoint[]): string[] {
  const twins = twinsAmong(endpoints);
  const names = endpoints.flatMap(({ rows }) => rows.map(({ name }) => name));
  return [...new Set(names)].filter((name) => !twins.has(name)).sort();
}

/** `8 restarts in 14 min` */
function restarts(report: Report): string {
  const { manifest, run } = report;
  if (!manifest) return `run ${run}`;
  if (kindOf(report) === "capacity") return "the highest rate that keeps a promise";
  return `${many(manifest.restarts, "restart")} in ${Math.max(1, Math.round(manifest.seconds.total / 60))} min`;
}

/** `10 servers · 2 × AMD EPYC (23/1) · 100 connections · 8 restarts in 14 min` */
function title(report: Report): string {
  const names = namesIn(report.endpoints);
  const who = names.length === 1 ? names[0] : `${names.length} servers`;
  return [who, report.machineName, `${report.connections} connections`, restarts(report)].join(" · ");
}

function least(endpoints: readonly Endpoint[]): Line[] {
  const ranked = endpoints.filter(({ comparison }) => comparison !== null);
  const twins = twinsAmong(endpoints);
  const standings = ranked.flatMap(({ comparison }) => comparison?.standings ?? []);
  const firsts = standings.filter(({ first, name }) => first && !twins.has(name));
  const times = [...Map.groupBy(firsts, ({ name }) => name)];
  const most = Math.max(...times.map(([, { length }]) => length));
  const names = times.flatMap(([name, { length }]) => (length === most ? [name] : [])).sort();
  const who = names.join(", ") + (names.length > 1 ? ": not distinguishable" : "");
  const label = costWord(ranked) === "time" ? "Least time" : "Least CPU";
  return labeled(label, names.length > 0 ? `${who} at ${most} of ${ranked.length} endpoints` : null);
}

/** Requests/s at the heaviest endpoint, of the servers that were at their own limit; null if not measured. */
export function heaviest({ endpoints, manifest }: Report) {
  const one = byWeight(endpoints.filter(({ load }) => load === "closed")).at(-1);
  if (!one || one.rows.length < 2) return null;
  const rates = one.rows.flatMap(({ goodput, verdict }) => (UNRANKED.has(verdict) ? [] : [goodput.estimate]));
  const cores = manifest?.cores ? parseCpuList(manifest.cores.server).length : 0;
  const who = cores === 0 ? "servers answer" : cores === 1 ? "one core answers" : `${cores} cores answer`;
  return { endpoint: one.endpoint, who, rates, of: one.rows.length, low: Math.min(...rates), high: Math.max(...rates) };
}

function matters(report: Report): Line[] {
  const seen = heaviest(report);
  if (seen === null) return [];
  const { endpoint, who, rates, of, low, high } = seen;
  if (rates.length === 0) return [["In practice", `not known: no server was at its own limit at ${endpoint}`]];
  const range = low === high ? count(low) : `${count(low)} to ${count(high)}`;
  const spread = rates.length > 1 ? `; fastest ÷ slowest ${(high / low).toFixed(2)}` : "";
  const limited = rates.length === of ? "" : ` (${rates.length} of ${of} were at their limit)`;
  return [["In practice", `${who} ${range} ${rateAt(endpoint, shortOf(endpoint))}${spread}${limited}`]];
}

function memory({ rows }: Endpoint): Line[] {
  const known = rows.filter(({ runtime, rssBytes }) => runtime && rssBytes);
  const of = [...Map.groupBy(known, ({ runtime }) => word(runtime))].sort().map(([runtime, all]) => {
    const sizes = all.map(({ rssBytes }) => Math.round((rssBytes?.estimate ?? 0) / 1e6));
    const span = [...new Set([Math.min(...sizes), Math.max(...sizes)])].join("–");
    return `${capital(runtime)} ${span} MB`;
  });
  return labeled("Memory", of.join(", ") || null);
}

function next({ manifest, endpoints }: Report): Line[] {
  const { minutes } = PRESETS.standard;
  const plan = manifest?.plan;
  if (plan?.preset !== "quick" || plan.amount.minutes >= minutes) return [];
  if (endpoints.every(({ comparison }) => comparison === null)) return [];
  const standard = `--standard halves that (${minutes} min)`;
  return [["Next", `${standard}; ./bench.sh report --details prints every table`]];
}
