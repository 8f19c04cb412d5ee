/** Starts and ends as servers/main.ts has the ten do. */
import { createServer } from "node:http";
import reactRouter from "react-router/package.json" with { type: "json" };
import { run } from "../../servers/process.ts";
import { HTTP_OPTIONS } from "../../shared/limits.ts";
import { listen, originForm } from "../../shared/listen.ts";

/** What build.sh makes of app/; not a literal, as it is not there before. */
const BUILD: string = "./build/server/index.js";
const SERVER = "node-remix";

/** What differs in the answer to `GET /`: the version is of a package of its own, and it keeps no contents. */
const OWN = { framework: { name: "remix", version: reactRouter.version }, store: undefined };

await run({ ...process.env, SERVER, STORE: undefined }, [SERVER], async ({ people, identity }, at) => {
  const build: typeof import("./server/app.ts") = await import(BUILD);
  const app = build.appOf({ people, identity: async () => ({ ...(await identity()), ...OWN }) });
  const server = createServer(HTTP_OPTIONS, (request, response) => {
    request.url = originForm(request.url as string);
    app(request, response);
  });
  return listen(server, at);
});
