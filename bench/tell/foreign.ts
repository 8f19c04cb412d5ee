import type { PlainRow } from "../keep/slices.ts";
import { listed, present } from "./format.ts";

/** What can be said of results that have no repetition, no CPU time and no calibration. */
export function foreign(file: string, rows: readonly PlainRow[]): string {
  const byName = Map.groupBy(rows, ({ name }) => name);
  const repeated = rows.length - new Set(rows.map(({ name, endpoint }) => `${name} ${endpoint}`)).size;
  // Servers with an endpoint that does more work than /plain, yet came out faster.
  const odd = [...byName].flatMap(([name, of]) => {
    const plain = of.find(({ endpoint }) => endpoint === "/plain")?.goodput ?? Number.POSITIVE_INFINITY;
    return of.some(({ endpoint, goodput }) => endpoint.startsWith("/sqlite") && goodput > plain) ? [name] : [];
  });
  const failing = rows.filter(({ errors }) => errors > 0);
  const [worst] = failing.toSorted((a, b) => b.errors / b.requests - a.errors / a.requests);
  return present([
    `${file}: ${rows.length} rows of ${byName.size} servers, in six columns that say neither CPU time nor how they were measured.`,
    ...inFlight(rows),
    odd.length > 0 &&
      `${listed(odd)}: /plain came out slower than an endpoint that also reads the database, so differences of this size are noise.`,
    worst &&
      `${failing.length} rows have errors, ${worst.name} ${worst.endpoint} the most: ${worst.errors} of ${worst.requests} requests.`,
    repeated === 0
      ? "No row is repeated: how much one server varies from run to run is not known, so nothing can be ranked."
      : `${repeated} rows are repeated, but not in rounds with the others, so nothing can be ranked.`,
    "./bench.sh http://host:port measures these servers so that they can be ranked: the network does not change CPU time per request.",
  ]).join("\n");
}

/** Little's law: requests per second × mean latency is the number of connections that were waiting. */
function inFlight(rows: readonly PlainRow[]): string[] {
  const sorted = (of: (row: PlainRow) => number) => rows.map(of).sort((a, b) => a - b);
  const waiting = sorted(({ goodput, averageMs }) => (goodput * averageMs) / 1e3);
  const latency = sorted(({ averageMs }) => averageMs);
  const [least, most] = [waiting[0] as number, waiting.at(-1) as number];
  const [fast, slow] = [1, 3].map((quarters) => latency[Math.floor((rows.length * quarters) / 4)]) as [number, number];
  if (most / least > 1.1) return [];
  const spread = `in every row requests/s × latency is about ${Math.round((least + most) / 2)} (${least.toFixed(1)} to ${most.toFixed(1)})`;
  const measured =
    slow / fast < 1.5
      ? `half of all latencies lie between ${fast} and ${slow} ms, whatever the work, so the network was measured, not the servers`
      : "so each requests/s only repeats the latency";
  return [`Closed loop: ${spread}, the connections that waited for an answer; ${measured}.`];
}
