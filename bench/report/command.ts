/** `./bench.sh report`: what is in results files, shown in one way or another. */
import { readFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { isPlain, readPlain, readResults, writeWhole } from "../results.ts";
import { comparison } from "./compare.ts";
import { foreign } from "./foreign.ts";
import { html } from "./html.ts";
import { machinesPage, sideBySide } from "./machines.ts";
import { markdown } from "./markdown.ts";
import { picture } from "./picture.ts";
import { allReports, type Kind, kindOf, manifestOf, newestOf, type Report, readReport, runsOf } from "./report.ts";
import { terminal } from "./terminal.ts";

export interface ReportOptions {
  readonly run?: string;
  readonly compare?: readonly string[];
  readonly html?: string;
  readonly markdown?: boolean;
  readonly readme?: boolean;
}

/** @throws UsageError for what cannot be shown; nothing is written then. */
export async function showReport(files: readonly string[], options: ReportOptions): Promise<void> {
  const { run, compare } = options;
  if (compare) return console.log(compareRuns(files, compare));
  if (options.html === undefined && !options.readme) {
    const shown = files.map((file) => {
      if (isPlain(file)) return foreign(file, readPlain(file));
      return (options.markdown ? markdown : terminal)(readReport(file, run));
    });
    return console.log(shown.join("\n\n"));
  }
  const [file = ""] = files;
  if (files.length > 1 || isPlain(file)) {
    throw new UsageError("--html and --readme show one file of ./bench.sh: give one");
  }
  if (options.html !== undefined) write(options.html, await html(readReport(file, run)));
  if (options.readme) await writeReadme(allReports(file));
}

function compareRuns(files: readonly string[], runs: readonly string[]): string {
  if (runs.length !== 2) throw new UsageError(`--compare takes two runs, not ${runs.length}: RUN1 RUN2`);
  const all = files.flatMap(readResults);
  const [a, b] = runs.map((run) => {
    const slices = all.filter((slice) => slice.run === run);
    if (slices.length > 0) return slices;
    throw new UsageError(
      `--compare: run "${run}" is not in ${files.join(", ")}, which has ${runsOf(all).slice(-5).join(", ")}`,
    );
  });
  const [first, second] = runs.map((run) => files.map((file) => manifestOf(file, run)).find(Boolean) ?? null);
  return comparison(a ?? [], b ?? [], [first ?? null, second ?? null]);
}

export const README = "README.md";
/** Of the newest run of each kind; README.md has a place for each as well. */
export const PAGES: Readonly<Record<Kind, string | null>> = {
  read: "docs/report.html",
  content: "docs/content.html",
  users: "docs/users.html",
  capacity: null,
};
export const PICTURE = "docs/results.svg";
export const MACHINES = "docs/machines.md";

/** @returns README.md as it is to be for these reports, oldest first. */
export function updated(readme: string, reports: readonly Report[]): string {
  const put = (text: string, place: string, shown: string) =>
    text.replace(new RegExp(`(?<=<!-- ${place} -->\n).*?(?=<!-- /${place} -->)`, "s"), () => `\n${shown}\n\n`);
  const withRuns = [...newestOf(reports)].reduce((text, [kind, report]) => {
    const picture = kind === "read" ? `![CPU time per request of each server](${PICTURE})\n\n` : "";
    return put(text, kind, picture + markdown(report));
  }, readme);
  return put(withRuns, "machines", sideBySide(ofMatrix(reports)));
}

const ofMatrix = (reports: readonly Report[]) => reports.filter((report) => kindOf(report) === "read");

async function writeReadme(reports: readonly Report[]): Promise<void> {
  for (const [kind, report] of newestOf(reports)) {
    const page = PAGES[kind];
    if (page) write(page, await html(report));
    if (kind === "read") write(PICTURE, picture(report));
  }
  write(MACHINES, machinesPage(ofMatrix(reports)));
  write(README, updated(readFileSync(README, "utf8"), reports));
}

/** @throws UsageError where it cannot. */
function write(file: string, text: string): void {
  try {
    writeWhole(file, text);
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message})`);
  }
}
