import { node } from "@elysiajs/node";
import { Elysia, NotFoundError } from "elysia";
import { create, list, read, remove, update } from "./content.ts";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

function found<T>(content: T | undefined): T {
  if (content === undefined) throw new NotFoundError();
  return content;
}

new Elysia(process.versions.bun ? {} : { adapter: node() })
  .get("/", () => ({ server: "elysia" }))
  .get("/plain", () => ({ message: "Hello, world!" }))
  .get("/html-template", () => new Response(html(), { headers: { "content-type": "text/html; charset=utf-8" } }))
  .get("/sqlite/random-5fields/:size", ({ params: { size } }) => random5(size))
  .get("/sqlite/random-30fields/:size", ({ params: { size } }) => random30(size))
  .post("/tx", ({ body }) => transact(body))
  .post("/content", ({ body, set }) => {
    set.status = 201;
    return create(body);
  })
  .get("/content", ({ query: { after, limit } }) => list(after, limit))
  .get("/content/:id", ({ params: { id } }) => found(read(id)))
  .put("/content/:id", ({ params: { id }, body }) => found(update(id, body)))
  .delete("/content/:id", ({ params: { id }, set }) => {
    set.status = remove(id) ? 204 : 404;
  })
  .listen(Number(process.env.PORT));
