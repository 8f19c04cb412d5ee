import { createServer } from "node:http";
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { bodyError, checkHeaders } from "../shared/body.ts";
import type { ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS, LIMITS } from "../shared/limits.ts";
import { listen } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  const { status, headers, body } = answerError(bodyError(error));
  response.status(status).set(headers).json(body);
};

const readBody: RequestHandler[] = [
  (request, _response, next) => {
    checkHeaders((name) => request.get(name));
    next();
  },
  express.json({
    limit: LIMITS.bodyBytes,
    strict: false,
    verify(_request, _response, { length }) {
      if (length === 0) throw new SyntaxError("no JSON"); // Express parses an empty body as {}
    },
  }),
];

const server: ServerModule = {
  listen(routes, at) {
    const app = express()
      .disable("x-powered-by")
      .disable("etag")
      .enable("case sensitive routing")
      .enable("strict routing");
    for (const { method, path, type, reads, status, handle } of routes) {
      const send = (response: Response, body: unknown) => {
        if (status) response.status(status);
        return status === 204 ? response.end() : type === "json" ? response.json(body) : response.send(body);
      };
      app[method.toLowerCase() as Lowercase<typeof method>](
        path,
        ...(reads === "body" ? readBody : []),
        (request, response) => settle(handle(request as never), (body) => send(response, body)),
      );
    }
    app.use(() => {
      throw notFound;
    });
    app.use(onError);
    return listen(createServer(HTTP_OPTIONS, app), at);
  },
};
export default server;
