/**
 * `bun scripts/publish.ts [RUN [RESULTS]]`, in the folder of the repository: writes everything in README.md, docs/ and results.csv
 * that comes from the runs in docs/runs/. RUN, a run of RESULTS (results.csv), is added to them first.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { KINDS, PUBLISHED, RESULTS, runFile, writeWhole } from "../bench/keep/files.ts";
import { appendResults } from "../bench/keep/results.ts";
import { PROTOCOL } from "../bench/keep/slices.ts";
import { readReport, resultRows, runsOf } from "../bench/tell/report.ts";
import { exitWith, UsageError } from "../shared/errors.ts";
import { written } from "./docs.ts";

/** Packs a run into docs/runs/. @throws UsageError for one that must not be published; nothing is written then. */
function add(run: string, results: string): void {
  const { protocol, manifest } = readReport(results, run);
  const { commit } = manifest?.environment ?? {};
  if (protocol !== PROTOCOL)
    throw new UsageError(`run ${run} has protocol ${protocol}, not ${PROTOCOL}: measure again with this version`);
  if (!commit || String(commit).endsWith("-dirty"))
    throw new UsageError(`run ${run} has commit ${commit ?? "unknown"}: commit the changes and measure again`);
  const files = KINDS.map((kind) => runFile(results, run, kind));
  const missing = files.find((file) => !existsSync(file));
  if (missing) throw new UsageError(`there is no ${missing}: name the results file of the run after the run`);
  for (const file of files)
    writeWhole(join(PUBLISHED, `${basename(file)}.zst`), Bun.zstdCompressSync(readFileSync(file), { level: 19 }));
}

try {
  const [run, results = RESULTS] = process.argv.slice(2);
  if (run) add(run, results);
  const reports = runsOf(PUBLISHED).map((one) => readReport(PUBLISHED, one));
  for (const [file, text] of written(reports)) writeWhole(file, text);
  for (const report of reports) await appendResults(RESULTS, report.run, resultRows(report));
} catch (error) {
  exitWith(error);
}
