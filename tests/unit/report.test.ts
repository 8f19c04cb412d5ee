/** The report of a run: the same for any order of its rows, and equal to the files in this repository. */
import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { SimpleFaker } from "@faker-js/faker";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { SEQUENCE, TRANSACTION, WORKLOADS } from "../../bench/ask/endpoints.ts";
import { parseCpuList } from "../../bench/host/cores.ts";
import { mainEffects } from "../../bench/judge/effects.ts";
import { PUBLISHED, RESULTS, readText, runFile, runsIn, writeWhole } from "../../bench/keep/files.ts";
import type { Manifest } from "../../bench/keep/manifest.ts";
import { RESULT_COLUMNS } from "../../bench/keep/results.ts";
import { PROTOCOL, readSlices, type Slice, type Window } from "../../bench/keep/slices.ts";
import { parseSlo } from "../../bench/plan/slo.ts";
import { card, tiles } from "../../bench/tell/card.ts";
import { comparison, inBoth } from "../../bench/tell/compare.ts";
import { markdown, summary, terminal } from "../../bench/tell/draw.ts";
import { ratio } from "../../bench/tell/format.ts";
import { html } from "../../bench/tell/html.ts";
import { machineLines } from "../../bench/tell/machine.ts";
import { addressIn, fragmentOf } from "../../bench/tell/page/address.ts";
import { type Kind, kindOf, newestOf, type Report, readReport, reportOf, resultRows } from "../../bench/tell/report.ts";
import { gridsOf } from "../../bench/tell/tables.ts";
import { plain } from "../../bench/tell/text.ts";
import { choose, DOCS, filled, MACHINES, machinesPage, PICTURE, placesOf } from "../../scripts/docs.ts";
import { besideOthers } from "../../scripts/others.ts";
import { csvOf, finish, must, resultsIn, scratch } from "../harness.ts";
import { COSTS, type Known, keep, known } from "./known.ts";
import { present } from "./values.ts";

const newFile = resultsIn(scratch());
const say = (run: Known) => reportOf(run, run.manifest);
const committed = runsIn(PUBLISHED).map((run) => readReport(PUBLISHED, run));

/** A run with some of its rows changed. */
const changed = (
  { slices, windows, manifest }: Known,
  change: {
    slice?: (slice: Slice) => Partial<Slice>;
    window?: (window: Window) => Partial<Window>;
    turns?: (of: Manifest["turns"][number]) => Partial<Manifest["turns"][number]>;
    manifest?: Partial<Manifest>;
  },
): Known => ({
  slices: slices.map((one) => ({ ...one, ...change.slice?.(one) })),
  windows: windows.map((one) => ({ ...one, ...change.window?.(one) })),
  manifest: {
    ...manifest,
    turns: manifest.turns.map((one) => ({ ...one, ...change.turns?.(one) })),
    ...change.manifest,
  },
});

const run = known();
const report = say(run);
const rowOf = ({ endpoints }: Report, name: string, i = 0) => endpoints[i]?.rows.find((row) => row.name === name);

describe("a run of known truth", () => {
  test("on a terminal", () => expect(terminal(report, 100)).toMatchSnapshot());
  test("as a card", () => expect(summary(report, 100)).toMatchSnapshot());
  test("as Markdown", () => expect(markdown(say(known({ endpoints: ["/plain"] })))).toMatchSnapshot());
  test("of a server, and of pairs", () => {
    const { rows, comparison } = present(report.endpoints[0] ?? null);
    const short = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
    expect(JSON.stringify(rows[2], short).replace(/,"(?=latency|rss|peak|requests)/g, ',\n"')).toMatchSnapshot();
    const lines = present(comparison).pairs.map(({ a, b, ratio: of, state }) => `${a} ÷ ${b} ${ratio(of)} ${state}`);
    expect(lines.join("\n")).toMatchSnapshot();
  });

  test("the card names ties, and the cost of a choice on each runtime", () => {
    const text = summary(report, 100);
    expect(text).toContain("Least CPU    bun-hono, bun-raw: not distinguishable at 2 of 2 endpoints");
    expect(text).toMatch(/^ {2}Bun vs Node with Hono +−3\d % +−3\d % +2 of 2$/m);
    expect(text).toMatch(/^ {2}better-sqlite3 vs bun:sqlite on Bun +.*\+\d+ %.* 1 of 1$/m);
    expect(text).toMatch(/^ {2}Hono vs no framework on Node +\+\d+ %/m);
  });

  for (const width of [80, 100]) {
    test(`fits ${width} columns, and no name is cut`, () => {
      const lines = terminal(report, width).split("\n");
      expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(width);
      for (const name of Object.keys(COSTS)) expect(lines.some((line) => line.includes(` ${name} `))).toBe(true);
    });
  }

  test.each([1, 2, 3])("whatever the order of its rows (%d)", async (seed) => {
    const shuffler = new SimpleFaker();
    shuffler.seed(seed);
    const { shuffle } = shuffler.helpers;
    const { manifest } = run;
    const shuffled = say({
      slices: shuffle(run.slices),
      windows: shuffle(run.windows),
      manifest: { ...manifest, turns: shuffle(manifest.turns) },
    });
    expect(terminal(shuffled, 100)).toBe(terminal(report, 100));
    expect(markdown(shuffled)).toBe(markdown(report));
    // The manifest is shown as it is.
    const page = async (of: Report) => (await html(of)).split('id="manifest"')[0];
    expect(await page(shuffled)).toBe(await page(report));
  });

  test("links of the page lead to the charts of their endpoint, whatever signs it has", async () => {
    const endpoints = ["/plain", "/a?b=1&c=2", "POST /d%26=e"];
    const page = await html(say(known({ endpoints })));
    const links = [...page.matchAll(/href="#(cpu&[^"]*)"/g)].map(([, link = ""]) => link.replaceAll("&amp;", "&"));
    const led = links.map((link) => addressIn(link));
    expect([...new Set(led.flatMap(({ choices }) => choices.map(([name, value]) => `${name} ${value}`)))]).toEqual(
      endpoints.map((endpoint) => `endpoint ${endpoint}`),
    );
    expect(links[0]).toBe("cpu&endpoint=/plain");
    for (const address of [...led, { view: "", choices: [["a=", "ü&"]] as const }])
      expect(addressIn(fragmentOf(address))).toEqual(address);
    expect(addressIn("cpu&endpoint=/a%20b&own=%").choices).toEqual([
      ["endpoint", "/a b"],
      ["own", "%"],
    ]);
  });

  test("without a manifest: no latency is merged, but the servers are compared", () => {
    const { endpoints, machine } = reportOf(run, null);
    expect(endpoints.map(({ comparison }) => comparison)).toEqual(report.endpoints.map(({ comparison }) => comparison));
    expect([machine, endpoints.flatMap(({ curves }) => curves)]).toEqual([[], []]);
  });

  test("of two restarts has no interval of a server", () => {
    const short = say(known({ restarts: 2 }));
    expect(terminal(short, 200)).not.toContain("±");
    expect(rowOf(short, "node-raw")?.standing?.ratioToBest.low).toBeGreaterThan(1);
    expect(say(known({ restarts: 1 })).findings.unranked).toEqual(["/plain", "/sqlite/random-5fields/5"]);
  });

  test("the card says how many restarts in how many minutes", () => {
    const title = (plan: Partial<Manifest["plan"]>) =>
      card(say(changed(run, { manifest: { plan: { ...run.manifest.plan, ...plan } } })))[0];
    expect(title({})).toBe("5 servers · 2 × Some CPU (6/1) · 100 connections · 3 restarts in 5 min");
  });
});

describe("a framework that costs more on one runtime and less on the other", () => {
  const withoutDrivers = ({ slices, windows, manifest }: Known): Known => {
    const isUsual = ({ name }: Slice | Window) => !name.includes("@");
    return { slices: slices.filter(isUsual), windows: windows.filter(isUsual), manifest };
  };
  const dearer = (where: readonly string[], factor: number) => {
    const of = known({
      factor: ({ name, endpoint }) => (name === "bun-hono" && where.includes(endpoint) ? factor : 1),
    });
    return say(withoutDrivers(of));
  };
  const both = ["/plain", "/sqlite/random-5fields/5"];

  test("has a line of its own, whose sign is right: no average over frameworks", () => {
    const report = dearer(both, 2);
    const text = summary(report, 80);
    expect(text).toMatch(/^ {2}Bun vs Node with Hono +\+2\d % +\+2\d % +2 of 2$/m);
    expect(text).toMatch(/^ {2}Bun vs Node with no framework +−3\d % +−3\d % +2 of 2$/m);
    const line =
      /Bun vs Node\*{0,2}: with Hono 2\d(–2\d)? % more \(2\/2\); with no framework 3\d(–3\d)? % less \(2\/2\)/;
    expect(placesOf([report]).get("answer")).toMatch(line);
    expect(
      tiles(report)
        .flatMap(({ lines }) => lines)
        .join("\n"),
    ).toMatch(line);
  });

  test("depends on the endpoint, if significant signs differ", () =>
    expect(placesOf([dearer(["/plain"], 2)]).get("answer")).toMatch(
      /Bun vs Node\*\*: with Hono depends on the endpoint, 3\d % less to 2\d % more \(2\/2\);/,
    ));

  test("the range is that of the endpoints at which it is significant", () =>
    expect(placesOf([dearer(["/plain"], 1.6)]).get("answer")).toMatch(
      /Bun vs Node\*\*: with Hono 3\d % less \(1\/2\);/,
    ));

  test("what to choose", () => {
    expect(choose(report)).toBe("**Choose** Bun with Hono, if CPU time decides.");
    expect(choose(dearer(both, 2))).toBe("**Choose** Node with Hono, if CPU time decides.");
    expect(choose(dearer(both, 1.6))).toBe(
      "**Choose** by something other than CPU time: no difference between frameworks or runtimes is significant.",
    );
    expect(choose(dearer(["/plain"], 2))).toBe("**Choose** by endpoint: no server costs least at all of them.");
    const elysia = changed(run, { slice: ({ name }) => (name === "bun-raw" ? { framework: "elysia 1.0.0" } : {}) });
    expect(choose(say(elysia))).toBe(
      "**Choose** Bun with Elysia or Bun with Hono, if CPU time decides; these are not distinguishable.",
    );
    expect(choose(say(changed(run, { window: () => ({ cpuUs: null }) })))).toBeNull();
  });
});

test("runs are shown side by side with their machines", () => {
  const page = machinesPage([report, say(known({ run: "2026-02-02T00:00:00.000Z" }))]);
  expect(page).toMatch(
    /\n\| CPU time per request +\| 2 × Some CPU \(6\/1\), 2026-01-01 00:00 +\| .*, 2026-02-02 00:00 +\|\n/,
  );
  expect(page).toContain("\n- Speed: loopback round trip 9.0 µs, load from memory 90 ns\n");
  expect(page).toMatch(/\n\| better-sqlite3 vs bun:sqlite on Bun +\| \d\d % more \(1\/1\) +\| /);
});

test("at a fixed rate: how many were answered, and how long all of them took", () => {
  const open = changed(run, {
    slice: () => ({ kind: "open", targetRate: 1_000, errors: 1, averageMs: 73.5, verdict: "on schedule" }),
  });
  const [first] = say(open).endpoints;
  const [, table, ...others] = gridsOf(first as Report["endpoints"][number]);
  expect(others).toEqual([]);
  // Three restarts of 1,000 requests; in each, one request failed.
  for (const [, ...cells] of table?.rows ?? []) expect(cells).toEqual(["2,997", "3", "0.99900000", "3 min 41 s"]);
  expect(first?.throughput).toBeNull();
  expect(report.endpoints.map((one) => gridsOf(one).length)).toEqual([1, 1]);
});

test("connections that wait for locks are an average over all slices, also slices with none", () => {
  const waiting = changed(run, {
    slice: ({ restart }) => ({ lockWaiters: restart === 2 ? 3 : 0, idleInTransaction: 0.5, deadlocks: 1 }),
  });
  const [, table] = gridsOf(say(waiting).endpoints[0] as Report["endpoints"][number]);
  for (const [, ...cells] of table?.rows ?? []) expect(cells).toEqual(["1.0", "0.5", "3"]);
});

test("the result of a search names the stores: writes per second, and their durability", () => {
  const store = { name: "sqlite", driver: "bun:sqlite 3.53.0", file: "content.db", journal: "wal" };
  const capacity = {
    ...{ rate: 1_000, low: 950, high: 1_090, starts: 3 },
    reason: "at 1040.0 requests/s p99 was 60.0 ms",
    slo: parseSlo("p99<50ms"),
  };
  const stores: Manifest["stores"] = {
    "bun-raw": { ...store, synchronous: "normal" },
    "bun-hono": { ...store, synchronous: "full" },
    "node-raw": { name: "memory", driver: "memory" },
  };
  const capacities = { "bun-raw": { content: capacity, "POST /users": { ...capacity, high: null } } };
  const searched = say(changed(run, { manifest: { stores, capacities } }));
  const { endpoints } = searched;
  expect(card(searched)).toContain(
    "content: bun-raw (bun:sqlite 3.53.0) is enough for 3,000 writes/s (2,850–3,270, 3 restarts) at p99 < 50 ms; in the last restart at 1040.0 requests/s p99 was 60.0 ms.",
  );
  for (const part of [
    "POST /users: bun-raw (bun:sqlite 3.53.0) is enough for 1,000 writes/s or more at p99 < 50 ms",
    "What bun-raw answered survives a crash of the server; a machine that loses power may lose the latest",
    "What bun-hono answered survives a crash of the server and of the machine",
    "What node-raw answered is gone when the server ends.",
  ])
    expect(card(searched).join()).toContain(part);
  expect(endpoints.every(({ load }) => load === "closed")).toBe(true); // attempts of the search are no measurements
});

describe("without the CPU time of some server", () => {
  const blind = say(
    changed(run, {
      window: ({ name }) => (name === "bun-hono" ? { cpuUs: null } : {}),
      slice: ({ name }) => (name === "bun-hono" ? { cpuUsPerRequest: null } : {}),
    }),
  );

  test("all are ranked by requests/s, and the report says so", () => {
    for (const { by, comparison, throughput } of blind.endpoints)
      expect([by, comparison]).toEqual(["rate", throughput]);
    expect(rowOf(blind, "bun-hono")?.cpuUsPerRequest).toBeNull();
    expect(rowOf(blind, "node-raw")?.standing?.ratioToBest.estimate).toBeWithin(1.45, 1.55);
    for (const text of [terminal(blind, 100), markdown(blind)]) {
      expect(text).toContain("Compared by requests/s, because the CPU time of some cannot be read");
      expect(text).not.toMatch(/CPU time per request|NaN|undefined|null/);
    }
    expect(summary(blind, 200)).toContain("Least time   bun-hono, bun-raw: not distinguishable at 2 of 2 endpoints");
  });

  test("a choice has no CPU time, but its requests per second", () => {
    const effect = blind.endpoints[1]?.effects.find(({ factor }) => factor === "driver");
    expect([effect?.to, effect?.cpu, effect?.goodput?.estimate]).toEqual([
      "better-sqlite3",
      null,
      expect.closeTo(1 / 1.2, 1) as unknown as number,
    ]);
  });
});

test("intervals of choices hold for all endpoints together: with more endpoints they are wider", () => {
  const [table] = report.endpoints;
  const widths = [1, 2, 8].map((many) => {
    const [effect] = mainEffects(table as Report["endpoints"][number], many);
    return Math.log((effect?.cpu?.high ?? 0) / (effect?.cpu?.low ?? 0));
  });
  expect(widths.toSorted((a, b) => a - b)).toEqual(widths);
  expect((widths[2] as number) / (widths[0] as number)).toBeGreaterThan(1.2);
  expect(table?.effects).toEqual(mainEffects(table as Report["endpoints"][number], 2));
});

test("the card has the throughput of the only server at its limit if the others were limited by the client", () => {
  const seen = (one: string) =>
    say(changed(run, { slice: ({ name }) => (name === one ? {} : { verdict: "client-bound" }) }));
  expect(summary(seen("node-raw"), 200)).toMatch(
    /^In practice {2}one core answers [\d,]+ requests\/s of \S+ \(1 of 5 were at their limit\)$/m,
  );
  expect(summary(seen("none"), 200)).toContain("In practice  not known: no server was at its own limit");
});

describe("two runs", () => {
  const RUN = "2026-02-02T00:00:00.000Z";
  const dearer = (more: number) => known({ run: RUN, factor: ({ name }) => (name === "node-raw" ? more : 1) });
  const compared = (...runs: Known[]) => {
    const file = newFile();
    for (const one of runs) keep(file, one);
    return finish(["./bench.sh", "report", file, "--compare", ...runs.map(({ manifest }) => manifest.run)]);
  };

  test("only a server whose cost grew costs more in the second", () => {
    const rows = inBoth(run, dearer(1.2)).flatMap(({ rows }) => rows);
    expect(rows).toHaveLength(10);
    for (const [before, after] of rows) {
      const [x, y] = [before, after].map(({ standing }) => standing?.ratioToBest.estimate as number) as [
        number,
        number,
      ];
      expect(y / x).toBeWithin(...((before.name === "node-raw" ? [1.17, 1.23] : [0.97, 1.03]) as [number, number]));
    }
  });

  test("of different protocols are refused in one line", async () => {
    const { code, output } = await compared(run, known({ run: RUN, protocol: 4 }));
    expect([code, output]).toEqual([1, expect.stringMatching(/^run .* has protocol 5, run .* has protocol 4: .*\n$/)]);
  });

  test("are shown side by side", async () => {
    const { code, output } = await compared(run, dearer(1.2));
    expect(code).toBe(0);
    expect(output).toMatch(
      /node-raw +\/plain +1\.[45]\d \(1\.\d\d–1\.\d\d\) +1\.8\d \(1\.\d\d–1\.\d\d\) +× 1\.2\d +× 0\.8\d/,
    );
  });

  test("end with their variation beyond that of restarts, and the pairs with opposite results", () => {
    const last = (after: Known) => comparison(run, after).split("\n").at(-1);
    expect(last(dearer(1))).toMatch(/\d times the variance that restarts predict .*: restarts explain it\.$/);
    expect(last(dearer(1.2))).toEndWith("so the intervals of one run are too narrow for both.");
    expect(comparison(run, dearer(1.2))).toContain("in opposite directions: node-hono and node-raw at /plain;");
    expect(comparison(run, dearer(1))).not.toContain("in opposite directions");
    expect(last(known({ endpoints: ["/html-template"] }))).toEndWith("have no server and endpoint in common");
  });

  test("begin with how their machines and servers differ", () => {
    const { manifest } = run;
    expect(comparison(run, run).split("\n")[1]).toBe("The machines are alike.");
    const other = changed(run, {
      manifest: {
        machine: { ...manifest.machine, model: 999, caches: ["L2 1 KiB"] },
        environment: { ...manifest.environment, commit: "7654321" },
        fingerprints: manifest.fingerprints.map((one) => ({
          ...{ ...one, together: one.together + 1 },
          speed: { ...one.speed, memoryNs: one.speed.memoryNs * 2 },
        })),
      },
    });
    const [, machines, servers] = comparison(run, other).split("\n");
    for (const part of ["model 1 → 999", "→ L2 1 KiB", "load from memory × 2.00", "beside the same loop"])
      expect(machines).toContain(part);
    expect(servers).toBe("The servers may differ: commit 1234567 → 7654321.");
    expect(machineLines(other.manifest, other.slices).map(plain)).toContainEqual(
      expect.stringContaining("Cores: share hardware (hyperthreads"),
    );
    expect(comparison(run, { ...run, manifest: null })).toContain("the machine of one run is not known");
  });
});

test("one server alone: its speed, the most expensive endpoint first, and the meaning", () => {
  const { slices, windows, manifest } = known();
  const alone = {
    slices: slices.filter(({ name }) => name === "node-raw"),
    windows: windows.filter(({ name }) => name === "node-raw"),
    manifest,
  };
  const text = summary(say(alone), 200);
  expect(text).toMatch(/CPU µs +requests\/s +p50 ms +p99 ms +limit\n\/\S+ +1[45]\.\d .* 6\d,\d{3} .*server/);
  expect(text).toMatch(/^In practice {2}200 requests\/s of \/\S+ keep 0\.3 % of a core busy$/m);
  expect(text).toContain("Memory       80 MB after load, 90 MB at most\nStart        100 ms until the first answer");
  expect(text).not.toContain("not ranked");
});

describe("reasons to doubt a run are beside the number", () => {
  const shown = async (of: Known) => {
    const report = say(of);
    return [terminal(report, 160), markdown(report), (await html(report)).replaceAll("\u00a0", " ")];
  };

  test("a server whose cost still changes is warming up: it has no rank, and is different in no pair", async () => {
    const cold = known({
      factor: ({ name, endpoint, round }) => (name === "node-hono" && endpoint === "/plain" && round > 3 ? 0.7 : 1),
    });
    const [plain, other] = say(cold).endpoints;
    const row = plain?.rows.find(({ name }) => name === "node-hono");
    expect([row?.warming, row?.standing?.groups]).toEqual([expect.closeTo(-0.3, 1), ""]);
    for (const { a, b, state } of plain?.comparison?.pairs ?? []) {
      if ([a, b].includes("node-hono")) expect(state).toBe("undecided");
    }
    expect(other?.rows.filter(({ warming }) => warming)).toEqual([]);
    for (const text of await shown(cold)) {
      expect(text).toMatch(/warming[^\n]*node-hono|node-hono[^\n]*warming/);
      expect(text).toContain("its cost fell by 29 % while it was measured");
    }
    expect(summary(say(cold), 200)).toContain(
      "Not warm     1 of 10 rows (node-hono at /plain: its cost fell by 29 % while it was measured), so not ranked: raise --warmup",
    );
  });

  test("a server whose cost changes while it is measured is warming up too", () => {
    const changing = (after: (restart: number) => number) =>
      say(
        known({
          endpoints: ["/plain"],
          restarts: 6,
          factor: ({ name, restart, round }) => (name === "bun-raw" && round > 3 ? after(restart) : 1),
        }),
      ).findings.warming.map(({ name, by }) => [name, by.toFixed(1)]);
    expect(changing(() => 0.7)).toEqual([["bun-raw", "-0.3"]]);
    expect(changing(() => 1.1)).toEqual([["bun-raw", "0.1"]]);
    // A change up in some restarts and down in others is noise, which the average over restarts removes.
    expect(changing((restart) => (restart % 2 ? 1.3 : 1 / 1.3))).toEqual([]);
    expect(changing(() => 1)).toEqual([]);
  });

  test("a starved slice is left out if there are other slices", async () => {
    const starve = (only: number[]) =>
      changed(run, {
        slice: ({ name, restart }) =>
          name === "node-raw" && only.includes(restart) ? { verdict: "starved", taken: 0.4, rssBytes: 1e9 } : {},
      });
    expect(rowOf(say(starve([2])), "node-raw")?.rssBytes?.estimate).toBeWithin(79e6, 81e6);
    expect(rowOf(say(starve([1, 2, 3])), "node-raw")?.verdict).toBe("starved");
    for (const text of await shown(starve([1, 2, 3]))) {
      expect(text).toContain("other work used 40");
    }
  });

  describe("an invalid row says why", () => {
    const of = (change: (slice: Slice) => Partial<Slice>, restarts = 3) =>
      changed(known({ restarts }), {
        slice: (one) => (one.name === "node-raw" && one.endpoint === "/plain" ? change(one) : {}),
      });
    const verdictIn = (run: Known) => rowOf(say(run), "node-raw")?.verdict;
    const invalid = (run: Known) => card(say(run)).find((line) => String(line).startsWith("Invalid"));

    test("no row is invalid because of one short slice that the host disturbed", () => {
      // 85 and 97 of 100 connections had a request in flight, on average.
      const short = { seconds: 0.11, requests: 1_210, goodput: 11_000, taken: 0.07, maxMs: 12 };
      const first = { ...short, averageMs: 7.727, verdict: "invalid" } as const;
      const second = { ...short, averageMs: 8.8 };
      const seen = of(({ restart }) => (restart === 1 ? first : second), 2);
      expect([verdictIn(seen), invalid(seen)]).toEqual(["server-bound", undefined]);
    });

    test("latencies that are impossible in all slices", () => {
      const few = of(({ averageMs }) => ({ averageMs: 0.6 * averageMs }));
      expect(verdictIn(few)).toBe("invalid");
      expect(invalid(few)).toBe(
        "Invalid, so not ranked by requests/s: node-raw at /plain: requests/s × mean latency is 60 of 100 connections, so the latencies are wrong: measure again with longer slices (--seconds 1).",
      );
      expect(verdictIn(of(({ averageMs }) => ({ averageMs: 1.04 * averageMs })))).toBe("invalid");
      // Starved slices decide only if a server has no others.
      const starved = (only: number) =>
        of(({ restart, averageMs }) => (restart <= only ? { averageMs: 0.6 * averageMs, verdict: "starved" } : {}));
      expect([2, 3].map((only) => verdictIn(starved(only)))).toEqual(["server-bound", "starved"]);
    });

    test("failed requests, and connections that could not be opened", () => {
      const failing = changed(
        of(() => ({ errors: 12 })),
        {
          slice: ({ name, endpoint }) => (name === "bun-raw" && endpoint === "/plain" ? { sockets: 97 } : {}),
          turns: ({ name }) => (name === "node-raw" ? { failed: { 500: 3 } } : {}),
        },
      );
      const line = String(invalid(failing));
      for (const part of [
        "node-raw at /plain: 36 of 3,000 requests failed (500): fix the server or the network",
        "bun-raw at /plain: only 97 of 100 connections were opened: fix",
      ])
        expect(line).toContain(part);
      expect(line).not.toContain("latenc");
    });
  });

  test("do not trust a run if a twin differs from its server over all endpoints", () => {
    const unequal = say(known({ twin: "bun-raw", factor: ({ name }) => (name === "bun-raw#2" ? 1.1 : 1) }));
    const refusal =
      /^DO NOT TRUST THIS RUN: bun-raw measured twice: 1\.\d{3} \(1\.\d{3}–1\.\d{3}\) of itself\. Something/;
    expect(card(unequal)[1]).toMatch(refusal);
    const equal = say(known({ twin: "bun-raw" }));
    expect(summary(equal, 200)).toMatch(/^Self-check {3}bun-raw measured twice: .* of itself, as it should be$/m);
    const trust = tiles(equal).at(-1);
    expect(trust?.title).toBe("Can I trust it?");
    expect(trust?.lines.join("\n")).toMatch(/^Self-check: bun-raw measured twice: .* of itself, as it should be$/m);
    expect(tiles(unequal).at(-1)?.lines[1]).toMatch(refusal);
    // A twin is not another choice.
    expect(summary(equal, 200)).not.toContain("#2");
  });

  test("a server that was gone is named with the reason, and not compared", async () => {
    const stays = ({ name, restart }: Slice | Window) => name !== "node-raw" || restart < 2;
    const left = [{ name: "node-raw", restart: 2, scenario: "/plain", reason: "it ended with code 1" }];
    const gone: Known = {
      slices: run.slices.filter(stays),
      windows: run.windows.filter(stays),
      manifest: { ...run.manifest, left },
    };
    for (const text of [...(await shown(gone)), card(say(gone)).join("\n")])
      expect(text).toContain("node-raw is left out since restart 2: it failed at /plain: it ended with code 1");
    expect(say(gone).endpoints.map(({ apart, comparison }) => [apart, comparison?.restarts])).toEqual([
      [["node-raw"], 3],
      [["node-raw"], 3],
    ]);
  });

  test("a server with failed requests in its windows is not compared there", () => {
    const failing = changed(run, {
      turns: ({ name, scenario }) => ({ errors: name === "node-raw" && scenario === "/plain" ? 11 : 1 }),
    });
    expect(say(failing).endpoints.map(({ apart }) => apart)).toEqual([["node-raw"], []]);
    expect(rowOf(say(failing), "node-raw")?.standing).toBeNull();
    expect(terminal(say(failing), 160)).toContain(
      "Not compared, because requests failed or a restart is missing: node-raw",
    );
  });

  test("the CPU time of idle servers, and the other work of the machine", () => {
    const busy = say(changed(run, { turns: ({ name }) => (name === "node-hono" ? { restUsPerSecond: 5e4 } : {}) }));
    expect(card(busy)).toContain("Idle, node-hono uses 5.0 % of a core; no cost above includes that");
    expect(report.findings.busyAtRest).toEqual([]);
    const noisy = say(changed(run, { slice: () => ({ taken: 0.2 }) }));
    expect(summary(noisy, 200)).toContain("Noisy        other work used 20 % of the CPU in the median slice");
    expect(card(report).join()).not.toContain("Noisy");
  });
});

describe("every row of every committed table, and of a run of known truth", () => {
  const rows = [...committed, report].flatMap(({ run, endpoints, connections, manifest }) =>
    endpoints
      .filter(({ load }) => load === "closed")
      .flatMap(({ endpoint, rows }) =>
        rows
          .filter(({ verdict }) => verdict !== "invalid" && verdict !== "starved")
          .map((row) => ({ ...row, connections, manifest, endpoint, row: `${run} ${endpoint} ${row.name}` })),
      ),
  );
  const slices = [...runsIn(PUBLISHED).flatMap((run) => readSlices(PUBLISHED, run)), ...run.slices].filter(
    ({ verdict }) => verdict !== "starved",
  );
  const slicesOf = Map.groupBy(slices, ({ run, scenario, name }) => `${run} ${scenario} ${name}`);

  test("obeys Little's law: connections = requests/s × mean latency, within 3 %", () => {
    const off = rows.flatMap(({ row, perSecond, averageMs, connections, endpoint, verdict }) => {
      // Skips Puma, which leaves connections waiting for longer than a slice, so its verdict is undetermined.
      if (verdict === "undetermined") return [];
      const of = slicesOf.get(row) ?? [];
      // At the end of a slice, connections wait for the slowest answer, on average for at most half of its latency.
      const idle = of.reduce((sum, one) => sum + one.maxMs / 2e3, 0);
      const waiting = connections * (1 - idle / of.reduce((sum, one) => sum + one.seconds, 0));
      const seen = (perSecond * averageMs) / 1e3;
      // k6 checks an answer before it sends the next request, which takes up to a tenth of the time.
      const least = endpoint === SEQUENCE || endpoint === TRANSACTION ? 0.9 : 0.97;
      const isRight = least * waiting < seen && seen < 1.03 * connections;
      return isRight ? [] : [`${row}: ${seen.toFixed(1)} of ${waiting.toFixed(1)} to ${connections}`];
    });
    expect(off).toEqual([]);
  });

  test("needs no more CPU time than its cores have", () => {
    const over = rows.flatMap(({ row, goodput, cpuUsPerRequest, manifest }) => {
      const used = ((cpuUsPerRequest?.estimate ?? 0) * goodput.estimate) / 1e6;
      const cores = parseCpuList(manifest?.cores?.server ?? "").length;
      return cores > 0 && used > 1.01 * cores ? [`${row}: ${used.toFixed(3)} of ${cores}`] : [];
    });
    expect(over).toEqual([]);
  });

  test("has percentiles of the same requests as its mean latency", () => {
    for (const { row, name, endpoint, requests, manifest } of rows) {
      const merged = (manifest?.histograms[name]?.[endpoint] ?? []).reduce((sum, [, , n]) => sum + n, 0);
      expect([row, Math.round(merged)]).toEqual([row, requests]);
    }
  });
});

describe("a mistake prints one line, and changes nothing", () => {
  const kept = newFile();
  keep(kept, run);
  const OTHER = newFile();
  writeWhole(OTHER, "Name,Endpoint,Requests,Error Count,AvgMs,QPS\nbun-raw,/plain,9,0,1,9\n");
  const whole = readText(runFile(kept, run.manifest.run, "csv"));
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
    ["a torn row", `${lines.slice(0, 3).join("\n")}\nbun-raw,/pla`, "line 4: "],
    ["other columns", "a,b\n1,2\n", 'line 1: column "Name" is missing'],
    ["no rows", `${lines[0]}\n`, "has no rows"],
  ];
  test.each(cases)("%s", async (_, content, problem) => {
    const results = newFile();
    const [file, page] = [runFile(results, "run", "csv"), `${results}.html`];
    writeWhole(file, content);
    const { code, output } = await finish(["./bench.sh", "report", results, "--html", page]);
    expect([code, output.trimEnd().split("\n").length, output]).toEqual([1, 1, expect.stringContaining(problem)]);
    expect([readFileSync(file, "utf8"), existsSync(page)]).toEqual([content, false]);
  });

  test.each([
    [["missing.csv"], "no run in missing: ./bench.sh measures one"],
    [[kept, "--run", "never"], 'there is no run "never": choose from '],
    [[kept, "--compare", "never", "ever"], '--compare: no run "never": choose from 2026-01-01T00:00:00.000Z'],
    [["--compare", "one"], "--compare takes two runs, not 1"],
    [[OTHER], `"${OTHER}" does not come from ./bench.sh: give a file that --results wrote, e.g. results.csv\n`],
    [["package.json"], '"package.json" does not come from ./bench.sh'],
    [[OTHER, "--html", "x.html"], "does not come from ./bench.sh"],
    [[kept, kept, "--html", "x.html"], "--html requires one results file, not 2"],
  ])("report %j", async (args, problem) => {
    const { code, output } = await finish(["./bench.sh", "report", ...args]);
    expect([code, output]).toEqual([1, expect.stringContaining(problem)]);
  });
});

const WRITE_AGAIN = "bun scripts/publish.ts writes this again from docs/runs/";

/** Text of a kind without a committed run stays as it is. */
describe("the numbers in the repository match the committed runs", () => {
  const newest = newestOf(committed);
  const ofMatrix = committed.filter((report) => kindOf(report) === "read");
  const workloads = Object.keys(WORKLOADS);
  const kinds = [
    ...workloads,
    ...workloads.map((workload) => `stacks-${workload}`),
    "drivers",
    "stacks-rate",
    "capacity",
  ];

  test.each(DOCS)("%s", (doc) => {
    const text = readFileSync(doc, "utf8");
    const places = placesOf(committed);
    expect(text, WRITE_AGAIN).toBe(filled(text, places));
    const named = [...text.matchAll(/<!-- ([\w-]+) -->/g)].map(([, place]) => place as string);
    expect(named.filter((place) => ![...kinds, "answer", "others", "writes"].includes(place))).toEqual([]);
  });
  test("each figure of others has one of ours beside it, unless the page says that our run is withdrawn", () => {
    const lines = besideOthers(newest).match(/^\| [a-z].*/gm) ?? [];
    expect(lines.length).toBeGreaterThan(30);
    expect(lines.filter((line) => /\| +- \|$/.test(line))).toEqual([]);
    const comparisons: { kind: Kind; figures: object }[] = JSON.parse(readFileSync("docs/others.json", "utf8"));
    const withdrawn = comparisons.filter(({ kind }) => !newest.has(kind));
    const figures = withdrawn.flatMap((one) => Object.keys(one.figures));
    expect(lines.filter((line) => line.endsWith("| not measured |"))).toHaveLength(figures.length);
    const page = readFileSync("docs/languages.md", "utf8");
    for (const { kind } of withdrawn) expect(page).toContain(`<!-- ${kind} -->\n\nWithdrawn: `);
  });
  test(RESULTS, () => {
    const rows = csvOf(RESULTS);
    for (const report of committed) {
      const text = (row: object) =>
        Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, String(cell ?? "")]));
      expect(
        rows.filter(({ Run }) => Run === report.run),
        WRITE_AGAIN,
      ).toEqual(resultRows(report).map(text));
    }
    expect(readFileSync(RESULTS, "utf8").split("\n")[0]).toBe(RESULT_COLUMNS.join());
  });
  test.skipIf(ofMatrix.length === 0)(PICTURE, () => {
    // In its own process, because Plot moves everything by half a pixel if there is a global `it`.
    const drawn = must([
      "bun",
      "--eval",
      `import { picture } from "./scripts/docs.ts";
       import { readReport } from "./bench/tell/report.ts";
       process.stdout.write(picture(readReport("${PUBLISHED}", "${ofMatrix.at(-1)?.run}")))`,
    ]);
    expect(readFileSync(PICTURE, "utf8").trim(), WRITE_AGAIN).toBe(drawn);
  });
  test.skipIf(ofMatrix.length === 0)(MACHINES, () =>
    expect(readFileSync(MACHINES, "utf8"), WRITE_AGAIN).toBe(machinesPage(ofMatrix)),
  );
  test.each([...newest])("the newest run of %s is shown", (kind, report) => {
    expect(DOCS.map((file) => readFileSync(file, "utf8")).join()).toContain(`<!-- ${kind} -->\n\nRun ${report.run}`);
  });
});

describe("scripts/publish.ts", () => {
  const folder = scratch();
  for (const file of ["README.md", "docs", "results.csv"]) cpSync(file, join(folder, file), { recursive: true });
  const publish = (...args: string[]) => finish(["env", "-C", folder, "bun", resolve("scripts/publish.ts"), ...args]);
  const published = () => readdirSync(join(folder, PUBLISHED)).sort();
  const copied = published();
  const docs = () => [...DOCS, MACHINES, PICTURE, RESULTS].map((file) => readFileSync(join(folder, file), "utf8"));
  const results = newFile();
  const RUN = "2099-01-01T00:00:00.000Z";
  const of = known({ run: RUN, twin: "bun-raw" });
  keep(results, changed(of, { slice: () => ({ chosenDriver: null }), manifest: { machineName: "my vps" } }));
  const dirty = "2099-01-02T00:00:00.000Z";
  const { manifest } = known({ run: dirty });
  const environment = { ...manifest.environment, commit: "1234567-dirty" };
  keep(results, changed(known({ run: dirty }), { manifest: { environment } }));
  const older = "2099-01-03T00:00:00.000Z";
  keep(results, known({ run: older, protocol: PROTOCOL - 1 }));

  test.each([
    [dirty, "has commit 1234567-dirty: commit the changes and measure again"],
    [older, `has protocol ${PROTOCOL - 1}, not ${PROTOCOL}: measure again with this version`],
    ["never", 'there is no run "never": choose from '],
  ])("refuses %s in one line", async (run, problem) => {
    const before = docs();
    const { code, output } = await publish(run, results);
    expect([code, output.trimEnd().split("\n").length, output]).toEqual([1, 1, expect.stringContaining(problem)]);
    expect([docs(), published()]).toEqual([before, copied]);
  });

  test("packs the run, and the docs show it; without a run the docs are written again", async () => {
    expect(await publish(RUN, results)).toEqual({ code: 0, signal: null, output: "" });
    for (const kind of ["csv", "windows.csv", "json"] as const) {
      const file = runFile(results, RUN, kind);
      expect(readText(join(folder, PUBLISHED, `${basename(file)}.zst`))).toBe(readText(file));
    }
    expect(readFileSync(join(folder, "docs/results.md"), "utf8")).toContain(`Run ${RUN} on my vps`);
    expect(readFileSync(join(folder, MACHINES), "utf8")).toContain("## my vps, 2099-01-01 00:00");
    expect(csvOf(join(folder, RESULTS)).filter(({ Run }) => Run === RUN)).toHaveLength(12);
    const after = docs();
    writeFileSync(join(folder, MACHINES), "");
    expect(await publish()).toEqual({ code: 0, signal: null, output: "" });
    expect(docs()).toEqual(after);
  });
});

test("--html writes one file that loads no other", async () => {
  const file = newFile();
  keep(file, run);
  const { code } = await finish(["./bench.sh", "report", file, "--html", `${file}.html`]);
  const page = readFileSync(`${file}.html`, "utf8");
  expect([code, /(?:src|href)="(?!#|data:)/.exec(page)]).toEqual([0, null]);
});
