/** The four examples of docs/your-app.md, run as they are written. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort } from "../../bench/host/free-port.ts";
import next from "../../stacks/next/package.json" with { type: "json" };
import { finish, must, needs, resultsIn, rowsOf, run, scratch, testIf, until } from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);
const [express = "", site = "", python = "", behind = ""] = [
  ...(readFileSync("docs/your-app.md", "utf8").split("## Four examples")[1]?.split("\n## ")[0] ?? "").matchAll(
    /```sh\n(.*?)```/gs,
  ),
].map(([, block]) => block);

/** Makes a folder with these files. */
function made(name: string, files: Readonly<Record<string, string>>): string {
  const own = join(folder, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(own, file, ".."), { recursive: true });
    writeFileSync(join(own, file), text);
  }
  return own;
}

/** Runs a block of the docs in a folder, with little load. @returns the endpoints that were loaded, without errors */
async function loaded(block: string, cwd: string, env: Record<string, string> = {}): Promise<Set<string>> {
  const file = newFile();
  const bench = `${resolve("bench.sh")} --minutes 0 --seconds 0.3 --connections 8 --warmup 200 --results ${file}`;
  const { CALLERS_PATH: _, ...own } = process.env;
  const command = ["env", "-u", "CALLERS_PATH", "sh", "-ec", `cd ${cwd}\n${block.replaceAll("./bench.sh", bench)}`];
  const { code, output } = await finish(command, { ...(own as Record<string, string>), ...env });
  expect([code, output]).toEqual([0, expect.stringContaining("In practice  200 requests/s of")]);
  for (const row of rowsOf(file)) expect([row.Endpoint, row["Error Count"]]).toEqual([row.Endpoint, "0"]);
  return new Set(rowsOf(file).map(({ Endpoint }) => Endpoint as string));
}

test("an Express app with a login", async () => {
  const app = `const express = require("express");
const app = express();
app.post("/login", express.json(), ({ body }, response) => response.json({ token: "of-" + body.user }));
app.get("/items", ({ headers }, response) => response.status(headers.authorization === "Bearer of-ada" ? 200 : 401).json([]));
app.listen(process.env.PORT);`;
  const own = made("express", { "app.js": app });
  symlinkSync(resolve("node_modules"), join(own, "node_modules"));
  expect(await loaded(express, own)).toEqual(new Set(["POST /login", "/items"]));
});

testIf(...needs("npm"), "a Next.js app", async () => {
  const { next: version, react, "react-dom": dom } = next.dependencies;
  const own = made("next", {
    "package.json": JSON.stringify({
      private: true,
      scripts: { build: "next build" },
      dependencies: { next: version, react, "react-dom": dom },
    }),
    "pages/index.js": "export default function Home() { return <h1>Hello</h1>; }",
    "pages/api/items.js": "export default function handler(request, response) { response.json([]); }",
  });
  expect(await loaded(site, own, { NEXT_TELEMETRY_DISABLED: "1" })).toEqual(new Set(["/", "/api/items"]));
});

testIf(...needs("venv"), "a Python app", async () => {
  const app = `async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"[]"})`;
  const own = made("python", { "main.py": app });
  must(["python3", "-m", "venv", join(own, "venv")]);
  must([join(own, "venv/bin/pip"), "install", "--quiet", "uvicorn"]);
  const PATH = `${join(own, "venv/bin")}:${process.env.PATH}`;
  expect(await loaded(python, own, { PATH })).toEqual(new Set(["/items"]));
});

testIf(...needs("nginx"), "a server behind nginx", async () => {
  const [port, upstream] = [await freePort(), await freePort()];
  const own = made("nginx", {
    "app.js": `require("node:http").createServer((_, response) => response.end("x")).listen(${upstream}, "127.0.0.1");`,
    "nginx.conf": `daemon off; pid nginx.pid; error_log stderr; worker_processes 1; events {}
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; } } }`,
  });
  const servers = [run(["node", join(own, "app.js")]), run(["nginx", "-p", own, "-c", join(own, "nginx.conf")])];
  afterAll(() => servers.map(({ child }) => child.kill()));
  await until(async () => (await fetch(`http://127.0.0.1:${port}`).catch(() => null))?.ok === true);
  expect(await loaded(behind.replace("8080", String(port)), own)).toEqual(new Set(["/", "/api/items"]));
});
