/** What a run says in about twelve lines: who needs least, what a choice costs, whether it matters, what the run cannot see. */

import { stateOf } from "../analysis/statistics.ts";
import { UNRANKED } from "../analysis/verdict.ts";
import type { Machine } from "../machine/identity.ts";
import { totalSeconds } from "../plan/duration.ts";
import { PRESETS } from "../plan/presets.ts";
import { parseCpuList } from "../targets/cores.ts";
import { capacities, circumstances, limits, NO_DATABASE, twinsOf } from "./answer.ts";
import { count, listed, percent, word } from "./format.ts";
import type { Endpoint, Report } from "./report.ts";
import { render } from "./text.ts";

/** More of the cores' time than this, taken by others, is said. */
const NOISY = 0.05;

/** Verdicts that are said of an endpoint, as its numbers are of something else than the servers. */
const ELSEWHERE = new Set(["network-bound", "bandwidth-bound", "rate-limited", "invalid", "service time"]);

export function card(report: Report): string[] {
  const { endpoints, servers, manifest } = report;
  return [
    title(report),
    ...trust(endpoints),
    ...capacities(manifest),
    ...least(endpoints),
    ...choices(endpoints).map((line) => `  ${line}`),
    ...matters(report),
    ...memory(servers),
    ...limits(
      endpoints.map(({ remarks, ...shown }) => ({
        ...shown,
        remarks: remarks.filter(({ verdict }) => ELSEWHERE.has(verdict)),
      })),
    ),
    ...circumstances(endpoints, manifest),
    ...notWarm(endpoints),
    ...noise(report),
    ...blind(endpoints),
    ...next(report),
  ];
}

const presetOf = ({ manifest }: Report) =>
  (Object.keys(PRESETS) as (keyof typeof PRESETS)[]).find(
    (name) => PRESETS[name].blocks === manifest?.plan.amount.blocks,
  );

function title(report: Report): string {
  const { manifest, connections, run, host } = report;
  if (!manifest) return `Run ${run} on ${host}, ${connections} connections`;
  const preset = presetOf(report);
  const name =
    preset === undefined ? "Run" : { quick: "First look", standard: "Standard run", full: "Full run" }[preset];
  const { blocks, twin } = manifest.plan.amount;
  const on = manifest.machine ? ` on ${manifest.machine.cores} × ${nameOf(manifest.machine)}` : "";
  return `${name}: ${blocks} restarts, ${twin ? "one server measured twice" : "no self-check"};${on}, ${connections} connections`;
}

/** `Intel Xeon Processor, model 167`: what tells two of one name apart stands in the report. */
function nameOf({ cpu, vendor, model }: Machine): string {
  const name = (cpu ?? vendor ?? "an unknown processor").replaceAll(/\((R|TM)\)/g, "");
  return model === null ? name : `${name}, model ${model}`;
}

function trust(endpoints: readonly Endpoint[]): string[] {
  const twins = twinsOf(endpoints);
  const wrong = twins.filter(({ state }) => state === "different");
  return wrong.length === 0
    ? []
    : [
        `DO NOT TRUST IT: ${wrong[0]?.name} measured twice came out different at ${wrong.length} of ${twins.length} endpoints`,
      ];
}

function least(endpoints: readonly Endpoint[]): string[] {
  const compared = endpoints.flatMap(({ comparison }) => comparison ?? []);
  const firsts = compared.flatMap(({ standings }) =>
    standings.filter(({ first, name }) => first && !name.includes("#")),
  );
  const times = [...Map.groupBy(firsts, ({ name }) => name)].map(([name, of]) => ({ name, times: of.length }));
  const most = Math.max(...times.map(({ times }) => times));
  const names = times.filter(({ times }) => times === most).map(({ name }) => name);
  return names.length === 0
    ? []
    : [
        `Least CPU time per request, or tied for it: ${listed(names.sort())}, at ${most} of ${compared.length} endpoints`,
      ];
}

/** Each choice at the endpoints where it matters least and most. */
function choices(endpoints: readonly Endpoint[]): string[] {
  const all = endpoints.flatMap(({ endpoint, effects }) =>
    // A driver matters only where it is asked.
    effects.flatMap(({ factor, to, from, cpu }) =>
      cpu && (factor !== "driver" || !NO_DATABASE.has(endpoint)) ? [{ choice: `${to}, not ${from}`, cpu }] : [],
    ),
  );
  const rows = [...Map.groupBy(all, ({ choice }) => choice)].map(([choice, of]) => {
    const changes = of.map(({ cpu }) => Math.round((cpu.estimate - 1) * 100));
    const shown = of.filter(({ cpu }) => stateOf(cpu) === "different").length;
    return [choice, change(Math.min(...changes), Math.max(...changes)), `shown at ${shown} of ${of.length}`];
  });
  if (rows.length === 0) return [];
  const columns = [0, 1, 2].map((i) => ({
    head: ["", "CPU time", ""][i] as string,
    show: (row: string[]) => row[i] ?? "",
    left: true as const,
  }));
  return render(columns, rows).split("\n").slice(1);
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
  const rates = heaviest.rows.flatMap(({ verdict, goodput }) => (UNRANKED.has(verdict) ? [] : [goodput.estimate]));
  const cores = manifest?.cores ? parseCpuList(manifest.cores.server).length : 0;
  const where = cores === 0 ? "" : ` on ${cores === 1 ? "one core" : `${cores} cores`}`;
  const of = rates.length === heaviest.rows.length ? "all" : `${rates.length} of ${heaviest.rows.length}`;
  return [
    rates.length === 0
      ? `Does it matter? Not known: at ${heaviest.endpoint} no server was at its own limit`
      : `Does it matter? At ${heaviest.endpoint} ${of} answer ${count(Math.min(...rates))}–${count(Math.max(...rates))} requests/s${where}`,
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

function notWarm(endpoints: readonly Endpoint[]): string[] {
  const rows = endpoints.flatMap(({ endpoint, rows }) => rows.map((row) => ({ endpoint, ...row })));
  const warming = rows.filter((row) => row.warming);
  if (warming.length === 0) return [];
  const [first] = warming;
  const others = warming.length === 1 ? "" : ", …";
  return [
    `Not warm, so not ranked: ${warming.length} of ${rows.length} rows (${first?.name} at ${first?.endpoint}${others}): raise --warmup`,
  ];
}

function noise({ taken }: Report): string[] {
  return taken === null || taken < NOISY
    ? []
    : [`Not quiet: the host and other processes had ${percent(taken)} of the cores' time in the median slice`];
}

function blind(endpoints: readonly Endpoint[]): string[] {
  const sights = endpoints
    .flatMap(({ endpoint, comparison }) => (comparison ? [{ endpoint, least: comparison.smallestVisible }] : []))
    .sort((a, b) => a.least - b.least);
  const [best, worst] = [sights[0], sights.at(-1)];
  if (!best || !worst) return [];
  const where = ({ endpoint, least }: typeof best) => `${percent(least)} (${endpoint})`;
  const span = sights.length === 1 ? where(best) : `${where(best)} to ${where(worst)}`;
  return [`Blind below ${span}: a tie means "not known"`];
}

function next(report: Report): string[] {
  const { manifest } = report;
  if (presetOf(report) !== "quick" || !manifest || manifest.plan.targets.length < 2) return [];
  const standard = { ...manifest.plan, amount: { ...manifest.plan.amount, ...PRESETS.standard } };
  return [`Next: the same with --standard decides (${Math.round(totalSeconds(standard) / 60)} min)`];
}
