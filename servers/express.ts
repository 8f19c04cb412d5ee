import { createServer } from "node:http";
import express, { type ErrorRequestHandler } from "express";
import type { ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS } from "../shared/limits.ts";
import { listen } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  const { status, body } = answerError(error);
  response.status(status).json(body);
};

const server: ServerModule = {
  listen(routes, at) {
    const app = express()
      .disable("x-powered-by")
      .disable("etag")
      .enable("case sensitive routing")
      .enable("strict routing");
    for (const { method, path, type, handle } of routes) {
      app[method.toLowerCase() as Lowercase<typeof method>](path, (request, response) =>
        settle(handle(request as never), (body) => (type === "json" ? response.json(body) : response.send(body))),
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
