/** Requests outside of the load: every wait for an answer ends, with one line if there is none. */
import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { ask, openConnection } from "../../bench/load/ask.ts";
import { makePlan, type Options } from "../../bench/plan/plan.ts";
import { idleOf } from "../../bench/run/idle.ts";
import type { Session } from "../../bench/run/session.ts";
import { firstFailure } from "../../bench/run/targets/answers.ts";
import { needs, resultsIn, SERVERS, scratch, testIf } from "../harness.ts";
import { simulate } from "../simulation.ts";

const never = new AbortController().signal;
const newFile = resultsIn(scratch());

/** A server that does something when a connection has sent its first bytes. @returns its URL */
async function serverThat(act: (socket: Socket) => void, host = "127.0.0.1"): Promise<string> {
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => act(socket)));
  afterAll(() => server.close());
  await once(server.listen(0, host), "listening");
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

describe("a server that does not answer is named, with what it does", () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
  const cases: readonly [what: string, act: (socket: Socket) => void, isWhole?: boolean][] = [
    ["closes the connection", (socket) => socket.end()],
    ["resets the connection", (socket) => socket.resetAndDestroy()],
    ["closes it in the body", (socket) => socket.end(`${head}abc`), true],
    ["closes it after 103", (socket) => socket.end("HTTP/1.1 103 Early Hints\r\n\r\n"), true],
  ];
  for (const [what, act, isWhole] of cases)
    test(what, async () => {
      const url = `${await serverThat(act)}/a`;
      const line = `POST ${url} is not answered, the server closes the connection (ECONNRESET): see what it prints`;
      const asked = { url, method: "POST", body: "x" };
      await expect(ask(asked, never)).rejects.toThrow(line);
      if (!isWhole) await expect(openConnection(asked, never)).rejects.toThrow(line);
    });

  test("is not there", async () => {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    server.close();
    for (const send of [ask, openConnection])
      await expect(send({ url }, never)).rejects.toThrow(`${url} cannot be reached (ECONNREFUSED)`);
  });

  test("says nothing, until the run is stopped", async () => {
    const url = await serverThat(() => {});
    for (const send of [ask, openConnection]) {
      const stopped = new AbortController();
      const sent = send({ url }, stopped.signal);
      stopped.abort(new Error("stopped"));
      await expect(sent).rejects.toThrow("stopped");
    }
  });

  test("changes the protocol", async () => {
    const url = await serverThat((socket) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    );
    expect((await ask({ url }, never)).status).toBe(101);
  });
});

test("the example of a failed answer is an answer to the request of the load", async () => {
  const seen: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      seen.push(await request.text());
      return new Response("too busy", { status: 503 });
    },
  });
  afterAll(() => server.stop(true));
  const target = { url: server.url.origin };
  expect(await firstFailure(target, "POST /users", never, "users")).toBe('status 503 "too busy"');
  const requests = { "POST /a": { method: "POST", path: "/a", headers: {}, body: "mine" } };
  await firstFailure({ ...target, requests }, "POST /a", never, "read");
  expect(seen).toEqual(['{"name":"Ada Lovelace","email":"ada@example.com"}', "mine"]);
});

describe("--idle", () => {
  const OPTIONS: Options = {
    ...{ urls: [], names: [], servers: [], endpoints: [], connections: 8, preset: "quick", seed: 1 },
    once: true,
  };
  /** Measures an app at `url` in a simulated session. */
  async function idleAt(url: string, options: Partial<Options>) {
    const plan = makePlan({ ...OPTIONS, urls: ["http://a"], ...options }, SERVERS);
    const session = await simulate(plan, newFile(), { cost: () => 1, noise: { restart: 0, window: 0, host: 0 } });
    const spec = { kind: "local", name: "app", command: [], env: {} } as const;
    const start: Session["start"] = async (...args) => ({ ...(await session.start(...args)), url });
    return idleOf({ ...session, start }, spec, plan.scenarios[0]?.endpoint as string);
  }

  /** What its connections send, if there are many. */
  async function sentBy(options: Partial<Options>, hostname = "127.0.0.1") {
    const seen = new Map<string, number>();
    const fetch = async (request: Request) => {
      const { pathname, search } = new URL(request.url);
      const { authorization = "" } = request.headers.toJSON();
      const one = [request.method, pathname + search, authorization, await request.text()].join(" ");
      seen.set(one, (seen.get(one) ?? 0) + 1);
      return new Response("x", { status: request.method === "POST" ? 201 : 200 });
    };
    const server = Bun.serve({ port: 0, hostname, fetch });
    afterAll(() => server.stop(true));
    await idleAt(server.url.origin, options);
    return [...seen].filter(([, n]) => n > 1_000).map(([one]) => one);
  }

  test("sends the request of the endpoint: method, path, headers and body; a read of a sequence", async () => {
    const own = { method: "POST", path: "/a?b=1", headers: { authorization: "me" }, body: "ä" };
    const sent = await Promise.all([
      sentBy({ workload: "content" }),
      sentBy({ endpoints: ["POST /a?b=1"], requests: { "POST /a?b=1": own } }),
    ]);
    expect(sent).toEqual([["GET /content?limit=1  "], ["POST /a?b=1 me ä"]]);
  });

  testIf(...needs("ipv6"), "reaches a server at an IPv6 address", async () => {
    expect(await sentBy({ endpoints: ["/x"] }, "::1")).toEqual(["GET /x  "]);
  });

  test("ends if connections are closed without an answer", async () => {
    let n = 0;
    const answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx";
    // Answers the requests that check it.
    const url = await serverThat((socket) => socket.end(++n <= 2 ? answer : ""));
    await expect(idleAt(url, { endpoints: ["/x"] })).rejects.toThrow(`${url}/x is not answered, the server closes`);
    expect(n).toBeGreaterThanOrEqual(100);
  });
});
