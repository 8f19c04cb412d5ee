import { createServer, type ServerResponse } from "node:http";
import { byId, randomId } from "./database.ts";

function json(response: ServerResponse, status: number, body: unknown) {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

createServer((request, response) => {
  const url = request.url as string;
  if (request.method === "GET" && url === "/plain") {
    json(response, 200, { message: "Hello, world!" });
  } else if (request.method === "GET" && url.startsWith("/sqlite/random-5fields/")) {
    const size = Number(url.slice("/sqlite/random-5fields/".length));
    const rows = [];
    for (let i = 0; i < size; i++) rows.push(byId.get(randomId()));
    json(response, 200, rows);
  } else {
    json(response, 404, { error: "not found" });
  }
}).listen(Number(process.env.PORT));
