/** What the instrument says of real traffic whose truth is known: each verdict, fixed rates, the search, its own noise. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Cores, parseCpuList, splitCores } from "../../bench/host/cores.ts";
import { freePort } from "../../bench/host/free-port.ts";
import { readReport } from "../../bench/tell/report.ts";
import {
  find,
  finish,
  left,
  makeDatabase,
  type Need,
  needs,
  notShown,
  type Program,
  resultsIn,
  rowsOf,
  run,
  type Server,
  scratch,
  startServer,
  stopServer,
  testIf,
  until,
} from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);
const DB_FILE = makeDatabase(join(folder, "data.db"));
const HEAVY = "/sqlite/random-30fields/10";
/** A verdict does not depend on how warm a server is, and over a slow line 5,000 requests take long. */
const WARMUP = ["--warmup", "500"];

/** Later than this a server in this process is disturbed: the host or others had its core. */
const LATE_MS = 10;
/** Later than this whatever waits most of the time, as a line does, was kept waiting for longer. */
const VERY_LATE_MS = 50;

/** @returns a function that ends it, and says by how many ms this process was late at most */
function watchLateness(): () => number {
  let lateMs = 0;
  let due = performance.now() + 5;
  const clock = setInterval(() => {
    lateMs = Math.max(lateMs, performance.now() - due);
    due = performance.now() + 5;
  }, 5).unref();
  return () => {
    clearInterval(clock);
    return lateMs;
  };
}

/**
 * Runs bench.sh for two restarts.
 * @returns its results, its output with paragraphs in one line, its slices, and by how many ms this process was late at most
 */
async function measured(args: string[]) {
  const file = newFile();
  const lateness = watchLateness();
  const { code, output } = await finish([
    "./bench.sh",
    "--results",
    file,
    "--minutes",
    "0",
    "--details",
    ...WARMUP,
    ...args,
  ]);
  expect([code, output]).toEqual([0, expect.any(String)]);
  return { file, output: output.replaceAll("\n  ", " "), solos: rowsOf(file), lateMs: lateness() };
}
type Seen = Awaited<ReturnType<typeof measured>>;

const verdictsOf = (rows: Record<string, string>[]) => [...new Set(rows.map(({ Verdict }) => Verdict))];

/**
 * Slices in which neither the host nor other processes had the cores: of others less is asked. If bench.sh did not start the
 * server, its slices do not tell what other processes had: then this process was late too, by more than `mostMs`.
 */
const quiet = ({ solos, lateMs }: Seen, mostMs = Number.POSITIVE_INFINITY, most = 0.02) =>
  lateMs > mostMs ? [] : solos.filter(({ TakenTime }) => Number(TakenTime) < most);

/**
 * No slice may have another verdict, and on a calm machine one must have this verdict.
 * @returns whether one has it; a disturbed machine may hide it
 */
function expectVerdict(seen: Seen, verdict: string, undisturbed = quiet(seen)): boolean {
  for (const { Verdict } of seen.solos) expect([verdict, "undetermined", "starved"]).toContain(Verdict ?? "");
  if (undisturbed.length === seen.solos.length) expect(verdictsOf(seen.solos)).toContain(verdict);
  return verdictsOf(seen.solos).includes(verdict);
}

/** How long a measurement is repeated on a disturbed machine. */
const PATIENCE_MS = 30_000;
/**
 * A test of what only a calm machine shows.
 * @param body expects what holds on every machine @returns whether the machine was calm enough to show the rest as well
 */
function shows(name: string, body: () => Promise<boolean>, all: readonly Need[] = []): void {
  testIf(...needs(...all), name, async () => {
    const since = performance.now();
    do if (await body()) return;
    while (performance.now() - since < PATIENCE_MS);
    notShown(name, "other work disturbed this machine");
  });
}

shows("loopback at full speed is server-bound", async () => {
  const seen = await measured(["--servers", "node-express", "--endpoints", HEAVY, "--seconds", "1"]);
  return expectVerdict(seen, "server-bound");
});

/**
 * A server in this process. `answer` gets the number of the request since the last pause of 20 ms: the two checks before a restart are 1 and 2.
 * @returns what `measured` does, and the slices in which this process was not late
 */
async function measuredForeign(answer: (n: number) => Response | Promise<Response>, args: string[]) {
  let [n, last] = [0, 0];
  const fetch = () => {
    const now = performance.now();
    [n, last] = [now - last > 20 ? 1 : n + 1, now];
    return answer(n);
  };
  const server = Bun.serve({ port: 0, fetch });
  try {
    const seen = await measured([...args, `http://127.0.0.1:${server.port}`]);
    return { ...seen, undisturbed: quiet(seen, LATE_MS) };
  } finally {
    await server.stop(true);
  }
}

const FOREIGN = ["--name", "foreign", "--endpoints", "/x", "--seconds", "0.5"];

test("a server that answers 429 is rate-limited", async () => {
  const answer = (n: number) => new Response("x", { status: n % 10 === 0 ? 429 : 200 });
  const { output, solos } = await measuredForeign(answer, FOREIGN);
  expect(verdictsOf(solos)).toEqual(["rate-limited"]);
  expect(output).toContain("Rate-limited, so not ranked by requests/s: all at ");
  // What is not 2xx is counted, and is not goodput.
  for (const row of solos) {
    const [requests, errors] = [Number(row.Requests), Number(row["Error Count"])];
    expect(errors / requests).toBeWithin(0.08, 0.12);
    expect((Number(row.QPS) * Number(row.Seconds)) / (requests - errors)).toBeWithin(0.99, 1.01);
  }
});

shows("2 % of errors are invalid", async () => {
  const answer = (n: number) => new Response("x", { status: n % 50 === 0 ? 500 : 200 });
  const seen = await measuredForeign(answer, FOREIGN);
  if (!expectVerdict(seen, "invalid", quiet(seen, VERY_LATE_MS))) return false;
  expect(seen.output).toContain("fix the server or the network");
  return true;
});

testIf(
  ...needs("two cores"),
  "a generator that others hold to 10 % CPU is starved, whatever else it looks like",
  async () => {
    const { generator } = splitCores() as Cores;
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    const fortio = find("fortio") as string;
    writeFileSync(join(bin, "fortio"), `#!/bin/sh\nexec nice -n 10 "${fortio}" "$@"\n`);
    chmodSync(join(bin, "fortio"), 0o755);
    // A nice value of 10 is a tenth of the weight of these.
    const busy = parseCpuList(generator).map((core) =>
      run(["taskset", "-c", `${core}`, "sh", "-c", "while :; do :; done"]),
    );
    try {
      // bench.sh puts .tools/bin first, so this is called as bench.sh calls it.
      const file = newFile();
      const args = [
        "--results",
        file,
        "--servers",
        "bun-raw",
        "--endpoints",
        "/plain",
        "--seconds",
        "1",
        "--minutes",
        "0",
        "--details",
        ...WARMUP,
      ];
      const { code, output } = await finish(["bun", "bench/cli.ts", ...args], {
        PATH: bin + delimiter + process.env.PATH,
      });
      expect([code, output]).toEqual([0, expect.any(String)]);
      expect(verdictsOf(rowsOf(file))).toEqual(["starved"]);
      expect(output).toMatch(/other work\s+used/);
    } finally {
      for (const { child } of busy) child.kill("SIGKILL");
    }
  },
);

shows("a server that does nothing is as fast as the generator: client-bound", async () => {
  const { server } = splitCores() as Cores;
  const PORT = String(await freePort());
  const nothing = run(["taskset", "-c", server, "bun", "bench/load/nothing.ts"], { HOST: "127.0.0.1", PORT });
  try {
    const url = `http://127.0.0.1:${PORT}`;
    await until(async () => (await fetch(url).catch(() => null))?.ok === true);
    const seen = await measured(["--name", "nothing", "--endpoints", "/plain", "--seconds", "1", url]);
    return expectVerdict(seen, "client-bound", quiet(seen, VERY_LATE_MS));
  } finally {
    nothing.child.kill();
    await nothing.ended;
  }
}, ["two cores"]);

describe("a fixed rate", () => {
  /** Stands still for the first 200 ms of every second, and then answers all that has come. */
  const STALL_MS = 200;
  const stalling = async () => {
    const into = Date.now() % 1_000;
    if (into < STALL_MS) await Bun.sleep(STALL_MS - into);
    return new Response("x");
  };
  // At an even rate the longest 1 % of all answers are those that wait longer than this.
  const p99 = STALL_MS - 0.01 * 1_000;
  const args = ["--name", "stalling", "--endpoints", "/x", "--rate", "500", "--seconds", "4"];

  shows("with connections enough the p99 is the one that the schedule of the server gives", async () => {
    const { solos, undisturbed } = await measuredForeign(stalling, [...args, "--connections", "200"]);
    // A starved generator asks less while the server stands still.
    const judged = solos.filter(({ Verdict }) => Verdict !== "starved");
    for (const { P99Ms } of judged) expect(Number(P99Ms) / p99).toBeGreaterThan(0.9);
    for (const { P99Ms, Verdict } of undisturbed) {
      expect(Verdict).toBe("on schedule");
      expect(Number(P99Ms) / p99).toBeLessThan(1.1);
    }
    return undisturbed.length > 0;
  });

  shows("with too few the row says that it is service time, and what to do", async () => {
    const { output, solos, undisturbed } = await measuredForeign(stalling, [...args, "--connections", "20"]);
    for (const { Verdict } of solos) expect(["service time", "starved"]).toContain(Verdict ?? "");
    if (!verdictsOf(solos).includes("service time")) return false;
    const [, more] = /lower --rate, or raise --connections to more than (\d+)/.exec(output) ?? [];
    expect(Number(more)).toBeGreaterThanOrEqual(100);
    // The slowest answer decides what is advised.
    if (undisturbed.length < solos.length) return false;
    expect(Number(more)).toBeLessThan(110);
    return true;
  });
});

shows("--slo lands within 7 % of what a server of known service time can do", async () => {
  const SERVICE_MS = 5;
  let free = 0;
  const oneAtATime = async () => {
    free = Math.max(free, performance.now()) + SERVICE_MS;
    await Bun.sleep(free - performance.now());
    return new Response("x");
  };
  const args = ["--name", "busy", "--endpoints", "/x", "--slo", "p99<20ms"];
  const { output, solos, undisturbed } = await measuredForeign(oneAtATime, args);
  const found = output.match(
    /busy is enough for ([\d.]+) requests\/s \(([\d.]+)–([\d.]+), \d restarts?\) at p99 < 20 ms; /,
  );
  const [rate = 0, low = 0, high = 0] = (found ?? []).slice(1).map((number) => (Number(number) * SERVICE_MS) / 1_000);
  expect(rate).toBeLessThan(1.07);
  expect(low).toBeLessThanOrEqual(rate);
  expect(solos.filter(({ Kind }) => Kind === "open").length).toBeGreaterThan(2);
  // A machine that is late keeps no promise of 20 ms.
  if (undisturbed.length < solos.length) return false;
  expect(found, output).not.toBeNull();
  expect(rate).toBeGreaterThan(0.93);
  expect(high).toBeGreaterThan(rate);
  return true;
});

/** Passes on what it gets, 40 ms later. */
const LINE = `const { connect, createServer } = require("node:net");
createServer((near) => {
  const far = connect(process.env.TO, "127.0.0.1");
  for (const [from, to] of [[near, far], [far, near]]) {
    from.setNoDelay(true).on("error", () => {});
    from.on("data", (part) => setTimeout(() => to.write(part), 40)).on("close", () => setTimeout(() => to.destroy(), 40));
  }
}).listen(process.env.PORT, "127.0.0.1");`;

describe("behind a long line", () => {
  let lines: Program[];
  let servers: Server[];
  let urls: string[];

  beforeAll(async () => {
    servers = await Promise.all(["bun-raw", "node-express"].map((SERVER) => startServer({ SERVER, DB_FILE })));
    const ports = await Promise.all(servers.map(() => freePort()));
    lines = servers.map(({ port }, i) => run(["node", "-e", LINE], { PORT: `${ports[i]}`, TO: `${port}` }));
    urls = ports.map((port) => `http://127.0.0.1:${port}`);
    for (const url of urls) await until(async () => (await fetch(url).catch(() => null))?.ok === true);
  });
  afterAll(async () => {
    for (const { child } of lines) child.kill();
    await Promise.all(servers.map(stopServer));
  });

  shows("80 ms are network-bound for two servers, and turns order them all the same", async () => {
    // A short answer, because a line whose process waits for a core is narrow.
    const far = await measured(["--endpoints", "/plain", "--seconds", "1.5", ...urls]);
    const values = (rows: typeof far.solos, column: string) =>
      rows.map((row) => Number(row[column])).sort((a, b) => a - b);
    expect(values(far.solos, "QPS").at(-1)).toBeLessThan(1_250); // 100 connections ÷ 80 ms
    expect(values(far.solos, "AvgMs")[0]).toBeGreaterThan(80);
    // CPU time per request does not need a server at its limit: the dear and the cheap one differ here as well.
    const rows = readReport(far.file).endpoints[0]?.rows ?? [];
    const cost = (server: string) => rows.find(({ name }) => name === server)?.standing?.ratioToBest.estimate ?? 0;
    expect(cost("node-express")).toBeGreaterThan(cost("bun-raw"));
    const calm = quiet(far, VERY_LATE_MS, 0.1); // the line is another process
    expectVerdict(far, "network-bound", calm);
    if (calm.length < far.solos.length) return false;
    const [rates, latencies] = [values(calm, "QPS"), values(calm, "AvgMs")];
    expect(rates[rates.length >> 1]).toBeGreaterThan(900); // 100 connections ÷ 105 ms, less the ends of a slice
    expect(latencies[latencies.length >> 1]).toBeLessThan(105);
    expect(far.output.replaceAll(/\s+/g, " ")).toMatch(
      /Network-bound, so not ranked by requests\/s: all at \S+ the 8\d(\.\d)? ms of the network limited the rate/,
    );
    return true;
  });
});

shows("a line of 20 Mbit/s is bandwidth-bound", async () => {
  const space = `benchmark-${process.pid}`;
  const ip = (...args: string[]) => finish(["ip", ...args]);
  const inside = ["ip", "netns", "exec", space];
  let server: Program | undefined;
  try {
    await ip("netns", "add", space);
    await ip("link", "add", "bench0", "type", "veth", "peer", "name", "bench1", "netns", space);
    await ip("address", "add", "198.18.0.1/30", "dev", "bench0");
    await ip("link", "set", "bench0", "up");
    await finish([...inside, "ip", "address", "add", "198.18.0.2/30", "dev", "bench1"]);
    await finish([...inside, "ip", "link", "set", "bench1", "up"]);
    const limit = "qdisc add dev bench1 root tbf rate 20mbit burst 32kb latency 400ms".split(" ");
    expect((await finish([...inside, "tc", ...limit])).output).toBe("");
    server = run([...inside, "sh", "servers/start.sh"], {
      SERVER: "bun-hono",
      HOST: "198.18.0.2",
      PORT: "3000",
      DB_FILE,
    });
    const url = "http://198.18.0.2:3000";
    await until(async () => (await fetch(url).catch(() => null))?.ok === true);
    const seen = await measured(["--endpoints", HEAVY, "--seconds", "2", url]);
    const { output, solos } = seen;
    const calm = quiet(seen, VERY_LATE_MS, 0.1);
    if (!expectVerdict(seen, "bandwidth-bound", calm)) return false;
    // Headers of TCP, IP and Ethernet are on the line, not in the answers.
    const [, mbits] = /fill the network's ([\d.]+) Mbit\/s/.exec(output) ?? [];
    expect(Number(mbits)).toBeLessThan(20.1);
    // A machine that is late fills no line.
    if (calm.length < solos.length) return false;
    expect(Number(mbits)).toBeGreaterThan(15);
    return true;
  } finally {
    server?.child.kill("SIGKILL");
    await server?.ended;
    await ip("netns", "del", space);
  }
}, ["root", "ip", "tc"]);

shows("compare ends when it can tell, tax compares with the hand-written twin", async () => {
  const file = newFile();
  const args = ["--endpoints", "/sqlite/random-5fields/5", "--warmup", "5000", "--results", file];
  const pair = await finish(["./bench.sh", "compare", "bun-raw", "node-express", ...args], { MARKER: "pair" });
  expect([pair.code, pair.output]).toEqual([0, expect.stringContaining("of the CPU time per request, different;")]);
  const [, ratio] = /bun-raw ÷ node-express \S+: ([\d.]+) \(/.exec(pair.output) ?? [];
  expect(Number(ratio)).toBeWithin(0.3, 0.9);
  const tax = await finish(["./bench.sh", "tax", "--servers", "bun-raw", "--seconds", "10", ...args], {
    MARKER: "pair",
  });
  expect([tax.code, tax.output]).toEqual([0, expect.stringMatching(/bun-raw ÷ by hand \S+: [\d.]+ /)]);
  // On a noisy machine the interval is wide, and one that tells nothing is not printed.
  const [, low, high] = /by hand \S+: [\d.]+ \(([\d.]+)–([\d.]+)\)/.exec(tax.output) ?? [];
  if (process.platform === "linux") expect(left("pair")).toEqual([]);
  if (low === undefined) return false;
  expect(Number(low)).toBeLessThan(1.2);
  expect(Number(high)).toBeGreaterThan(0.9);
  return true;
});

testIf(
  ...needs("root", "chrt", "two cores"),
  "beside a neighbour that takes the cores a slice is starved, or what it would be without: never for the network or the server",
  async () => {
    const neighbour = run(["bun", "bench/self-test/neighbour.ts"]);
    try {
      for (let n = 0; n < (process.env.LONG ? 20 : 1); n++) {
        const { solos } = await measured(["--servers", "bun-raw", "--endpoints", "/plain", "--seconds", "1"]);
        const verdicts = verdictsOf(solos);
        console.log(
          `beside a neighbour: ${solos.map(({ Verdict, TakenTime }) => `${Verdict} ${TakenTime}`).join(", ")}`,
        );
        expect(verdicts).toContain("starved");
        for (const verdict of verdicts)
          expect(["starved", "server-bound", "client-bound", "undetermined"]).toContain(verdict ?? "");
      }
    } finally {
      neighbour.child.kill("SIGTERM");
      await neighbour.ended;
    }
  },
);

testIf(
  ...needs("two cores"),
  "self-test on one server: equal copies are not called different, nor is 5 % more work called less",
  async () => {
    const args = [
      "--servers",
      "bun-hono",
      "--endpoints",
      "/sqlite/random-5fields/5",
      "--seconds",
      "10",
      "--warmup",
      "5000",
    ];
    const isRight = async () => {
      const { code, output } = await finish(["./bench.sh", "self-test", ...args, "--results", newFile()]);
      expect([code, output]).toEqual([0, expect.stringContaining("until decided")]);
      const [same = "", more = "", ...others] = output.split("\n").filter((line) => line.startsWith("bun-hono "));
      expect([same, more, others]).toEqual([expect.stringMatching(/A\/A/), expect.stringMatching(/more work/), []]);
      return / same /.test(same) && / (slower|same) /.test(more);
    };
    // With 95 % each: one run in twenty may be wrong, two in a row are one in four hundred.
    expect((await isRight()) || (await isRight())).toBe(true);
  },
);
