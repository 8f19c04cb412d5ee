/** What is shown of a run: the same for any order of its rows, and true of the files in this repository. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { SimpleFaker } from "@faker-js/faker";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { parseCpuList } from "../../bench/host/cores.ts";
import { findFile, PUBLISHED, RESULTS, readText, runFile, runsIn, writeWhole } from "../../bench/keep/files.ts";
import type { Manifest } from "../../bench/keep/manifest.ts";
import { RESULT_COLUMNS } from "../../bench/keep/results.ts";
import { appendSlices, PROTOCOL, readSlices, type Slice } from "../../bench/keep/slices.ts";
import { parseSlo } from "../../bench/run/slo.ts";
import { card } from "../../bench/tell/card.ts";
import { agreement, compareRuns, comparison } from "../../bench/tell/compare.ts";
import { DOCS, filled, MACHINES, PICTURE, placesOf } from "../../bench/tell/docs.ts";
import { otherTables } from "../../bench/tell/format.ts";
import { html } from "../../bench/tell/html.ts";
import { machineSays, machinesDiffer } from "../../bench/tell/machine.ts";
import { acrossRuns, machinesPage } from "../../bench/tell/machines.ts";
import { markdown } from "../../bench/tell/markdown.ts";
import { allReports, readReport, reportOf } from "../../bench/tell/read.ts";
import { kindOf, newestOf, type Report } from "../../bench/tell/report.ts";
import { resultRows } from "../../bench/tell/results.ts";
import { terminal } from "../../bench/tell/terminal.ts";
import { csvOf, finish, must, resultsIn, scratch } from "../harness.ts";

const newFile = resultsIn(scratch());
const faker = new SimpleFaker();
faker.seed(1);

/** CPU µs per request of each server; every slice is one of these times a known noise. */
const COSTS = { "bun-hono": 10, "bun-hono@better-sqlite3": 12, "bun-raw": 10, "node-hono": 16, "node-raw": 15 };
const DRIVERS: Record<string, string> = { "bun-hono": "bun:sqlite", "bun-raw": "bun:sqlite" };

/** A run of three blocks with known truth, as bench.sh would append it. */
function known({ run = "2026-01-01T00:00:00.000Z", slower = "", protocol = PROTOCOL } = {}): Slice[] {
  const noise = () => Math.exp((faker.number.float() - 0.5) / 50);
  const names = Object.keys(COSTS) as (keyof typeof COSTS)[];
  let slice = 0;
  const one = (block: number, endpoint: string, name: keyof typeof COSTS, partner: string | null): Slice => {
    const us = COSTS[name] * (name === slower ? 1.2 : 1) * noise();
    const [runtime = "", framework = ""] = name.split(/[-@]/);
    return {
      name,
      endpoint,
      requests: 1_000,
      errors: 0,
      averageMs: us / 10,
      goodput: 1e6 / us,
      p50Ms: us / 10,
      p90Ms: us / 5,
      p99Ms: us / 2,
      p999Ms: us,
      cpuUsPerRequest: us,
      rssBytes: 80e6,
      connections: 100,
      sockets: 100,
      seconds: 1,
      kind: partner ? "duet" : "closed",
      run,
      startedAt: run,
      protocol,
      runtime: `${runtime} 1.0.0`,
      framework: `${framework} 1.0.0`,
      driver: `${name.includes("@") ? "better-sqlite3" : (DRIVERS[name] ?? "better-sqlite3")} 3.50`,
      workers: 1,
      target: "http://127.0.0.1:3000",
      host: "here",
      block,
      slice,
      partner,
      targetRate: null,
      verdict: partner ? null : "server-bound",
      maxMs: us,
      utilization: 1,
      peakRssBytes: 90e6,
      startupMs: 100,
      generatorCpu: 0.5,
      bytesPerRequest: 100,
      kernelUsPerRequest: 2.5,
      faultsPerRequest: 0,
      switchesPerRequest: 0.5,
      taken: 0.01,
      warm: "steady",
      databaseUsPerRequest: null,
      poolerUsPerRequest: null,
      databaseBytes: null,
      lockWaiters: null,
      idleInTransaction: null,
      deadlocks: null,
    };
  };
  return [1, 2, 3].flatMap((block) =>
    ["/plain", "/sqlite/random-5fields/5"].flatMap((endpoint) => [
      ...[1, 2].flatMap((step) =>
        names.flatMap((name, i) => {
          const other = names[(i + step) % names.length] as keyof typeof COSTS;
          slice++;
          return [one(block, endpoint, name, other), one(block, endpoint, other, name)];
        }),
      ),
      ...names.map((name) => {
        slice++;
        return one(block, endpoint, name, null);
      }),
    ]),
  );
}

const run = known();
const report = reportOf(run, null);

describe("a run of known truth", () => {
  test("on a terminal", () => expect(terminal(report, 100)).toMatchSnapshot());
  test("as Markdown", () => expect(markdown(report)).toMatchSnapshot());
  test("behind the charts", () => {
    const rounded = JSON.stringify(
      report.endpoints,
      (_, value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value),
      1,
    );
    expect(rounded).toMatchSnapshot();
  });

  test("the answer names the ties, what a choice costs and what was not told apart", () => {
    const answer = report.answer.join("\n");
    for (const endpoint of ["/plain", "/sqlite/random-5fields/5"]) {
      expect(answer).toMatch(
        new RegExp(
          `${endpoint}: bun-hono and bun-raw tie for the least .*; the next, bun-hono@better-sqlite3, needs 1\\.2`,
        ),
      );
    }
    expect(answer).toMatch(
      /bun with bun:sqlite instead of node with better-sqlite3: CPU time × 0\.6\d \(0\.\d\d–0\.\d\d\)/,
    );
    expect(answer).toMatch(
      /better-sqlite3 instead of bun:sqlite on bun: CPU time × 1\.\d\d \(.*different at 1 of 1 endpoints/,
    );
    expect(answer).toContain("Not told apart at any endpoint: bun-hono and bun-raw");
  });

  for (const width of [80, 100]) {
    test(`fits ${width} columns, and no name is cut`, () => {
      const lines = terminal(report, width).split("\n");
      expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(width);
      for (const name of Object.keys(COSTS)) expect(lines.some((line) => line.includes(` ${name} `))).toBe(true);
    });
  }
});

test("several runs are one table of ranges", () => {
  const runs = [known(), known({ slower: "node-raw" })].map((slices) => reportOf(slices, null));
  const { head, rows } = acrossRuns(runs);
  const costs = Object.fromEntries(rows.map(([name, cost]) => [name, cost as string]));
  const single = acrossRuns(runs.slice(0, 1)).rows.map(([, cost]) => cost);
  expect(head.slice(0, 2)).toEqual(["server", "/plain"]);
  expect(single.join()).not.toContain("–");
  expect(costs["bun-raw"]).toMatch(/^1\.00 =$/);
  const [least = 0, most = 0] = (costs["node-raw"] ?? "").split("–").map(Number);
  expect(most / least).toBeWithin(1.15, 1.25);
});

test("at a fixed rate: how many were answered, and how long all of them took", () => {
  const slices = known().map(
    (slice): Slice =>
      slice.kind === "duet" ? slice : { ...slice, kind: "open", targetRate: 1_000, errors: 1, averageMs: 73.5 },
  );
  const [first] = reportOf(slices, null).endpoints;
  const [table, ...others] = otherTables(first as Report["endpoints"][number]);
  expect(others).toEqual([]);
  // Three blocks of 1,000 requests, one of them failed in each.
  for (const [, ...cells] of table?.rows ?? []) expect(cells).toEqual(["2,997", "3", "0.99900000", "3 min 41 s"]);
  expect(reportOf(known(), null).endpoints.flatMap(otherTables)).toEqual([]);
});

test("what was searched is said of the stores: writes per second, and what they promise", () => {
  const slices = known();
  const store = {
    name: "sqlite",
    driver: "bun:sqlite 3.53.0",
    file: "content.db",
    journal: "wal",
    synchronous: "normal",
  };
  const capacity = {
    rate: 1_000,
    low: 950,
    high: 1_090,
    starts: 3,
    reason: "at 1040.0 requests/s p99 was 60.0 ms",
    slo: parseSlo("p99<50ms"),
  };
  const { manifest } = newestOf(allReports(PUBLISHED)).get("read") as Report;
  const { answer, endpoints } = reportOf(slices, {
    ...(manifest as Manifest),
    stores: {
      "bun-raw": store,
      "bun-hono": { ...store, synchronous: "full" },
      "node-raw": { name: "memory", driver: "memory" },
    },
    capacities: { "bun-raw": { content: capacity, "POST /users": { ...capacity, high: null } } },
  });
  expect(answer).toContain(
    "content: bun-raw (bun:sqlite 3.53.0) is enough for 3,000 writes/s (2,850–3,270, 3 starts) at p99 < 50 ms; in the last start at 1040.0 requests/s p99 was 60.0 ms.",
  );
  expect(answer.join()).toContain(
    "POST /users: bun-raw (bun:sqlite 3.53.0) is enough for 1,000 writes/s or more at p99 < 50 ms",
  );
  expect(answer.join()).toContain(
    "What bun-raw answered survives a crash of the server; a machine that loses power may lose the latest",
  );
  expect(answer.join()).toContain("What bun-hono answered survives a crash of the server and of the machine");
  expect(answer.join()).toContain("What node-raw answered is gone when the server ends.");
  expect(endpoints.every(({ load }) => load === "closed")).toBe(true); // what the search tried is no measurement
});

test("a choice that no duet compared has no CPU time, but its requests per second", () => {
  const [name, endpoint] = ["bun-hono@better-sqlite3", "/sqlite/random-5fields/5"];
  const slices = known().filter(
    (slice) => slice.kind !== "duet" || slice.endpoint !== endpoint || ![slice.name, slice.partner].includes(name),
  );
  const report = reportOf(slices, null);
  const found = report.endpoints.find((one) => one.endpoint === endpoint)?.effects ?? [];
  const effect = found.find(({ factor }) => factor === "driver");
  expect([effect?.to, effect?.cpu, effect?.goodput.estimate]).toEqual(["better-sqlite3", null, expect.any(Number)]);
  expect(report.answer.join()).not.toMatch(/NaN|undefined|null/);
});

test("the card names the one server that was at its limit where the others' client was", () => {
  const seen = (one: string) =>
    known().map((slice) =>
      slice.kind === "duet" || slice.name === one ? slice : { ...slice, verdict: "client-bound" as const },
    );
  expect(card(reportOf(seen("node-raw"), null))).toContainEqual(
    expect.stringMatching(/^Does it matter\? At \S+ only node-raw was at its own limit: [\d,]+ requests\/s$/),
  );
  expect(card(reportOf(seen("none"), null))).toContainEqual(expect.stringContaining("no server was at its own limit"));
});

describe("the order of rows", () => {
  for (const seed of [1, 2, 3]) {
    test(`does not matter (${seed})`, async () => {
      const shuffler = new SimpleFaker();
      shuffler.seed(seed);
      const { run, manifest } = readReport(PUBLISHED);
      const newest = readSlices(PUBLISHED, run);
      const shuffled = reportOf(shuffler.helpers.shuffle(newest), manifest);
      const ordered = reportOf(newest, manifest);
      expect(terminal(shuffled, 100)).toBe(terminal(ordered, 100));
      expect(markdown(shuffled)).toBe(markdown(ordered));
      expect(await html(shuffled)).toBe(await html(ordered));
    });
  }
});

describe("two runs", () => {
  const RUN = "2026-02-02T00:00:00.000Z";
  const fileOf = (...runs: Slice[][]) => {
    const file = newFile();
    for (const slices of runs) appendSlices(file, slices);
    return file;
  };

  test("what became dearer is different, the rest is not", () => {
    const changes = compareRuns(run, known({ run: RUN, slower: "node-raw" }));
    expect(changes).toHaveLength(10);
    for (const { name, relativeCpu } of changes) {
      // All others became cheaper against a mean that rose by a fifth of 20 %.
      const [low, high] = name === "node-raw" ? [1.13, 1.19] : [0.94, 0.99];
      expect(relativeCpu?.estimate).toBeWithin(low as number, high as number);
    }
  });

  test("of different protocols are refused in one line", async () => {
    const file = fileOf(run, known({ run: RUN, protocol: 1 }));
    const { code, output } = await finish(["./bench.sh", "report", file, "--compare", run[0]?.run ?? "", RUN]);
    expect([code, output]).toEqual([1, expect.stringMatching(/^run .* is of protocol 4, run .* of protocol 1: .*\n$/)]);
  });

  test("are shown with what is different", async () => {
    const file = fileOf(run, known({ run: RUN, slower: "node-raw" }));
    const { code, output } = await finish(["./bench.sh", "report", file, "--compare", run[0]?.run ?? "", RUN]);
    expect([code, output]).toEqual([0, expect.stringMatching(/node-raw +\/plain +1\.\d\d \(\d\.\d\d–\d\.\d\d\) \*/)]);
  });

  test("end with how many pairs disagree", () => {
    expect(agreement(run, known({ run: RUN }))).toEqual({ pairs: 20, disagree: 0, opposite: 0 });
    const { pairs, disagree } = agreement(run, known({ run: RUN, slower: "node-raw" }));
    expect([pairs, disagree]).toEqual([20, 8]); // its four pairs at two endpoints
    const text = comparison(run, known({ run: RUN, slower: "node-raw" }));
    expect(text.split("\n").at(-1)).toStartWith("8 of 20 pairs disagree: their intervals of CPU time do not overlap");
  });

  test("begin with how their machines differ", () => {
    const published = readReport(PUBLISHED).manifest as Manifest;
    const apart = published.fingerprints.map((one) => ({ ...one, together: 1 }));
    const manifest: Manifest = { ...published, fingerprints: apart };
    expect(machinesDiffer(manifest, manifest)).toEqual([]);
    const other: Manifest = {
      ...manifest,
      machine: { ...manifest.machine, model: 999, caches: ["L2 1 KiB"] },
      fingerprints: manifest.fingerprints.map((one) => ({
        ...one,
        together: one.together + 1,
        speed: { ...one.speed, syscallNs: one.speed.syscallNs * 2 },
      })),
    };
    const text = comparison(run, known({ run: RUN }), [manifest, other]).split("\n")[1];
    for (const part of [
      `model ${manifest.machine.model} → 999`,
      "→ L2 1 KiB",
      "a system call × 2.00",
      "beside the same loop",
    ]) {
      expect(text).toContain(part);
    }
    expect(machineSays(other, run).join("\n")).toContain("Its cores share one (hyperthreads");
    expect(comparison(run, run).split("\n")[1]).toContain("the machine of one run is not known");
  });
});

describe("what a run knows against itself stands where the number does", () => {
  const shown = async (slices: Slice[]) => {
    const report = reportOf(slices, null);
    return [terminal(report, 160), markdown(report), await html(report)];
  };

  test("a server whose cost still changed is warming: it has no rank, and no pair with it is different", async () => {
    const slices = known().map(
      (slice): Slice =>
        slice.name === "node-hono" && slice.block === 2 && slice.endpoint === "/plain"
          ? { ...slice, warm: "warming" }
          : slice,
    );
    const [plain] = reportOf(slices, null).endpoints;
    const row = plain?.rows.find(({ name }) => name === "node-hono");
    expect([row?.warming, row?.standing?.rank, row?.standing?.groups]).toEqual([
      "its cost still changed when 1 of 3 blocks began",
      null,
      "",
    ]);
    for (const { a, b, state } of plain?.comparison?.pairs ?? []) {
      if ([a, b].includes("node-hono")) expect(state).toBe("undecided");
    }
    for (const text of await shown(slices)) {
      expect(text).toMatch(/warming[^\n]*node-hono|node-hono[^\n]*warming/);
      expect(text).toContain("node-hono at /plain (its cost still changed when 1 of 3 blocks began)");
    }
  });

  test("the next after the first is not one that is warming", () => {
    const slices = run.map((slice): Slice => ({ ...slice, ...(slice.name.includes("@") && { warm: "warming" }) }));
    expect(reportOf(slices, null).answer.join("\n")).toMatch(/\/plain: [^\n]*; the next, node-\w+, needs/);
  });

  test("one whose cost changed while it was measured is warming as well", () => {
    const windows = (later: number) =>
      [1, 2].flatMap((turn) =>
        [1, 2, 3].map((n) => ({ requests: n * 1_000, costUs: turn === 1 ? 10 : 10 * later, referenceUs: 10, turn })),
      );
    const warmup = Object.fromEntries(
      Object.keys(COSTS).map((name, i) => {
        const change = name === "bun-raw" ? 0.7 : 1 + i / 1e3;
        return [name, { "/plain": { windows: windows(change), steady: true, turn: 2 } }];
      }),
    );
    const blocks = [1, 2, 3].map((block) => ({ block, turns: [], warmup }));
    const { manifest } = newestOf(allReports(PUBLISHED)).get("read") as Report;
    const [plain] = reportOf(known(), { ...(manifest as Manifest), blocks }).endpoints;
    const warming = plain?.rows.flatMap((row) => (row.warming ? [[row.name, row.warming]] : []));
    expect(warming).toEqual([["bun-raw", "its cost fell by 30 % while it was measured"]]);
  });

  test("a server that is dearer beside another than alone", async () => {
    const slices = known().map((slice): Slice => {
      const alone = slice.kind === "duet" ? 1 : 1 / ({ "node-raw": 1.4, "bun-raw": 1.08 }[slice.name] ?? 1);
      return { ...slice, cpuUsPerRequest: slice.cpuUsPerRequest && slice.cpuUsPerRequest * alone };
    });
    for (const text of await shown(slices)) {
      const [said] = /Dearer beside another server[^:]*:\s[^;]*;/.exec(text) ?? [];
      expect(said).toMatch(/: node-raw ×\s1\.4\d \(\d\.\d\d–\d\.\d\d\);$/);
    }
    for (const text of await shown(known())) expect(text).not.toContain("Dearer");
  });

  test("what a starved slice saw is left out where there is something else", async () => {
    const starve = (only: number[]) =>
      known().map(
        (slice): Slice =>
          slice.name === "node-raw" && slice.kind === "closed" && only.includes(slice.block)
            ? { ...slice, verdict: "starved", taken: 0.4, cpuUsPerRequest: 1e3 }
            : slice,
      );
    const row = (slices: Slice[]) => reportOf(slices, null).endpoints[0]?.rows.find(({ name }) => name === "node-raw");
    expect(row(starve([2]))?.cpuUsPerRequest?.estimate).toBeWithin(13, 17);
    expect(row(starve([1, 2, 3]))?.verdict).toBe("starved");
    for (const text of await shown(starve([1, 2, 3]))) {
      expect(text).toContain("the host or other processes had 40");
    }
  });
});

describe("every row of every committed table", () => {
  const slices = runsIn(PUBLISHED)
    .flatMap((run) => readSlices(PUBLISHED, run))
    .filter(({ kind, verdict }) => kind === "closed" && verdict !== "starved");
  const rows = allReports(PUBLISHED).flatMap(({ run, endpoints, connections, manifest }) =>
    endpoints.flatMap(({ endpoint, rows }) =>
      rows.flatMap(({ name, goodput, verdict }) => {
        const of = slices.filter((slice) => slice.run === run && slice.endpoint === endpoint && slice.name === name);
        const requests = of.reduce((sum, slice) => sum + slice.requests, 0);
        const averageMs = of.reduce((sum, slice) => sum + slice.averageMs * slice.requests, 0) / requests;
        const seconds = of.reduce((sum, one) => sum + one.seconds, 0);
        // They end one by one, or in step.
        const idle = of.reduce((sum, one) => sum + one.averageMs / 2e3, 0);
        const cpuUs = of.reduce((sum, slice) => sum + (slice.cpuUsPerRequest ?? 0) * slice.requests, 0);
        const merged = (manifest?.histograms[name]?.[endpoint] ?? []).reduce((sum, [, , n]) => sum + n, 0);
        const isSound = requests > 0 && verdict !== "invalid";
        return isSound
          ? [
              {
                row: `${run} ${endpoint} ${name}`,
                goodput,
                averageMs,
                connections,
                waiting: connections * (1 - idle / seconds),
                used: (goodput.estimate * cpuUs) / requests / 1e6,
                cores: parseCpuList(manifest?.cores?.server ?? "").length,
                requests,
                merged,
              },
            ]
          : [];
      }),
    ),
  );

  test("obeys Little's law: connections = requests/s × mean latency, within 5 %", () => {
    const off = rows.flatMap(({ row, goodput, averageMs, connections, waiting }) => {
      const seen = (goodput.estimate * averageMs) / 1e3;
      const isRight = 0.95 * waiting < seen && seen < 1.05 * connections;
      return isRight ? [] : [`${row}: ${seen.toFixed(1)} of ${waiting.toFixed(1)} to ${connections}`];
    });
    expect(off).toEqual([]);
    expect(rows.length).toBeGreaterThan(0);
  });

  test("needs no more CPU time than its cores have", () => {
    const over = rows.filter(({ used, cores }) => cores > 0 && used > 1.01 * cores);
    expect(over.map(({ row, used, cores }) => `${row}: ${used.toFixed(3)} of ${cores}`)).toEqual([]);
  });

  test("has percentiles of just the requests that its requests/s are of", () => {
    for (const { row, requests, merged } of rows) expect([row, Math.round(merged)]).toEqual([row, requests]);
  });
});

test("results of others are told what they show", async () => {
  const { code, output } = await finish(["./bench.sh", "report", "tests/fixtures/six-columns.csv"]);
  expect(code).toBe(0);
  expect(output).toContain("in every row requests/s × latency is about 9");
  expect(output).toContain("the line was measured, not the servers");
  expect(output).toMatch(/bun-elysia.*: \/plain came out slower than an endpoint that also reads the database/);
  expect(output).toContain("nothing can be ranked");
});

describe("a mistake is one line, and changes nothing", () => {
  const whole = readText(findFile(PUBLISHED, readReport(PUBLISHED).run, "csv") as string);
  const lines = whole.split("\n");
  const edit = (line: number, column: number, text: string) => {
    const records: string[][] = parse(whole);
    (records[line - 1] as string[])[column] = text;
    return stringify(records.slice(0, 5));
  };
  const cases: [string, string, string][] = [
    ["a number that is none", edit(3, 5, "fast"), 'line 3: column QPS: "fast" is not 0 or a positive number'],
    ["less than nothing", edit(3, 10, "-9.5"), 'column CpuUsPerRequest: "-9.5" is not 0 or a positive number'],
    ["an empty field", edit(4, 0, ""), "line 4: column Name is empty"],
    ["an unknown kind", edit(2, 15, "trio"), 'line 2: column Kind: "trio" is not duet, closed, open'],
    ["a torn row", `${lines.slice(0, 3).join("\n")}\nbun-raw,/pla`, "line 4: "],
    ["other columns", "a,b\n1,2\n", 'line 1: there is no column "Name"'],
    ["no rows", `${lines[0]}\n`, "has no rows"],
  ];
  for (const [name, content, problem] of cases) {
    test(name, async () => {
      const results = newFile();
      const [file, page] = [runFile(results, "run", "csv"), `${results}.html`];
      writeWhole(file, content);
      const { code, output } = await finish(["./bench.sh", "report", results, "--html", page]);
      expect([code, output.trimEnd().split("\n").length, output]).toEqual([1, 1, expect.stringContaining(problem)]);
      expect([readFileSync(file, "utf8"), existsSync(page)]).toEqual([content, false]);
    });
  }

  test.each([
    [["missing.csv"], "missing: no run is there; ./bench.sh measures one"],
    [["--run", "never"], '--run "never" is not there, but '],
    [["--compare", "never", "ever"], '--compare: run "never" is not there, but '],
    [["--compare", "one"], "--compare takes two runs, not 1"],
    [
      ["tests/fixtures/six-columns.csv", "--html", "x.html"],
      "--html and --readme show results of ./bench.sh, one file",
    ],
  ])("report %j", async (args, problem) => {
    const { code, output } = await finish(["./bench.sh", "report", ...args]);
    expect([code, output]).toEqual([1, expect.stringContaining(problem)]);
  });
});

describe("what is in the repository is what the published runs say", () => {
  const committed = allReports(PUBLISHED);
  const places = placesOf(committed);
  test.each(DOCS)("%s", (doc) => {
    const text = readFileSync(doc, "utf8");
    expect(text).toBe(filled(text, places));
    const named = [...text.matchAll(/<!-- (\w+) -->/g)].map(([, place]) => place as string);
    expect(named.filter((place) => !places.has(place))).toEqual([]); // no place without a run
  });
  test(RESULTS, () => {
    const rows = csvOf(RESULTS);
    for (const report of committed) {
      const text = (row: object) =>
        Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, String(cell ?? "")]));
      expect(rows.filter(({ Run }) => Run === report.run)).toEqual(resultRows(report).map(text));
    }
    expect(Object.keys(rows[0] as object)).toEqual([...RESULT_COLUMNS]);
  });
  const newest = newestOf(committed);
  test(PICTURE, () => {
    // By a process of its own: where there is a global `it`, Plot moves all by half a pixel.
    const drawn = must([
      "bun",
      "--eval",
      `import { picture } from "./bench/tell/picture.ts";
       import { allReports } from "./bench/tell/read.ts";
       import { newestOf } from "./bench/tell/report.ts";
       process.stdout.write(picture(newestOf(allReports("${PUBLISHED}")).get("read")))`,
    ]);
    expect(drawn).toBe(readFileSync(PICTURE, "utf8").trim());
  });
  test(MACHINES, () =>
    expect(readFileSync(MACHINES, "utf8")).toBe(machinesPage(committed.filter((report) => kindOf(report) === "read"))),
  );
  test.each([...newest])("the newest run of %s is shown", (kind, report) => {
    expect(DOCS.map((file) => readFileSync(file, "utf8")).join()).toContain(`<!-- ${kind} -->\n\nRun ${report.run}`);
  });
});

test("--html writes one file that asks for no other", async () => {
  const file = newFile();
  const { code } = await finish(["./bench.sh", "report", PUBLISHED, "--html", `${file}.html`]);
  const page = readFileSync(`${file}.html`, "utf8");
  expect([code, /(?:src|href)="(?!#|data:)/.exec(page)]).toEqual([0, null]);
});
