/** Latencies: buckets [from, to, count] in seconds, ascending; from the exact minimum to the exact maximum. */
export type Histogram = readonly (readonly [from: number, to: number, count: number])[];

/**
 * Merges histograms of one resolution. They have the same edges, except the minimum and maximum of each, which may lie
 * inside a bucket of another: that bucket is cut there, and its requests are spread evenly. Counts stay whole numbers,
 * because the sum of requests below each edge is rounded.
 */
export function merge(histograms: readonly Histogram[]): Histogram {
  /** Edge -> requests with exactly this latency, and change of the density (requests per second of latency). */
  const at = new Map<number, { here: number; turn: number }>();
  const change = (edge: number, here: number, turn: number) => {
    const before = at.get(edge) ?? { here: 0, turn: 0 };
    at.set(edge, { here: before.here + here, turn: before.turn + turn });
  };
  for (const [from, to, count] of histograms.flat()) {
    if (from === to) change(from, count, 0);
    else {
      change(from, 0, count / (to - from));
      change(to, 0, -count / (to - from));
    }
  }
  const merged: [from: number, to: number, count: number][] = [];
  let below = 0;
  const add = (from: number, to: number, count: number) => {
    const whole = Math.round(below + count) - Math.round(below);
    if (whole > 0) merged.push([from, to, whole]);
    below += count;
  };
  let density = 0;
  let last = 0;
  for (const [edge, { here, turn }] of [...at].sort(([a], [b]) => a - b)) {
    add(last, edge, density * (edge - last));
    add(edge, edge, here);
    density += turn;
    last = edge;
  }
  return merged;
}

/** Edges per factor of ten: 6 % apart. */
const PER_DECADE = 40;

/** Moves requests to buckets that are the same for all histograms, so that merging needs few; spreads them evenly in each. */
export function binned(histogram: Histogram): Histogram {
  const [least, most] = [histogram[0]?.[0] ?? 0, histogram.at(-1)?.[1] ?? 0];
  const step = (seconds: number) => Math.log10(Math.max(seconds, 1e-6)) * PER_DECADE;
  const [first, last] = [Math.floor(step(least)) + 1, Math.ceil(step(most))];
  const inner = Array.from({ length: Math.max(0, last - first) }, (_, i) => 10 ** ((first + i) / PER_DECADE));
  const edges = [least, ...inner.filter((edge) => edge > least && edge < most), most];
  const below = (edge: number) =>
    histogram.reduce((sum, [from, to, count]) => {
      const part = edge >= to ? 1 : edge <= from ? 0 : (edge - from) / (to - from);
      return sum + count * part;
    }, 0);
  const counts = edges.map((edge, i) => (i === 0 ? 0 : below(edge)));
  return edges
    .slice(1)
    .map((to, i) => [edges[i] as number, to, (counts[i + 1] as number) - (counts[i] as number)] as const)
    .filter(([, , count]) => count > 0);
}

/** @returns the latency in seconds below which `p` percent lie, linear inside a bucket as in fortio's CalcPercentile. */
export function percentile(histogram: Histogram, p: number): number {
  const wanted = (histogram.reduce((sum, [, , count]) => sum + count, 0) * p) / 100;
  let below = 0;
  for (const [from, to, count] of histogram) {
    if (below + count >= wanted) return from + (to - from) * ((wanted - below) / count);
    below += count;
  }
  return Number.NaN;
}
