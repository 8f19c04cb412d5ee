/** Warm-up after a restart, before anything counts. */
import { WORKLOADS } from "../ask/endpoints.ts";
import { endpointsOf, type Plan } from "../plan/plan.ts";
import type { Session } from "./session.ts";
import type { Target } from "./targets/target.ts";

/** Of warm-up per request: heavier requests, of which fewer are enough, are not waited for longer. */
const MS = 0.12;
/** Part of the warm-up of other endpoints than the first. */
const OTHERS = 0.3;

/**
 * Every server answers at every route, one server after the other, so that what an endpoint costs does not depend on which
 * others were measured before. On the cores where it is measured: after a warm-up on more of them, V8 compiles again.
 */
export async function warmAll(session: Session, targets: readonly Target[]): Promise<void> {
  const { warmRequests } = session.manifest.plan.amount;
  for (const target of targets) {
    session.progress.now(`${target.name}: warm-up`);
    for (const [endpoint, part] of routesOf(session.manifest.plan, target)) {
      const requests = Math.ceil(warmRequests * part);
      await session.warm(session, target, endpoint, { requests, mostMs: MS * requests });
    }
  }
}

/** Of ours one endpoint of each route, and what others are asked; with the part of the warm-up that each has. */
function routesOf(plan: Plan, { identity }: Target): (readonly [endpoint: string, part: number])[] {
  const { warmed, endpoints: usual } = WORKLOADS[plan.workload];
  const asked = endpointsOf(plan);
  if (identity === null) return asked.map((endpoint, i) => [endpoint, i === 0 ? 1 : OTHERS]);
  const others = asked.filter((endpoint) => !(usual as readonly string[]).includes(endpoint));
  return [...Object.entries(warmed), ...others.map((endpoint) => [endpoint, OTHERS] as const)];
}
