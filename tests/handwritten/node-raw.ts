import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { create, list, read, remove, update } from "./content.ts";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

function send(response: ServerResponse, status: number, type: string, body: string) {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  send(response, status, "application/json", JSON.stringify(body));
const found = (response: ServerResponse, content: object | undefined) =>
  content ? json(response, content) : send(response, 404, "text/plain", "not found");

async function contents(request: IncomingMessage, response: ServerResponse, url: string) {
  const { pathname, searchParams: query } = new URL(url, "http://localhost");
  const id = pathname.slice("/content/".length);
  const { method } = request;
  if (method === "POST") json(response, create(JSON.parse(await text(request))), 201);
  else if (method === "PUT") found(response, update(id, JSON.parse(await text(request))));
  else if (method === "DELETE") response.writeHead(remove(id) ? 204 : 404).end();
  else if (id) found(response, read(id));
  else json(response, list(query.get("after"), query.get("limit")));
}

createServer(async (request, response) => {
  const url = request.url as string;
  if (url === "/tx" && request.method === "POST") json(response, await transact(JSON.parse(await text(request))));
  else if (url.startsWith("/content")) await contents(request, response, url);
  else if (request.method !== "GET") send(response, 404, "text/plain", "not found");
  else if (url === "/") json(response, { server: "node-raw" });
  else if (url === "/plain") json(response, { message: "Hello, world!" });
  else if (url === "/html-template") send(response, 200, "text/html; charset=utf-8", html());
  else if (url.startsWith("/sqlite/random-5fields/")) json(response, random5(url.slice(23)));
  else if (url.startsWith("/sqlite/random-30fields/")) json(response, random30(url.slice(24)));
  else send(response, 404, "text/plain", "not found");
}).listen(Number(process.env.PORT));
