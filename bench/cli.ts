import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { exitWith, UsageError } from "../shared/errors.ts";
import { fromCaller } from "./ask/caller.ts";
import { ENDPOINTS, WORKLOADS } from "./ask/endpoints.ts";
import { SERVERS } from "./ask/targets.ts";
import type { CompareOptions } from "./commands/compare.ts";
import type { PairOptions } from "./commands/pair.ts";
import type { ReportOptions } from "./commands/report.ts";
import type { RunOptions } from "./commands/run.ts";
import type { SelfTestOptions } from "./commands/self-test.ts";
import { EXIT } from "./judge/gate.ts";
import { foldersOf, RESULTS } from "./keep/files.ts";
import { FEW, PAIR_ENDPOINTS, PRESETS } from "./plan/presets.ts";
import { parseSlo } from "./plan/slo.ts";

const list = (text: string, before: string[] = []) => [...before, ...text.split(",").filter((item) => item !== "")];
const number = (least: number, most: number, integer: boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most && (!integer || Number.isInteger(value))) return value;
  throw new InvalidArgumentError(`It must be ${integer ? "an integer" : "a number"} from ${least} to ${most}.`);
};

const share = (text: string) => {
  const percent = /^(\d+(?:\.\d+)?)\s?%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100;
  throw new InvalidArgumentError("Write it as 5%, up to 100%.");
};

/** A path relative to the caller's folder; unchanged if it means the same here. */
const path = (text: string) => (resolve(text) === fromCaller(text) ? text : fromCaller(text));

/** `memory=10%,p99` @returns null for a measure without its own limit */
const also = (text: string): CompareOptions["also"] =>
  Object.fromEntries(
    list(text).map((item) => {
      const [what = "", limit] = item.split("=");
      if (what !== "memory" && what !== "p99")
        throw new InvalidArgumentError("Write memory, p99, or both: memory=10%,p99=20%");
      return [what, limit === undefined ? null : share(limit)];
    }),
  );

/** Commands are imported when called, so that help and errors of arguments are quick. */
const interrupted = new AbortController();
/** The results file, for the message of a run that is stopped. */
let results = RESULTS;

/** Splits at commas before a path, a method or the end; other commas belong to a path. */
const pathsIn = (text: string): string[] => {
  const paths = text.split(/,+\s*(?=\/|[A-Z]+ \/|content$|content,|$)/).filter((item) => item !== "");
  if (paths.length > 0) return paths;
  throw new InvalidArgumentError("Write at least one path, e.g. /");
};
const endpointList = (text: string, before: string[] = []) => [...before, ...pathsIn(text)];

/** Options of every command. */
function withOptions(command: Command, endpoints: readonly string[]): Command {
  return command
    .option(
      "--endpoints <list>",
      `paths to load, as /path or 'METHOD /path' (default: ${endpoints.join(",")})`,
      endpointList,
    )
    .option("--connections <n>", "connections, each with one request at a time", number(1, 10_000, true), 100)
    .option(
      "--warmup <n>",
      "warm-up requests at the lightest route after a restart (default: 30,000; 40,000 in --standard)",
      number(0, 1e9, true),
    )
    .option("--results <file>", "file to append to; slices go to the folder of the same name", path, RESULTS)
    .on("option:results", (file: string) => {
      results = file;
    })
    .showHelpAfterError("(./bench.sh help lists the options)");
}

const several = (text: string, before: string[] = []) => [...before, text];

/** Options of commands that load an app of the user. */
const withRequests = (command: Command) =>
  command
    .option(
      "--requests <file>",
      "requests to load: an .http file of an editor, or a HAR of a browser",
      (text: string, before?: string) => {
        if (before === undefined) return path(text);
        throw new InvalidArgumentError("It is given twice: write all requests to one file.");
      },
    )
    .option("--environment <name>", "environment of the .http file (default: the only one)")
    .option("--allow-scripts", "run the scripts of the .http file")
    .option("--header <header>", "header for all requests, as 'name: value' (repeatable)", several)
    .option("--body <text>", "body for --endpoints with a method like 'POST /login'; @FILE reads a file");

/** Options of commands that start an app of the user. */
const withApps = (command: Command) =>
  command
    .option("--start <name=command>", "app to start here, e.g. 'my-app=node app.js' (repeatable)", several)
    .option("--cwd <folder>", "folder of the app (default: this one; with --ref, the top of the commit)")
    .option("--env <name=value>", "environment variable of the app (repeatable)", several)
    .option("--setup <command>", "command that prepares the app, once, e.g. 'npm ci && npm run build'")
    .option("--ready <path>", "path polled until it returns 2xx (default: the first request)")
    .option(
      "--port <n>",
      "port of an app that neither reads PORT nor takes {port} in its command",
      number(1, 65_535, true),
    )
    .option("--insecure", "accept any certificate of an app or URL that speaks HTTPS");

const workloadOption = (choices: readonly string[]) =>
  new Option(
    "--workload <name>",
    "requests: pages and rows (read), the content API, lists of users, or transactions on Postgres (tpcb)",
  )
    .choices(choices)
    .default("read");

/** @throws UsageError for options beside --resume, because a run has those with which it was begun */
function refuseBeside(run: string, command: Command): void {
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  const names = given.flatMap(({ long }) =>
    ["--resume", "--results", "--details"].includes(long ?? "") ? [] : [long],
  );
  const wrong = [...names.sort(), ...command.args];
  if (wrong.length > 0)
    throw new UsageError(`--resume ${run} continues the run with its own options: leave out ${wrong.join(" ")}`);
}

const program = withOptions(new Command("./bench.sh"), ENDPOINTS)
  .description(
    "Measures HTTP servers: starts those of the matrix and your apps, or attaches to running servers at URLs.",
  )
  .argument("[urls...]", "running servers, as http://host:port")
  .option(
    "--quick",
    `a first look: ${PRESETS.quick.minutes} minutes, ${FEW.minutes} for up to ${FEW.servers} servers (default)`,
  )
  .option("--standard", `${PRESETS.standard.minutes} minutes, with an A/A twin`)
  .option("--full", `${PRESETS.full.minutes} minutes, with an A/A twin`)
  .option("--minutes <n>", "length of the run: as many restarts as fit, at least two", number(0, 100_000, false))
  .option(
    "--servers <list>",
    `servers to start here, as NAME[@DRIVER][*WORKERS][+SETTING] (default: ${SERVERS.join(",")})`,
    list,
  )
  .addOption(workloadOption(Object.keys(WORKLOADS)))
  .option("--scale <n>", "branches of --workload tpcb, 100,000 accounts each (default: 10)", number(1, 20_000, true))
  .option("--docker [engine]", "start servers in containers, on this machine or at ssh://user@host")
  .option("--image <name>", "container image", "http-benchmark")
  .option("--cpuset <cores>", "cores of each container, e.g. 0-1")
  .option("--memory <size>", "memory of each container, e.g. 512m")
  .option("--read-only", "containers without a writable file system")
  .option("--agents <list>", "fortio servers that make the load, as host:port", list)
  .option("--seconds <n>", "length of each slice (default: by preset)", number(0.1, 3_600, false))
  .option(
    "--rate <list>",
    "fixed requests/s, evenly spaced even if answers are late; one table for each rate",
    (text: string) => list(text).map(number(1, 10_000_000, false)),
  )
  .option("--idle", "instead measure start-up time, memory of idle connections and idle CPU time")
  .option("--slo <promise>", "find the highest rate that keeps a promise like p99<50ms", parseSlo)
  .option("--name <name>", "name of the server at a URL, if GET / does not give it; a list for several", (text) =>
    text.split(","),
  )
  .option("--machine-name <name>", "name of this machine in reports, e.g. hetzner-cx33 (default: its processor)")
  .option("--seed <n>", "seed of the random order", number(0, 2 ** 32 - 1, true), Date.now() % 2 ** 32)
  .option(
    "--keep-secrets",
    "keep secret headers, bodies and --env in results/, to --resume the run (default: their hashes)",
  )
  .option("--resume <run>", "run to continue")
  .option("--dry-run", "print the plan and its duration; build, prepare and measure nothing")
  .option("--details", "print every table at the end, not only the card")
  .helpCommand("help [command]", "all options, or those of a command")
  .enablePositionalOptions()
  .action(async (urls: string[], options: RunOptions, command: Command) => {
    if (options.resume !== undefined) refuseBeside(options.resume, command);
    await (await import("./commands/run.ts")).run(urls, options, interrupted.signal);
  });
const compareCommand = withOptions(program.command("compare"), PAIR_ENDPOINTS)
  .description("compares two servers, or two commits of an app, until it can tell which needs less CPU time")
  .argument("[servers...]", "two servers: of the matrix, an app named by --start, or a URL")
  .addOption(workloadOption(Object.keys(WORKLOADS)))
  .option("--name <names>", "names of the servers at URLs, if GET / does not give them, as A,B", (text) =>
    text.split(","),
  )
  .option("--seconds <n>", "time limit per endpoint (default: 120, with --fail-above 60)", number(1, 36_000, false))
  .option(
    "--ref <commit>",
    "commit of the app: the one before, then the one after; . is the working tree (repeatable)",
    several,
  )
  .option("--repo <folder>", "repository of the commits (default: this one)", path, path("."))
  .option(
    "--fail-above <percent>",
    "exit 1 if the first server, or the later commit, fails or is slower by more than this, 0 if not, 2 if undecided, 3 if not measured",
    share,
  )
  .option("--also <list>", "other limits: memory=10%,p99=20% (default: that of --fail-above)", also)
  .option("--fail-undecided", "exit 1, not 2, if undecided")
  .option("--different-answers", "continue if the answers of the two differ")
  .option("--copy <file>", "file that git ignores, to copy to both commits, e.g. .env (repeatable)", several)
  .option("--json [file]", "write the result as JSON (docs/gate.schema.json)", path)
  .option("--markdown [file]", "write the result as Markdown, for a comment on a pull request", path)
  .action(async (servers: string[], options: CompareOptions) => {
    process.exitCode = await (await import("./commands/compare.ts")).compare(servers, options, interrupted.signal);
  });
withOptions(program.command("tax"), PAIR_ENDPOINTS)
  .description("compares each server of the matrix with the same routes written by hand in its framework")
  .addOption(workloadOption(["read", "content", "tpcb"]))
  .option("--servers <list>", "servers of the matrix (default: all); with --workload tpcb also as NAME@CLIENT", list)
  .option("--seconds <n>", "time limit per endpoint", number(1, 36_000, false), 60)
  .action(async (options: PairOptions) => (await import("./commands/pair.ts")).tax(options, interrupted.signal));
withOptions(program.command("self-test"), PAIR_ENDPOINTS)
  .description("shows on this machine whether equal servers come out equal, and 5 % more work as different")
  .option("--servers <list>", "servers of the matrix to test", list)
  .option("--seconds <n>", "time limit of a pair per endpoint (default: 90, with --gates 60)", number(1, 36_000, false))
  .option("--gates <n>", "instead run n gates (compare --fail-above 2%) of each kind", number(1, 1_000, true))
  .option("--alone", "instead compare turns with two seconds of each server alone")
  .action(async (options: SelfTestOptions) =>
    (await import("./commands/self-test.ts")).proveItself(options, interrupted.signal),
  );

const checkCommand = withOptions(program.command("check"), [])
  .description("starts an app, or attaches to URLs, and sends the requests of a run, without load")
  .argument("[urls...]", "running servers, as http://host:port")
  .option("--servers <list>", "servers of the matrix", list)
  .option("--name <name>", "name of the server, if GET / does not give it", (text) => text.split(","))
  .action(async (urls: string[], options: RunOptions) =>
    (await import("./commands/check.ts")).check(urls, { ...options, workload: "read" }, interrupted.signal),
  );

const DEFAULT_FILES = [RESULTS];
for (const command of [program, compareCommand, checkCommand]) withRequests(withApps(command));

program
  .command("report")
  .description("shows the newest run, or another one")
  .argument(
    "[files...]",
    "results of ./bench.sh",
    (text: string, before: string[]) => [...(before === DEFAULT_FILES ? [] : before), path(text)],
    DEFAULT_FILES,
  )
  .option("--run <run>", "run to show (default: the newest)")
  .option("--list", "list all runs, newest first")
  .option("--details", "show every table, not only the card")
  .option("--compare <runs...>", "what changed from the first of two runs to the second")
  .option("--history <file>", "what changed over the runs of a results.csv, and since when; --html draws it", path)
  .option("--html <file>", "write a page with charts, in one file", path)
  .option("--markdown", "as Markdown")
  .action(async (files: string[], options: ReportOptions) =>
    (await import("./commands/report.ts")).showReport(files, options),
  );

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => interrupted.abort(code));
}

const isGate = process.argv.some((word) => word.startsWith("--fail-above"));
for (const command of [program, ...program.commands]) {
  // A usage error must not exit with 1, because 1 means that the change is slower.
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 1 && isGate ? EXIT["not measured"] : exitCode));
}

try {
  await program.parseAsync();
} catch (error) {
  if (!interrupted.signal.aborted) exitWith(error);
  const [folder = ""] = foldersOf(results);
  console.error(existsSync(folder) ? `stopped; results so far are in ${folder}` : "stopped");
  process.exit(interrupted.signal.reason);
}
