import { writeFileSync } from "node:fs";
import { UsageError } from "../../shared/errors.ts";
import { type AppOptions, appsIn, appsOf, askedOf } from "../ask/apps.ts";
import type { Workload } from "../ask/endpoints.ts";
import { checkOut, type Side } from "../ask/sides.ts";
import { onStore, parseEither, SERVERS, type TargetSpec } from "../ask/targets.ts";
import { EXIT } from "../judge/gate.ts";
import { GATE, GATE_SECONDS, pairEndpoints } from "../plan/presets.ts";
import { measureGate } from "../run/gate.ts";
import { closeSession, type Session } from "../run/session.ts";
import { duetAtRate } from "../run/slices.ts";
import { differenceOf, type Target } from "../run/targets/target.ts";
import { type Comparing, compareUntilDecided } from "../run/until-decided.ts";
import { change, type GateReport, gateMarkdown, gateReport, gateText } from "../tell/gate.ts";
import { outcome } from "../tell/lines.ts";
import { type PairOptions, pairSession } from "./pair.ts";
import { buildStacks } from "./stacks.ts";

/** As the command line has them; where a file may be given, true is the terminal. */
export interface DuetOptions extends Omit<PairOptions, "seconds">, AppOptions {
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

/** `duet`. @returns what to exit with. @throws UsageError, and a gate only where it is interrupted */
export async function duet(names: readonly string[], options: DuetOptions, signal: AbortSignal): Promise<number> {
  const { ref, failAbove, repo, json, markdown } = options;
  if (ref === undefined && names.length !== 2) {
    throw new UsageError("duet compares two servers: name both, or give --ref for two commits of an app");
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
    const record = `${JSON.stringify({ version: 1, verdict: "not measured", reason, failAbove }, null, 2)}\n`;
    if (json) give(json, record);
    if (typeof markdown === "string") give(markdown, `**Not measured:** ${reason}\n`);
    return EXIT["not measured"];
  }
}

async function ofServers([a, b]: readonly [string, string], options: DuetOptions, signal: AbortSignal) {
  const { name: [first, second] = [], failAbove, json, markdown, workload } = options;
  const { endpoints } = askedOf(options);
  const apps = onStore(appsOf(options, endpoints), workload);
  const either = (text: string, name?: string) => parseEither(text, SERVERS, apps, { workload, name });
  const pair = [either(a, first), either(b, second)] as const;
  await buildStacks(pair, signal);
  if (failAbove !== undefined || json || markdown) {
    const side = (name: string): Named => ({ name, commit: null });
    return gate(pair, { base: side(nameOf(pair[1])), head: side(nameOf(pair[0])) }, options, signal);
  }
  const limitSeconds = (options.seconds ?? SECONDS) * (endpoints.length || pairEndpoints(workload).length);
  const session = await pairSession(options, limitSeconds, signal);
  const differences: string[] = [];
  const check: Comparing["check"] = async (endpoint, targets) => {
    differences.push(...(await differenceBetween(session, endpoint, targets)));
  };
  try {
    for (const one of await compareUntilDecided(session, pair, { limitSeconds, check }))
      session.progress.say(outcome(`${a} ÷ ${b}`, one));
    for (const difference of differences) session.progress.say(difference);
  } finally {
    await closeSession(session);
  }
  return 0;
}

const nameOf = (spec: TargetSpec): string => (spec.kind === "url" ? (spec.name ?? spec.url) : spec.name);

/** Part of what both together answered in the duets at which both are loaded for their latency. */
const RATE = 0.3;

/** Compares two targets as a change and what was before, the latter as two copies. @returns what to exit with. */
async function gate(
  pair: readonly [TargetSpec, TargetSpec],
  sides: { readonly base: Named; readonly head: Named },
  options: DuetOptions,
  signal: AbortSignal,
): Promise<number> {
  const { failAbove = null, json, markdown, differentAnswers, workload } = options;
  const many = askedOf(options).endpoints.length || pairEndpoints(workload).length;
  const limitSeconds = (options.seconds ?? (failAbove === null ? SECONDS : GATE_SECONDS)) * many;
  const session = await pairSession(options, limitSeconds, signal, GATE);
  const rates = new Map<string, number>();
  try {
    const { outcomes, verdicts, verdict, suspect } = await measureGate(session, pair, failAbove, {
      limitSeconds,
      check: async (endpoint, targets) => {
        const [difference] = await differenceBetween(session, endpoint, targets);
        if (difference && !differentAnswers)
          throw new UsageError(`${difference}: fix that, or give --different-answers`);
      },
      besides: async (block, endpoint, [head, base]) => {
        if (!rates.has(endpoint)) rates.set(endpoint, RATE * goodputOf(session, endpoint));
        // Two blocks of four, in one of which the head was started first.
        const both = { 1: [head, base], 2: [base, head] }[block % 4];
        const rate = rates.get(endpoint) as number;
        if (both && rate >= 1) await duetAtRate(session, block, endpoint, both as [Target, Target], rate);
      },
    });
    const reason = suspect?.guard
      ? `a copy of ${sides.base.name} came out different from it at ${suspect.endpoint}: ${change({ ...suspect.guard.ratio, ratio: suspect.guard.ratio.estimate })}, so nothing here can be trusted`
      : null;
    const report: GateReport = gateReport(session, sides, outcomes, { verdict, reason, failAbove }, verdicts);
    const inJson = `${JSON.stringify(report, null, 2)}\n`;
    session.progress.stop();
    if (json !== true && markdown !== true) console.log(gateText(report));
    if (json) give(json, inJson);
    if (markdown) give(markdown, gateMarkdown(report));
    return verdict === null ? 0 : EXIT[verdict];
  } finally {
    await closeSession(session);
  }
}

/** Of the two sides, in the duets of an endpoint so far, the mean. */
function goodputOf({ slices }: Session, endpoint: string): number {
  const goodputs = slices.flatMap((slice) =>
    slice.endpoint === endpoint && slice.kind === "duet" ? slice.goodput : [],
  );
  return goodputs.reduce((sum, one) => sum + one, 0) / (goodputs.length || 1);
}

async function differenceBetween({ manifest, signal }: Session, endpoint: string, [a, b]: readonly Target[]) {
  const difference = a && b ? await differenceOf(endpoint, a, b, signal, manifest.plan.requests) : null;
  return difference === null ? [] : [difference];
}

/** Prints, or writes to a file. */
const give = (where: string | true, text: string): void =>
  where === true ? void process.stdout.write(text) : writeFileSync(where, text);
