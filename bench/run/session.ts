import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { UsageError } from "../../shared/errors.ts";
import { isSequence } from "../ask/endpoints.ts";
import { isHere } from "../ask/targets.ts";
import { run as runCommand } from "../host/command.ts";
import { commitOf } from "../host/commit.ts";
import { type Cores, moveTo, splitCores } from "../host/cores.ts";
import type { Engine } from "../host/engine.ts";
import { digestOf } from "../host/folders.ts";
import { readMachine } from "../host/machine/identity.ts";
import { runFile, shortJson, writeWhole } from "../keep/files.ts";
import { type Manifest, manifestOf } from "../keep/manifest.ts";
import { checkResults } from "../keep/results.ts";
import { PROTOCOL, readSlices, readWindows, type Slice, type Window } from "../keep/slices.ts";
import { findAgents, loadFrom } from "../load/agents.ts";
import { type Load, type LoadOptions, load } from "../load/fortio.ts";
import { loadSequence } from "../load/k6.ts";
import type { Plan } from "../plan/plan.ts";
import { startPlayer, warmAt } from "./players.ts";
import { pgbouncerVersion } from "./stores/pooler.ts";
import type { Stores } from "./stores/stores.ts";
import { askedAt } from "./targets/answers.ts";
import { start } from "./targets/local.ts";
import type { Target } from "./targets/target.ts";

/** What runs now, and what is to be said; how that is shown is not a matter of the run. */
export interface Progress {
  now(what: string): void;
  /** @param seconds of the run that are behind us */
  at(seconds: number): void;
  /** Prints a line that stays. */
  say(line: string): void;
  /** Shows a text in place of the last one. */
  redraw(text: string): void;
  stop(): void;
}

/** Says a remark about the run, unless one that begins with `about` was said before. */
export function remark({ manifest, progress }: Session, about: string, text: string): void {
  if (manifest.remarks.some((one) => one.startsWith(about))) return;
  manifest.remarks.push(text);
  progress.say(text);
}

/** @returns the key of a target's request in `sizes`. */
export const sizeKey = ({ name }: Pick<Target, "name">, endpoint: string): string => `${name} ${endpoint}`;

/** What all parts of one run share. */
export interface Session extends AsyncDisposable {
  readonly manifest: Manifest;
  readonly results: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  save(): void;
  readonly slices: Slice[];
  readonly windows: Window[];
  /** Loads a server at an endpoint: by a fortio or k6 process, or from several machines. */
  readonly load: (target: Target, endpoint: string, options: LoadOptions) => Promise<Load>;
  /** Starts a server of this machine, and what plays with it. A simulation has its own, and its own clock, in ms. */
  readonly start: typeof start;
  readonly player: typeof startPlayer;
  readonly warm: typeof warmAt;
  readonly now: () => number;
  /** Where servers in containers run, from the first of them on. */
  engine: Engine | null;
  /** Where servers keep content items, from the first of them on. */
  stores: Stores | null;
  up: readonly Target[];
  /** Target and endpoint -> bytes of one request. */
  readonly sizes: Map<string, number>;
  /** Target and scenario -> length of their windows. */
  readonly windowMs: Map<string, number>;
  /** Scenario -> requests per second of its slices, if the plan has them at a part of what is answered. */
  readonly rates: Map<string, number>;
}

/** What a run keeps open until it ends, besides its targets; `await using` does it at the end of a block. */
export async function closeSession(session: Session): Promise<void> {
  const { progress, engine, stores } = session;
  Object.assign(session, { engine: null, stores: null });
  progress.stop();
  await Promise.all([engine?.close(), stores?.close()]);
}

/** @returns the number of the last restart that something is known of, 0 before the first. */
export const lastRestart = ({ slices, windows }: Pick<Session, "slices" | "windows">): number =>
  [...slices, ...windows].reduce((last, { restart }) => Math.max(last, restart), 0);

export const coresFor = (plan: Plan): Cores | null =>
  plan.targets.every(isHere) && plan.agents.length === 0 ? splitCores() : null;

/** @throws UsageError if `results` cannot be appended to. */
export async function newSession(
  plan: Plan,
  results: string,
  progress: Progress,
  signal: AbortSignal,
  machineName?: string,
): Promise<Session> {
  checkResults(results);
  const manifest: Manifest = {
    run: new Date().toISOString(),
    protocol: PROTOCOL,
    host: hostname(),
    machineName,
    plan,
    cores: coresFor(plan),
    environment: await environment(),
    machine: readMachine(),
    fingerprints: [],
    ceiling: null,
    calibration: {},
    lineBytesPerSecond: {},
    stores: {},
    capacities: {},
    restarts: 0,
    turns: [],
    left: [],
    remarks: [],
    histograms: {},
    seconds: { loaded: 0, total: 0 },
  };
  return sessionOf({ manifest, results, slices: [], windows: [], progress, signal });
}

/** @throws UsageError if a run cannot be gone on with here: rows of other hosts or protocols must not be mixed. */
export function resumeSession(
  run: string,
  results: string,
  signal: AbortSignal,
  show: (plan: Plan) => Progress,
): Session {
  checkResults(results);
  const file = runFile(results, run, "json"); // one that is published is not gone on with
  const manifest = existsSync(file) && manifestOf(results, run);
  if (!manifest) {
    throw new UsageError(`--resume ${run}: there is no ${file}; ./bench.sh report --list has the runs`);
  }
  if (manifest.protocol !== PROTOCOL || manifest.host !== hostname()) {
    throw new UsageError(
      `run ${run} is of protocol ${manifest.protocol} on ${manifest.host}, this is protocol ${PROTOCOL} on ${hostname()}: start a new run`,
    );
  }
  if (Object.keys(manifest.capacities).length > 0)
    throw new UsageError(`--resume ${run}: that run searched with --slo, which cannot go on: start a new one`);
  const [slices, windows] = [readSlices(results, run), readWindows(results, run)];
  return sessionOf({ manifest, results, slices, windows, progress: show(manifest.plan), signal });
}

function sessionOf(
  known: Pick<Session, "manifest" | "results" | "slices" | "windows" | "progress" | "signal">,
): Session {
  const { manifest, results, signal } = known;
  const sizes: Session["sizes"] = new Map();
  // This process reads clocks and pauses generators: it must not take the servers' time.
  if (manifest.cores) moveTo(manifest.cores.generator, process.pid);
  return {
    ...known,
    load: generatorOf(manifest, sizes, signal),
    start,
    player: startPlayer,
    warm: warmAt,
    now: () => performance.now(),
    engine: null,
    stores: null,
    up: [],
    sizes,
    windowMs: new Map(),
    rates: new Map(),
    save: () => writeWhole(runFile(results, manifest.run, "json"), `${shortJson(manifest)}\n`),
    [Symbol.asyncDispose]() {
      return closeSession(this);
    },
  };
}

/** A fortio or k6 process for each load, or agents. */
function generatorOf({ plan, cores }: Manifest, sizes: Session["sizes"], signal: AbortSignal): Session["load"] {
  const found = plan.agents.length > 0 ? findAgents(plan.agents, signal) : null;
  found?.catch(() => {}); // said when the first load asks for them
  return async (target, endpoint, options) => {
    const on = cores?.generator;
    if (isSequence(plan.workload, endpoint)) {
      const seen = await loadSequence({ url: target.url, scale: plan.scale }, options, on, signal);
      sizes.set(sizeKey(target, endpoint), seen.sentPerRequest);
      return seen;
    }
    const asked = askedAt(target, endpoint, plan.workload);
    return found ? loadFrom(await found, asked.url, options, signal) : load(asked, options, on, signal);
  };
}

async function environment(): Promise<Record<string, unknown>> {
  const ask = (...command: string[]) =>
    runCommand(command).then(
      ({ stdout }) => stdout.trim() || null,
      () => null,
    );
  const data = process.env.DB_FILE || "data.db";
  const [node, fortio, k6, commit] = await Promise.all([
    ask("node", "--version"),
    ask("fortio", "version"),
    ask("k6", "version"),
    commitOf("."),
  ]);
  return {
    bun: process.versions.bun,
    node,
    fortio,
    k6: k6?.split(" ")[1] ?? null,
    pgbouncer: pgbouncerVersion(),
    commit,
    dataSha256: existsSync(data) ? await digestOf(data) : null,
  };
}
