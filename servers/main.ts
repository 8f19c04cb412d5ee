/** Starts the server that SERVER names: `<runtime> servers/main.ts <adapter>`, see matrix.json. */
import type { ServerModule } from "../shared/contract.ts";
import { routes } from "../shared/routes.ts";
import matrix from "./matrix.json" with { type: "json" };
import { run } from "./process.ts";

await run(process.env, Object.keys(matrix), async ({ people, store, onPostgres, identity }, at) => {
  const { default: server } = (await import(`./${process.argv[2]}.ts`)) as { default: ServerModule };
  return server.listen(routes(people, store, identity, onPostgres), at);
});
