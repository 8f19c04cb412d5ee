/** What `./bench.sh report --publish` writes: README.md, docs/ and rows of results.csv, from the runs in docs/runs/. */
import { readFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { RESULTS, writeWhole } from "../keep/files.ts";
import { appendResults } from "../keep/results.ts";
import { recommendation } from "./card.ts";
import { choicesSay } from "./choices.ts";
import { fenced, markdown } from "./draw.ts";
import { machinesPage } from "./machines.ts";
import { picture } from "./picture.ts";
import { kindOf, newestOf, type Report, resultRows } from "./report.ts";
import { capacities } from "./says.ts";

/** Files with places `<!-- name -->` that are written from the committed runs. */
export const DOCS = ["README.md", "docs/postgres.md", "docs/results.md", "docs/languages.md"];
export const PICTURE = "docs/results.svg";
export const MACHINES = "docs/machines.md";

/** The text of each place for which there is a run. @param reports oldest first */
export function placesOf(reports: readonly Report[]): Map<string, string> {
  const newest = newestOf(reports);
  const read = newest.get("read");
  const writes = capacities(newest.get("capacity")?.manifest ?? null);
  return new Map([
    ...[...newest].map(([kind, report]) => [kind, markdown(report)] as const),
    ...(read ? [["answer", answer(read, ofOthers(reports, newest))] as const] : []),
    ...(writes.length > 0 ? [["writes", bullets(writes)] as const] : []),
  ]);
}

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

/** What to choose, the picture, and the card of a run. @param more sentences of other runs */
const answer = (report: Report, more: readonly string[]): string =>
  [
    bullets([...recommendation(report), ...more]),
    "![CPU time per request of each server](docs/results.svg)",
    fenced(report),
  ].join("\n\n");

/** What the newest runs of drivers, of stores and of the ten on other machines add to the newest run of the ten. */
function ofOthers(reports: readonly Report[], newest: ReturnType<typeof newestOf>): string[] {
  const drivers = newest.get("drivers");
  const stores = newest.get("content") ?? newest.get("stacks-content");
  const byMachine = new Map(ofMatrix(reports).map((report) => [report.machineName, report]));
  byMachine.delete(newest.get("read")?.machineName ?? "");
  return [
    ...(drivers ? choicesSay(drivers, "driver", "SQLite driver") : []),
    ...(stores ? choicesSay(stores, "driver", "SQLite or Postgres") : []),
    ...[...byMachine].flatMap(([name, report]) => choicesSay(report, "runtime", `Runtime on ${name}`)),
  ];
}

/** @returns a text with its places filled. */
export const filled = (text: string, places: ReadonlyMap<string, string>): string =>
  [...places].reduce(
    (all, [place, shown]) =>
      all.replace(new RegExp(`(?<=<!-- ${place} -->\n).*?(?=<!-- /${place} -->)`, "s"), () => `\n${shown}\n\n`),
    text,
  );

const ofMatrix = (reports: readonly Report[]) => reports.filter((report) => kindOf(report) === "read");

export async function writeDocs(reports: readonly Report[]): Promise<void> {
  const read = newestOf(reports).get("read");
  if (read) write(PICTURE, picture(read));
  write(MACHINES, machinesPage(ofMatrix(reports)));
  const places = placesOf(reports);
  for (const doc of DOCS) write(doc, filled(readFileSync(doc, "utf8"), places));
  for (const report of reports) await appendResults(RESULTS, report.run, resultRows(report));
}

/** @throws UsageError if it cannot. */
export function write(file: string, text: string): void {
  try {
    writeWhole(file, text);
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message})`);
  }
}
