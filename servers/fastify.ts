import fastify, { type FastifyListenOptions, type FastifyReply, type FastifyRequest } from "fastify";
import { bodyError, checkHeaders } from "../shared/body.ts";
import type { Input, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS, LIMITS } from "../shared/limits.ts";
import { closeHttpServer } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

function sendError(error: unknown, reply: FastifyReply) {
  const { status, headers, body } = answerError(bodyError(error));
  return reply.code(status).headers(headers).send(body);
}

const onRequest = async ({ headers, params }: FastifyRequest) => {
  if (Object.values(params as Input["params"]).includes("")) throw notFound; // Fastify matches an empty segment
  checkHeaders((name) => headers[name] as string | undefined);
};

const server: ServerModule = {
  async listen(routes, { host, port, reusePort }) {
    const app = fastify({
      http: HTTP_OPTIONS,
      keepAliveTimeout: LIMITS.idleSeconds * 1e3,
      bodyLimit: LIMITS.bodyBytes,
      onProtoPoisoning: "ignore", // the other adapters use JSON.parse, which accepts these keys
      onConstructorPoisoning: "ignore",
      requestTimeout: LIMITS.requestSeconds * 1e3,
      routerOptions: { maxParamLength: LIMITS.headerBytes },
      frameworkErrors: (error, _request, reply) => sendError(error, reply),
    });
    app.setErrorHandler((error, { is404 }, reply) => sendError(is404 ? notFound : error, reply));
    app.setNotFoundHandler((_request, reply) => sendError(notFound, reply));
    app.removeContentTypeParser("text/plain");
    app.addHttpMethod("DELETE", { overrideExisting: true }); // otherwise Fastify parses its body
    for (const { method, path: url, type, reads, status, handle } of routes) {
      // Returns nothing, because Fastify would await the reply, which is a thenable.
      const send = (reply: FastifyReply, body: unknown): void => {
        if (type === "html") reply.type("text/html; charset=utf-8");
        if (status) reply.code(status);
        reply.send(status === 204 ? undefined : body);
      };
      app.route({
        method,
        url,
        ...(reads === "body" && { onRequest }),
        handler: (request, reply) => settle(handle(request as Input), (body) => send(reply, body)),
      });
    }
    await app.listen({ host, port, reusePort } as FastifyListenOptions); // reusePort reaches net.Server.listen
    return { close: () => closeHttpServer(app.server) };
  },
};
export default server;
