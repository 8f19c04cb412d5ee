import { Command, InvalidArgumentError } from "commander";
import matrix from "../servers/matrix.json" with { type: "json" };
import { exitWith } from "../shared/errors.ts";
import { type Cores, splitCores } from "./cores.ts";
import { load } from "./load/fortio.ts";
import { ENDPOINTS, makePlan, type Options, type Plan, type TargetSpec } from "./plan.ts";
import { line, tables } from "./report/terminal.ts";
import { appendSlice, checkResults, type Slice } from "./results.ts";
import { start } from "./targets/local.ts";
import { readIdentity, type Target, verify } from "./targets/target.ts";
import { attach } from "./targets/url.ts";

const list = (text: string, before: string[] = []) => [...before, ...text.split(",").filter((item) => item !== "")];
const number = (least: number, most: number, integer: boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most && (!integer || Number.isInteger(value))) return value;
  throw new InvalidArgumentError(`It must be ${integer ? "an integer" : "a number"} from ${least} to ${most}.`);
};

const servers = Object.keys(matrix);
const program = new Command("./bench.sh")
  .description("Measures HTTP servers: those of the matrix, started here in turn, or those at the URLs given.")
  .argument("[urls...]", "servers that run already, as http://host:port")
  .option("--servers <list>", `servers to start here, as NAME[@DRIVER][*WORKERS] (default: ${servers.join(",")})`, list)
  .option("--endpoints <list>", `paths to load (default: ${ENDPOINTS.join(",")})`, list)
  .option("--connections <n>", "connections, each with one request at a time", number(1, 10_000, true), 100)
  .option("--seconds <n>", "length of a slice", number(0.1, 3_600, false), 2)
  .option("--name <name>", "name of a server that does not say it at GET /; a list for several URLs", (text) =>
    text.split(","),
  )
  .option("--results <file>", "file to append to", "results.csv")
  .showHelpAfterError("(./bench.sh --help lists the options)")
  .parse();

const interrupted = new AbortController();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => interrupted.abort(code));
}

const { name: names = [], servers: chosen = [], endpoints = [], results, connections, seconds } = program.opts();
const options: Options = { urls: program.args, names, servers: chosen, endpoints, connections, seconds };
try {
  const plan = makePlan(options, servers);
  checkResults(results);
  await measure(plan, results, interrupted.signal);
} catch (error) {
  if (!interrupted.signal.aborted) exitWith(error);
  console.error(`stopped; what was measured before is in ${results}`);
  process.exit(interrupted.signal.reason);
}

/** Each target in turn: up, checked, warmed, one slice per endpoint, down. */
async function measure(plan: Plan, file: string, signal: AbortSignal): Promise<void> {
  const cores = plan.targets.every(isHere) ? splitCores() : null;
  const run = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const all = plan.targets.length * plan.endpoints.length;
  const slices: Slice[] = [];
  for (const spec of plan.targets) {
    if (spec.kind === "url") await verify(await attach(spec, signal), plan.endpoints, signal);
  }
  console.log(describe(plan, cores, all));
  for (const spec of plan.targets) {
    const target = await bringUp(spec, cores, signal);
    try {
      await verify(target, plan.endpoints, signal);
      for (const endpoint of plan.endpoints) {
        await load(target.url + endpoint, { ...plan, seconds: plan.warmupSeconds }, cores?.generator, signal);
      }
      for (const endpoint of plan.endpoints) {
        const slice = await measureSlice(run, target, endpoint, plan, cores, signal);
        await appendSlice(file, slice);
        slices.push(slice);
        console.log(line(slice, slices.length, all));
      }
    } finally {
      await target.stop();
    }
  }
  console.log(
    `\n${tables(slices)}\n\nOne slice of ${plan.seconds} s each, in turn: no ranking. Small differences here are noise.`,
  );
  console.log(`${slices.length} rows of run ${run} are in ${file}.`);
}

async function measureSlice(
  run: string,
  target: Target,
  endpoint: string,
  { connections, seconds }: Plan,
  cores: Cores | null,
  signal: AbortSignal,
): Promise<Slice> {
  const before = target.identity && (await readIdentity(target.url, signal));
  const seen = await load(target.url + endpoint, { connections, seconds }, cores?.generator, signal);
  const after = target.identity && (await readIdentity(target.url, signal));
  return {
    run,
    target,
    endpoint,
    connections,
    load: seen,
    cpuUsPerRequest: before && after && (after.cpuUs - before.cpuUs) / seen.requests,
    rssBytes: after?.rssBytes ?? null,
  };
}

function bringUp(spec: TargetSpec, cores: Cores | null, signal: AbortSignal): Promise<Target> {
  return spec.kind === "local" ? start(spec, cores?.server, signal) : attach(spec, signal);
}

/** Whether a target runs on this machine, and so has to share it with the generator. */
function isHere(spec: TargetSpec): boolean {
  return spec.kind === "local" || /^(localhost|127\..*|\[::1\])$/.test(new URL(spec.url).hostname);
}

function describe(plan: Plan, cores: Cores | null, all: number): string {
  const { targets, endpoints, connections, seconds, warmupSeconds } = plan;
  const minutes = Math.ceil((all * (seconds + warmupSeconds + 0.2) + targets.length) / 60);
  const load = `${connections} connections, ${seconds} s each: about ${minutes} min`;
  const where = () => {
    if (!targets.every(isHere)) return "";
    if (cores === null) return "; servers and generator share the cores";
    const pinned = targets.every(({ kind }) => kind === "local");
    return `; generator on cores ${cores.generator}, servers on ${pinned ? cores.server : "whichever they choose"}`;
  };
  return `${targets.length} servers × ${endpoints.length} endpoints, ${load}${where()}`;
}
