import { checkHeaders, parseBody } from "shared/body.ts";
import type { Input, Route } from "shared/contract.ts";
import { type ErrorAnswer, notFound } from "shared/errors.ts";
import { LIMITS } from "shared/limits.ts";

declare global {
  /** Set by server.ts, because Next bundles handlers and so they share no modules with server.ts. */
  var mounted: {
    /** By method and path. */
    readonly routes: ReadonlyMap<string, Route>;
    readonly answerError: (error: unknown) => ErrorAnswer;
  };
}

type Handler = (request: Request, context: { params: Promise<unknown> }) => Promise<Response>;

/** @returns a handler for every method, because Next would answer 405 to a method without a handler. */
export const mount = (path: string) => ({
  DELETE: handler(`DELETE ${path}`),
  GET: handler(`GET ${path}`), // and HEAD
  OPTIONS: handler(`OPTIONS ${path}`),
  PATCH: handler(`PATCH ${path}`),
  POST: handler(`POST ${path}`),
  PUT: handler(`PUT ${path}`),
});

function handler(name: string): Handler {
  return async (request, { params }) => {
    try {
      const route = mounted.routes.get(name);
      if (!route) throw notFound;
      const input = {
        params: (await params) as Input["params"],
        ...(route.reads === "query" && { url: request.url }),
        ...(route.reads === "body" && { body: await readBody(request) }),
      };
      return respond(route, await route.handle(input));
    } catch (error) {
      const { status, headers, body } = mounted.answerError(error);
      return Response.json(body, { status, headers });
    }
  };
}

/** Reads to the end even if the body is too large, because cancelling would close the connection before the answer. */
async function readBody({ headers, body }: Request): Promise<unknown> {
  checkHeaders((name) => headers.get(name));
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    if (bytes <= LIMITS.bodyBytes) parts.push(part);
    bytes += part.length;
  }
  return parseBody(Buffer.concat(parts));
}

function respond({ type, status }: Route, body: unknown): Response {
  if (status === 204) return new Response(null, { status });
  if (type === "json") return Response.json(body, { status });
  return new Response(body as string, { headers: { "content-type": "text/html; charset=utf-8" } });
}
