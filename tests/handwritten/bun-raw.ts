import { create, list, read, remove, update } from "./content.ts";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

const found = (content: object | undefined) =>
  content ? Response.json(content) : Response.json({ error: "not found" }, { status: 404 });

Bun.serve({
  port: Number(process.env.PORT),
  routes: {
    "/": () => Response.json({ server: "bun-raw" }),
    "/tx": { POST: async (request) => Response.json(await transact(await request.json())) },
    "/content": {
      POST: async (request) => Response.json(create(await request.json()), { status: 201 }),
      GET: (request) => {
        const query = new URL(request.url).searchParams;
        return Response.json(list(query.get("after"), query.get("limit")));
      },
    },
    "/content/:id": {
      GET: (request) => found(read(request.params.id)),
      PUT: async (request) => found(update(request.params.id, await request.json())),
      DELETE: (request) => (remove(request.params.id) ? new Response(null, { status: 204 }) : found(undefined)),
    },
    "/plain": () => Response.json({ message: "Hello, world!" }),
    "/html-template": () => new Response(html(), { headers: { "content-type": "text/html; charset=utf-8" } }),
    "/sqlite/random-5fields/:size": (request) => Response.json(random5(request.params.size)),
    "/sqlite/random-30fields/:size": (request) => Response.json(random30(request.params.size)),
  },
  fetch: () => found(undefined),
});
