import Table from "cli-table3";
import type { Slice } from "../results.ts";

const count = (value: number) => Math.round(value).toLocaleString("en-US");
const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1);
const optional = (value: number | null, show: (value: number) => string) => (value === null ? "-" : show(value));

/** Head -> how a slice shows it. */
const SHOWN: Readonly<Record<string, (slice: Slice) => string>> = {
  server: ({ target }) => target.name,
  "requests/s": ({ load }) => count(load.goodput),
  "mean ms": ({ load }) => ms(load.averageMs),
  "p50 ms": ({ load }) => ms(load.percentilesMs[50]),
  "p99 ms": ({ load }) => ms(load.percentilesMs[99]),
  "CPU µs/request": ({ cpuUsPerRequest }) => optional(cpuUsPerRequest, (us) => us.toFixed(1)),
  "RSS MB": ({ rssBytes }) => optional(rssBytes, (bytes) => count(bytes / 1e6)),
  errors: ({ load }) => count(load.errors),
};

/** One line for a slice that has just been measured. */
export function line(slice: Slice, done: number, all: number): string {
  const at = `[${String(done).padStart(String(all).length)}/${all}]`;
  const { target, endpoint, load } = slice;
  return `${at} ${target.name.padEnd(14)} ${endpoint.padEnd(26)} ${count(load.goodput).padStart(9)} requests/s  p99 ${ms(load.percentilesMs[99])} ms`;
}

/** One table per endpoint, servers in the order in which they were measured: one slice each does not rank. */
export function tables(slices: readonly Slice[]): string {
  const head = Object.keys(SHOWN);
  return [...Map.groupBy(slices, ({ endpoint }) => endpoint)]
    .map(([endpoint, group]) => {
      const table = new Table({
        head,
        colAligns: head.map((_, i) => (i === 0 ? "left" : "right")),
        style: { head: [], border: [], compact: true },
      });
      table.push(...group.map((slice) => Object.values(SHOWN).map((show) => show(slice))));
      return `${endpoint}\n${table}`;
    })
    .join("\n\n");
}
