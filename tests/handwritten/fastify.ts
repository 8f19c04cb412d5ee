import fastify from "fastify";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

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

await app.listen({ port: Number(process.env.PORT), host: "0.0.0.0" });
