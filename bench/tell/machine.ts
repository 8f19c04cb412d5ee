/** Describes the machine of a run, and how the machines of two runs differ. */
import { isHere } from "../ask/targets.ts";
import type { Fingerprint, Speed } from "../host/machine/fingerprint.ts";
import type { Machine } from "../host/machine/identity.ts";
import { median } from "../judge/statistics.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { listed, many, percent, present } from "./format.ts";
import { type Line, labeled } from "./text.ts";

type Fingerprints = readonly Fingerprint[];

/** What each speed measures. */
const SPEEDS: Readonly<Record<keyof Speed, string>> = {
  aluNs: "arithmetic",
  loopbackNs: "loopback round trip",
  memoryNs: "load from memory",
};
const KEYS = Object.keys(SPEEDS) as (keyof Speed)[];

/** Cores share hardware if a loop gets slower by more than this while the other cores run the same loop. */
const SHARED = 1.25;
/** A speed has changed if its maximum ÷ minimum during the run is larger. */
const CHANGED = 1.25;
/** Share of a fingerprint's time that other work may use before the report mentions it. */
const TAKEN = 0.05;

const duration = (ns: number) =>
  ns < 1_000 ? `${ns < 10 ? ns.toFixed(1) : Math.round(ns)} ns` : `${(ns / 1_000).toFixed(1)} µs`;
const middle = (manifest: Manifest, of: (one: Fingerprint) => number) =>
  manifest.fingerprints.length > 0 ? median(manifest.fingerprints.map(of)) : Number.NaN;
const most = (values: readonly number[]) => Math.max(...values);
const times = (ratio: number) => `× ${ratio.toFixed(2)}`;

/** The name from --machine-name; else `2 × Intel Xeon Processor (6/167)`, because only family and model distinguish some; else the host. */
export function machineNameOf(manifest: Manifest | null, host: string): string {
  if (manifest?.machineName) return manifest.machineName;
  if (!manifest?.machine) return host;
  const { cores, cpu, vendor, family, model } = manifest.machine;
  const name = (cpu ?? vendor ?? "an unknown processor").replaceAll(/\((R|TM)\)/g, "");
  return `${cores} × ${name}${model === null ? "" : ` (${family}/${model})`}`;
}

/** The machine in one line, with family and model, because names of virtual processors say little. */
export function machineLine({ machine }: Manifest): string {
  const { cores, cpu, vendor, family, model, stepping, caches, memoryBytes, hypervisor, flags } = machine;
  const version = `(family ${family}, model ${model}${stepping === null ? "" : `, stepping ${stepping}`})`;
  const name = family === null || model === null ? (cpu ?? "an unknown processor") : `${cpu ?? vendor} ${version}`;
  const inMiB = (cache: string) => cache.replace(/(\d+) KiB/, (all, kib) => (kib >= 1024 ? `${kib / 1024} MiB` : all));
  const kinds = caches.filter((cache) => !/^L\di/.test(cache)).map(inMiB);
  const where = hypervisor ?? (flags.includes("hypervisor") ? "a virtual machine" : "");
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  return present([`${cores} × ${name}`, kinds.join(", "), memory, where]).join("; ");
}

export function machineLines(manifest: Manifest, slices: readonly Slice[]): Line[] {
  const { fingerprints: seen, cores, plan, machine } = manifest;
  const isSeen = cores !== null && seen.length > 0;
  const isElsewhere = !plan.targets.every(isHere);
  const active = Object.entries(machine.mitigations).filter(([, state]) => state.startsWith("Mitigation"));
  const mitigations = active.map(([name]) => name).join(", ");
  return [
    ["Machine", machineLine(manifest)],
    ...labeled(
      "Servers",
      isElsewhere ? "run on another machine, about which nothing is known; this machine made the load" : null,
    ),
    ...labeled("Cores", isSeen ? sharing(seen) : null),
    ...labeled("Speed", isSeen ? speeds(seen) : null),
    ...labeled("Other work", isSeen ? taken(seen, slices) : null),
    ["Mitigations", mitigations || "none are active, or the machine does not say"],
  ];
}

function sharing(seen: Fingerprints): string {
  const ratios = seen.map(({ together }) => together);
  const [least, together] = [Math.min(...ratios), median(ratios)];
  const beside = "beside the same loop on the other cores";
  if (together < SHARED) return `share no hardware: a loop takes ${times(together)} ${beside}`;
  const how =
    least < SHARED
      ? `share hardware at times, depending on where the host places them: a loop takes ${times(least)} to ${times(most(ratios))}`
      : `share hardware (hyperthreads, or a limit of the host): a loop takes ${times(together)}`;
  return `${how} ${beside}, so the load generator slows the server: load it from another machine (http://, --agents), or use the ratios only for this machine`;
}

/** Each speed, as a range if it changed during the run. */
function speeds(seen: Fingerprints): string {
  const all = KEYS.filter((key) => key !== "aluNs").map((key) => {
    const values = seen.map(({ speed }) => speed[key]);
    const [low, high] = [Math.min(...values), most(values)];
    const hasChanged = high / low > CHANGED;
    const shown = hasChanged ? `${duration(low)} to ${duration(high)}` : duration(median(values));
    return { hasChanged, text: `${SPEEDS[key]} ${shown}` };
  });
  const more = all.some(({ hasChanged }) => hasChanged) ? "; it changed during the run, so compare ratios only" : "";
  return all.map(({ text }) => text).join(", ") + more;
}

/** CPU that other work used during slices, and before and after restarts; null if unknown. */
function taken(seen: Fingerprints, slices: readonly Slice[]): string | null {
  const parts = slices.flatMap(({ taken }) => taken ?? []).sort((a, b) => a - b);
  const at = (part: number) => percent(parts[Math.floor(part * (parts.length - 1))] ?? 0);
  const during = `${at(0.5)} of the CPU in the median slice, ${at(0.9)} at the 90th percentile`;
  const starved = slices.filter(({ verdict }) => verdict === "starved").length;
  const [stolen, others] = [most(seen.map(({ stolen }) => stolen)), most(seen.map(({ others }) => others))];
  const idle = `before or after a restart up to ${percent(stolen)} by the host, ${percent(others)} by other processes`;
  const isNoisy = stolen >= TAKEN || others >= TAKEN;
  const slow = starved > 0 && `starved: ${many(starved, "slice")}`;
  return present([parts.length > 0 && during, slow, isNoisy && idle]).join("; ") || null;
}

/** Machines are alike if no speed differs by more than this factor. */
const ALIKE = 1.15;
const FIELDS = "vendor family model stepping microcode cores kernel hypervisor hugePages governor".split(
  " ",
) as (keyof Machine)[];

/** How the machines of two runs differ; empty if they are alike, so that ratios should agree. */
export function machinesDiffer(a: Manifest | null, b: Manifest | null): string[] {
  if (!a?.machine || !b?.machine) return ["the machine of one run is not known"];
  const [x, y] = [a.machine, b.machine];
  const change = (what: string, from: unknown, to: unknown) => (from === to ? [] : [`${what} ${from} → ${to}`]);
  const defences = Object.keys({ ...x.mitigations, ...y.mitigations }).filter(
    (name) => x.mitigations[name] !== y.mitigations[name],
  );
  const speeds = KEYS.flatMap((key) => {
    const ratio = middle(b, ({ speed }) => speed[key]) / middle(a, ({ speed }) => speed[key]);
    return Math.abs(Math.log(ratio)) > Math.log(ALIKE) ? [`${SPEEDS[key]} ${times(ratio)}`] : [];
  });
  const [before, after] = [middle(a, ({ together }) => together), middle(b, ({ together }) => together)];
  const isAlike = before > SHARED === after > SHARED;
  return [
    ...FIELDS.flatMap((field) => change(field, x[field], y[field])),
    ...change("caches", x.caches.join(", "), y.caches.join(", ")),
    ...(defences.length > 0 ? [`mitigations of ${listed(defences)}`] : []),
    ...(isAlike ? [] : [`a loop beside the same loop on the other cores ${times(before)} → ${times(after)}`]),
    ...speeds,
    ...["bun", "node", "fortio"].flatMap((name) => change(name, a.environment[name], b.environment[name])),
  ];
}
