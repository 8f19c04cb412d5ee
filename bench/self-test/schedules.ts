import { type LocalSpec, SERVERS } from "../ask/targets.ts";
import type { Interval } from "../judge/statistics.ts";
import { analyse, type Table } from "../judge/tables.ts";
import { TOLERANCE } from "../judge/turns.ts";
import { makePlan, type Plan } from "../plan/plan.ts";
import { measure } from "../run/measure.ts";
import type { Session } from "../run/session.ts";
import { SCHEDULES } from "./scheduled.ts";

/** What a run said of a server with a schedule. */
export interface ScheduleFinding {
  readonly schedule: string;
  /** Its cost as measured ÷ that of a server which costs from the start what this one settles at: 1 is the truth. */
  readonly ratio: Interval;
  /** By how much it was seen to change, −0.1 for 10 % less; null if it was not. */
  readonly warming: number | null;
  /** Warming, or within 3 % of the truth; null if its interval is wider than the change that it could hide. */
  readonly isRight: boolean | null;
}

/** One server per schedule, at /plain. */
export function scheduledPlan({
  connections,
  warmup,
  minutes,
}: {
  connections: number;
  warmup?: number | undefined;
  minutes: number;
}): Plan {
  const options = { urls: [], names: [], servers: [], endpoints: ["/plain"], preset: "standard", seed: 1 } as const;
  const { amount, ...rest } = makePlan({ ...options, connections, warmup, minutes }, SERVERS);
  const targets = Object.keys(SCHEDULES).map((schedule): LocalSpec => {
    const command = ["bun", "bench/self-test/scheduled.ts", schedule];
    return { kind: "local", name: schedule, command, env: {} };
  });
  return { ...rest, amount: { ...amount, twin: false }, targets };
}

/** Half the width of an interval that could hide the smallest change of a schedule, as a ratio. */
const WIDEST = 1.1;

/** Measures servers that change their cost after a known number of requests. @param session of a scheduledPlan */
export async function measureSchedules(session: Session): Promise<ScheduleFinding[]> {
  await measure(session, { seconds: session.manifest.plan.amount.minutes * 60 });
  const [table] = analyse(session, session.manifest);
  const flats = Object.entries(SCHEDULES).filter(([name]) => name.startsWith("flat"));
  return Object.entries(SCHEDULES)
    .filter(([name]) => !name.startsWith("flat"))
    .map(([schedule, { settles }]) => {
      const [flat = ""] = flats.find(([, of]) => of.settles === settles) ?? [];
      const ratio = ratioOf(table, schedule, flat);
      const warming = table?.rows.find(({ name }) => name === schedule)?.warming ?? null;
      const isNarrow = ratio.high / ratio.estimate < WIDEST;
      const isTrue = Math.abs(ratio.estimate - 1) <= TOLERANCE || (ratio.low <= 1 && ratio.high >= 1);
      return { schedule, ratio, warming, isRight: warming !== null ? true : isNarrow ? isTrue : null };
    });
}

/** Cost of `a` ÷ cost of `b`. */
function ratioOf(table: Table | undefined, a: string, b: string): Interval {
  const pairs = table?.comparison?.pairs ?? [];
  const of = pairs.find((pair) => pair.a === a && pair.b === b)?.ratio;
  const inverse = pairs.find((pair) => pair.a === b && pair.b === a)?.ratio;
  if (of) return of;
  const { estimate, low, high } = inverse ?? { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };
  return { estimate: 1 / estimate, low: 1 / high, high: 1 / low };
}
