import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { byId, randomId } from "./database.ts";

const app = new Hono();

app.get("/plain", (c) => c.json({ message: "Hello, world!" }));

app.get("/sqlite/random-5fields/:size", (c) => {
  const rows = [];
  for (let i = 0; i < Number(c.req.param("size")); i++) rows.push(byId.get(randomId()));
  return c.json(rows);
});

const port = Number(process.env.PORT);
if (process.versions.bun) Bun.serve({ port, fetch: app.fetch });
else serve({ port, fetch: app.fetch });
