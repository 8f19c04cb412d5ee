/** bench.sh as a user runs it, on real servers and short slices. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ENDPOINTS } from "../../bench/ask/endpoints.ts";
import { splitCores } from "../../bench/host/cores.ts";
import { runFile } from "../../bench/keep/files.ts";
import { COLUMNS, PROTOCOL } from "../../bench/keep/slices.ts";
import { bench, csvOf, finish, left, resultsIn, rowsOf, scratch } from "../harness.ts";

const folder = scratch();
const newFile = resultsIn(folder);

test("two servers: duets and solo slices, tables, manifest, nothing left running", async () => {
  const file = newFile();
  const servers = ["node-raw", "bun-hono@node:sqlite*2"];
  const { code, output } = await finish(bench(file, "--details", "--servers", servers.join()), { MARKER: "turn" });
  expect([code, output]).toEqual([0, expect.stringMatching(/\d+ slices in .*, charts in .*report\.html/)]);
  const rows = rowsOf(file);
  const closed = rows.filter(({ Kind }) => Kind === "closed");
  expect(readFileSync(file, "utf8")).toStartWith("Name,Endpoint,Requests,Error Count,AvgMs,QPS,");
  const summed = csvOf(file);
  expect(summed).toHaveLength(2 * ENDPOINTS.length);
  for (const { Name, Endpoint, Requests, QPS } of summed) {
    const of = closed.filter((row) => row.Name === Name && row.Endpoint === Endpoint);
    const fed = of.filter(({ Verdict }) => Verdict !== "starved");
    const counted = (fed.length > 0 ? fed : of).map((row) => Number(row.Requests));
    expect(Number(Requests)).toBe(counted.reduce((sum, requests) => sum + requests, 0));
    expect(Number(QPS)).toBeWithin(1, 1e6);
  }
  // Blocks, servers, endpoints; those that were starved are made again, once.
  const again = closed.filter(({ Verdict }) => Verdict === "starved").length;
  expect(closed.length).toBeWithin(2 * 2 * 8, 2 * 2 * 8 + again + 1);
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(Object.keys(COLUMNS));
    expect(row).toMatchObject({ "Error Count": "0", Connections: "8", Sockets: "8", Protocol: String(PROTOCOL) });
    expect(Number(row.Requests)).toBeGreaterThan(0);
    const percentiles = [row.P50Ms, row.P90Ms, row.P99Ms, row.P999Ms, row.MaxMs].map(Number);
    expect(percentiles).toEqual(percentiles.toSorted((a, b) => a - b));
    expect(Number(row.CpuUsPerRequest)).toBeGreaterThan(0);
    expect(Number(row.RssBytes)).toBeGreaterThan(10e6);
    expect(Number(row.StartupMs)).toBeGreaterThan(10);
    if (process.platform === "linux") expect(Number(row.PeakRssBytes)).toBeGreaterThanOrEqual(Number(row.RssBytes));
  }
  for (const row of closed) {
    // A closed loop obeys Little's law: requests per second × mean latency = connections.
    expect((Number(row.QPS) * Number(row.AvgMs)) / 1000 / 8).toBeWithin(0.6, 1.05);
    expect(row.Verdict).not.toBe("");
  }
  const duets = Map.groupBy(
    rows.filter(({ Kind }) => Kind === "duet"),
    ({ Slice }) => Slice,
  );
  const usable = [...duets.values()].filter(([row]) => row?.Verdict !== "void");
  expect(usable.length).toBeGreaterThan(0);
  for (const [a, b] of duets.values()) {
    expect([a?.Name, a?.Partner].toSorted()).toEqual(servers.toSorted());
    expect([b?.Partner, b?.Name]).toEqual([a?.Name, a?.Partner]);
  }
  expect(rows.find(({ Name }) => Name === servers[0])).toMatchObject({
    Framework: "raw",
    Workers: "1",
    Runtime: expect.stringMatching(/^node \d/),
  });
  expect(rows.find(({ Name }) => Name === servers[1])).toMatchObject({
    Framework: expect.stringMatching(/^hono \d/),
    Driver: expect.stringMatching(/^node:sqlite 3/),
    Workers: "2",
  });
  for (const text of [...servers, "/html-template", "smallest visible difference", "limit"]) {
    expect(output).toContain(text);
  }
  const { Run: id = "" } = rows[0] ?? {};
  const manifest = JSON.parse(readFileSync(runFile(file, id, "json"), "utf8"));
  expect(manifest).toMatchObject({
    run: id,
    protocol: PROTOCOL,
    plan: { endpoints: ENDPOINTS, connections: 8 },
    environment: { dataSha256: expect.stringMatching(/^[0-9a-f]{64}$/), fortio: expect.any(String) },
    blocks: [{ block: 1 }, { block: 2 }],
  });
  expect(manifest.ceiling).toBeGreaterThan(0);
  for (const name of servers) {
    expect(Object.keys(manifest.calibration[name]).toSorted()).toEqual(ENDPOINTS.toSorted());
    // The merged histograms hold every request of the solo slices.
    for (const endpoint of ENDPOINTS) {
      const histogram = manifest.histograms[name]?.[endpoint] ?? [];
      const counted = histogram.reduce((sum: number, [, , n]: number[]) => sum + (n ?? 0), 0);
      const of = closed.filter((row) => row.Name === name && row.Endpoint === endpoint && row.Verdict !== "starved");
      expect(counted).toBeCloseTo(
        of.reduce((sum, row) => sum + Number(row.Requests), 0),
        3,
      );
    }
  }
  if (process.platform === "linux") expect(left("turn")).toEqual([]);
  // The machine was looked at before and after each block, and each warm-up is kept.
  if (splitCores() !== null) {
    expect(manifest.fingerprints.map(({ block }: { block: number }) => block)).toEqual([1, 1, 2]);
    for (const { speed, together } of manifest.fingerprints) {
      for (const ns of [...Object.values(speed), together]) expect(ns).toBeGreaterThan(0.1);
    }
    expect(manifest.machine.caches.length + manifest.machine.flags.length).toBeGreaterThan(0);
  }
  for (const { warmup } of manifest.blocks) {
    expect(Object.keys(warmup).toSorted()).toEqual(servers.toSorted());
    for (const name of servers) {
      for (const endpoint of ENDPOINTS) {
        const { windows, steady } = warmup[name][endpoint];
        expect([steady, windows.length >= 2]).toEqual([expect.any(Boolean), true]);
        const asked = windows.map(({ requests }: { requests: number }) => requests);
        expect(asked).toEqual(asked.toSorted((a: number, b: number) => a - b));
      }
    }
  }
  for (const { Warm } of rows) expect(Warm).toMatch(/^(steady|warming)$/);
});
