/** Starts and stops the server in the same way as servers/main.ts. */
import { createServer } from "node:http";
import reactRouter from "react-router/package.json" with { type: "json" };
import { run } from "../../servers/process.ts";
import { HTTP_OPTIONS } from "../../shared/limits.ts";
import { listen, originForm } from "../../shared/listen.ts";

/** build.sh makes this of app/. Not a literal type, because the file does not exist before the build. */
const BUILD: string = "./build/server/index.js";
const SERVER = "node-remix";

/** Differences in the answer to `GET /`: the version is that of react-router, and the server has no store. */
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
