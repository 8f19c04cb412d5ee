import { dirname, join } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { type AppOptions, appsOf, askedOf, type RequestOptions } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { SERVERS } from "../ask/targets.ts";
import { addressOf } from "../host/engine.ts";
import { RESULTS, runFile } from "../keep/files.ts";
import { appendResults } from "../keep/results.ts";
import { totalSeconds } from "../plan/duration.ts";
import { atRates, makePlan, onLadder, type Plan } from "../plan/plan.ts";
import { PRESETS } from "../plan/presets.ts";
import { capacitySeconds, commonCapacity, coresFor, measure, measureCapacity, withTargets } from "../run/blocks.ts";
import { type Idle, idleOf } from "../run/idle.ts";
import { closeSession, newSession, resumeSession, type Session } from "../run/session.ts";
import type { Slo } from "../run/slo.ts";
import { needPgbouncer } from "../run/stores/pooler.ts";
import { capacityLine, describe, idleTable, order } from "../tell/lines.ts";
import { type Progress, showProgress } from "../tell/progress.ts";
import { reportOf } from "../tell/read.ts";
import { resultRows } from "../tell/results.ts";
import { show, writePage } from "./report.ts";
import { buildStacks, withoutAll } from "./stacks.ts";

/** As the command line has them. */
export interface RunOptions extends AppOptions, RequestOptions {
  readonly quick?: boolean;
  readonly standard?: boolean;
  readonly full?: boolean;
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
  /** 0.1 for 10 %. */
  readonly load?: number[];
  readonly ladder?: number[];
  readonly slo?: Slo;
  readonly name?: string[];
  readonly seed: number;
  readonly resume?: string;
  readonly dryRun?: boolean;
  readonly details?: boolean;
}

/** Measures servers of the matrix, or those at `urls`, and says what came out. @throws UsageError */
export async function run(urls: readonly string[], options: RunOptions, signal: AbortSignal): Promise<void> {
  const { name: names = [], servers: chosen = [], agents = [], resume, slo, dryRun } = options;
  const { connections, seconds, warmup, rate: rates = [], load, seed, workload, scale, results } = options;
  const presets = (Object.keys(PRESETS) as (keyof typeof PRESETS)[]).filter((preset) => options[preset]);
  if (presets.length > 1) throw new UsageError(`--${presets.join(" --")}: choose one`);
  const preset = presets[0] ?? "quick";
  if (resume) return finish(resumeSession(resume, results, signal, progressOf), options);
  const { endpoints, requests } = askedOf(options);
  const engine = await engineOf(options, signal);
  const servers = await withoutAll(chosen, workload, signal);
  const planned = makePlan(
    {
      workload,
      scale,
      urls,
      names,
      servers,
      apps: appsOf(options, endpoints),
      engine,
      agents,
      endpoints,
      requests,
      connections,
      preset,
      seconds,
      warmup,
      rate: rates.length === 1 ? rates[0] : undefined,
      seed,
    },
    SERVERS,
  );
  if (planned.targets.some((spec) => spec.kind === "local" && spec.env.POSTGRES_POOLER)) needPgbouncer();
  if (!dryRun) await buildStacks(planned.targets, signal);
  const plan = await atAll(planned, rates, load, options, signal);
  if (dryRun) return console.log(`${describe(plan, coresFor(plan))}\n\n${order(plan)}`);
  const session = await newSession(plan, coresFor(plan), results, progressOf(plan, slo), signal);
  const running = plan.targets.filter(({ kind }) => kind === "url");
  await withTargets(session, running, async () => {}); // mistakes are said before anything is measured
  if (slo) return capacity(session, slo);
  if (options.idle) return idle(session);
  session.progress.say(describe(plan, session.manifest.cores));
  session.save();
  await finish(session, options);
}

/**
 * @param rates requests per second; @param parts of what the slowest can answer, which is measured first
 * @returns the plan at all of them, if there are several
 */
async function atAll(
  plan: Plan,
  rates: readonly number[],
  parts: readonly number[] | undefined,
  { results, dryRun, ladder, seconds }: RunOptions,
  signal: AbortSignal,
): Promise<Plan> {
  if (ladder && (parts || rates.length > 0)) throw new UsageError("--ladder, --load and --rate: give one of them");
  if (ladder) return onLadder(plan, ladder, seconds);
  if (parts && rates.length > 0) throw new UsageError("--load and --rate: give one of them");
  if (rates.length > 1) return atRates(plan, () => rates);
  if (!parts || dryRun) return plan;
  const session = await newSession(plan, coresFor(plan), results, progressOf(plan), signal);
  try {
    const capacity = await commonCapacity(session);
    const rateOf = (endpoint: string, part: number) => Number((part * (capacity.get(endpoint) ?? 0)).toPrecision(3));
    return atRates(plan, (endpoint) => parts.map((part) => rateOf(endpoint, part)));
  } finally {
    await closeSession(session);
  }
}

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
  throw new UsageError(`${run[0]?.replace("-cpus", "")} is of containers: give --docker as well`);
}

export function progressOf(plan: Plan, slo?: Slo): Progress {
  return showProgress(slo ? capacitySeconds(plan, slo) : totalSeconds(plan));
}

async function finish(session: Session, { details }: RunOptions): Promise<void> {
  const { manifest, slices, results, signal } = session;
  try {
    await measure(session);
  } catch (error) {
    if (signal.aborted) console.error(`\n./bench.sh --resume ${manifest.run} goes on with this run`);
    throw error;
  } finally {
    await closeSession(session);
  }
  const report = reportOf(slices, manifest);
  console.log(`\n${show(report, details)}\n`);
  const page = await writePage(report, join(dirname(results), "report.html"));
  await appendResults(results, manifest.run, resultRows(report));
  const others = results === RESULTS ? "" : ` ${results}`;
  console.log(
    `run ${manifest.run}: summed up in ${results}, ${slices.length} slices in ${runFile(results, manifest.run, "csv")}, charts in ${page}; ./bench.sh report${others} --details prints every table`,
  );
}

const IDLE_STARTS = 3;

/** Prints what each target costs that nobody asks. */
async function idle(session: Session): Promise<void> {
  const { targets, endpoints } = session.manifest.plan;
  const seen: Idle[] = [];
  try {
    for (let start = 1; start <= IDLE_STARTS; start++) {
      for (const spec of targets) {
        session.progress.now(`start ${start}: ${spec.kind === "url" ? spec.url : spec.name}`);
        seen.push(await idleOf(session, spec, endpoints[0] as string));
      }
    }
  } finally {
    await closeSession(session);
  }
  console.log(idleTable(seen));
}

async function capacity(session: Session, slo: Slo): Promise<void> {
  try {
    await measureCapacity(session, slo, (name, endpoint, found) =>
      session.progress.say(capacityLine(name, endpoint, slo, found)),
    );
  } finally {
    await closeSession(session);
    session.save();
  }
  const { results, manifest, slices } = session;
  if (slices.length > 0) await appendResults(results, manifest.run, resultRows(reportOf(slices, manifest)));
}
