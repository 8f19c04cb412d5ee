import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { create, list, read, remove, update } from "./content.ts";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

const app = new Hono();
app.get("/", (c) => c.json({ server: "hono" }));
app.get("/plain", (c) => c.json({ message: "Hello, world!" }));
app.get("/html-template", (c) => c.html(html()));
app.get("/sqlite/random-5fields/:size", (c) => c.json(random5(c.req.param("size"))));
app.get("/sqlite/random-30fields/:size", (c) => c.json(random30(c.req.param("size"))));
app.post("/tx", async (c) => c.json(await transact(await c.req.json())));
app.post("/content", async (c) => c.json(create(await c.req.json()), 201));
app.get("/content", (c) => c.json(list(c.req.query("after"), c.req.query("limit"))));
app.get("/content/:id", (c) => {
  const content = read(c.req.param("id"));
  return content ? c.json(content) : c.notFound();
});
app.put("/content/:id", async (c) => {
  const content = update(c.req.param("id"), await c.req.json());
  return content ? c.json(content) : c.notFound();
});
app.delete("/content/:id", (c) => (remove(c.req.param("id")) ? c.body(null, 204) : c.notFound()));

const port = Number(process.env.PORT);
if (process.versions.bun) Bun.serve({ port, fetch: app.fetch });
else serve({ port, fetch: app.fetch });
