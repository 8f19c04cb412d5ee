import { node } from "@elysiajs/node";
import { Elysia } from "elysia";
import { db } from "./database.ts";

const byId = db.prepare("SELECT * FROM person5 WHERE id = ?");

new Elysia(process.versions.bun ? {} : { adapter: node() })
  .get("/plain", () => ({ message: "Hello, world!" }))
  .get("/sqlite/random-5fields/:size", ({ params: { size } }) => {
    const rows = [];
    for (let i = 0; i < Number(size); i++) rows.push(byId.get(1 + Math.floor(Math.random() * 100_000)));
    return rows;
  })
  .listen(Number(process.env.PORT));
