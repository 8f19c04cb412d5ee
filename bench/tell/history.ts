/** What changed over many runs of one results.csv, and since when. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { Eta } from "eta";
import { Window } from "happy-dom";
import { UsageError } from "../../shared/errors.ts";
import { levels } from "../judge/changes.ts";
import type { RESULT_COLUMNS } from "../keep/results.ts";
import { listed, signed } from "./format.ts";
import { history } from "./page/draw.ts";

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

/** A line per change, and one of all that have none. */
export function historyLines(all: readonly Series[]): string[] {
  const changed = all.flatMap((series) =>
    series.levels.slice(1).map(({ from, level }, i) => {
      const before = series.levels[i]?.level as number;
      const levels = `${before.toPrecision(3)} → ${level.toPrecision(3)}${series.against === null ? " µs" : ""}`;
      return `${what(series)}: ${signed(level / before, 1)} % since ${series.runs[from]}: ${levels}`;
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
  const canvas = { width: 760, document: document as unknown as Document };
  const charts = all.map((series) => {
    const { against, levels, runs, values } = series;
    const points = values.map((value, i) => {
      const part = levels.findLastIndex(({ from }) => from <= i);
      return { at: new Date(runs[i] as string), value, level: levels[part]?.level as number, part };
    });
    const label = against ? `CPU time ÷ ${against}` : "CPU µs per request";
    return { title: what(series), svg: history(`${what(series)}, run by run`, label, points, canvas).outerHTML };
  });
  const style = readFileSync(join(folder, "style.css"), "utf8");
  return new Eta({ views: folder }).render("history", { file, lines: historyLines(all), charts, style });
}
