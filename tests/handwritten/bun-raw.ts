import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

Bun.serve({
  port: Number(process.env.PORT),
  routes: {
    "/": () => Response.json({ server: "bun-raw" }),
    "/tx": { POST: async (request) => Response.json(await transact(await request.json())) },
    "/plain": () => Response.json({ message: "Hello, world!" }),
    "/html-template": () => new Response(html(), { headers: { "content-type": "text/html; charset=utf-8" } }),
    "/sqlite/random-5fields/:size": (request) => Response.json(random5(request.params.size)),
    "/sqlite/random-30fields/:size": (request) => Response.json(random30(request.params.size)),
  },
  fetch: () => Response.json({ error: "not found" }, { status: 404 }),
});
