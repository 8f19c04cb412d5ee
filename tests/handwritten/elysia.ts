import { node } from "@elysiajs/node";
import { Elysia } from "elysia";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

new Elysia(process.versions.bun ? {} : { adapter: node() })
  .get("/", () => ({ server: "elysia" }))
  .get("/plain", () => ({ message: "Hello, world!" }))
  .get("/html-template", () => new Response(html(), { headers: { "content-type": "text/html; charset=utf-8" } }))
  .get("/sqlite/random-5fields/:size", ({ params: { size } }) => random5(size))
  .get("/sqlite/random-30fields/:size", ({ params: { size } }) => random30(size))
  .post("/tx", ({ body }) => transact(body))
  .listen(Number(process.env.PORT));
