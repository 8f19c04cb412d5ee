import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { hostname } from "node:os";
import { pipeline } from "node:stream/promises";
import { UsageError } from "../../shared/errors.ts";
import { SEQUENCE, TRANSACTION } from "../ask/endpoints.ts";
import { withoutLoad } from "../ask/names.ts";
import { requestOf } from "../ask/requests.ts";
import { type Cores, moveTo } from "../host/cores.ts";
import type { Engine } from "../host/engine.ts";
import { readMachine } from "../host/machine/identity.ts";
import type { Warmths } from "../judge/steadiness.ts";
import { runFile, shortJson, writeWhole } from "../keep/files.ts";
import { type Manifest, manifestOf } from "../keep/manifest.ts";
import { checkResults } from "../keep/results.ts";
import { PROTOCOL, readSlices, type Slice } from "../keep/slices.ts";
import { findAgents, loadFrom } from "../load/agents.ts";
import { type LoadGenerator, load } from "../load/fortio.ts";
import { loadSequence } from "../load/k6.ts";
import type { Plan } from "../plan/plan.ts";
import type { Progress } from "../tell/progress.ts";
import { pgbouncerVersion } from "./stores/pooler.ts";
import type { Stores } from "./stores/stores.ts";
import { start } from "./targets/local.ts";
import type { Target } from "./targets/target.ts";

/** Everything that measuring in one run shares. */
export interface Session {
  readonly manifest: Manifest;
  /** results.csv, or what is in its place. */
  readonly results: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Where the manifest is kept. */
  save(): void;
  /** Rows of the run so far. */
  readonly slices: Slice[];
  readonly load: LoadGenerator;
  /** Starts a server of this machine. */
  readonly start: typeof start;
  /** Milliseconds since some moment. A simulation has its own clock, load and servers. */
  readonly now: () => number;
  /** Where servers in containers run, from the first of them on. */
  engine: Engine | null;
  /** Where servers keep content items, from the first of them on. */
  stores: Stores | null;
  /** Targets that are up, loaded or not. */
  up: readonly Target[];
  /** A warm server beside which others are watched getting warm, on machines whose cores can be chosen. */
  reference: Target | null;
  /** Of the targets' last starts. */
  warmth: Warmths;
  /** Name and endpoint -> seconds that its next duet begins with; the plan's, if absent. */
  readonly duetSeconds: Map<string, number>;
}

/** What a run holds until it ends, besides its targets. */
export async function closeSession({ progress, engine, stores, reference }: Session): Promise<void> {
  progress.stop();
  await Promise.all([reference?.stop(), engine?.close(), stores?.close()]);
}

/** @returns the number of the last block, 0 before the first. */
export const lastBlock = ({ slices }: Session): number => Math.max(0, ...slices.map(({ block }) => block));

/** @throws UsageError where `results` cannot be appended to. */
export async function newSession(
  plan: Plan,
  cores: Cores | null,
  results: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<Session> {
  checkResults(results);
  const manifest: Manifest = {
    run: new Date().toISOString(),
    protocol: PROTOCOL,
    host: hostname(),
    plan,
    cores,
    environment: await environment(),
    machine: readMachine(),
    fingerprints: [],
    ceiling: null,
    calibration: {},
    lineBytesPerSecond: {},
    stores: {},
    capacities: {},
    blocks: [],
    histograms: {},
    seconds: { loaded: 0, total: 0 },
  };
  return sessionOf(manifest, results, [], progress, signal);
}

/** @throws UsageError where a run cannot be gone on with here: rows of other hosts or protocols must not be mixed. */
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
  return sessionOf(manifest, results, readSlices(results, run), show(manifest.plan), signal);
}

function sessionOf(
  manifest: Manifest,
  results: string,
  slices: Slice[],
  progress: Progress,
  signal: AbortSignal,
): Session {
  const file = runFile(results, manifest.run, "json");
  const { plan, cores } = manifest;
  // This process reads the servers' CPU time while they are loaded: it must not take theirs.
  if (cores) moveTo(cores.generator, process.pid);
  const found = plan.agents.length > 0 ? findAgents(plan.agents, signal) : null;
  found?.catch(() => {}); // said when the first slice asks for them
  const generator: LoadGenerator = async (server, endpoint, options, on = cores?.generator) => {
    if (endpoint === SEQUENCE || withoutLoad(endpoint) === TRANSACTION) {
      return loadSequence(server, options, on, signal, plan.scale);
    }
    const request = requestOf(endpoint, plan.requests);
    const url = server + request.path;
    return found ? loadFrom(await found, url, options, signal) : load(url, options, on, signal, request);
  };
  return {
    manifest,
    results,
    slices,
    progress,
    signal,
    load: generator,
    start,
    now: () => performance.now(),
    engine: null,
    stores: null,
    up: [],
    reference: null,
    warmth: {},
    duetSeconds: new Map(),
    save: () => writeWhole(file, `${shortJson(manifest)}\n`),
  };
}

async function environment(): Promise<Record<string, unknown>> {
  const ask = (command: string, ...args: string[]) => spawnSync(command, args).stdout?.toString().trim() || null;
  return {
    bun: process.versions.bun,
    node: ask("node", "--version"),
    fortio: ask("fortio", "version"),
    k6: ask("k6", "version")?.split(" ")[1] ?? null,
    pgbouncer: pgbouncerVersion(),
    commit: ask("git", "describe", "--always", "--dirty", "--abbrev=40"),
    dataSha256: await digest(process.env.DB_FILE || "data.db"),
  };
}

async function digest(file: string): Promise<string | null> {
  if (!existsSync(file)) return null;
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
