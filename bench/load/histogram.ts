/** Latencies: buckets [from, to, count] in seconds, ascending; the first and the last end at the exact least and most. */
export type Histogram = readonly (readonly [from: number, to: number, count: number])[];

/**
 * Merges histograms of one resolution, and so of the same edges but for the least and most latency seen, which lie inside
 * a bucket of others: there a bucket is cut, its requests spread evenly, none of them divided.
 */
export function merge(histograms: readonly Histogram[]): Histogram {
  const all = histograms.flat();
  const edges = [...new Set([...all.map(([from]) => from), ...all.map(([, to]) => to)])].sort((a, b) => a - b);
  const counts = new Map<string, readonly [number, number, number]>();
  const add = (from: number, to: number, count: number) => {
    const before = counts.get(`${from} ${to}`)?.[2] ?? 0;
    counts.set(`${from} ${to}`, [from, to, before + count]);
  };
  for (const [from, to, count] of all) {
    const inside = edges.slice(edges.indexOf(from), edges.indexOf(to) + 1);
    if (inside.length === 1) add(from, to, count);
    const below = (edge: number) => (edge === to ? count : Math.round((count * (edge - from)) / (to - from)));
    for (const [i, a] of inside.slice(0, -1).entries()) {
      const b = inside[i + 1] as number;
      if (below(b) > below(a)) add(a, b, below(b) - below(a));
    }
  }
  return [...counts.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/** Edges per factor of ten: 6 % apart. */
const PER_DECADE = 40;

/** The same requests in buckets of the same edges as any other's, so that many merge into few; evenly spread in each. */
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
