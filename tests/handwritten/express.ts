import express from "express";
import { byId, randomId } from "./database.ts";

const app = express();
app.disable("x-powered-by");
app.disable("etag");

app.get("/plain", (_request, response) => {
  response.json({ message: "Hello, world!" });
});

app.get("/sqlite/random-5fields/:size", (request, response) => {
  const rows = [];
  for (let i = 0; i < Number(request.params.size); i++) rows.push(byId.get(randomId()));
  response.json(rows);
});

app.listen(Number(process.env.PORT));
