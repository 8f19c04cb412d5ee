import { analyse, NOTHING } from "../analysis.ts";
import type { LocalSpec } from "../plan.ts";
import { measure } from "../run.ts";
import type { Session } from "../session.ts";
import { TOLERANCE } from "../steadiness.ts";
import { SCHEDULES } from "./scheduled.ts";

/** What a run said of a server with a schedule. */
export interface ScheduleFinding {
  readonly schedule: string;
  /** Its cost as measured ÷ that of a server which costs from the start what this one settles at: 1 is the truth. */
  readonly ratio: number;
  /** Why it was called warming, null where it was called steady. */
  readonly warming: string | null;
  /** Within 3 % of the truth, or warming. */
  readonly isRight: boolean;
}

/** One target per schedule; the endpoint of all is /plain. */
export const scheduledTargets = (): LocalSpec[] =>
  Object.keys(SCHEDULES).map((schedule) => ({
    kind: "local",
    name: schedule,
    command: ["bun", "bench/self-test/scheduled.ts", schedule],
    env: {},
  }));

/** Measures servers that change their cost after a known number of requests. @param session of a plan with scheduledTargets */
export async function measureSchedules(session: Session): Promise<ScheduleFinding[]> {
  await measure(session);
  const [table] = analyse(session.slices, NOTHING);
  const effects = new Map(table?.comparison?.effects.map(({ name, mean }) => [name, mean]));
  const cost = (name: string) => effects.get(name) ?? Number.NaN;
  const flats = Object.entries(SCHEDULES).filter(([name]) => name.startsWith("flat"));
  return Object.entries(SCHEDULES)
    .filter(([name]) => !name.startsWith("flat"))
    .map(([schedule, { settles }]) => {
      const [flat = ""] = flats.find(([, of]) => of.settles === settles) ?? [];
      const ratio = Math.exp(cost(schedule) - cost(flat));
      const warming = table?.rows.find(({ name }) => name === schedule)?.warming ?? null;
      return { schedule, ratio, warming, isRight: warming !== null || Math.abs(ratio - 1) <= TOLERANCE };
    });
}
