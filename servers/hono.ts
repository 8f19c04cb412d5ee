import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BODY_ERRORS, checkHeaders, parseBody } from "../shared/body.ts";
import type { Input, Route, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS, LIMITS } from "../shared/limits.ts";
import { closeBunServer, listen } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

function sendError(error: unknown, c: Context) {
  const { status, headers, body } = answerError(error);
  return c.json(body, status as 500, headers);
}

const NO_PARAMS = { params: {} };

const limited = bodyLimit({
  maxSize: LIMITS.bodyBytes,
  onError: () => {
    throw BODY_ERRORS[413];
  },
});

async function inputWithBody(c: Context): Promise<Input> {
  checkHeaders((name) => c.req.header(name));
  // Only for a body without content-length, because bodyLimit makes Node's adapter turn the body into a stream.
  if (c.req.header("transfer-encoding")) await limited(c, async () => {});
  return { params: c.req.param(), body: parseBody(await c.req.arrayBuffer()) };
}

function inputOf({ path, reads }: Route): (c: Context) => Input | Promise<Input> {
  if (reads === "query") return (c) => ({ params: {}, url: c.req.url });
  if (reads === "body") return inputWithBody;
  return path.includes(":") ? (c) => ({ params: c.req.param() }) : () => NO_PARAMS;
}

function responder({ type, status }: Route): (c: Context, body: unknown) => Response {
  if (status === 204) return (c) => c.body(null, status);
  if (type === "html") return (c, body) => c.html(body as string) as Response;
  return status ? (c, body) => c.json(body as object, status) : (c, body) => c.json(body as object);
}

const server: ServerModule = {
  async listen(routes, at) {
    const app = new Hono();
    app.onError(sendError);
    app.notFound((c) => sendError(notFound, c));
    for (const route of routes) {
      const [input, respond] = [inputOf(route), responder(route)];
      app.on(route.method, route.path, (c) => settle(settle(input(c), route.handle), (body) => respond(c, body)));
    }
    // For HEAD, Hono drops content-length with the body. So it gets GET instead, and the runtime drops only the body.
    const fetch = (request: Request, env: object) =>
      app.fetch(request.method === "HEAD" ? new Request(request, { method: "GET" }) : request, env);
    if (!process.versions.bun) return listen(createAdaptorServer({ fetch, serverOptions: HTTP_OPTIONS }) as never, at);
    const server = Bun.serve({
      hostname: at.host,
      port: at.port,
      reusePort: at.reusePort,
      idleTimeout: LIMITS.idleSeconds,
      fetch,
    });
    return { close: () => closeBunServer(server) };
  },
};
export default server;
