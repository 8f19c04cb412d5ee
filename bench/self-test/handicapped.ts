/**
 * A server of the matrix that does more work per request, for ./bench.sh self-test. `HANDICAP_US`: extra CPU µs by path pattern,
 * as JSON; this process measures how long to spin for them. The last argument is the adapter, as in servers/matrix.json.
 */
import type { ServerModule } from "../../shared/contract.ts";
import { DRIVERS } from "../../shared/drivers/drivers.ts";
import { routes } from "../../shared/routes.ts";
import { openMemory } from "../../shared/stores/memory.ts";
import { openPeople } from "../../shared/stores/people.ts";
import { nanosecondsPerTurn, spin } from "./spin.ts";

const handicapUs: Record<string, number> = JSON.parse(process.env.HANDICAP_US ?? "{}");
const perTurnUs = Object.keys(handicapUs).length > 0 ? nanosecondsPerTurn() / 1e3 : 1;
const runtime = process.versions.bun ? "bun" : "node";
const people = await openPeople(DRIVERS[runtime][0], process.env.DB_FILE || "data.db");
const { default: server } = (await import(`../../servers/${process.argv[2]}.ts`)) as { default: ServerModule };
const all = routes(people, openMemory, () => ({})).map((route) => {
  const turns = Math.round((handicapUs[route.path] ?? 0) / perTurnUs);
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
