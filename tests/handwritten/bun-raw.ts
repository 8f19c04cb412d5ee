import { db } from "./database.ts";

const byId = db.prepare("SELECT * FROM person5 WHERE id = ?");

Bun.serve({
  port: process.env.PORT,
  routes: {
    "/plain": () => Response.json({ message: "Hello, world!" }),
    "/sqlite/random-5fields/:size": (request) => {
      const rows = [];
      for (let i = 0; i < Number(request.params.size); i++)
        rows.push(byId.get(1 + Math.floor(Math.random() * 100_000)));
      return Response.json(rows);
    },
  },
  fetch: () => Response.json({ error: "not found" }, { status: 404 }),
});
