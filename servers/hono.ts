import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS, LIMITS } from "../shared/limits.ts";
import { closeBunServer, listen } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

function sendError(error: unknown, c: Context) {
  const { status, body } = answerError(error);
  return c.json(body, status as 500);
}

const NO_PARAMS = { params: {} };

const server: ServerModule = {
  async listen(routes, at) {
    const app = new Hono();
    app.onError(sendError);
    app.notFound((c) => sendError(notFound, c));
    for (const { method, path, type, handle } of routes) {
      const input = path.includes(":") ? (c: Context) => ({ params: c.req.param() }) : () => NO_PARAMS;
      app.on(method, path, (c) =>
        settle(handle(input(c)), (body) => (type === "json" ? c.json(body as object) : c.html(body as string))),
      );
    }
    if (!process.versions.bun)
      return listen(createAdaptorServer({ fetch: app.fetch, serverOptions: HTTP_OPTIONS }) as never, at);
    const server = Bun.serve({
      hostname: at.host,
      port: at.port,
      reusePort: at.reusePort,
      idleTimeout: LIMITS.idleSeconds,
      fetch: app.fetch,
    });
    return { close: () => closeBunServer(server) };
  },
};
export default server;
