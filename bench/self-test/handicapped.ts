/**
 * A server of the matrix that does more per request, for ./bench.sh self-test: `HANDICAP` holds nanoseconds of CPU time
 * per path pattern as JSON, and the last argument names the adapter, as in servers/matrix.json.
 */
import type { ServerModule } from "../../shared/contract.ts";
import { routes } from "../../shared/routes.ts";
import { DRIVERS, openStore } from "../../shared/stores/store.ts";

let sink = 1;

function spin(times: number): void {
  let x = sink;
  for (let i = 0; i < times; i++) x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
  sink = x;
}

/** @returns nanoseconds of one turn: the fastest of many looks, as others may have had the core in the rest. */
function nanosecondsPerTurn(): number {
  const turns = 20_000;
  const looks = Array.from({ length: 2_000 }, () => {
    const since = performance.now();
    spin(turns);
    return performance.now() - since;
  });
  return (Math.min(...looks.slice(200)) * 1e6) / turns;
}

const handicap: Record<string, number> = JSON.parse(process.env.HANDICAP ?? "{}");
const perTurn = nanosecondsPerTurn();
const runtime = process.versions.bun ? "bun" : "node";
const store = await openStore(DRIVERS[runtime][0], process.env.DB_FILE || "data.db");
const { default: server } = (await import(`../../servers/${process.argv[2]}.ts`)) as { default: ServerModule };
const all = routes(store, () => ({})).map((route) => {
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
