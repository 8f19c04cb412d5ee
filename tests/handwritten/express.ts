import express from "express";
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

app.listen(Number(process.env.PORT));
