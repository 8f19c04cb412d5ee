/** Warm-up after a restart, before anything counts. */
import { WORKLOADS } from "../ask/endpoints.ts";
import { endpointsOf, type Plan } from "../plan/plan.ts";
import type { Session } from "./session.ts";
import type { Target } from "./targets/target.ts";

/**
 * Every server answers at every route, one server after the other, so that what an endpoint costs does not depend on which
 * others were measured before. On the cores where it is measured: after a warm-up on more of them, V8 compiles again.
 */
export async function warmAll(session: Session, targets: readonly Target[]): Promise<void> {
  for (const target of targets) {
    session.progress.now(`${target.name}: warm-up`);
    for (const endpoint of routesOf(session.manifest.plan, target)) await session.warm(session, target, endpoint);
  }
}

/** Of ours one endpoint of each route, and what others are asked. */
function routesOf(plan: Plan, { identity }: Target): readonly string[] {
  const { warmed, endpoints: usual } = WORKLOADS[plan.workload];
  const asked = endpointsOf(plan);
  if (identity === null) return asked;
  return [...warmed, ...asked.filter((endpoint) => !(usual as readonly string[]).includes(endpoint))];
}
