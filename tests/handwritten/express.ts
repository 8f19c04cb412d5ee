import express from "express";
import { db } from "./database.ts";

const byId = db.prepare("SELECT * FROM person5 WHERE id = ?");
const app = express();
app.disable("x-powered-by");
app.disable("etag");

app.get("/plain", (_request, response) => {
  response.json({ message: "Hello, world!" });
});

app.get("/sqlite/random-5fields/:size", (request, response) => {
  const rows = [];
  for (let i = 0; i < Number(request.params.size); i++) rows.push(byId.get(1 + Math.floor(Math.random() * 100_000)));
  response.json(rows);
});

app.listen(Number(process.env.PORT));
