import type { Server } from "node:http";
import { node } from "@elysiajs/node";
import { Elysia } from "elysia";
import { checkHeaders, parseBody } from "../shared/body.ts";
import type { Input, Route, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS, LIMITS } from "../shared/limits.ts";
import { closeBunServer, closeHttpServer } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

/** The Node adapter sends a Response without content-length in chunks. */
const responseOf = (type: string, body: string, status = 200, headers = {}) =>
  new Response(body, {
    status,
    headers: { "content-type": type, "content-length": String(Buffer.byteLength(body)), ...headers },
  });
const html = (body: unknown) => responseOf("text/html; charset=utf-8", body as string);

function failed(error: unknown): Response {
  const { status, headers, body } = answerError(error);
  return responseOf("application/json", JSON.stringify(body), status, headers);
}

const NO_PARAMS = { params: {} };

type Asked = { readonly params: Input["params"]; readonly request: Request; readonly set: { status?: number } };

/**
 * Elysia compiles a route from the source text of its handler: it awaits only what that text returns, and passes only
 * the context fields that the text names. So each kind of route has its own handler.
 */
function handler({ path, type, reads, status, handle }: Route): (asked: Asked) => unknown {
  const respond = (input: Input) => {
    const body = type === "json" ? handle(input) : settle(handle(input), html);
    return body instanceof Promise ? body.catch(failed) : body; // on Node an unhandled rejection ends the process
  };
  if (reads === "body") {
    return async ({ params, request, set }) => {
      checkHeaders((name) => request.headers.get(name));
      const body = await handle({ params, body: parseBody(await request.arrayBuffer()) });
      if (status) set.status = status;
      return body;
    };
  }
  if (reads === "query")
    return ({ params, request }) => {
      const body = respond({ params, url: request.url });
      return body;
    };
  if (status === 204)
    return async ({ params }) => {
      await handle({ params });
      return new Response(null, { status });
    };
  if (path.includes(":"))
    return ({ params }) => {
      const body = respond({ params });
      return body;
    };
  return () => {
    const body = respond(NO_PARAMS);
    return body;
  };
}

const server: ServerModule = {
  async listen(routes, { host, port, reusePort }) {
    const onNode = !process.versions.bun;
    const app = new Elysia({
      strictPath: true,
      handler: { standardHostname: false }, // otherwise Elysia assumes a host of at least four characters
      ...(onNode && { adapter: node() }),
    });
    app.onError(({ code, error, set }) => {
      const { status, headers, body } = answerError(code === "NOT_FOUND" ? notFound : error);
      set.status = status;
      Object.assign(set.headers, headers);
      return body;
    });
    for (const route of routes) app.route(route.method, route.path, handler(route) as never, { parse: "none" });
    if (!onNode) {
      app.listen({ hostname: host, port, reusePort, idleTimeout: LIMITS.idleSeconds });
      return { close: () => closeBunServer(app.server as Bun.Server<unknown>) };
    }
    return new Promise((resolve, reject) => {
      // The Node adapter gives access to the http.Server, and so to its errors, only in this callback.
      app.listen({ hostname: host, port, node: { ...HTTP_OPTIONS, reusePort } } as never, (info) => {
        const { server } = (info as unknown as { raw: { node: { server: Server } } }).raw.node;
        server.once("error", reject).once("listening", () => resolve({ close: () => closeHttpServer(server) }));
      });
    });
  },
};
export default server;
