/**
 * A server of the matrix that does more per request, for ./bench.sh self-test: `HANDICAP` holds turns of `spin` per path
 * pattern as JSON, and the last argument names the adapter, as in servers/matrix.json.
 */
import type { ServerModule } from "../../shared/contract.ts";
import { DRIVERS } from "../../shared/drivers/drivers.ts";
import { routes } from "../../shared/routes.ts";
import { openMemory } from "../../shared/stores/memory.ts";
import { openPeople } from "../../shared/stores/people.ts";
import { spin } from "./spin.ts";

const handicap: Record<string, number> = JSON.parse(process.env.HANDICAP ?? "{}");
const runtime = process.versions.bun ? "bun" : "node";
const people = await openPeople(DRIVERS[runtime][0], process.env.DB_FILE || "data.db");
const { default: server } = (await import(`../../servers/${process.argv[2]}.ts`)) as { default: ServerModule };
const all = routes(people, openMemory, () => ({})).map((route) => {
  const turns = handicap[route.path] ?? 0;
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
