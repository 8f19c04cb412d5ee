import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { UsageError } from "../../shared/errors.ts";
import { isSequence } from "../ask/endpoints.ts";
import { isHere } from "../ask/targets.ts";
import { errorsOf } from "../host/clean-up.ts";
import { type Cores, moveTo, splitCores } from "../host/cores.ts";
import { type Engine, openEngine } from "../host/engine.ts";
import { readMachine } from "../host/machine/identity.ts";
import { sweep } from "../host/sweep.ts";
import { PRIVATE, runFile, shortJson, writeWhole } from "../keep/files.ts";
import { type Manifest, manifestOf } from "../keep/manifest.ts";
import { checkResults } from "../keep/results.ts";
import { hasSecrets, withoutSecrets } from "../keep/secrets.ts";
import { PROTOCOL, readSlices, readWindows, type Slice, type Window } from "../keep/slices.ts";
import { findAgents, loadFrom } from "../load/agents.ts";
import { type Load, type LoadOptions, load } from "../load/fortio.ts";
import { loadSequence } from "../load/k6.ts";
import type { Plan } from "../plan/plan.ts";
import { changesSince, environmentOf } from "./environment.ts";
import { startPlayer, warmAt } from "./players.ts";
import type { Stores } from "./stores/stores.ts";
import { askedAt } from "./targets/answers.ts";
import { start } from "./targets/local.ts";
import type { Target } from "./targets/target.ts";

/** Shows the progress and the messages of a run. */
export interface Progress {
  now(what: string): void;
  /** @param seconds of the run so far */
  at(seconds: number): void;
  /** Prints a line that stays. */
  say(line: string): void;
  /** Shows a text in place of the last one. */
  redraw(text: string): void;
  stop(): void;
}

/** Prints and keeps a remark about the run, unless there is one already that begins with `about`. */
export function remark({ manifest, progress }: Session, about: string, text: string): void {
  if (manifest.remarks.some((one) => one.startsWith(about))) return;
  manifest.remarks.push(text);
  progress.say(text);
}

/** Reports what could not be stopped or removed, if another error ends the run, or nothing needs to end it. */
export function remarkCleanUp(session: Session, error: unknown): void {
  const text = `A clean-up failed: ${error instanceof Error ? error.message : error}`;
  remark(session, text, text);
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
  /** Start, load and warm up a server of this machine, and tell the time in ms. A simulation replaces these four. */
  readonly start: typeof start;
  readonly player: typeof startPlayer;
  readonly warm: typeof warmAt;
  readonly now: () => number;
  /** Runs servers in containers; null until the first one starts. */
  engine: Engine | null;
  /** Makes the servers' stores of content items; null until a server needs one. */
  stores: Stores | null;
  up: readonly Target[];
  /** Target and endpoint -> bytes of one request. */
  readonly sizes: Map<string, number>;
  /** Target and scenario -> length of a window. */
  readonly windowMs: Map<string, number>;
  /** Scenario -> fixed rate of its slices in requests/s, if the plan has `latencyAt`. */
  readonly rates: Map<string, number>;
}

/**
 * Closes what a run keeps open besides its targets; `await using` calls this at the end of a block. Never fails, because its error
 * would replace that of the block, and the results are complete: reports what it cannot close.
 */
export async function closeSession(session: Session): Promise<void> {
  const { progress, engine, stores } = session;
  Object.assign(session, { engine: null, stores: null });
  for (const error of await errorsOf([engine?.close(), stores?.close()])) remarkCleanUp(session, error);
  progress.stop();
}

/** @returns the number of the last restart that has data, 0 before the first. */
export const lastRestart = ({ slices, windows }: Pick<Session, "slices" | "windows">): number =>
  [...slices, ...windows].reduce((last, { restart }) => Math.max(last, restart), 0);

export const coresFor = (plan: Plan): Cores | null =>
  plan.targets.every(isHere) && plan.agents.length === 0 ? splitCores() : null;

export async function newSession(
  plan: Plan,
  results: string,
  progress: Progress,
  signal: AbortSignal,
  {
    machineName,
    keepSecrets,
  }: { readonly machineName?: string | undefined; readonly keepSecrets?: true | undefined } = {},
): Promise<Session> {
  const manifest: Manifest = {
    run: new Date().toISOString(),
    protocol: PROTOCOL,
    host: hostname(),
    machineName,
    plan,
    ...(hasSecrets(plan) && { secrets: keepSecrets ? "kept" : "hashed" }),
    cores: coresFor(plan),
    environment: await environmentOf(plan),
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

/** @throws UsageError if the run cannot be resumed here, because rows of different hosts, protocols, versions or machines must not be mixed. */
export async function resumeSession(
  run: string,
  results: string,
  signal: AbortSignal,
  show: (plan: Plan) => Progress,
): Promise<Session> {
  checkResults(results);
  const file = runFile(results, run, "json"); // a published run cannot be resumed
  const manifest = existsSync(file) && manifestOf(results, run);
  if (!manifest) {
    throw new UsageError(`--resume ${run}: there is no ${file}; ./bench.sh report --list has the runs`);
  }
  if (manifest.protocol !== PROTOCOL || manifest.host !== hostname()) {
    throw new UsageError(
      `--resume ${run}: it has protocol ${manifest.protocol} on host ${manifest.host}, this is protocol ${PROTOCOL} on host ${hostname()}: start a new run`,
    );
  }
  if (Object.keys(manifest.capacities).length > 0)
    throw new UsageError(`--resume ${run}: a run with --slo cannot be resumed: start a new run`);
  if (manifest.secrets === "hashed")
    throw new UsageError(
      `--resume ${run}: its secrets (headers, bodies, --env) were not kept: start a new run with --keep-secrets`,
    );
  const { plan, cores, environment } = manifest;
  const mixed = (changes: readonly string[]) =>
    new UsageError(`--resume ${run}: not as it was measured: ${changes.join(", ")}: go back, or start a new run`);
  const changes = changesSince(manifest, await environmentOf(plan));
  if (cores && JSON.stringify(cores) !== JSON.stringify(coresFor(plan))) changes.push("the cores");
  if (changes.length > 0) throw mixed(changes);
  const [slices, windows] = [readSlices(results, run), readWindows(results, run)];
  const session = sessionOf({ manifest, results, slices, windows, progress: show(plan), signal });
  const inContainer = plan.targets.find(({ kind }) => kind === "docker");
  if (inContainer?.kind !== "docker" || !environment.engine) return session;
  session.engine = await openEngine(inContainer.engine, signal);
  if (JSON.stringify(environment.engine) === JSON.stringify(session.engine.facts)) return session;
  await closeSession(session);
  throw mixed(["the Docker engine or its image"]);
}

function sessionOf(
  known: Pick<Session, "manifest" | "results" | "slices" | "windows" | "progress" | "signal">,
): Session {
  const { manifest, results, signal } = known;
  const sizes: Session["sizes"] = new Map();
  sweep();
  // This process reads clocks and pauses generators, so it must not run on the servers' cores.
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
    save() {
      const kept = manifest.secrets === "kept" ? manifest : withoutSecrets(manifest);
      const mode = manifest.secrets && PRIVATE;
      writeWhole(runFile(results, manifest.run, "json"), `${shortJson(kept)}\n`, mode);
    },
    [Symbol.asyncDispose]() {
      return closeSession(this);
    },
  };
}

/** Loads with one fortio or k6 process per call, or with the agents. */
function generatorOf({ plan, cores }: Manifest, sizes: Session["sizes"], signal: AbortSignal): Session["load"] {
  const found = plan.agents.length > 0 ? findAgents(plan.agents, signal) : null;
  found?.catch(() => {}); // the first load reports it
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
