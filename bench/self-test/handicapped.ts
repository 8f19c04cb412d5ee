/**
 * A server of the matrix that does more per request, for ./bench.sh self-test: `HANDICAP` holds nanoseconds of CPU time
 * per path pattern as JSON, and the last argument names the adapter, as in servers/matrix.json.
 */
import type { ServerModule } from "../../shared/contract.ts";
import { DRIVERS } from "../../shared/drivers/drivers.ts";
import { routes } from "../../shared/routes.ts";
import { openMemory } from "../../shared/stores/memory.ts";
import { openPeople } from "../../shared/stores/people.ts";

const state = new Int32Array(1).fill(1);

/**
 * Work whose time grows with `turns` (xorshift, Marsaglia 2003); its result is kept, so that no compiler leaves it out.
 * It costs the same called now and then as in a loop; a multiplication in its place took six times as long in V8.
 */
function spin(turns: number): void {
  let x = state[0] as number;
  for (let i = 0; i < turns; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  state[0] = x;
}

/** @returns nanoseconds of one turn: the fastest of many looks, as others may have had the core in the rest. */
function nanosecondsPerTurn(): number {
  const [calls, turns] = [100, 1_000];
  const looks = Array.from({ length: 300 }, () => {
    const since = performance.now();
    for (let i = 0; i < calls; i++) spin(turns);
    return performance.now() - since;
  });
  return (Math.min(...looks) * 1e6) / (calls * turns);
}

const handicap: Record<string, number> = JSON.parse(process.env.HANDICAP ?? "{}");
const perTurn = nanosecondsPerTurn();
const runtime = process.versions.bun ? "bun" : "node";
const people = await openPeople(DRIVERS[runtime][0], process.env.DB_FILE || "data.db");
const { default: server } = (await import(`../../servers/${process.argv[2]}.ts`)) as { default: ServerModule };
const all = routes(people, openMemory, () => ({})).map((route) => {
  const turns = Math.round((handicap[route.path] ?? 0) / perTurn);
  const { handle } = route;
  return {
    ...route,
    handle: (input: Parameters<typeof handle>[0]) => {
      const answer = handle(input);
      spin(turns);
      return answer;
    },
  };
});
await server.listen(all, { host: process.env.HOST as string, port: Number(process.env.PORT), reusePort: false });
