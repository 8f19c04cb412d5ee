import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { type AppOptions, appsIn, appsOf, askedOf, type ToAsk } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { checkOut, HeadError, type Side } from "../ask/sides.ts";
import { onStore, parseEither, SERVERS, type TargetSpec } from "../ask/targets.ts";
import { type Also, EXIT, failuresOf, gateDeciding, gateOf } from "../judge/gate.ts";
import { hiderOf } from "../keep/secrets.ts";
import { endpointsOf, unique } from "../plan/plan.ts";
import { GATE_SECONDS, pairEndpoints } from "../plan/presets.ts";
import { compareUntilDecided } from "../run/measure.ts";
import { withTargets } from "../run/restart.ts";
import type { Session } from "../run/session.ts";
import { differenceOf } from "../run/targets/answers.ts";
import { nameAt } from "../run/targets/url.ts";
import { capital } from "../tell/format.ts";
import { atMost, failureLine, gateMarkdown, gateReport, gateText } from "../tell/gate.ts";
import { outcome } from "../tell/lines.ts";
import { type PairOptions, pairSession } from "./pair.ts";

/** Options of the command line; `true` instead of a file means stdout. */
export interface CompareOptions extends Omit<PairOptions, "seconds">, AppOptions {
  readonly workload: Workload;
  readonly seconds?: number;
  readonly repo: string;
  readonly ref?: string[];
  readonly failAbove?: number;
  readonly json?: string | true;
  readonly markdown?: string | true;
  readonly differentAnswers?: true;
  /** Null for a measure without its own limit. */
  readonly also?: Readonly<Partial<Record<keyof Also, number | null>>>;
  readonly failUndecided?: true;
  readonly copy?: string[];
}

/** Time limit per endpoint. */
const SECONDS = 120;

type Named = Pick<Side, "name" | "commit">;

/** `compare`. @returns the exit code. @throws UsageError; with --fail-above only if interrupted, because other errors have an exit code */
export async function compare(names: readonly string[], options: CompareOptions, signal: AbortSignal): Promise<number> {
  const { ref, failAbove, repo, copy, also, failUndecided } = options;
  const decides = also ? "--also" : failUndecided && "--fail-undecided";
  if (decides && failAbove === undefined)
    throw new UsageError(`${decides} requires --fail-above, because without it no limit decides`);
  if (ref === undefined && names.length !== 2) {
    throw new UsageError("compare takes two servers: name both, or give --ref for two commits of an app");
  }
  try {
    if (ref === undefined) return await ofServers(names as [string, string], options, signal);
    if (names.length > 0) throw new UsageError(`--ref compares commits: leave out ${names.join(" ")}`);
    const { sides, remove } = checkOut(repo, ref, copy);
    try {
      const [base, head] = sides;
      const asked = await askedOf(options, ["/"]);
      const [before, after] = (await appsIn(sides, options, asked, signal)) as [TargetSpec, TargetSpec];
      const named = ({ name, commit }: Side): Named => ({ name, commit });
      return await gate([after, before], { base: named(base), head: named(head) }, { ...options, asked }, signal);
    } finally {
      remove();
    }
  } catch (error) {
    if (failAbove === undefined || signal.aborted || !(error instanceof UsageError)) throw error;
    return refuse(error, options);
  }
}

/** A gate that cannot measure does not pass. It is "failed" if only the later commit fails, else "not measured". */
function refuse(error: UsageError, options: CompareOptions): number {
  const { failAbove, json, markdown, repo, ref = [], copy, env = [], header = [], body = "" } = options;
  const verdict = error instanceof HeadError ? "failed" : "not measured";
  const isMissing =
    ref.length > 0 && !copy && error.message.includes("did not start") && existsSync(join(repo, ".env"));
  // It may become a comment that everyone can read.
  const values = [...env.map((one) => one.replace(/^.*?=/s, "")), ...header.map((one) => one.replace(/^.*?:\s*/s, ""))];
  const said = hiderOf([...values, body])(error.message);
  const reason = `${said}${isMissing ? ` (.env is in the working tree only: --copy .env)` : ""}`;
  console.error(reason);
  if (json) give(json, `${JSON.stringify({ version: 2, verdict, reason, failAbove }, null, 2)}\n`);
  if (typeof markdown === "string") give(markdown, `**${capital(verdict)}:** ${reason}\n`);
  return EXIT[verdict];
}

async function ofServers([a, b]: readonly [string, string], options: CompareOptions, signal: AbortSignal) {
  const { name: [first, second] = [], failAbove, json, markdown, workload, insecure = false } = options;
  const asked = await askedOf(options);
  const apps = onStore(await appsOf(options, asked, signal), workload);
  const either = async (text: string, name?: string) => {
    const spec = parseEither(text, SERVERS, apps, { workload, name, insecure });
    return spec.kind === "url" && name === undefined ? { ...spec, name: await nameAt(spec, signal) } : spec;
  };
  const pair = unique([await either(a, first), await either(b, second)]) as [TargetSpec, TargetSpec];
  if (failAbove !== undefined || json || markdown) {
    const side = ({ name }: TargetSpec): Named => ({ name, commit: null });
    return gate(pair, { base: side(pair[1]), head: side(pair[0]) }, { ...options, asked }, signal);
  }
  const limitSeconds = (options.seconds ?? SECONDS) * (asked.endpoints.length || pairEndpoints(workload).length);
  for (const note of asked.notes) console.error(note);
  await using session = await pairSession({ ...options, asked }, pair, limitSeconds, signal);
  const differences = await differencesIn(session);
  for (const one of await compareUntilDecided(session, { limitSeconds }))
    session.progress.say(outcome(`${a} ÷ ${b}`, one, session.manifest));
  for (const difference of differences) session.progress.say(difference);
  return 0;
}

/** Rate at which both are loaded for latency ÷ requests/s of the slower one in its turns. */
const RATE = 0.3;
/** Length of a slice at that rate. */
const RATE_SECONDS = 0.5;

/** Compares head with base; base runs as two copies, unless it is a URL. @returns the exit code. @throws UsageError */
async function gate(
  [head, base]: readonly [TargetSpec, TargetSpec],
  sides: { readonly base: Named; readonly head: Named },
  options: CompareOptions & { readonly asked: ToAsk },
  signal: AbortSignal,
): Promise<number> {
  const { failAbove = null, also = {}, failUndecided, json, markdown, workload, asked } = options;
  for (const note of asked.notes) console.error(note);
  const many = asked.endpoints.length || pairEndpoints(workload).length;
  const limitSeconds = (options.seconds ?? (failAbove === null ? SECONDS : GATE_SECONDS)) * many;
  console.error(atMost(head.name, base.name, many, limitSeconds));
  const specs = base.kind === "url" ? [head, base] : [head, base, base];
  await using session = await pairSession(options, specs, limitSeconds, signal, { latencyAt: RATE });
  Object.assign(session.manifest.plan.amount, { soloSeconds: RATE_SECONDS });
  await checkSides(session, options);
  const deciding = failAbove === null ? {} : { ...gateDeciding(failAbove), mustAnswer: true };
  const outcomes = await compareUntilDecided(session, { limitSeconds, family: many, ...deciding });
  if (failAbove !== null) throwFailures(session, head.name);
  const asAsked = { failAbove, also: failAbove === null ? {} : limitsFor(also, failAbove) };
  const report = gateReport(session, sides, gateOf(outcomes, failAbove), asAsked);
  session.progress.stop();
  if (json !== true && markdown !== true) console.log(gateText(report));
  if (json) give(json, `${JSON.stringify(report, null, 2)}\n`);
  if (markdown) give(markdown, gateMarkdown(report));
  const { verdict } = report;
  return verdict === null ? 0 : verdict === "undecided" && failUndecided ? EXIT.slower : EXIT[verdict];
}

/** A measure without its own limit has that of --fail-above. */
const limitsFor = ({ memory, p99 }: NonNullable<CompareOptions["also"]>, failAbove: number): Also => ({
  ...(memory !== undefined && { memory: memory ?? failAbove }),
  ...(p99 !== undefined && { p99: p99 ?? failAbove }),
});

/** Starts both sides and compares their answers. A gate first starts base alone, so that a later failure is head's. @throws UsageError, HeadError */
async function checkSides(session: Session, { differentAnswers, failAbove }: CompareOptions): Promise<void> {
  const [, base] = session.manifest.plan.targets;
  if (base && failAbove !== undefined) await withTargets(session, [base], async () => {});
  try {
    const [difference] = await differencesIn(session);
    if (difference && !differentAnswers) throw new UsageError(`${difference}: fix that, or give --different-answers`);
  } catch (error) {
    if (failAbove === undefined || session.signal.aborted || !(error instanceof UsageError)) throw error;
    const taken = /^.*(?:EADDRINUSE|already in use).*$/im.exec(error.message)?.[0].trim();
    if (taken) throw new UsageError(`${taken}: copies run at the same time, so read every port from a variable`);
    throw new HeadError(error.message);
  }
}

/** @throws UsageError if requests to base failed, or it ended; HeadError if that is true only of head */
function throwFailures({ manifest: { turns, left } }: Session, head: string): void {
  const gone = left.map(({ name, reason }) => ({ name, text: `${name} ended: ${reason}` }));
  const failing = failuresOf(turns).map((one) => ({ name: one.name, text: failureLine(one) }));
  const all = [...gone, ...failing];
  const first = all.find(({ name }) => name !== head) ?? all[0];
  if (first) throw new (first.name === head ? HeadError : UsageError)(first.text);
}

/** Differences between the answers of the first two targets, by endpoint; starts each of them once. */
function differencesIn(session: Session): Promise<string[]> {
  const { plan } = session.manifest;
  return withTargets(session, plan.targets.slice(0, 2), async ([a, b]) => {
    const found: string[] = [];
    for (const endpoint of a && b ? endpointsOf(plan) : []) {
      const difference = a && b && (await differenceOf(endpoint, a, b, session.signal, plan.workload));
      if (difference) found.push(difference);
    }
    return found;
  });
}

const give = (where: string | true, text: string): void =>
  where === true ? void process.stdout.write(text) : writeFileSync(where, text);
