/** `./bench.sh report`: what is in results files, shown in one way or another. */
import { readFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { isPlain, readPlain, readResults, writeWhole } from "../results.ts";
import { comparison } from "./compare.ts";
import { foreign } from "./foreign.ts";
import { html } from "./html.ts";
import { markdown } from "./markdown.ts";
import { picture } from "./picture.ts";
import { type Report, readReport, runsOf } from "./report.ts";
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
  const report = readReport(file, run);
  if (options.html !== undefined) write(options.html, await html(report));
  if (options.readme) writeReadme(report);
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
  return comparison(a ?? [], b ?? []);
}

export const README = "README.md";
export const PICTURE = "docs/results.svg";
const MARKED = /(?<=<!-- results -->\n).*?(?=<!-- \/results -->)/s;

/** @returns README.md as it is to be for this report. */
export const updated = (readme: string, report: Report): string =>
  readme.replace(MARKED, () => `\n![CPU time per request of each server](${PICTURE})\n\n${markdown(report)}\n\n`);

function writeReadme(report: Report): void {
  write(PICTURE, picture(report));
  write(README, updated(readFileSync(README, "utf8"), report));
}

/** @throws UsageError where it cannot. */
function write(file: string, text: string): void {
  try {
    writeWhole(file, text);
  } catch (error) {
    throw new UsageError(`"${file}" cannot be written (${(error as Error).message})`);
  }
}
