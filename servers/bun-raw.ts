import type { Route, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { LIMITS } from "../shared/limits.ts";
import { closeBunServer } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

const HTML = { headers: { "content-type": "text/html; charset=utf-8" } };

function answer(error: unknown): Response {
  const { status, body } = answerError(error);
  return Response.json(body, { status });
}

const server: ServerModule = {
  async listen(routes, { host, port, reusePort }) {
    const send = (route: Route) =>
      route.type === "json"
        ? (body: unknown) => Response.json(body)
        : (body: unknown) => new Response(body as string, HTML);
    const server = Bun.serve({
      hostname: host,
      port,
      reusePort,
      idleTimeout: LIMITS.idleSeconds,
      routes: Object.fromEntries(
        routes.map((route) => {
          const respond = send(route);
          return [route.path, { [route.method]: (request: Bun.BunRequest) => settle(route.handle(request), respond) }];
        }),
      ),
      fetch: () => answer(notFound),
      error: answer,
    });
    return { close: () => closeBunServer(server) };
  },
};
export default server;
