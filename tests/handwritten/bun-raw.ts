import { byId, randomId } from "./database.ts";

Bun.serve({
  port: Number(process.env.PORT),
  routes: {
    "/plain": () => Response.json({ message: "Hello, world!" }),
    "/sqlite/random-5fields/:size": (request) => {
      const rows = [];
      for (let i = 0; i < Number(request.params.size); i++) rows.push(byId.get(randomId()));
      return Response.json(rows);
    },
  },
  fetch: () => Response.json({ error: "not found" }, { status: 404 }),
});
