import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Eta } from "eta";
import { shortJson } from "../keep/files.ts";
import { heatMap, tiles } from "./card.ts";
import { COLUMNS, notesOf, otherTables, ratio, SERVER_COLUMNS, word } from "./format.ts";
import { COLORS, markOf, SHAPES } from "./page/charts.ts";
import { TYPICAL } from "./picture.ts";
import { type Endpoint, PERCENTILES, type Report } from "./report.ts";

const folder = join(import.meta.dirname, "page");

/** @returns one file that needs no other: charts for eyes, the same numbers as tables, a filter. */
export async function html(report: Report): Promise<string> {
  const eta = new Eta({ views: folder });
  // What is drawn stands in the data of the charts, and turns are many.
  const { histograms, turns, ...manifest } = report.manifest ?? { histograms: {}, turns: [] };
  return eta.render("page", {
    report,
    manifest,
    columns: COLUMNS,
    serverColumns: SERVER_COLUMNS,
    tiles: tiles(report),
    heat: heatMap(report.endpoints),
    typical: report.endpoints.some(({ endpoint }) => endpoint === TYPICAL) ? TYPICAL : report.endpoints[0]?.endpoint,
    notesOf,
    ratio,
    otherTables,
    word,
    legend: legendOf(report),
    filters: filtersOf(report),
    data: embedded({ endpoints: report.endpoints.map(drawn), percentiles: PERCENTILES }),
    script: await bundle(),
    style: readFileSync(join(folder, "style.css"), "utf8"),
  });
}

/** The marks that there are. */
function legendOf({ endpoints }: Report) {
  const marks = endpoints.flatMap(({ rows }) => rows.map(markOf));
  const has = (field: "runtime" | "framework", name: string) => marks.some((mark) => mark[field] === name);
  return {
    colors: COLORS.flatMap((name, index) => (has("framework", name) ? [{ name, index }] : [])),
    shapes: Object.entries(SHAPES)
      .flatMap(([name, [, shape]]) => (has("runtime", name) ? [`${shape} ${name}`] : []))
      .join(" "),
  };
}

/** What servers can be chosen by, if there is a choice. */
function filtersOf({ endpoints }: Report): Record<string, string[]> {
  const rows = endpoints.flatMap(({ rows }) => rows);
  const values = (["runtime", "framework", "driver"] as const).map(
    (name) => [name, [...new Set(rows.map((row) => word(row[name])))].sort()] as const,
  );
  return Object.fromEntries(values.filter(([, all]) => all.length > 1));
}

/** What charts draw; all else stands in the tables. */
const drawn = ({ comparison: _, throughput: __, rows, ...endpoint }: Endpoint) => ({
  ...endpoint,
  rows: rows.map(({ latencyMs, cpuUsPerRequest, goodput, standing, warming, ...row }) => ({
    ...{ name: row.name, runtime: row.runtime, framework: row.framework, driver: row.driver, twinOf: row.twinOf },
    ...{ cpuUsPerRequest, goodput, standing, warming },
    latencyMs: { 99: latencyMs[99] },
  })),
});

/** Four digits are more than a chart shows; in a script element nothing may look like its end. */
const embedded = (data: unknown) => shortJson(data, 4).replaceAll("<", "\\u003c");

async function bundle(): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [join(folder, "page.ts")], target: "browser", minify: true });
  const script = (await outputs[0]?.text()) ?? "";
  return script.replaceAll("</script", "<\\/script");
}
