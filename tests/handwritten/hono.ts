import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { db } from "./database.ts";

const byId = db.prepare("SELECT * FROM person5 WHERE id = ?");
const app = new Hono();

app.get("/plain", (c) => c.json({ message: "Hello, world!" }));

app.get("/sqlite/random-5fields/:size", (c) => {
  const rows = [];
  for (let i = 0; i < Number(c.req.param("size")); i++)
    rows.push(byId.get(1 + Math.floor(Math.random() * 100_000)) as object);
  return c.json(rows);
});

const port = Number(process.env.PORT);
if (process.versions.bun) Bun.serve({ port, fetch: app.fetch });
else serve({ port, fetch: app.fetch });
