import { checkHeaders, parseBody } from "../shared/body.ts";
import type { Route, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { LIMITS } from "../shared/limits.ts";
import { closeBunServer } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

const HTML = { headers: { "content-type": "text/html; charset=utf-8" } };

function answer(error: unknown): Response {
  const { status, headers, body } = answerError(error);
  return Response.json(body, { status, headers });
}

function responder({ type, status }: Route): (body: unknown) => Response {
  if (status === 204) return () => new Response(null, { status });
  if (type === "html") return (body) => new Response(body as string, HTML);
  return status ? (body) => Response.json(body, { status }) : (body) => Response.json(body);
}

function handler(route: Route): (request: Bun.BunRequest) => Response | Promise<Response> {
  const respond = responder(route);
  if (route.reads !== "body") return (request) => settle(route.handle(request as never), respond);
  return async (request) => {
    checkHeaders((name) => request.headers.get(name));
    return respond(await route.handle({ params: request.params, body: parseBody(await request.bytes()) }));
  };
}

const server: ServerModule = {
  async listen(routes, { host, port, reusePort }) {
    const byPath: Record<string, Record<string, ReturnType<typeof handler>>> = {};
    for (const route of routes) byPath[route.path] = { ...byPath[route.path], [route.method]: handler(route) };
    const server = Bun.serve({
      hostname: host,
      port,
      reusePort,
      idleTimeout: LIMITS.idleSeconds,
      routes: byPath,
      fetch: () => answer(notFound),
      error: answer,
    });
    return { close: () => closeBunServer(server) };
  },
};
export default server;
