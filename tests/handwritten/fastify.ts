import fastify from "fastify";
import { db } from "./database.ts";

const byId = db.prepare("SELECT * FROM person5 WHERE id = ?");
const app = fastify();

app.get("/plain", (_request, reply) => {
  reply.send({ message: "Hello, world!" });
});

app.get<{ Params: { size: string } }>("/sqlite/random-5fields/:size", (request, reply) => {
  const rows = [];
  for (let i = 0; i < Number(request.params.size); i++) rows.push(byId.get(1 + Math.floor(Math.random() * 100_000)));
  reply.send(rows);
});

await app.listen({ port: Number(process.env.PORT), host: "0.0.0.0" });
