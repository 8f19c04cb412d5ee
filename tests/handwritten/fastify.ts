import fastify from "fastify";
import { create, list, read, remove, update } from "./content.ts";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

interface One {
  Params: { id: string };
}

const app = fastify();

app.get("/", (_request, reply) => {
  reply.send({ server: "fastify" });
});
app.get("/plain", (_request, reply) => {
  reply.send({ message: "Hello, world!" });
});
app.get("/html-template", (_request, reply) => {
  reply.type("text/html; charset=utf-8").send(html());
});
app.get<{ Params: { size: string } }>("/sqlite/random-5fields/:size", (request, reply) => {
  reply.send(random5(request.params.size));
});
app.get<{ Params: { size: string } }>("/sqlite/random-30fields/:size", (request, reply) => {
  reply.send(random30(request.params.size));
});
app.post("/tx", ({ body }) => transact(body));
app.post("/content", ({ body }, reply) => reply.code(201).send(create(body)));
app.get<{ Querystring: { after?: string; limit?: string } }>("/content", ({ query }) => list(query.after, query.limit));
app.get<One>("/content/:id", ({ params }, reply) => read(params.id) ?? reply.callNotFound());
app.put<One>("/content/:id", ({ params, body }, reply) => update(params.id, body) ?? reply.callNotFound());
app.delete<One>("/content/:id", ({ params }, reply) => reply.code(remove(params.id) ? 204 : 404).send());

await app.listen({ port: Number(process.env.PORT), host: "0.0.0.0" });
