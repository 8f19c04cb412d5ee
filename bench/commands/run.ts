import { dirname, join } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { type AppOptions, appsOf, askedOf, type RequestOptions } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { SERVERS, type TargetSpec } from "../ask/targets.ts";
import { addressOf } from "../host/engine.ts";
import { RESULTS, runFile } from "../keep/files.ts";
import { appendResults } from "../keep/results.ts";
import { atRates, endpointsOf, makePlan, type Plan, unique } from "../plan/plan.ts";
import { PRESETS, type Preset } from "../plan/presets.ts";
import type { Slo } from "../plan/slo.ts";
import { capacitySeconds, measureCapacity } from "../run/capacity.ts";
import { type Idle, idleOf } from "../run/idle.ts";
import { measure } from "../run/measure.ts";
import { withTargets } from "../run/restart.ts";
import { closeSession, coresFor, newSession, type Progress, resumeSession, type Session } from "../run/session.ts";
import { needPgbouncer } from "../run/stores/pooler.ts";
import { nameAt } from "../run/targets/url.ts";
import { describe, idleTable, targetLines } from "../tell/lines.ts";
import { showProgress } from "../tell/progress.ts";
import { reportOf, resultRows } from "../tell/report.ts";
import { capacitySays } from "../tell/says.ts";
import { soFar } from "../tell/tables.ts";
import { prepare, withoutAll } from "./prepare.ts";
import { show, writePage } from "./report.ts";

export interface RunOptions extends AppOptions, RequestOptions {
  readonly quick?: boolean;
  readonly standard?: boolean;
  readonly full?: boolean;
  readonly minutes?: number;
  readonly servers?: string[];
  readonly workload: Workload;
  readonly scale?: number;
  readonly docker?: string | true;
  readonly image: string;
  readonly cpuset?: string;
  readonly memory?: string;
  readonly readOnly?: true;
  readonly agents?: string[];
  readonly connections: number;
  readonly warmup?: number;
  readonly results: string;
  readonly seconds?: number;
  readonly idle?: true;
  readonly rate?: number[];
  readonly slo?: Slo;
  readonly name?: string[];
  readonly machineName?: string;
  readonly seed: number;
  readonly keepSecrets?: true;
  readonly resume?: string;
  readonly dryRun?: boolean;
  readonly details?: boolean;
}

/** Measures servers of the matrix, or those at `urls`, and prints the report. @throws UsageError */
export async function run(urls: readonly string[], options: RunOptions, signal: AbortSignal): Promise<void> {
  const { resume, slo, dryRun, results } = options;
  if (resume !== undefined) {
    await using session = await resumeSession(resume, results, signal, progressOf);
    return await finish(session, options);
  }
  const plan = await planOf(urls, options, signal);
  if (plan.targets.some((spec) => spec.kind === "local" && spec.env.POSTGRES_POOLER)) needPgbouncer();
  if (!dryRun) await prepare(plan, results, signal);
  if (dryRun) return console.log([describe(plan, coresFor(plan)), ...targetLines(plan)].join("\n"));
  await using session = await newSession(plan, results, progressOf(plan, slo), signal, options);
  const running = plan.targets.filter(({ kind }) => kind === "url");
  await withTargets(session, running, async () => {}); // reports mistakes before anything is measured
  if (slo) return await capacity(session, slo);
  if (options.idle) return await idle(session);
  session.progress.say(describe(plan, session.manifest.cores));
  session.save();
  await finish(session, options);
}

export async function planOf(urls: readonly string[], options: RunOptions, signal: AbortSignal): Promise<Plan> {
  const { name: names = [], servers: chosen = [], dryRun, slo, idle } = options;
  const { rate: rates = [], workload } = options;
  const presets = (Object.keys(PRESETS) as Preset[]).filter((preset) => options[preset]);
  if (presets.length > 1) throw new UsageError(`--${presets.join(" --")}: choose one`);
  const asked = await askedOf(options);
  for (const note of asked.notes) console.error(note);
  const engine = await engineOf(options, signal);
  const made = makePlan(
    {
      ...options,
      ...asked,
      requests: asked.requests,
      urls,
      names,
      servers: await withoutAll(chosen, workload, dryRun ? null : signal),
      apps: await appsOf(options, asked, signal),
      engine,
      preset: presets[0] ?? "quick",
      rates,
      // No twin, because it checks turns, and these modes have none.
      once: slo !== undefined || idle === true,
    },
    SERVERS,
  );
  const plan = rates.length > 1 ? atRates(made, rates) : made;
  return dryRun
    ? plan
    : { ...plan, targets: unique(await Promise.all(plan.targets.map((spec) => named(spec, signal)))) };
}

/** Asks a running server for its name, unless one is given. */
const named = async (spec: TargetSpec, signal: AbortSignal): Promise<TargetSpec> =>
  spec.kind === "url" && URL.canParse(spec.name) ? { ...spec, name: await nameAt(spec, signal) } : spec;

/** @throws UsageError for options of containers without --docker. */
async function engineOf({ docker, image, cpuset, memory, readOnly }: RunOptions, signal: AbortSignal) {
  const run = [
    ...(cpuset ? ["--cpuset-cpus", cpuset] : []),
    ...(memory ? ["--memory", memory] : []),
    ...(readOnly ? ["--read-only"] : []),
  ];
  const tagged = /:[^/]*$/.test(image) ? image : `${image}:latest`;
  if (docker) return { address: await addressOf(docker, signal), image: tagged, run };
  if (run.length === 0) return undefined;
  throw new UsageError(`${run[0]?.replace("-cpus", "")} requires --docker`);
}

const progressOf = (plan: Plan, slo?: Slo): Progress =>
  showProgress(slo ? capacitySeconds(plan, slo) : plan.amount.minutes * 60);

async function finish(session: Session, options: RunOptions): Promise<void> {
  const { manifest, progress, signal } = session;
  const seconds = manifest.plan.amount.minutes * 60;
  try {
    await measure(session, { seconds, after: () => progress.redraw(soFar(session)) });
  } catch (error) {
    if (!signal.aborted) throw error;
    await closeSession(session);
    if (session.slices.length > 0) await tell(session, options);
    console.error(
      manifest.secrets === "hashed"
        ? "\nthis run cannot be continued, because its secrets are not kept: --keep-secrets keeps them"
        : `\n./bench.sh --resume ${manifest.run} continues this run`,
    );
    throw error;
  }
  await closeSession(session);
  await tell(session, options);
}

/** Prints the report of a run, and writes the page and results.csv. */
async function tell(session: Session, { details }: RunOptions): Promise<void> {
  const { manifest, slices, results } = session;
  const report = reportOf(session, manifest);
  console.log(`\n${show(report, details)}\n`);
  const page = await writePage(report, join(dirname(results), "report.html"));
  await appendResults(results, manifest.run, resultRows(report));
  const others = results === RESULTS ? "" : ` ${results}`;
  console.log(
    `run ${manifest.run}: summary in ${results}, ${slices.length} slices in ${runFile(results, manifest.run, "csv")}, charts in ${page}; ./bench.sh report${others} --details prints every table`,
  );
}

const IDLE_STARTS = 3;

async function idle(session: Session): Promise<void> {
  const { plan } = session.manifest;
  const seen: Idle[] = [];
  for (let start = 1; start <= IDLE_STARTS; start++) {
    for (const spec of plan.targets) {
      session.progress.now(`start ${start}: ${spec.name}`);
      seen.push(await idleOf(session, spec, endpointsOf(plan)[0] as string));
    }
  }
  session.progress.say(idleTable(seen));
}

async function capacity(session: Session, slo: Slo): Promise<void> {
  try {
    await measureCapacity(session, slo, (name, endpoint, found) =>
      session.progress.say(capacitySays(name, endpoint, slo, found)),
    );
  } finally {
    session.save();
  }
  const { results, manifest, slices } = session;
  if (slices.length > 0) await appendResults(results, manifest.run, resultRows(reportOf(session, manifest)));
}
