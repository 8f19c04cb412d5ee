/** Searches the highest rate at which a server meets an SLO (latency limit at a percentile). */
import { type Bracket, capacityOf, STARTS, searchCapacity, type Trial } from "../judge/capacity.ts";
import type { Capacity } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import type { Plan, Scenario } from "../plan/plan.ts";
import type { Slo } from "../plan/slo.ts";
import { calibrate } from "./calibrate.ts";
import type { Game } from "./players.ts";
import { lookAtMachine, withTargets } from "./restart.ts";
import type { Session } from "./session.ts";
import { solo } from "./solo.ts";
import type { Target } from "./targets/target.ts";

/** Length of one attempt of the search: enough that an overload of 1 % builds a queue longer than the latency limit. */
const attemptSeconds = ({ limitMs }: Slo) => Math.min(10, Math.max(2, limitMs / 10));

export const capacitySeconds = (plan: Plan, slo: Slo): number =>
  STARTS * plan.targets.length * plan.scenarios.length * 10 * attemptSeconds(slo);

/** Length of a closed loop that sends most servers as many requests as the warm-up after a restart. */
const WARM_SECONDS = 2;

async function warm({ load, manifest: { plan } }: Session, target: Target, endpoint: string): Promise<void> {
  await load(target, endpoint, { connections: plan.connections, seconds: WARM_SECONDS });
}

/**
 * Searches the highest rate at which each target meets the SLO, at each endpoint. Repeats this STARTS times, because an
 * interval needs repetitions; restarts the target each time, unless it is a URL.
 */
export async function measureCapacity(
  session: Session,
  slo: Slo,
  tell: (name: string, endpoint: string, capacity: Capacity) => void,
): Promise<void> {
  const { plan, capacities } = session.manifest;
  const brackets = new Map<string, Bracket[]>();
  const each = capacitySeconds(plan, slo) / (STARTS * plan.targets.length * plan.scenarios.length);
  let done = 0;
  for (let start = 1; start <= STARTS; start++) {
    await lookAtMachine(session, start);
    for (const spec of plan.targets) {
      await withTargets(session, [spec], async ([target]) => {
        for (const scenario of target ? plan.scenarios : []) {
          const found = brackets.getOrInsertComputed(`${spec.name} ${scenario.name}`, () => []);
          const game = { restart: start, scenario, target: target as Target };
          found.push(await searchAt(session, game, slo, found.at(-1)));
          const capacity = capacityOf(found);
          capacities[spec.name] = { ...capacities[spec.name], [scenario.endpoint]: { ...capacity, slo } };
          session.progress.at(++done * each);
          if (start === STARTS) tell(spec.name, scenario.endpoint, capacity);
        }
      });
    }
  }
}

async function searchAt(session: Session, game: Game, slo: Slo, before: Bracket | undefined): Promise<Bracket> {
  const { restart, scenario, target } = game;
  await warm(session, target, scenario.endpoint);
  await calibrate(session, target, scenario.endpoint);
  const { slice } = await solo(session, game, 1);
  return searchCapacity(
    (rate) => {
      const where = `${target.name} ${scenario.endpoint}`;
      session.progress.now(`${where}: ${rate.toFixed(0)} requests/s, restart ${restart} of ${STARTS}`);
      return tryRate(session, { ...game, scenario: atRate(scenario, rate, slo) }, rate, slo);
    },
    slice.goodput,
    before?.low,
  );
}

const MOST_CONNECTIONS = 2_000;

/** Enough connections that an answer within the limit delays no later send; few enough that sends stay evenly spaced. */
const atRate = (scenario: Scenario, rate: number, { limitMs }: Slo): Scenario => ({
  ...scenario,
  rate,
  connections: Math.min(MOST_CONNECTIONS, Math.ceil((rate * limitMs * 1.5) / 1e3)),
});

async function tryRate(session: Session, game: Game, rate: number, slo: Slo): Promise<Trial> {
  const seconds = Math.max(attemptSeconds(slo), (10 * game.scenario.connections) / rate);
  const { slice } = await solo(session, game, seconds);
  const steps = session.slices.filter((one) => one.slice === slice.slice && one.step !== null);
  return judge(slice, steps.length > 0 ? steps : [slice], slo);
}

/** @param of slices that must all meet the latency limit: the slice itself, or each step of a sequence */
function judge(slice: Slice, of: readonly Slice[], { percentile, limitMs }: Slo): Trial {
  const field = ({ 50: "p50Ms", 90: "p90Ms", 99: "p99Ms", 99.9: "p999Ms" } as const)[percentile];
  const slow = of.toSorted((a, b) => b[field] - a[field])[0] as Slice;
  const isStarved = slice.verdict === "starved";
  const kept = isStarved ? null : false;
  if (slow[field] >= limitMs) {
    const where = slow.step === null ? "" : ` of ${slow.endpoint} ${slow.step}`;
    const meanwhile = isStarved
      ? `, while the host or other processes used ${((slice.taken ?? 0) * 100).toFixed(0)} % of the CPU`
      : "";
    return { kept, why: `p${percentile}${where} was ${slow[field].toFixed(1)} ms${meanwhile}` };
  }
  if (slice.verdict === "on schedule") return { kept: true, why: "" };
  const late = `an answer took ${slice.maxMs.toFixed(0)} ms and held up later sends, so p${percentile} is not what users see`;
  return { kept, why: slice.verdict === "service time" ? late : `the slice was ${slice.verdict}` };
}
