import { UsageError } from "../../shared/errors.ts";
import { endpointsOf } from "../plan/plan.ts";
import { withTargets } from "../run/restart.ts";
import { newSession } from "../run/session.ts";
import { answersTable } from "../tell/lines.ts";
import { prepare } from "./prepare.ts";
import { planOf, type RunOptions } from "./run.ts";

const SILENT = { now() {}, at() {}, redraw() {}, stop() {}, say: (text: string) => console.error(text) };

/** `check`: sends each request of a run, twice to an app, and prints the answers' sizes and times. @throws UsageError for a wrong answer */
export async function check(urls: readonly string[], options: RunOptions, signal: AbortSignal): Promise<void> {
  const { endpoints, requests, start, servers, results } = options;
  if (urls.length + (start ?? []).length + (servers ?? []).length === 0)
    throw new UsageError("check requires an app or a server: give --start, --servers or a URL");
  const hasNone = endpoints === undefined && requests === undefined && servers === undefined;
  const plan = await planOf(urls, { ...options, ...(hasNone && { endpoints: ["/"] }), quick: true }, signal);
  await prepare(plan, signal, false);
  await using session = await newSession(plan, results, SILENT, signal);
  for (const spec of plan.targets)
    await withTargets(session, [spec], async ([target]) => {
      if (target) console.log(answersTable(target, endpointsOf(plan)));
    });
}
