import { UsageError } from "../../shared/errors.ts";

/** A promise about latency, as `p99<50ms`. */
export interface Slo {
  readonly percentile: 50 | 90 | 99 | 99.9;
  readonly limitMs: number;
}

/** @throws UsageError for anything but `p50`, `p90`, `p99` or `p99.9`, `<`, a number and `ms` or `s`. */
export function parseSlo(text: string): Slo {
  const [, p, limit, unit] = /^p(50|90|99|99\.9)<(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? [];
  if (!p || Number(limit) <= 0)
    throw new UsageError(`--slo is "${text}": write it as p99<50ms, with p50, p90, p99 or p99.9`);
  return { percentile: Number(p) as Slo["percentile"], limitMs: Number(limit) * (unit === "s" ? 1e3 : 1) };
}

/** `p99 < 50 ms` */
export const promiseOf = ({ percentile, limitMs }: Slo): string => `p${percentile} < ${limitMs} ms`;
