/** The page of a run: one file that needs no other. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Eta } from "eta";
import { shortJson } from "../keep/files.ts";
import { namesIn, tiles } from "./card.ts";
import { legendOf, viewsOf } from "./charts.ts";
import { shortOf } from "./format.ts";
import { fragmentOf } from "./page/address.ts";
import type { Chart } from "./page/draw.ts";
import { type Endpoint, endpointOr, type Report, TYPICAL } from "./report.ts";
import { overview, sections } from "./tables.ts";
import { plain } from "./text.ts";

const folder = join(import.meta.dirname, "page");

/** What the script in the page needs. */
export interface Data {
  readonly charts: readonly Chart[];
  /** CPU µs per request, by endpoint. */
  readonly costs: Readonly<Record<string, readonly (readonly [name: string, us: number])[]>>;
}

export async function html(report: Report): Promise<string> {
  const { endpoints, machine } = report;
  // Leaves out histograms, whose data is in the charts, and turns, which are many.
  const { histograms, turns, ...manifest } = report.manifest ?? { histograms: {}, turns: [] };
  const views = viewsOf(endpoints);
  const costs = Object.fromEntries(endpoints.map((one) => [one.endpoint, costsOf(one)]));
  const data: Data = { charts: views.flatMap(({ charts }) => charts), costs };
  return new Eta({ views: folder }).render("page", {
    report,
    tiles: tiles(report),
    heat: heatOf(endpoints),
    typical: endpointOr(endpoints, TYPICAL).endpoint,
    legend: legendOf(endpoints),
    views,
    machine: machine.map(plain),
    sections: sections(report),
    manifest: JSON.stringify(manifest, null, 1),
    // A chart shows fewer than four digits. "<" is escaped, so that no text ends the script element.
    data: shortJson(data, 4).replaceAll("<", "\\u003c"),
    script: await bundle(),
    style: readFileSync(join(folder, "style.css"), "utf8"),
  });
}

/** The overview without twins, for a heat map. */
function heatOf(endpoints: readonly Endpoint[]) {
  const compared = endpoints.filter(({ comparison }) => comparison !== null);
  const names = namesIn(endpoints);
  const { title = "", rows = [] } = overview(compared) ?? {};
  const heads = compared.map(({ endpoint }) => ({
    endpoint,
    short: shortOf(endpoint),
    fragment: fragmentOf({ view: "cpu", choices: [["endpoint", endpoint]] }),
  }));
  return { title: title.split(";")[0], heads, rows: rows.filter(([name = ""]) => names.includes(name)) };
}

/** Without twins. */
const costsOf = ({ rows }: Endpoint): Data["costs"][string] =>
  rows.flatMap(({ name, cpuUsPerRequest: us, twinOf }) => (us && !twinOf ? [[name, us.estimate] as const] : []));

async function bundle(): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [join(folder, "page.ts")], target: "browser", minify: true });
  const script = (await outputs[0]?.text()) ?? "";
  return script.replaceAll("</script", "<\\/script");
}
