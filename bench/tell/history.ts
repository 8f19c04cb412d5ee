/** What changed over many runs of one results.csv, and since when. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as Plot from "@observablehq/plot";
import { parse } from "csv-parse/sync";
import { Eta } from "eta";
import { Window } from "happy-dom";
import { UsageError } from "../../shared/errors.ts";
import { levels } from "../judge/changes.ts";
import type { RESULT_COLUMNS } from "../keep/results.ts";
import { listed } from "./format.ts";

/** One server at one endpoint, run by run. */
export interface Series {
  readonly name: string;
  readonly endpoint: string;
  /** The server of the same runs that it is compared with, so that the machine cancels; null if there is none. */
  readonly against: string | null;
  readonly runs: readonly string[];
  /** CPU time per request: ÷ that of `against`, or in µs. */
  readonly values: readonly number[];
  readonly levels: readonly { readonly from: number; readonly level: number }[];
}

/** Fewer runs than this show no change. */
const LEAST_RUNS = 8;

/** @param file results.csv, or one like it; oldest run first. @throws UsageError */
export function readHistory(file: string): Series[] {
  let rows: Record<(typeof RESULT_COLUMNS)[number], string>[];
  try {
    rows = parse(readFileSync(file), { columns: true });
  } catch (error) {
    throw new UsageError(`--history "${file}" cannot be read (${(error as Error).message})`);
  }
  if (rows.length > 0 && rows[0]?.CpuUsPerRequest === undefined)
    throw new UsageError(`--history "${file}" does not come from ./bench.sh: give a results.csv`);
  const measured = rows.filter(({ CpuUsPerRequest, Warming }) => CpuUsPerRequest && !Warming);
  const all = [...Map.groupBy(measured, ({ Endpoint }) => Endpoint)].flatMap(([endpoint, of]) =>
    seriesOf(endpoint, of),
  );
  const long = all.filter(({ runs }) => runs.length >= LEAST_RUNS);
  if (long.length > 0) return long.map((series) => ({ ...series, levels: levelsOf(series, long.length) }));
  const most = Math.max(0, ...all.map(({ runs }) => runs.length));
  throw new UsageError(`--history "${file}" has ${most} runs of one server: a change is seen in ${LEAST_RUNS} or more`);
}

/** On the log scale a change is as clear upwards as downwards. @param many series that are shown, which may all be still */
const levelsOf = ({ values }: Pick<Series, "values">, many: number) =>
  levels(values.map(Math.log), many).map(({ from, level }) => ({ from, level: Math.exp(level) }));

function seriesOf(endpoint: string, rows: readonly Record<string, string>[]): Omit<Series, "levels">[] {
  const byName = Map.groupBy(rows, ({ Name = "" }) => Name);
  const runs = new Set(rows.map(({ Run }) => Run));
  const inAll = [...byName].filter(([, of]) => of.every(({ CpuToLeast }) => CpuToLeast) && of.length === runs.size);
  const against = byName.size > 1 ? (inAll.map(([name]) => name).sort()[0] ?? null) : null;
  const ofRun = new Map(byName.get(against ?? "")?.map(({ Run, CpuToLeast }) => [Run, Number(CpuToLeast)]));
  return [...byName].flatMap(([name, of]): Omit<Series, "levels">[] => {
    if (name === against) return [];
    const sorted = of.toSorted((a, b) => ((a.Run ?? "") < (b.Run ?? "") ? -1 : 1));
    const values = sorted.map(({ Run, CpuToLeast, CpuUsPerRequest }) =>
      against === null ? Number(CpuUsPerRequest) : Number(CpuToLeast) / (ofRun.get(Run) as number),
    );
    return [{ name, endpoint, against, runs: sorted.map(({ Run = "" }) => Run), values }];
  });
}

const what = ({ name, endpoint, against }: Series) => `${name}${against ? ` ÷ ${against}` : ""} at ${endpoint}`;
const unit = ({ against }: Series) => (against === null ? " µs" : "");

/** A line per change, and one of all that have none. */
export function historyLines(all: readonly Series[]): string[] {
  const changed = all.flatMap((series) =>
    series.levels.slice(1).map(({ from, level }, i) => {
      const before = series.levels[i]?.level as number;
      const by = (level / before - 1) * 100;
      const signed = `${by < 0 ? "−" : "+"}${Math.abs(by).toFixed(1)} %`;
      return `${what(series)}: ${signed} since ${series.runs[from]}: ${before.toPrecision(3)} → ${level.toPrecision(3)}${unit(series)}`;
    }),
  );
  const still = all.filter(({ levels }) => levels.length === 1);
  const first = still[0]?.runs;
  return [
    ...changed,
    ...(still.length > 0 ? [`no change in ${first?.length ?? 0} runs: ${listed(still.map(what))}`] : []),
  ];
}

/** A page with one chart per series: each run, and the level between changes. */
export function historyPage(all: readonly Series[], file: string): string {
  const folder = join(import.meta.dirname, "page");
  const { document } = new Window();
  const charts = all.map((series) => {
    const points = series.values.map((value, i) => ({ at: new Date(series.runs[i] as string), value }));
    const steps = series.levels.flatMap(({ from, level }, i) => {
      const to = (series.levels[i + 1]?.from ?? points.length) - 1;
      return [from, to].map((place) => ({ at: points[place]?.at, level, part: i }));
    });
    const svg = Plot.plot({
      width: 760,
      height: 220,
      marginLeft: 60,
      marginTop: 30,
      marginBottom: 40,
      style: { fontSize: "13px", background: "none" },
      document: document as unknown as Document,
      x: { type: "utc", label: null, ticks: 6 },
      y: { label: series.against ? `CPU time ÷ ${series.against}` : "CPU µs per request", grid: true, nice: true },
      marks: [
        Plot.dot(points, { x: "at", y: "value", fill: "var(--series-1)", r: 3 }),
        Plot.line(steps, { x: "at", y: "level", z: "part", stroke: "currentColor", strokeWidth: 2 }),
      ],
    });
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${what(series)}, run by run`);
    return { title: what(series), svg: svg.outerHTML };
  });
  const style = readFileSync(join(folder, "style.css"), "utf8");
  return new Eta({ views: folder }).render("history", { file, lines: historyLines(all), charts, style });
}
