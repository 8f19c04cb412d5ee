/** `./bench.sh report`: shows results files. */
import { UsageError } from "../../shared/errors.ts";
import { PRIVATE, write } from "../keep/files.ts";
import { manifestOf } from "../keep/manifest.ts";
import { readSlices, readWindows } from "../keep/slices.ts";
import { comparison, type Run } from "../tell/compare.ts";
import { markdown, summary, terminal } from "../tell/draw.ts";
import { historyLines, historyPage, readHistory } from "../tell/history.ts";
import { html } from "../tell/html.ts";
import { machineNameOf } from "../tell/machine.ts";
import { type Report, readReport, runsOf } from "../tell/report.ts";

export interface ReportOptions {
  readonly run?: string;
  readonly list?: boolean;
  readonly details?: boolean;
  readonly compare?: readonly string[];
  readonly history?: string;
  readonly html?: string;
  readonly markdown?: boolean;
}

/** @throws UsageError for what cannot be shown; nothing is written then. */
export async function showReport(files: readonly string[], options: ReportOptions): Promise<void> {
  const { run, compare, history } = options;
  if (history !== undefined) return showHistory(history, options.html);
  if (compare) return console.log(compareRuns(files, compare));
  if (options.list) return console.log(files.map(listOf).join("\n"));
  if (options.html === undefined) {
    const shown = files.map((file) => {
      const report = readReport(file, run);
      return options.markdown ? markdown(report) : show(report, options.details);
    });
    return console.log(shown.join("\n\n"));
  }
  const [file = ""] = files;
  if (files.length > 1) throw new UsageError(`--html requires one results file, not ${files.length}`);
  await writePage(readReport(file, run), options.html);
}

async function showHistory(file: string, page?: string): Promise<void> {
  const series = readHistory(file);
  console.log(historyLines(series).join("\n"));
  if (page !== undefined) write(page, await historyPage(series, file));
}

/** For a terminal: the card, or everything. */
export const show = (report: Report, details = false): string => (details ? terminal : summary)(report);

/** @returns the page's path. @throws UsageError if it cannot be written. */
export async function writePage(report: Report, file: string): Promise<string> {
  write(file, await html(report), report.manifest?.secrets && PRIVATE);
  return file;
}

/** One line per run, newest first. */
function listOf(file: string): string {
  return runsOf(file)
    .toReversed()
    .map((run) => {
      const slices = readSlices(file, run);
      const count = (field: "name" | "scenario" | "restart") =>
        new Set(slices.flatMap((slice) => (slice.twinOf === null ? [slice[field]] : []))).size;
      const machine = machineNameOf(manifestOf(file, run), slices[0]?.host ?? "?");
      return `${run}  ${machine}  ${count("name")} servers × ${count("scenario")} endpoints, ${count("restart")} restarts`;
    })
    .join("\n");
}

function compareRuns(files: readonly string[], runs: readonly string[]): string {
  if (runs.length !== 2) throw new UsageError(`--compare takes two runs, not ${runs.length}: RUN1 RUN2`);
  const [a, b] = runs.map((run) => {
    const file = files.find((one) => readSlices(one, run).length > 0);
    if (file !== undefined)
      return { slices: readSlices(file, run), windows: readWindows(file, run), manifest: manifestOf(file, run) };
    throw new UsageError(`--compare: no run "${run}": choose from ${files.flatMap(runsOf).slice(-5).join(", ")}`);
  });
  return comparison(a as Run, b as Run);
}
