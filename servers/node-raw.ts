import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { readBody } from "../shared/body.ts";
import type { Input, Route, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS } from "../shared/limits.ts";
import { listen, originForm } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

const TYPES = { json: "application/json", html: "text/html; charset=utf-8" };
const NO_PARAMS = {};

function send(response: ServerResponse, type: Route["type"], status: number, body: unknown, headers = {}): void {
  if (status === 204) return void response.writeHead(204).end();
  const text = type === "json" ? JSON.stringify(body) : (body as string);
  response.writeHead(status, {
    "content-type": TYPES[type],
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

function sendError(response: ServerResponse, error: unknown): void {
  const { status, headers, body } = answerError(error);
  send(response, "json", status, body, headers);
}

const server: ServerModule = {
  listen(routes, at) {
    const matchers = routes.map(matcher);
    const onRequest: RequestListener = (request, response) => {
      try {
        const url = request.url as string;
        const query = url.indexOf("?");
        const path = query < 0 ? url : url.slice(0, query);
        for (let i = 0; i < matchers.length; i++) {
          const params = matchers[i]?.(path);
          const route = routes[i] as Route;
          if (params === undefined || !(route.method === request.method || isHead(route, request.method))) continue;
          const answer =
            route.reads === "body"
              ? readBody(request).then((body) => route.handle({ params, url, body }))
              : route.handle({ params, url });
          const sent = settle(answer, (body) => send(response, route.type, route.status ?? 200, body));
          if (sent instanceof Promise) sent.catch((error) => sendError(response, error));
          return;
        }
        const asked = originForm(url);
        if (asked === url) return sendError(response, notFound);
        request.url = asked;
        onRequest(request, response);
      } catch (error) {
        sendError(response, error);
      }
    };
    return listen(createServer(HTTP_OPTIONS, onRequest), at);
  },
};
export default server;

/** HEAD runs the GET handler; Node leaves out the body. */
const isHead = (route: Route, method?: string): boolean => method === "HEAD" && route.method === "GET";

/** @returns a function that returns the parameters of a path, or undefined if the route does not match. */
function matcher({ path }: Route): (path: string) => Input["params"] | undefined {
  const [prefix = "", name, rest] = path.split(":");
  if (rest !== undefined || name?.includes("/")) throw new Error(`${path}: only the last segment can be a parameter`);
  if (name === undefined) return (asked) => (asked === path ? NO_PARAMS : undefined);
  return (asked) => {
    if (!asked.startsWith(prefix)) return undefined;
    const segment = asked.slice(prefix.length);
    if (segment === "" || segment.includes("/")) return undefined;
    return { [name]: segment.includes("%") ? decode(segment) : segment };
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
