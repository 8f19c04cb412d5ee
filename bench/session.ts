import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { pipeline } from "node:stream/promises";
import { UsageError } from "../shared/errors.ts";
import type { Identity } from "../shared/identity.ts";
import type { Keeper } from "./awake.ts";
import type { Calibration } from "./calibrate.ts";
import type { Cores } from "./cores.ts";
import { findAgents, loadFrom } from "./load/agents.ts";
import { type LoadGenerator, load, requestOf } from "./load/fortio.ts";
import type { Histogram } from "./load/histogram.ts";
import { loadSequence } from "./load/k6.ts";
import type { Fingerprint } from "./machine/fingerprint.ts";
import { type Machine, readMachine } from "./machine/identity.ts";
import { type Plan, SEQUENCE, type Step } from "./plan.ts";
import type { Progress } from "./report/progress.ts";
import { checkResults, manifestFile, PROTOCOL, readSlices, type Slice, writeWhole } from "./results.ts";
import type { Capacity, Slo } from "./slo.ts";
import type { Warmths } from "./steadiness.ts";
import type { Engine } from "./targets/engine.ts";
import type { Stores } from "./targets/stores.ts";
import type { Target } from "./targets/target.ts";

/** What is kept of a run beside its rows, in results/<run>.json. */
export interface Manifest {
  readonly run: string;
  readonly protocol: number;
  readonly host: string;
  readonly plan: Plan;
  readonly cores: Cores | null;
  /** Versions, commit and data: what another would need to repeat it. */
  environment: Readonly<Record<string, unknown>>;
  /** The one that makes the load and, unless they run elsewhere, has the servers. */
  readonly machine: Machine;
  /** How fast it was before and after each block; none where cores cannot be chosen. */
  fingerprints: (Fingerprint & { readonly block: number })[];
  ceiling: number | null;
  /** Target -> endpoint -> calibration. */
  calibration: Record<string, Record<string, Calibration>>;
  /** Target -> bytes per second of the line to it. */
  lineBytesPerSecond: Record<string, number | null>;
  /** Target -> where it keeps contents, of runs that write. */
  stores: Record<string, Identity["store"]>;
  /** Target -> endpoint -> the highest rate that keeps a promise, where that was searched. */
  capacities: Record<string, Record<string, Capacity & { readonly slo: Slo }>>;
  /** What was done, in this order; target -> endpoint -> its warm-up. */
  blocks: { block: number; steps: readonly Step[]; warmup: Warmths }[];
  /** Target -> endpoint -> latencies of all its solo slices. */
  histograms: Record<string, Record<string, Histogram>>;
  seconds: { loaded: number; total: number };
}

/** Everything that measuring in one run shares. */
export interface Session {
  readonly manifest: Manifest;
  readonly results: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Where the manifest is kept. */
  save(): void;
  /** Rows of the run so far. */
  readonly slices: Slice[];
  readonly load: LoadGenerator;
  /** Of the servers in containers, from the first of them on. */
  engine: Engine | null;
  /** Of the servers that keep contents, from the first of them on. */
  stores: Stores | null;
  /** Of the servers that are up. */
  keeper: Keeper | null;
  /** A warm server beside which others are watched getting warm, on machines whose cores can be chosen. */
  reference: Target | null;
  /** Since the last restart. */
  warmth: Warmths;
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
  const file = manifestFile(results, run);
  if (!existsSync(file))
    throw new UsageError(`--resume ${run}: there is no ${file}; the Run column of ${results} has the names`);
  const manifest: Manifest = JSON.parse(readFileSync(file, "utf8"));
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
  const file = manifestFile(results, manifest.run);
  const { plan, cores } = manifest;
  const found = plan.agents.length > 0 ? findAgents(plan.agents, signal) : null;
  found?.catch(() => {}); // said when the first slice asks for them
  const generator: LoadGenerator = async (server, endpoint, options, on = cores?.generator) => {
    if (endpoint === SEQUENCE) return loadSequence(server, options, on, signal);
    const { path, json } = requestOf(endpoint);
    return found
      ? loadFrom(await found, server + path, options, signal)
      : load(server + path, options, on, signal, json);
  };
  return {
    manifest,
    results,
    slices,
    progress,
    signal,
    load: generator,
    engine: null,
    stores: null,
    keeper: null,
    reference: null,
    warmth: {},
    save: () => writeWhole(file, `${JSON.stringify(manifest)}\n`),
  };
}

async function environment(): Promise<Record<string, unknown>> {
  const ask = (command: string, ...args: string[]) => spawnSync(command, args).stdout?.toString().trim() || null;
  return {
    bun: process.versions.bun,
    node: ask("node", "--version"),
    fortio: ask("fortio", "version"),
    k6: ask("k6", "version")?.split(" ")[1] ?? null,
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
