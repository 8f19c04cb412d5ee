/** Next behind a custom server, which starts and stops in the same way as servers/main.ts. */
import { createServer } from "node:http";
import next from "next";
import nextPackage from "next/package.json" with { type: "json" };
import { run } from "../../servers/process.ts";
import { answerError } from "../../shared/errors.ts";
import { HTTP_OPTIONS } from "../../shared/limits.ts";
import { listen, originForm } from "../../shared/listen.ts";
import { routes } from "../../shared/routes.ts";

const SERVER = "node-next";

await run({ ...process.env, SERVER }, [SERVER], async ({ people, store, onPostgres, identity }, at) => {
  const framework = { name: "next", version: nextPackage.version };
  const all = routes(people, store, async () => ({ ...(await identity()), framework }), onPostgres);
  globalThis.mounted = {
    routes: new Map(all.map((route) => [`${route.method} ${route.path}`, route])),
    answerError,
  };
  const app = next({ dir: import.meta.dirname, hostname: at.host, port: at.port });
  await silently(() => app.prepare());
  const handle = app.getRequestHandler();
  const server = createServer(HTTP_OPTIONS, (request, response) => {
    request.url = originForm(request.url as string);
    handle(request, response);
  });
  const running = await listen(server, at);
  return {
    async close() {
      await running.close();
      await app.close();
    },
  };
});

/** Next prints on stdout how long it took to read its configuration, and has no option to turn that off. */
async function silently(prepare: () => Promise<void>): Promise<void> {
  const { log } = console;
  console.log = () => {};
  await prepare();
  console.log = log;
}
