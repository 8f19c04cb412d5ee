/** The page of a run: one file that needs no other. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Eta } from "eta";
import { shortJson } from "../keep/files.ts";
import { heatMap, tiles } from "./card.ts";
import { ratio, word } from "./format.ts";
import { COLORS, markOf, SHAPES } from "./page/charts.ts";
import { TYPICAL } from "./picture.ts";
import { type Endpoint, PERCENTILES, type Report } from "./report.ts";
import { sections } from "./tables.ts";
import { type Grid, grid, plain } from "./text.ts";

const folder = join(import.meta.dirname, "page");

/** Charts for eyes, the same numbers as tables, a filter and a calculator. */
export async function html(report: Report): Promise<string> {
  const { endpoints, machine } = report;
  // What is drawn stands in the data of the charts, and turns are many.
  const { histograms, turns, ...manifest } = report.manifest ?? { histograms: {}, turns: [] };
  return new Eta({ views: folder }).render("page", {
    report,
    tiles: tiles(report),
    heat: heatMap(endpoints),
    typical: endpoints.some(({ endpoint }) => endpoint === TYPICAL) ? TYPICAL : endpoints[0]?.endpoint,
    legend: legendOf(endpoints),
    filters: filtersOf(endpoints),
    views: viewsOf(endpoints),
    machine: machine.map(plain),
    sections: sections(report),
    manifest: JSON.stringify(manifest, null, 1),
    data: embedded({ endpoints: endpoints.map(drawn), percentiles: PERCENTILES }),
    script: await bundle(),
    style: readFileSync(join(folder, "style.css"), "utf8"),
  });
}

/** A part of the page with charts; each chart's data are attributes of its figure. */
interface View {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly charts: readonly { readonly caption: string; readonly data: Readonly<Record<string, string>> }[];
  readonly grid?: Grid | null;
}

function viewsOf(endpoints: readonly Endpoint[]): View[] {
  const per = (chart: string, shown: readonly Endpoint[]) =>
    shown.map(({ endpoint }) => ({ caption: endpoint, data: { chart, endpoint } }));
  const views: View[] = [
    {
      id: "cpu",
      title: "CPU time",
      text: "Per request ÷ the least, with 95 % intervals. Servers that share a letter could not be distinguished; ? is warming.",
      charts: per(
        "intervals",
        endpoints.filter(({ comparison }) => comparison),
      ),
    },
    choicesView(endpoints),
    {
      id: "latency",
      title: "Latency",
      text: "In a closed loop these are service times. Dashed: Node.",
      charts: per(
        "latencies",
        endpoints.filter(({ curves }) => curves.length > 0),
      ),
    },
    loadView(endpoints),
  ];
  return views.filter(({ charts }) => charts.length > 0);
}

function choicesView(endpoints: readonly Endpoint[]): View {
  const choices = new Map(
    endpoints.flatMap(({ effects }) => effects.map(({ to, from }) => [`${to} ÷ ${from}`, { to, from }] as const)),
  );
  const rows = endpoints.map(({ endpoint, effects }) => [
    endpoint,
    ...[...choices.values()].map(({ to, from }) => {
      const cpu = effects.find((one) => one.to === to && one.from === from)?.cpu;
      return cpu ? ratio(cpu) : "-";
    }),
  ]);
  return {
    id: "choices",
    title: "Choices",
    text: "CPU time per request of servers that differ in nothing else; below 1 is less.",
    charts: [...choices].map(([caption, data]) => ({ caption, data: { chart: "effect", ...data } })),
    grid: grid("What each choice costs, as a table", ["endpoint", ...choices.keys()], rows),
  };
}

function loadView(endpoints: readonly Endpoint[]): View {
  const levels = endpoints.filter(({ level }) => level !== null);
  const isLadder = levels.some(({ level }) => level?.unit === "connections");
  const shown = [
    isLadder ? ["answered", "requests per second"] : ["cost", "CPU time per request"],
    ["p99", "p99"],
  ] as const;
  return {
    id: "load",
    title: "Over load",
    text: isLadder
      ? "How many requests each server alone answers, and how long they take, with more and more connections, each of which waits for its answer."
      : "What a request costs each server alone, and how long it takes, at several fixed rates. A server that is dear when nearly idle may be cheap when full.",
    charts: [...new Set(levels.map(({ base }) => base))].flatMap((base) =>
      shown.map(([chart = "", name = ""]) => ({ caption: `${base}: ${name}`, data: { chart, base } })),
    ),
  };
}

/** The marks that there are. */
function legendOf(endpoints: readonly Endpoint[]) {
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
function filtersOf(endpoints: readonly Endpoint[]): (readonly [name: string, values: string[]])[] {
  const rows = endpoints.flatMap(({ rows }) => rows);
  return (["runtime", "framework", "driver"] as const)
    .map((name) => [name, [...new Set(rows.map((row) => word(row[name])))].sort()] as const)
    .filter(([, values]) => values.length > 1);
}

/** What charts draw; all else stands in the tables. */
const drawn = ({ endpoint, base, level, effects, curves, rows }: Endpoint) => ({
  ...{ endpoint, base, level, curves },
  effects: effects.map(({ to, from, cpu }) => ({ to, from, cpu })),
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
