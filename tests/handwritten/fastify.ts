import fastify from "fastify";
import { byId, randomId } from "./database.ts";

const app = fastify();

app.get("/plain", (_request, reply) => {
  reply.send({ message: "Hello, world!" });
});

app.get<{ Params: { size: string } }>("/sqlite/random-5fields/:size", (request, reply) => {
  const rows = [];
  for (let i = 0; i < Number(request.params.size); i++) rows.push(byId.get(randomId()));
  reply.send(rows);
});

await app.listen({ port: Number(process.env.PORT), host: "0.0.0.0" });
