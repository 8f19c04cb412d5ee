import { writeFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { type AppOptions, appsIn, appsOf, askedOf } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { checkOut, type Side } from "../ask/sides.ts";
import { onStore, parseEither, SERVERS, type TargetSpec } from "../ask/targets.ts";
import { EXIT, gateDeciding, gateOf } from "../judge/gate.ts";
import { endpointsOf, unique } from "../plan/plan.ts";
import { GATE_SECONDS, pairEndpoints } from "../plan/presets.ts";
import { compareUntilDecided } from "../run/pairs.ts";
import { withTargets } from "../run/restart.ts";
import { closeSession, type Session } from "../run/session.ts";
import { differenceOf } from "../run/targets/target.ts";
import { nameAt } from "../run/targets/url.ts";
import { change, type GateReport, gateMarkdown, gateReport, gateText } from "../tell/gate.ts";
import { outcome } from "../tell/lines.ts";
import { type PairOptions, pairSession } from "./pair.ts";
import { buildStacks } from "./stacks.ts";

/** As the command line has them; where a file may be given, true is the terminal. */
export interface CompareOptions extends Omit<PairOptions, "seconds">, AppOptions {
  readonly workload: Workload;
  readonly seconds?: number;
  readonly repo: string;
  readonly ref?: string[];
  /** 0.05 for 5 %. */
  readonly failAbove?: number;
  readonly json?: string | true;
  readonly markdown?: string | true;
  readonly differentAnswers?: true;
}

/** Time limit per endpoint. */
const SECONDS = 120;

type Named = Pick<Side, "name" | "commit">;

/** `compare`. @returns what to exit with. @throws UsageError, and a gate only if it is interrupted */
export async function compare(names: readonly string[], options: CompareOptions, signal: AbortSignal): Promise<number> {
  const { ref, failAbove, repo, json, markdown } = options;
  if (ref === undefined && names.length !== 2) {
    throw new UsageError("compare takes two servers: name both, or give --ref for two commits of an app");
  }
  try {
    if (ref === undefined) return await ofServers(names as [string, string], options, signal);
    if (names.length > 0) throw new UsageError(`--ref compares commits: leave out ${names.join(" ")}`);
    const { sides, remove } = checkOut(repo, ref);
    try {
      const [base, head] = sides;
      const asked = { ...options, ...(askedOf(options).endpoints.length === 0 && { endpoints: ["/"] }) };
      const [before, after] = appsIn(sides, asked, askedOf(asked).endpoints) as [TargetSpec, TargetSpec];
      const named = ({ name, commit }: Side): Named => ({ name, commit });
      return await gate([after, before], { base: named(base), head: named(head) }, asked, signal);
    } finally {
      remove();
    }
  } catch (error) {
    if (failAbove === undefined || signal.aborted || !(error instanceof UsageError)) throw error;
    const reason = error.message;
    console.error(reason);
    const record = `${JSON.stringify({ version: 2, verdict: "not measured", reason, failAbove }, null, 2)}\n`;
    if (json) give(json, record);
    if (typeof markdown === "string") give(markdown, `**Not measured:** ${reason}\n`);
    return EXIT["not measured"];
  }
}

async function ofServers([a, b]: readonly [string, string], options: CompareOptions, signal: AbortSignal) {
  const { name: [first, second] = [], failAbove, json, markdown, workload } = options;
  const { endpoints } = askedOf(options);
  const apps = onStore(appsOf(options, endpoints), workload);
  const either = async (text: string, name?: string) => {
    const spec = parseEither(text, SERVERS, apps, { workload, name });
    return spec.kind === "url" && name === undefined ? { ...spec, name: await nameAt(spec.url, signal) } : spec;
  };
  const pair = unique([await either(a, first), await either(b, second)]) as [TargetSpec, TargetSpec];
  await buildStacks(pair, signal);
  if (failAbove !== undefined || json || markdown) {
    const side = ({ name }: TargetSpec): Named => ({ name, commit: null });
    return gate(pair, { base: side(pair[1]), head: side(pair[0]) }, options, signal);
  }
  const limitSeconds = (options.seconds ?? SECONDS) * (endpoints.length || pairEndpoints(workload).length);
  const session = await pairSession(options, pair, limitSeconds, signal);
  try {
    const differences = await differencesIn(session);
    for (const one of await compareUntilDecided(session, { limitSeconds }))
      session.progress.say(outcome(`${a} ÷ ${b}`, one, session.manifest));
    for (const difference of differences) session.progress.say(difference);
  } finally {
    await closeSession(session);
  }
  return 0;
}

/** Part of what the slower answers in its turns at which both are loaded for their latency. */
const RATE = 0.3;
/** Of a slice at that rate. */
const RATE_SECONDS = 0.5;

/** Compares two targets as a change and what was before, the latter as two copies unless it runs already. @returns what to exit with. */
async function gate(
  [head, base]: readonly [TargetSpec, TargetSpec],
  sides: { readonly base: Named; readonly head: Named },
  options: CompareOptions,
  signal: AbortSignal,
): Promise<number> {
  const { failAbove = null, json, markdown, differentAnswers, workload } = options;
  const many = askedOf(options).endpoints.length || pairEndpoints(workload).length;
  const limitSeconds = (options.seconds ?? (failAbove === null ? SECONDS : GATE_SECONDS)) * many;
  const specs = base.kind === "url" ? [head, base] : [head, base, base];
  const session = await pairSession(options, specs, limitSeconds, signal, { latencyAt: RATE });
  Object.assign(session.manifest.plan.amount, { soloSeconds: RATE_SECONDS });
  try {
    const [difference] = await differencesIn(session);
    if (difference && !differentAnswers) throw new UsageError(`${difference}: fix that, or give --different-answers`);
    const deciding = failAbove === null ? {} : gateDeciding(failAbove);
    const outcomes = await compareUntilDecided(session, { limitSeconds, family: many, ...deciding });
    const { verdicts, verdict, suspect } = gateOf(outcomes, failAbove);
    const reason = suspect?.guard
      ? `a copy of ${sides.base.name} came out different from it at ${suspect.endpoint}: ${change({ ...suspect.guard.ratio, ratio: suspect.guard.ratio.estimate })}, so nothing here can be trusted`
      : null;
    const report: GateReport = gateReport(session, sides, outcomes, { verdict, reason, failAbove }, verdicts);
    session.progress.stop();
    if (json !== true && markdown !== true) console.log(gateText(report));
    if (json) give(json, `${JSON.stringify(report, null, 2)}\n`);
    if (markdown) give(markdown, gateMarkdown(report));
    return verdict === null ? 0 : EXIT[verdict];
  } finally {
    await closeSession(session);
  }
}

/** How the first two targets answer differently, endpoint by endpoint; each is started once for that. */
function differencesIn(session: Session): Promise<string[]> {
  const { plan } = session.manifest;
  return withTargets(session, plan.targets.slice(0, 2), async ([a, b]) => {
    const found: string[] = [];
    for (const endpoint of a && b ? endpointsOf(plan) : []) {
      const difference = a && b && (await differenceOf(endpoint, a, b, session.signal, plan.requests));
      if (difference) found.push(difference);
    }
    return found;
  });
}

/** Prints, or writes to a file. */
const give = (where: string | true, text: string): void =>
  where === true ? void process.stdout.write(text) : writeFileSync(where, text);
