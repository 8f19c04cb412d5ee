/** bench.sh as a user runs it, on real servers and short slices. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ENDPOINTS } from "../../bench/ask/endpoints.ts";
import { type Cores, parseCpuList, splitCores } from "../../bench/host/cores.ts";
import { runFile } from "../../bench/keep/files.ts";
import type { Manifest } from "../../bench/keep/manifest.ts";
import { COLUMNS, PROTOCOL } from "../../bench/keep/slices.ts";
import { bench, csvOf, finish, left, resultsIn, rowsOf, scratch } from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);

test("two servers: windows and slices, tables, manifest, nothing left running", async () => {
  const file = newFile();
  const servers = ["node-raw", "bun-hono@node:sqlite*2"];
  const { code, output } = await finish(bench(file, "--details", "--servers", servers.join()), { MARKER: "turn" });
  expect([code, output]).toEqual([0, expect.stringMatching(/\d+ slices in .*, charts in .*report\.html/)]);
  expect(left("turn")).toEqual([]);
  for (const text of [...servers, "/html-template", "are not detectable", "limit", "after 2 restarts"]) {
    expect(output).toContain(text);
  }
  const rows = rowsOf(file);
  // Restarts × servers × endpoints.
  expect(rows).toHaveLength(2 * 2 * 8);
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(Object.keys(COLUMNS));
    expect(row).toMatchObject({ "Error Count": "0", Connections: "8", Sockets: "8", Protocol: String(PROTOCOL) });
    expect(Number(row.Requests)).toBeGreaterThan(0);
    const percentiles = [row.P50Ms, row.P90Ms, row.P99Ms, row.P999Ms, row.MaxMs].map(Number);
    expect(percentiles).toEqual(percentiles.toSorted((a, b) => a - b));
    expect(Number(row.CpuUsPerRequest)).toBeGreaterThan(0);
    expect(Number(row.RssBytes)).toBeGreaterThan(10e6);
    expect(Number(row.StartupMs)).toBeGreaterThan(10);
    expect(Number(row.PeakRssBytes)).toBeGreaterThanOrEqual(Number(row.RssBytes));
    // A closed loop obeys Little's law: requests per second × mean latency = connections.
    expect((Number(row.QPS) * Number(row.AvgMs)) / 1000 / 8).toBeWithin(0.6, 1.05);
    expect(row.Verdict).not.toBe("");
  }
  expect(rows.find(({ Name }) => Name === servers[0])).toMatchObject({
    Framework: "raw",
    Server: "node-raw",
    ChosenDriver: "",
    Workers: "1",
    Runtime: expect.stringMatching(/^node \d/),
  });
  expect(rows.find(({ Name }) => Name === servers[1])).toMatchObject({
    Framework: expect.stringMatching(/^hono \d/),
    Server: "bun-hono",
    ChosenDriver: "node:sqlite",
    Driver: expect.stringMatching(/^node:sqlite 3/),
    Workers: "2",
  });

  const summed = csvOf(file);
  expect(readFileSync(file, "utf8")).toStartWith("Name,Endpoint,Requests,Error Count,AvgMs,QPS,");
  expect(summed).toHaveLength(2 * ENDPOINTS.length);
  for (const { Name, Endpoint, Requests, QPS } of summed) {
    const of = rows.filter((row) => row.Name === Name && row.Endpoint === Endpoint);
    const fed = of.filter(({ Verdict }) => Verdict !== "starved");
    const counted = (fed.length > 0 ? fed : of).map((row) => Number(row.Requests));
    expect(Number(Requests)).toBe(counted.reduce((sum, requests) => sum + requests, 0));
    expect(Number(QPS)).toBeWithin(1, 1e6);
  }
  checkManifest(file, servers);
  if (splitCores() !== null) checkWindows(file);
});

function checkManifest(file: string, servers: readonly string[]): void {
  const rows = rowsOf(file);
  const { Run: id = "" } = rows[0] ?? {};
  const manifest: Manifest = JSON.parse(readFileSync(runFile(file, id, "json"), "utf8"));
  expect(manifest).toMatchObject({
    run: id,
    protocol: PROTOCOL,
    plan: { connections: 8 },
    environment: { dataSha256: expect.stringMatching(/^[0-9a-f]{64}$/), fortio: expect.any(String) },
    restarts: 2,
    left: [],
  });
  expect(manifest.plan.scenarios.map(({ endpoint }) => endpoint)).toEqual(ENDPOINTS);
  expect(manifest.ceiling).toBeGreaterThan(0);
  for (const name of servers) {
    expect(Object.keys(manifest.calibration[name] ?? {}).toSorted()).toEqual(ENDPOINTS.toSorted());
    // The merged histograms hold every request of the slices.
    for (const endpoint of ENDPOINTS) {
      const histogram = manifest.histograms[name]?.[endpoint] ?? [];
      const counted = histogram.reduce((sum, [, , n]) => sum + n, 0);
      const of = rows.filter((row) => row.Name === name && row.Endpoint === endpoint && row.Verdict !== "starved");
      expect(counted).toBeCloseTo(
        of.reduce((sum, row) => sum + Number(row.Requests), 0),
        3,
      );
    }
  }
  for (const { errors, requests } of manifest.turns) expect([errors, requests > 0]).toEqual([0, true]);
  expect(manifest.turns).toHaveLength(2 * servers.length * ENDPOINTS.length);
  // The run measures the idle machine before the first restart and after each.
  if (splitCores() === null) return;
  expect(manifest.fingerprints.map(({ restart }) => restart)).toEqual([0, 1, 2]);
  for (const { speed, together } of manifest.fingerprints) {
    for (const ns of [...Object.values(speed), together]) expect(ns).toBeGreaterThan(0.1);
  }
  expect(manifest.machine.caches.length + manifest.machine.flags.length).toBeGreaterThan(0);
}

/** Each round has one window per server. A server uses CPU time only in windows, and no more than its cores have. */
function checkWindows(file: string): void {
  const windows = rowsOf(file, "windows.csv");
  const rounds = [
    ...Map.groupBy(windows, ({ Restart, Scenario, Round }) => [Restart, Scenario, Round].join()).values(),
  ];
  for (const round of rounds) expect(new Set(round.map(({ Name }) => Name)).size).toBe(2);
  // On a busy machine a generator may get no CPU time in its window.
  const played = windows.filter(({ Requests }) => Number(Requests) > 0);
  expect(played.length / windows.length).toBeGreaterThan(0.8);
  for (const { Seconds, CpuUs, Counts } of played) {
    expect(["0", "1"]).toContain(Counts as string);
    expect(Number(Seconds)).toBeGreaterThan(0.02);
    const busy = Number(CpuUs) / 1e6 / Number(Seconds);
    expect(busy).toBeWithin(0, parseCpuList((splitCores() as Cores).server).length + 0.25);
  }
}
