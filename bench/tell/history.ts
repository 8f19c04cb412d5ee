/** Changes of cost over the runs of one results.csv, and when they began. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { UsageError } from "../../shared/errors.ts";
import { levels } from "../judge/changes.ts";
import type { RESULT_COLUMNS } from "../keep/results.ts";
import { listed, signed } from "./format.ts";

export type Series = ReturnType<typeof readHistory>[number];
type ResultRow = Readonly<Record<(typeof RESULT_COLUMNS)[number], string>>;

/** Minimum runs in which a change can be detected. */
const LEAST_RUNS = 8;

/** @param file results.csv, or one like it; oldest run first. @throws UsageError */
export function readHistory(file: string) {
  let rows: ResultRow[];
  try {
    rows = parse(readFileSync(file), { columns: true, bom: true, relax_quotes: true });
  } catch (error) {
    throw new UsageError(`--history "${file}" cannot be read (${(error as Error).message})`);
  }
  if (rows.length > 0 && rows[0]?.CpuUsPerRequest === undefined)
    throw new UsageError(`--history "${file}" does not come from ./bench.sh: give a results.csv`);
  const measured = rows.filter(({ CpuUsPerRequest, Warming }) => CpuUsPerRequest && !Warming);
  const all = [...Map.groupBy(measured, ({ Endpoint }) => Endpoint).values()].flatMap(seriesOf);
  const long = all.filter(({ runs }) => runs.length >= LEAST_RUNS);
  const most = Math.max(0, ...all.map(({ runs }) => runs.length));
  const few = `has at most ${most} runs of a server: detecting a change requires ${LEAST_RUNS}`;
  if (long.length === 0) throw new UsageError(`--history "${file}" ${few}`);
  // ln scale, so that a rise is as clear as a fall; corrected for the number of series.
  return long.map((series) => ({
    ...series,
    levels: levels(series.values.map(Math.log), long.length).map(({ from, level }) => ({
      from,
      level: Math.exp(level),
    })),
  }));
}

/** Costs ÷ those of one server in the same runs, because the machine then cancels. @param rows of one endpoint */
function seriesOf(rows: readonly ResultRow[]) {
  const byName = Map.groupBy(rows, ({ Name }) => Name);
  const runs = new Set(rows.map(({ Run }) => Run));
  const inAll = [...byName].filter(([, of]) => of.every(({ CpuToLeast }) => CpuToLeast) && of.length === runs.size);
  const against = byName.size > 1 ? (inAll.map(([name]) => name).sort()[0] ?? null) : null;
  const ofRun = new Map(byName.get(against ?? "")?.map(({ Run, CpuToLeast }) => [Run, Number(CpuToLeast)]));
  const label = against ? `CPU time ÷ ${against}` : "CPU µs per request";
  return [...byName].flatMap(([name, of]) => {
    if (name === against) return [];
    const sorted = of.toSorted((a, b) => (a.Run < b.Run ? -1 : 1));
    const values = sorted.map(({ Run, CpuToLeast, CpuUsPerRequest }) =>
      against === null ? Number(CpuUsPerRequest) : Number(CpuToLeast) / (ofRun.get(Run) as number),
    );
    const title = `${name}${against ? ` ÷ ${against}` : ""} at ${rows[0]?.Endpoint}`;
    return [{ title, label, unit: against ? "" : " µs", runs: sorted.map(({ Run }) => Run), values }];
  });
}

export function historyLines(all: readonly Series[]): string[] {
  const changed = all.flatMap(({ title, unit, runs, levels }) =>
    levels.slice(1).map(({ from, level }, i) => {
      const before = levels[i]?.level as number;
      const change = `${signed(level / before, 1)} % since ${runs[from]}`;
      return `${title}: ${change}: ${before.toPrecision(3)} → ${level.toPrecision(3)}${unit}`;
    }),
  );
  const still = all.filter(({ levels }) => levels.length === 1);
  const none = `no change in ${still[0]?.runs.length} runs: ${listed(still.map(({ title }) => title))}`;
  return still.length > 0 ? [...changed, none] : changed;
}

/** A page with one chart per series: each run, and the level between changes. */
export async function historyPage(all: readonly Series[], file: string): Promise<string> {
  const [{ Eta }, { Window }, { history }] = await Promise.all([
    import("eta"),
    import("happy-dom"),
    import("./page/draw.ts"),
  ]);
  const folder = join(import.meta.dirname, "page");
  const canvas = { width: 760, document: new Window().document as unknown as Document };
  const charts = all.map(({ title, label, levels, runs, values }) => {
    const points = values.map((value, i) => {
      const part = levels.findLastIndex(({ from }) => from <= i);
      return { at: new Date(runs[i] as string), value, level: levels[part]?.level as number, part };
    });
    return { title, svg: history(`${title}, run by run`, label, points, canvas).outerHTML };
  });
  const style = readFileSync(join(folder, "style.css"), "utf8");
  return new Eta({ views: folder }).render("history", { file, lines: historyLines(all), charts, style });
}
