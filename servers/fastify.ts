import fastify, { type FastifyListenOptions, type FastifyReply } from "fastify";
import type { Input, ServerModule } from "../shared/contract.ts";
import { answerError, notFound } from "../shared/errors.ts";
import { HTTP_OPTIONS, LIMITS } from "../shared/limits.ts";
import { closeHttpServer } from "../shared/listen.ts";
import { settle } from "../shared/settle.ts";

function sendError(error: unknown, reply: FastifyReply) {
  const { status, body } = answerError(error);
  return reply.code(status).send(body);
}

const server: ServerModule = {
  async listen(routes, { host, port, reusePort }) {
    const app = fastify({
      http: HTTP_OPTIONS,
      keepAliveTimeout: LIMITS.idleSeconds * 1e3,
      requestTimeout: LIMITS.requestSeconds * 1e3,
      routerOptions: { maxParamLength: LIMITS.headerBytes },
      frameworkErrors: (error, _request, reply) => sendError(error, reply),
    });
    app.setErrorHandler((error, _request, reply) => sendError(error, reply));
    app.setNotFoundHandler((_request, reply) => sendError(notFound, reply));
    for (const { method, path: url, type, handle } of routes) {
      // Nothing is returned where it can be sent at once: a reply is a thenable, which Fastify would wait for.
      const send = (reply: FastifyReply, body: unknown): void => {
        if (type === "html") reply.type("text/html; charset=utf-8");
        reply.send(body);
      };
      app.route({
        method,
        url,
        handler: (request, reply) => settle(handle(request as Input), (body) => send(reply, body)),
      });
    }
    await app.listen({ host, port, reusePort } as FastifyListenOptions); // handed on to net.Server.listen

    return { close: () => closeHttpServer(app.server) };
  },
};
export default server;
