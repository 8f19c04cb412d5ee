import express from "express";
import { create, list, read, remove, update } from "./content.ts";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

const app = express();
app.disable("x-powered-by");
app.disable("etag");

app.get("/", (_request, response) => {
  response.json({ server: "express" });
});
app.get("/plain", (_request, response) => {
  response.json({ message: "Hello, world!" });
});
app.get("/html-template", (_request, response) => {
  response.send(html());
});
app.get("/sqlite/random-5fields/:size", (request, response) => {
  response.json(random5(request.params.size));
});
app.get("/sqlite/random-30fields/:size", (request, response) => {
  response.json(random30(request.params.size));
});
app.post("/tx", express.json(), async (request, response) => {
  response.json(await transact(request.body));
});
app.post("/content", express.json(), (request, response) => {
  response.status(201).json(create(request.body));
});
app.get("/content", ({ query }, response) => {
  response.json(list(query.after as string, query.limit));
});
app.get("/content/:id", (request, response) => {
  const content = read(request.params.id);
  if (content) response.json(content);
  else response.sendStatus(404);
});
app.put("/content/:id", express.json(), (request, response) => {
  const content = update(request.params.id as string, request.body);
  if (content) response.json(content);
  else response.sendStatus(404);
});
app.delete("/content/:id", (request, response) => {
  response.sendStatus(remove(request.params.id) ? 204 : 404);
});

app.listen(Number(process.env.PORT));
