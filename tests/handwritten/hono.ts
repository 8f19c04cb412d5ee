import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

const app = new Hono();
app.get("/", (c) => c.json({ server: "hono" }));
app.get("/plain", (c) => c.json({ message: "Hello, world!" }));
app.get("/html-template", (c) => c.html(html()));
app.get("/sqlite/random-5fields/:size", (c) => c.json(random5(c.req.param("size"))));
app.get("/sqlite/random-30fields/:size", (c) => c.json(random30(c.req.param("size"))));
app.post("/tx", async (c) => c.json(await transact(await c.req.json())));

const port = Number(process.env.PORT);
if (process.versions.bun) Bun.serve({ port, fetch: app.fetch });
else serve({ port, fetch: app.fetch });
