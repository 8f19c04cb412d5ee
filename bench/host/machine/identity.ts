import { cpus, release, type as system, totalmem } from "node:os";
import { join } from "node:path";
import { text as contentOf, names } from "../proc.ts";

/** Details of a machine, because two virtual machines of the same type may differ. Null or "" if the machine does not report it. */
export interface Machine {
  readonly cpu: string | null;
  readonly vendor: string | null;
  readonly family: number | null;
  readonly model: number | null;
  readonly stepping: number | null;
  readonly microcode: string | null;
  readonly cores: number;
  /** `L1d 48 KiB` and so on, of the first core. */
  readonly caches: readonly string[];
  /** Those that change what servers cost: wide vectors, fast string copies, page-table tags, a hypervisor. */
  readonly flags: readonly string[];
  /** Vulnerability -> mitigation, of those that have one. */
  readonly mitigations: Readonly<Record<string, string>>;
  readonly hypervisor: string | null;
  readonly kernel: string;
  readonly hugePages: string | null;
  readonly governor: string | null;
  readonly memoryBytes: number;
}

const FLAGS = "avx2 avx512f erms fsrm pcid invpcid rdtscp constant_tsc nonstop_tsc hypervisor".split(" ");

export function readMachine(): Machine {
  const info = text("/proc/cpuinfo");
  const field = (name: string) => new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(info)?.[1]?.trim() || null;
  const number = (name: string) => (field(name) === null ? null : Number(field(name)));
  const has = new Set(field("flags")?.split(" "));
  return {
    cpu: field("model name") ?? cpus()[0]?.model ?? null,
    vendor: field("vendor_id"),
    family: number("cpu family"),
    model: number("model"),
    stepping: number("stepping"),
    microcode: field("microcode"),
    cores: cpus().length,
    caches: cachesOf("/sys/devices/system/cpu/cpu0/cache"),
    flags: FLAGS.filter((flag) => has.has(flag)),
    mitigations: mitigationsIn("/sys/devices/system/cpu/vulnerabilities"),
    hypervisor: [text("/sys/class/dmi/id/sys_vendor"), text("/sys/class/dmi/id/product_name")].join(" ").trim() || null,
    kernel: `${system()} ${release()}`,
    hugePages: /\[(\w+)\]/.exec(text("/sys/kernel/mm/transparent_hugepage/enabled"))?.[1] ?? null,
    governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") || null,
    memoryBytes: totalmem(),
  };
}

function cachesOf(folder: string): string[] {
  return names(folder)
    .filter((name) => name.startsWith("index"))
    .map((name) => {
      const of = (file: string) => text(join(folder, name, file));
      const kind = { Data: "d", Instruction: "i", Unified: "" }[of("type")] ?? "";
      return `L${of("level")}${kind} ${of("size").replace(/K$/, " KiB")}`;
    })
    .sort();
}

function mitigationsIn(folder: string): Record<string, string> {
  const states = names(folder)
    .sort()
    .map((name): [string, string] => [name, text(join(folder, name))]);
  return Object.fromEntries(states.filter(([, state]) => state !== "" && state !== "Not affected"));
}

const text = (file: string): string => contentOf(file).trim();
