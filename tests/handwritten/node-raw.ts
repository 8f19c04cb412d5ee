import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { transact } from "./tx.ts";
import { html, random5, random30 } from "./work.ts";

function send(response: ServerResponse, status: number, type: string, body: string) {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const json = (response: ServerResponse, body: unknown) => send(response, 200, "application/json", JSON.stringify(body));

createServer(async (request, response) => {
  const url = request.url as string;
  if (url === "/tx" && request.method === "POST") json(response, await transact(JSON.parse(await text(request))));
  else if (request.method !== "GET") send(response, 404, "text/plain", "not found");
  else if (url === "/") json(response, { server: "node-raw" });
  else if (url === "/plain") json(response, { message: "Hello, world!" });
  else if (url === "/html-template") send(response, 200, "text/html; charset=utf-8", html());
  else if (url.startsWith("/sqlite/random-5fields/")) json(response, random5(url.slice(23)));
  else if (url.startsWith("/sqlite/random-30fields/")) json(response, random30(url.slice(24)));
  else send(response, 404, "text/plain", "not found");
}).listen(Number(process.env.PORT));
