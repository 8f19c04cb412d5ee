import { createServer, type ServerResponse } from "node:http";
import type { Route, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { listen } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

const TYPES = { json: "application/json", html: "text/html; charset=utf-8" };
const NO_PARAMS = {};

function send(response: ServerResponse, type: Route["type"], status: number, body: unknown): void {
  const text = type === "json" ? JSON.stringify(body) : (body as string);
  response.writeHead(status, { "content-type": TYPES[type], "content-length": Buffer.byteLength(text) }).end(text);
}

function sendError(response: ServerResponse, error: unknown): void {
  const { status, body } = answerError(error);
  send(response, "json", status, body);
}

const server: ServerModule = {
  listen(routes, at) {
    const find = router(routes);
    const server = createServer((request, response) => {
      try {
        const { route, params } = find(request.method as string, request.url as string);
        const sent = settle(route.handle({ params }), (body) => send(response, route.type, 200, body));
        if (sent instanceof Promise) sent.catch((error) => sendError(response, error));
      } catch (error) {
        sendError(response, error);
      }
    });
    return listen(server, at);
  },
};
export default server;

/** Node has no router. This one knows fixed paths and paths whose last segment alone is a parameter. */
function router(routes: readonly Route[]) {
  const fixed = new Map<string, Route>();
  const open = new Map<string, { route: Route; name: string }>();
  for (const route of routes) {
    const [prefix, name, rest] = `${route.method} ${route.path}`.split(":");
    if (rest !== undefined || name?.includes("/")) throw new Error(`node-raw cannot route ${route.path}`);
    if (name) open.set(prefix as string, { route, name });
    else fixed.set(prefix as string, route);
  }
  return (method: string, url: string): { route: Route; params: Record<string, string> } => {
    const query = url.indexOf("?");
    const key = `${method} ${query < 0 ? url : url.slice(0, query)}`;
    const route = fixed.get(key);
    if (route) return { route, params: NO_PARAMS };
    const cut = key.lastIndexOf("/") + 1;
    const match = open.get(key.slice(0, cut));
    if (!match || cut === key.length) throw notFound;
    return { route: match.route, params: { [match.name]: decode(key.slice(cut)) } };
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
