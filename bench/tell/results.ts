import { rounded } from "../keep/files.ts";
import type { ResultRow } from "../keep/results.ts";
import { warmingWords } from "./format.ts";
import type { Report } from "./report.ts";

/** @returns what results.csv keeps of a run. */
export function resultRows({ endpoints, run, host }: Report): ResultRow[] {
  return endpoints.flatMap(({ endpoint, rows }) =>
    rows.map((row) => ({
      Name: row.name,
      Endpoint: endpoint,
      Requests: row.requests,
      "Error Count": row.errors,
      AvgMs: short(row.averageMs),
      QPS: short(row.perSecond),
      P50Ms: short(row.latencyMs[50].estimate),
      P90Ms: short(row.latencyMs[90].estimate),
      P99Ms: short(row.latencyMs[99].estimate),
      P999Ms: short(row.latencyMs[99.9].estimate),
      CpuUsPerRequest: short(row.cpuUsPerRequest?.estimate),
      CpuLow: short(row.cpuUsPerRequest?.low),
      CpuHigh: short(row.cpuUsPerRequest?.high),
      CpuToLeast: short(row.standing?.ratioToBest.estimate),
      Groups: row.standing?.groups ?? null,
      RssBytes: short(row.rssBytes?.estimate),
      Verdict: row.verdict,
      Warming: row.warming && warmingWords(row.warming),
      Run: run,
      Host: host,
    })),
  );
}

const short = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : rounded(value);
