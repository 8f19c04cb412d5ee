import { dirname, join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import matrix from "../servers/matrix.json" with { type: "json" };
import { exitWith, UsageError } from "../shared/errors.ts";
import { moveTo, splitCores } from "./cores.ts";
import {
  ENDPOINTS,
  type LocalSpec,
  makePlan,
  PAIR,
  PAIR_ENDPOINTS,
  type Plan,
  PRESETS,
  parseEither,
  parseTarget,
  totalSeconds,
  WORKLOADS,
} from "./plan.ts";
import { type ReportOptions, show, showReport, writePage } from "./report/command.ts";
import { capacityLine, describe, found, order, outcome, scheduleLine, selfTestTable } from "./report/lines.ts";
import { type Progress, showProgress } from "./report/progress.ts";
import { reportOf } from "./report/report.ts";
import { capacitySeconds, coresFor, measure, measureCapacity, withTargets } from "./run.ts";
import { measureSchedules, scheduledTargets } from "./self-test/schedules.ts";
import { type Finding, selfTest } from "./self-test/self-test.ts";
import { closeSession, newSession, resumeSession, type Session } from "./session.ts";
import { parseSlo, type Slo } from "./slo.ts";
import { addressOf } from "./targets/engine.ts";
import { compareUntilDecided } from "./until-decided.ts";

const list = (text: string, before: string[] = []) => [...before, ...text.split(",").filter((item) => item !== "")];
const number = (least: number, most: number, integer: boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most && (!integer || Number.isInteger(value))) return value;
  throw new InvalidArgumentError(`It must be ${integer ? "an integer" : "a number"} from ${least} to ${most}.`);
};

const servers = Object.keys(matrix);
/** Where the rows go; kept for the last words of a run that is stopped. */
let results = "results.csv";

/** Options of every command. */
function withOptions(command: Command, endpoints: readonly string[]): Command {
  return command
    .option("--endpoints <list>", `paths to load (default: ${endpoints.join(",")})`, list)
    .option("--connections <n>", "connections, each with one request at a time", number(1, 10_000, true), 100)
    .option(
      "--warmup <n>",
      "requests that a server answers after a restart before it is measured, at least (default: the preset's, 100,000 in --standard)",
      number(0, 1e9, true),
    )
    .option("--results <file>", "file to append to", "results.csv")
    .on("option:results", (file: string) => {
      results = file;
    })
    .showHelpAfterError("(./bench.sh help lists the options)");
}

const program = withOptions(new Command("./bench.sh"), ENDPOINTS)
  .description("Measures HTTP servers: those of the matrix, started here, or those at the URLs given.")
  .argument("[urls...]", "servers that run already, as http://host:port")
  .option("--quick", `a first look: ${PRESETS.quick.blocks} blocks, about 4 minutes for all (default)`)
  .option("--standard", `${PRESETS.standard.blocks} blocks and an A/A twin, about 18 minutes for all`)
  .option("--full", `${PRESETS.full.blocks} blocks and an A/A twin, about 90 minutes for all`)
  .option(
    "--servers <list>",
    `servers to start here, as NAME[@DRIVER][*WORKERS][+SETTING] (default: ${servers.join(",")})`,
    list,
  )
  .addOption(
    new Option("--workload <name>", "what they are asked for: pages and rows, the content API, or lists of users")
      .choices(Object.keys(WORKLOADS))
      .default("read"),
  )
  .option("--docker [engine]", "start them in containers: on this machine, or on another, given as ssh://user@host")
  .option("--image <name>", "of the containers", "http-benchmark")
  .option("--cpuset <cores>", "cores of each container, e.g. 0-1")
  .option("--memory <size>", "memory of each container, e.g. 512m")
  .option("--read-only", "without a writable file system")
  .option("--agents <list>", "make the load from these fortio servers, as host:port", list)
  .option("--seconds <n>", "length of every slice, instead of the preset's", number(0.1, 3_600, false))
  .option(
    "--rate <n>",
    "requests per second, evenly spaced whatever the answers take; no duets",
    number(1, 10_000_000, false),
  )
  .option("--slo <promise>", "find the highest rate that keeps a promise like p99<50ms", parseSlo)
  .option("--name <name>", "name of a server that does not say it at GET /; a list for several URLs", (text) =>
    text.split(","),
  )
  .option("--seed <n>", "of the random order", number(0, 2 ** 32 - 1, true), Date.now() % 2 ** 32)
  .option("--resume <run>", "go on with a run that was stopped")
  .option("--dry-run", "print the plan and its duration, measure nothing")
  .option("--details", "print every table at the end, not only the card")
  .enablePositionalOptions()
  .action(run);
withOptions(program.command("duet"), PAIR_ENDPOINTS)
  .description("compares two servers until it can tell which needs less CPU time")
  .argument("<a>", "a server of the matrix, or a URL")
  .argument("<b>", "another")
  .option("--seconds <n>", "time limit per endpoint", number(1, 36_000, false), 120)
  .action(compareTwo);
withOptions(program.command("tax"), PAIR_ENDPOINTS)
  .description("compares each server of the matrix with the same routes written by hand in its framework")
  .option("--servers <list>", "some of them", list)
  .option("--seconds <n>", "time limit per endpoint", number(1, 36_000, false), 60)
  .action(tax);
withOptions(program.command("self-test"), PAIR_ENDPOINTS)
  .description("shows on this machine whether equal servers come out equal, and 5 % more work as different")
  .option("--servers <list>", "some of them", list)
  .option("--seconds <n>", "time limit of a pair per endpoint", number(1, 36_000, false), 90)
  .option("--field", "measure the same pairs in the usual ways as well")
  .option("--schedules", "instead: servers that change their cost after a known number of requests")
  .action(proveItself);

program
  .command("report")
  .description("shows what was measured: the newest run of results.csv, or of other files")
  .argument("[files...]", "results of ./bench.sh, or of others in six columns", ["results.csv"])
  .option("--run <run>", "another run of the file")
  .option("--list", "the runs of the file, newest first")
  .option("--details", "every table, not only the card")
  .option("--compare <runs...>", "what changed from the first of two runs to the second")
  .option("--html <file>", "write a page with charts, in one file")
  .option("--markdown", "as Markdown")
  .option("--readme", "write the tables of README.md and the pages in docs/")
  .action((files: string[], options: ReportOptions) => showReport(files, options));

const interrupted = new AbortController();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => interrupted.abort(code));
}

try {
  await program.parseAsync();
} catch (error) {
  if (!interrupted.signal.aborted) exitWith(error);
  console.error(`stopped; what was measured before is in ${results}`);
  process.exit(interrupted.signal.reason);
}

async function run(urls: string[]): Promise<void> {
  const {
    name: names = [],
    servers: chosen = [],
    endpoints = [],
    agents = [],
    resume,
    slo,
    dryRun,
    ...options
  } = program.opts();
  const { connections, seconds, warmup, rate, seed, workload } = options;
  const presets = (Object.keys(PRESETS) as (keyof typeof PRESETS)[]).filter((preset) => options[preset]);
  if (presets.length > 1) throw new UsageError(`--${presets.join(" --")}: choose one`);
  const preset = presets[0] ?? "quick";
  if (resume) return finish(resumeSession(resume, results, interrupted.signal, progressOf));
  const engine = await engineOf(options);
  const plan = makePlan(
    {
      workload,
      urls,
      names,
      servers: chosen,
      engine,
      agents,
      endpoints,
      connections,
      preset,
      seconds,
      warmup,
      rate,
      seed,
    },
    servers,
  );
  if (dryRun) return console.log(`${describe(plan, coresFor(plan))}\n\n${order(plan)}`);
  const session = await newSession(plan, coresFor(plan), results, progressOf(plan, slo), interrupted.signal);
  const running = plan.targets.filter(({ kind }) => kind === "url");
  await withTargets(session, running, async () => {}); // mistakes are said before anything is measured
  if (slo) return capacity(session, slo);
  session.progress.say(describe(plan, session.manifest.cores));
  session.save();
  await finish(session);
}

/** @throws UsageError for options of containers without --docker. */
async function engineOf({ docker, image, cpuset, memory, readOnly }: Record<string, string | true>) {
  const run = [
    ...(cpuset ? ["--cpuset-cpus", String(cpuset)] : []),
    ...(memory ? ["--memory", String(memory)] : []),
    ...(readOnly ? ["--read-only"] : []),
  ];
  const tagged = /:[^/]*$/.test(String(image)) ? String(image) : `${image}:latest`;
  if (docker) return { address: await addressOf(docker, interrupted.signal), image: tagged, run };
  if (run.length === 0) return undefined;
  throw new UsageError(`${run[0]?.replace("-cpus", "")} is of containers: give --docker as well`);
}

function progressOf(plan: Plan, slo?: Slo): Progress {
  return showProgress(slo ? capacitySeconds(plan, slo) : totalSeconds(plan));
}

async function finish(session: Session): Promise<void> {
  const { manifest, slices } = session;
  keepOffServers(session);
  try {
    await measure(session);
  } catch (error) {
    if (interrupted.signal.aborted) console.error(`\n./bench.sh --resume ${manifest.run} goes on with this run`);
    throw error;
  } finally {
    await closeSession(session);
  }
  const report = reportOf(slices, manifest);
  console.log(`\n${show(report, program.opts().details)}\n`);
  const page = await writePage(report, join(dirname(results), "report.html"));
  const others = results === "results.csv" ? "" : ` ${results}`;
  console.log(
    `run ${manifest.run}: ${slices.length} rows in ${results}, charts in ${page}; ./bench.sh report${others} --details prints every table`,
  );
}

async function capacity(session: Session, slo: Slo): Promise<void> {
  keepOffServers(session);
  try {
    await measureCapacity(session, slo, (name, endpoint, found) =>
      session.progress.say(capacityLine(name, endpoint, slo, found)),
    );
  } finally {
    await closeSession(session);
    session.save();
  }
}

/** This process reads the servers' CPU time while they are loaded: it must not take theirs. */
function keepOffServers({ manifest: { cores } }: Session): void {
  if (cores) moveTo(cores.generator, process.pid);
}

interface PairOptions {
  readonly servers?: string[];
  readonly endpoints?: string[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmup?: number;
  readonly field?: boolean;
  readonly schedules?: boolean;
}

/** A session for pairs of targets; the plan names none, as they change. */
async function pairSession({ endpoints = PAIR_ENDPOINTS, connections, warmup }: PairOptions, seconds: number) {
  const options = { urls: [], names: [], servers: [], endpoints, connections, preset: "quick", seed: 0 } as const;
  const plan = {
    ...makePlan(options, servers),
    targets: [],
    amount: { ...PAIR, warmRequests: warmup ?? PAIR.warmRequests },
  };
  const session = await newSession(plan, splitCores(), results, showProgress(seconds), interrupted.signal);
  keepOffServers(session);
  return session;
}

/** @throws UsageError for a server that is not in the matrix, or has a driver or workers: those have no twin. */
function plainServers({ servers: chosen = servers }: PairOptions): readonly string[] {
  const unknown = chosen.find((name) => !servers.includes(name));
  if (unknown === undefined) return chosen;
  throw new UsageError(`--servers has "${unknown}": choose from ${servers.join(" ")}`);
}

async function compareTwo(a: string, b: string, options: PairOptions): Promise<void> {
  const pair = [parseEither(a, servers), parseEither(b, servers)] as const;
  const limit = options.seconds * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const session = await pairSession(options, limit);
  try {
    for (const one of await compareUntilDecided(session, pair, limit))
      session.progress.say(outcome(`${a} ÷ ${b}`, one));
  } finally {
    await closeSession(session);
  }
}

async function tax(options: PairOptions): Promise<void> {
  const chosen = plainServers(options);
  const limit = options.seconds * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const session = await pairSession(options, limit * chosen.length);
  try {
    for (const server of chosen) {
      for (const one of await compareUntilDecided(session, [parseTarget(server, servers), byHand(server)], limit))
        session.progress.say(outcome(`${server} ÷ by hand`, one));
    }
  } finally {
    await closeSession(session);
  }
}

/** The same routes without adapter and shared routes, in tests/handwritten/. */
function byHand(server: string): LocalSpec {
  const [runtime = "", framework = ""] = server.split("-");
  const file = `tests/handwritten/${framework === "raw" ? server : framework}.ts`;
  return { kind: "local", name: `${server} by hand`, command: [runtime, file], env: { NODE_ENV: "production" } };
}

/** Servers whose cost is known request by request: what comes out is right, or says that it is not warm. */
async function proveWarmUp({ connections, warmup }: PairOptions): Promise<void> {
  const options = {
    urls: [],
    names: [],
    servers: [],
    endpoints: ["/plain"],
    connections,
    preset: "standard",
    seed: 1,
  } as const;
  const { amount, ...rest } = makePlan({ ...options, warmup }, servers);
  const plan: Plan = { ...rest, amount: { ...amount, blocks: 2, twin: false }, targets: scheduledTargets() };
  const session = await newSession(plan, splitCores(), results, progressOf(plan), interrupted.signal);
  keepOffServers(session);
  try {
    for (const one of await measureSchedules(session)) session.progress.say(scheduleLine(one));
  } finally {
    await closeSession(session);
  }
}

async function proveItself(options: PairOptions): Promise<void> {
  if (options.schedules) return proveWarmUp(options);
  const chosen = plainServers(options);
  const limit = options.seconds * (options.endpoints ?? PAIR_ENDPOINTS).length;
  const session = await pairSession(options, 2 * limit * chosen.length);
  try {
    const tell = (one: Finding) => session.progress.say(found(one));
    const findings = await selfTest(session, chosen, limit, options.field ?? false, tell);
    session.progress.say(`\n${selfTestTable(findings)}`);
  } finally {
    await closeSession(session);
  }
}
