/** k6 sequences: k6 reports what the server sees, a wrong answer fails its sequence, and no item is left. */
import { describe, expect, test } from "bun:test";
import { freePort } from "../../bench/host/free-port.ts";
import { percentile } from "../../bench/load/histogram.ts";
import { loadSequence, type SequenceLoad } from "../../bench/load/k6.ts";
import { describeIf, must, needs, until } from "../harness.ts";

const STEPS = ["1 POST", "2 GET", "3 PUT", "4 GET", "5 DELETE", "6 GET 404"];
const never = new AbortController().signal;
const closed = { connections: 4, seconds: 1 };

type Content = Record<string, unknown>;
type Answer = (request: Request, usual: () => Promise<Response>, before?: Content) => Response | Promise<Response>;

/** Contents in memory, and the number of requests per method; `answer` can replace the usual answer to k6. */
class Contents {
  readonly stored = new Map<string, Content>();
  readonly seen: Record<string, number> = {};
  readonly server: Bun.Server<unknown>;

  constructor(answer: Answer = (_, usual) => usual()) {
    this.server = Bun.serve({
      port: 0,
      fetch: (request) => {
        if (request.method === "GET" && new URL(request.url).pathname === "/content")
          return Response.json({ items: [...this.stored.values()], next: null }); // k6 requests this once, at the end
        this.seen[request.method] = (this.seen[request.method] ?? 0) + 1;
        const id = new URL(request.url).pathname.split("/")[2] ?? Bun.randomUUIDv7();
        const before = this.stored.get(id);
        return answer(request, () => this.#usual(request, id, before), before);
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  [Symbol.dispose](): void {
    this.server.stop(true);
  }

  async #usual(request: Request, id: string, before?: Content): Promise<Response> {
    if (!before && request.method !== "POST") return Response.json({ error: "missing" }, { status: 404 });
    if (request.method === "GET") return Response.json(before);
    if (request.method === "DELETE") {
      this.stored.delete(id);
      return new Response(null, { status: 204 });
    }
    const content = { id, ...((await request.json()) as Content), created_at: "then", updated_at: "now" };
    this.stored.set(id, content);
    return Response.json(content, { status: before ? 200 : 201 });
  }
}

/** Commands of the k6 processes that load a URL. */
const loading = (url: string) =>
  must(["ps", "-A", "-o", "args="])
    .split("\n")
    .filter((command) => /^k6 /.test(command) && command.includes(`URL=${url} `));

describeIf(...needs("k6", "ps"), "k6", () => {
  test("closed loop: k6 reports the requests and latencies that the server sees", async () => {
    using contents = new Contents(async (_, usual) => {
      await Bun.sleep(5);
      return usual();
    });
    const before = Date.now();
    const load = await loadSequence({ url: contents.url }, closed, undefined, never);
    const { requests, histogram, steps, percentilesMs } = load;
    expect(requests).toBeGreaterThan(0);
    expect(contents.seen).toEqual({ POST: requests, GET: 3 * requests, PUT: requests, DELETE: requests });
    expect(contents.stored.size).toBe(0);
    expect(load).toMatchObject({ errors: 0, refused: 0, dropped: 0, overlap: 1 });
    expect(load.sockets).toBeWithin(4, 9); // a pool opens another if one is late
    expect(load.startedAt).toBeGreaterThanOrEqual(before);
    expect(load.seconds).toBeGreaterThan(0.9);
    expect(load.goodput).toBeCloseTo(requests / load.seconds);
    expect(load.generatorCpu).toBeGreaterThan(0);
    expect(load.bytesPerRequest).toBeGreaterThan(4 * 450);
    expect(Object.keys(steps)).toEqual(STEPS);
    for (const step of Object.values(steps)) {
      expect(step).toMatchObject({ requests, errors: 0 });
      expect(step.histogram[0]?.[0]).toBeGreaterThanOrEqual(0.0045);
      expect(step.percentilesMs[50]).toBeLessThanOrEqual(step.percentilesMs[99.9]);
      expect(step.percentilesMs[99.9]).toBeLessThanOrEqual(step.maxMs);
    }
    const total = Object.values(steps).reduce((sum, { averageMs }) => sum + averageMs, 0);
    expect(load.averageMs).toBeCloseTo(total);
    expect(histogram.reduce((sum, [, , count]) => sum + count, 0)).toBeCloseTo(requests);
    expect(histogram.at(-1)?.[1]).toBe(load.maxMs / 1e3);
    for (const p of [50, 90, 99, 99.9] as const) {
      expect((percentile(histogram, p) * 1e3) / percentilesMs[p]).toBeWithin(0.94, 1.06); // a bucket's width
    }
  });

  const failures: Record<string, { step: string; answers: Answer }> = {
    "PUT answers 500": {
      step: "3 PUT",
      answers: ({ method }, usual) => (method === "PUT" ? new Response("no", { status: 500 }) : usual()),
    },
    "PUT changes nothing": {
      step: "3 PUT",
      answers: ({ method }, usual, before) => (method === "PUT" ? Response.json(before) : usual()),
    },
    "PUT answers another body": {
      step: "3 PUT",
      answers: async ({ method }, usual) => {
        const response = await usual();
        return method === "PUT" ? Response.json({ ...((await response.json()) as Content), data: {} }) : response;
      },
    },
    "POST answers 200": {
      step: "1 POST",
      answers: async ({ method }, usual) => {
        const response = await usual();
        return method === "POST" ? Response.json(await response.json()) : response;
      },
    },
    "GET answers no JSON": {
      step: "2 GET",
      answers: ({ method }, usual) => (method === "GET" ? new Response("{") : usual()),
    },
  };
  describe("a wrong answer fails its sequence once, and k6 deletes the items that it has created", () => {
    for (const [name, { step, answers }] of Object.entries(failures)) {
      test.concurrent(name, async () => {
        using contents = new Contents(answers);
        const { requests, errors, goodput, refused, steps } = await loadSequence(
          { url: contents.url },
          closed,
          undefined,
          never,
        );
        expect(requests).toBeGreaterThan(0);
        expect({ errors, goodput, refused }).toEqual({ errors: requests, goodput: 0, refused: 0 });
        for (const [name, { errors }] of Object.entries(steps))
          expect([name, errors]).toEqual([name, name === step ? requests : 0]);
        expect(contents.seen.DELETE).toBe(requests);
        expect(contents.stored.size).toBe(0);
      });
    }
  });

  test("an item that is not deleted fails the last step", async () => {
    using contents = new Contents(({ method }, usual) =>
      method === "DELETE" ? new Response(null, { status: 204 }) : usual(),
    );
    const { requests, errors, steps } = await loadSequence({ url: contents.url }, closed, undefined, never);
    expect([errors, steps["6 GET 404"]?.errors]).toEqual([requests, requests]);
  });

  test("refused requests are counted", async () => {
    using contents = new Contents(() => new Response(null, { status: 503 }));
    const load = await loadSequence({ url: contents.url }, closed, undefined, never);
    expect([load.errors, load.refused]).toEqual([load.requests, load.requests]);
    expect(contents.seen).toEqual({ POST: load.requests });
  });

  test("no server: each sequence fails", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { requests, errors, sockets } = await loadSequence({ url }, closed, undefined, never);
    expect(requests).toBeGreaterThan(0);
    expect({ errors, sockets }).toEqual({ errors: requests, sockets: 0 });
  });

  test("open loop: k6 runs as many sequences as requested", async () => {
    using contents = new Contents();
    const load = await loadSequence(
      { url: contents.url },
      { connections: 8, seconds: 1.5, rate: 40 },
      undefined,
      never,
    );
    expect(load.requests + load.dropped).toBeGreaterThanOrEqual(50);
    expect(load.requests + load.dropped).toBeLessThanOrEqual(61);
    expect(load.goodput).toBeLessThanOrEqual(40);
    expect(contents.seen.PUT).toBe(load.requests);
  });

  test("open loop: sequences that find no connection free are dropped", async () => {
    using contents = new Contents(async (_, usual) => {
      await Bun.sleep(50);
      return usual();
    });
    const load = await loadSequence({ url: contents.url }, { connections: 1, seconds: 1, rate: 50 }, undefined, never);
    expect(load.dropped).toBeGreaterThan(30);
    expect(contents.seen.POST).toBe(load.requests);
    expect(contents.stored.size).toBe(0);
  });

  test("a failing k6 is reported by its last line", async () => {
    using contents = new Contents();
    const options = { connections: 0, seconds: 1 };
    await expect(loadSequence({ url: contents.url }, options, undefined, never)).rejects.toThrow(
      /^k6 could not load http:.*number of VUs/,
    );
  });

  test("aborting ends k6, and k6 deletes the items that its sequences have created", async () => {
    using contents = new Contents();
    const abort = new AbortController();
    const load = loadSequence({ url: contents.url }, { connections: 2, seconds: 60 }, undefined, abort.signal);
    load.catch(() => {});
    await until(() => (contents.seen.PUT ?? 0) > 0);
    expect(loading(contents.url)).toHaveLength(1);
    abort.abort(new Error("enough"));
    await expect(load).rejects.toThrow("enough");
    await until(() => loading(contents.url).length === 0);
    expect(contents.stored.size).toBe(0);
  });

  test("transactions use all rows; any answer except 200 with a balance is an error", async () => {
    const seen: Record<string, number>[] = [];
    const server = Bun.serve({
      port: 0,
      async fetch(request) {
        seen.push((await request.json()) as Record<string, number>);
        if (seen.length % 10 === 0) return Response.json({ error: "away" }, { status: 503 });
        return Response.json(seen.length % 10 === 1 ? {} : { abalance: -1 });
      },
    });
    // Loads until there are enough transactions, because the machine may be slow.
    const draw = async (seconds: number): Promise<SequenceLoad> => {
      seen.length = 0;
      const load = await loadSequence(
        { url: `http://127.0.0.1:${server.port}`, scale: 2 },
        { ...closed, seconds },
        undefined,
        never,
      );
      return seen.length > 500 ? load : draw(2 * seconds);
    };
    const load = await draw(1);
    server.stop(true);
    expect(load).toMatchObject({ requests: seen.length, refused: Math.floor(seen.length / 10), steps: {} });
    expect(load.sockets).toBeWithin(4, 9);
    expect(load.errors).toBe(Math.floor(seen.length / 10) + Math.floor((seen.length + 9) / 10));
    const values = (name: string) => seen.map((transfer) => transfer[name] as number);
    const distinct = (name: string) => [...new Set(values(name))].sort((a, b) => a - b);
    expect(distinct("bid")).toEqual([1, 2]);
    expect(distinct("tid")).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    for (const [name, least, most] of [
      ["aid", 1, 200_000],
      ["delta", -5_000, 5_000],
    ] as const) {
      const width = most - least;
      expect(Math.min(...values(name))).toBeWithin(least, least + width / 20);
      expect(Math.max(...values(name))).toBeWithin(most - width / 20, most + 1);
    }
  });
});
