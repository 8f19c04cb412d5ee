/** What the machine was, in plain words: part of every result. */

import { isHere } from "../ask/targets.ts";
import type { Fingerprint, Speed } from "../host/machine/fingerprint.ts";
import type { Machine } from "../host/machine/identity.ts";
import { median } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { listed, percent } from "./format.ts";

type Fingerprints = readonly Fingerprint[];

/** What each speed is of, as a newcomer would say it. */
const SPEEDS: Readonly<Record<keyof Speed, string>> = {
  aluNs: "arithmetic",
  syscallNs: "a system call",
  indirectNs: "a call through a pointer",
  loopbackNs: "a byte there and back on loopback",
  cachedNs: "a load from the cache",
  memoryNs: "a load from memory",
  touchNs: "the first touch of a page",
};
const KEYS = Object.keys(SPEEDS) as (keyof Speed)[];

/** Cores on which a loop is slower by more beside the same loop share something. */
const SHARED = 1.25;
/** A speed that moved by more between two looks has changed. */
const CHANGED = 1.25;
/** Part of a fingerprint's time that others may have had. */
const TAKEN = 0.05;

export const duration = (ns: number) =>
  ns < 1_000 ? `${ns < 10 ? ns.toFixed(1) : Math.round(ns)} ns` : `${(ns / 1_000).toFixed(1)} µs`;
const middle = (seen: Fingerprints, key: keyof Speed) => median(seen.map(({ speed }) => speed[key]));
const most = (values: readonly number[]) => Math.max(...values);

/** `AMD EPYC (family 26, model 2)`: names of virtual machines say little. */
function cpuOf({ cpu, vendor, family, model, stepping }: Machine): string {
  if (family === null || model === null) return cpu ?? "an unknown processor";
  return `${cpu ?? vendor} (family ${family}, model ${model}${stepping === null ? "" : `, stepping ${stepping}`})`;
}

/**
 * The name that its owner gave it, or `2 × Intel Xeon Processor (6/167)`: family and model tell processors of one name
 * apart. The host name if nothing is known of it.
 */
export function machineNameOf(manifest: Manifest | null, host: string): string {
  if (manifest?.machineName) return manifest.machineName;
  if (!manifest?.machine) return host;
  const { cores, cpu, vendor, family, model } = manifest.machine;
  const name = (cpu ?? vendor ?? "an unknown processor").replaceAll(/\((R|TM)\)/g, "");
  return `${cores} × ${name}${model === null ? "" : ` (${family}/${model})`}`;
}

/** The machine of a run in one line; for tables that stand beside those of others. */
export function machineLine({ machine }: Manifest): string {
  const { cores, caches, memoryBytes, hypervisor } = machine;
  const kinds = caches
    .filter((cache) => !/^L\di/.test(cache))
    .map((cache) => cache.replace(/(\d+) KiB/, (_, size) => sizeOf(Number(size))));
  const where = hypervisor ?? (machine.flags.includes("hypervisor") ? "a virtual machine" : "");
  return [`${cores} × ${cpuOf(machine)}`, kinds.join(", "), `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`, where]
    .filter(Boolean)
    .join("; ");
}

const sizeOf = (kib: number) => (kib >= 1024 ? `${kib / 1024} MiB` : `${kib} KiB`);

/** What a reader has to know of the machine of a run, most important first. */
export function machineSays(manifest: Manifest, slices: readonly Slice[]): string[] {
  const { machine, fingerprints: seen, cores } = manifest;
  return [
    `${machineLine(manifest)}.`,
    ...(cores && seen.length > 0
      ? [sharing(seen), speeds(seen), ...meanwhile(slices), ...taken(seen), ...changes(seen)]
      : []),
    ...(manifest.plan.targets.every(isHere)
      ? []
      : ["The servers run on another machine, which is not known here; this machine made the load."]),
    mitigations(machine),
  ];
}

function sharing(seen: Fingerprints): string {
  const ratios = seen.map(({ together }) => together);
  const [least, together] = [Math.min(...ratios), median(ratios)];
  if (together < SHARED) {
    return `Its cores share no hardware: a loop is as fast beside the same loop on the other cores (× ${together.toFixed(2)}).`;
  }
  const how =
    least < SHARED
      ? `Its cores share one at times: beside the same loop on the other cores a loop takes × ${least.toFixed(2)} to × ${most(ratios).toFixed(2)}, by how the host places them`
      : `Its cores share one (hyperthreads, or a limit of the host): a loop takes × ${together.toFixed(2)} beside the same loop on the other cores`;
  return `${how}. The generator slows the server, more so the longer it works for a request: load it from elsewhere (http://, --agents), or take ratios as this machine's only.`;
}

const speeds = (seen: Fingerprints): string =>
  `Speed: ${listed(KEYS.filter((key) => key !== "aluNs").map((key) => `${SPEEDS[key]} ${duration(middle(seen, key))}`))}.`;

/** How quiet it was while it was measured. */
function meanwhile(slices: readonly Slice[]): string[] {
  const parts = slices.flatMap(({ taken }) => taken ?? []).sort((a, b) => a - b);
  if (parts.length === 0) return [];
  const at = (part: number) => percent(parts[Math.floor(part * (parts.length - 1))] as number);
  const starved = slices.filter(({ verdict }) => verdict === "starved").length;
  const again = starved === 0 ? "" : `; ${starved} slices were starved`;
  return [
    `While it measured, the host or other processes had ${at(0.5)} of the cores' time in the median slice and more than ${at(0.9)} in one of ten${again}.`,
  ];
}

function taken(seen: Fingerprints): string[] {
  const [stolen, others] = [most(seen.map(({ stolen }) => stolen)), most(seen.map(({ others }) => others))];
  if (stolen < TAKEN && others < TAKEN) return [];
  return [
    `It was not quiet: before or after a restart the host kept up to ${percent(stolen)} of the cores' time, and other processes had up to ${percent(others)}.`,
  ];
}

/** What was not the same throughout. */
function changes(seen: Fingerprints): string[] {
  const moved = KEYS.flatMap((key) => {
    const values = seen.map(({ speed }) => speed[key]);
    const ratio = most(values) / Math.min(...values);
    return ratio > CHANGED
      ? [`${SPEEDS[key]} between ${duration(Math.min(...values))} and ${duration(most(values))}`]
      : [];
  });
  return moved.length === 0
    ? []
    : [`It changed during the run: ${listed(moved)}. Ratios are of the same seconds; absolute numbers are not.`];
}

function mitigations({ mitigations }: Machine): string {
  const active = Object.entries(mitigations).filter(([, state]) => state.startsWith("Mitigation"));
  if (active.length === 0) return "No mitigations of CPU vulnerabilities are active, or the machine does not say.";
  return `Mitigations that cost CPU time: ${active.map(([name]) => name).join(", ")}.`;
}

/** How much two machines may differ in a speed and still be the same. */
const ALIKE = 1.15;

/** How the machines of two runs differ; empty if they are alike, so that their ratios ought to agree. */
export function machinesDiffer(a: Manifest | null, b: Manifest | null): string[] {
  if (!a?.machine || !b?.machine) return ["the machine of one run is not known: ratios need not agree"];
  const named = (
    [
      "vendor",
      "family",
      "model",
      "stepping",
      "microcode",
      "cores",
      "kernel",
      "hypervisor",
      "hugePages",
      "governor",
    ] as const
  )
    .filter((field) => a.machine[field] !== b.machine[field])
    .map((field) => `${field} ${a.machine[field]} → ${b.machine[field]}`);
  const caches =
    a.machine.caches.join() === b.machine.caches.join()
      ? []
      : [`caches ${a.machine.caches.join(", ")} → ${b.machine.caches.join(", ")}`];
  const defences = Object.keys({ ...a.machine.mitigations, ...b.machine.mitigations }).filter(
    (name) => a.machine.mitigations[name] !== b.machine.mitigations[name],
  );
  const of = (manifest: Manifest, key: keyof Speed) =>
    manifest.fingerprints.length > 0 ? middle(manifest.fingerprints, key) : Number.NaN;
  const speeds = KEYS.flatMap((key) => {
    const ratio = of(b, key) / of(a, key);
    return Math.abs(Math.log(ratio)) > Math.log(ALIKE) ? [`${SPEEDS[key]} × ${ratio.toFixed(2)}`] : [];
  });
  const [x, y] = [a, b].map(({ fingerprints }) =>
    fingerprints.length > 0 ? median(fingerprints.map(({ together }) => together)) : Number.NaN,
  ) as [number, number];
  const shared =
    x > SHARED === y > SHARED
      ? []
      : [`a loop beside the same loop on the other cores × ${x.toFixed(2)} → × ${y.toFixed(2)}`];
  const versions = ["bun", "node", "fortio"].flatMap((name) =>
    a.environment[name] === b.environment[name] ? [] : [`${name} ${a.environment[name]} → ${b.environment[name]}`],
  );
  return [
    ...named,
    ...caches,
    ...(defences.length > 0 ? [`mitigations of ${listed(defences)}`] : []),
    ...shared,
    ...speeds,
    ...versions,
  ];
}
