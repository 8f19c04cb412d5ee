import { node } from "@elysiajs/node";
import { Elysia } from "elysia";
import { byId, randomId } from "./database.ts";

new Elysia(process.versions.bun ? {} : { adapter: node() })
  .get("/plain", () => ({ message: "Hello, world!" }))
  .get("/sqlite/random-5fields/:size", ({ params: { size } }) => {
    const rows = [];
    for (let i = 0; i < Number(size); i++) rows.push(byId.get(randomId()));
    return rows;
  })
  .listen(Number(process.env.PORT));
