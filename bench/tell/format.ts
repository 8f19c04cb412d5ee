/** Formats of numbers and names. */
import type { Interval } from "../judge/statistics.ts";

export const count = (value: number) => Math.round(value).toLocaleString("en-US");
export const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1);
export const mega = (bytes: number) => count(bytes / 1e6);
/** Position of a percentile on its axis: 90, 99 and 99.9 are equally far apart. */
export const nines = (percentile: number) => -Math.log10(1 - percentile / 100);
export const percent = (part: number) => `${(part * 100).toFixed(part > 0 && part < 0.0995 ? 1 : 0)} %`;

/** `−57`: a ratio as a change in percent. */
export function signed(ratio: number, digits = 0): string {
  const text = ((ratio - 1) * 100).toFixed(digits);
  return `${Number(text) < 0 ? "−" : "+"}${text.replace("-", "")}`;
}

/** ` ±5%`: the wider half of the widest 95 % interval; "" if none has limits, with too few restarts. */
export function plusMinus(intervals: readonly (Interval | null)[]): string {
  const halves = intervals.map((one) => (one ? one.high / one.estimate - 1 : Number.NaN)).filter((half) => half >= 0);
  const half = Math.max(...halves);
  return halves.length === 0 ? "" : half > 1 ? " ±>100%" : ` ±${Math.ceil(half * 100)}%`;
}

export const withoutInterval = (interval: Interval | null, show: (value: number) => string): string =>
  interval === null || Number.isNaN(interval.estimate) ? "-" : show(interval.estimate);

export const withInterval = (interval: Interval | null, show: (value: number) => string): string =>
  withoutInterval(interval, (value) => show(value) + plusMinus([interval]));

/** An interval wider than this factor, as with two restarts, says nothing and is left out. */
const TELLING = 100;
/** `1.19 (1.12–1.27)` */
export const ratio = ({ estimate, low, high }: Interval, digits = 2): string =>
  estimate.toFixed(digits) +
  (low === high || !(high <= TELLING * low) ? "" : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`);

/** `8 restarts` */
export const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

/** Shown in place of a server's letters. */
export const WARMING = "warming";

/** `its cost rose by 8 % while it was measured` */
export const warmingWords = (by: number): string =>
  `its cost ${by > 0 ? "rose" : "fell"} by ${Math.abs(by * 100).toFixed(0)} % while it was measured`;

export const notDetectable = (below: string): string => `differences below ${below} are not detectable`;

/** `bun` of `bun 1.4.5`; `other` if the server does not report it. */
export const word = (text: string | null): string => text?.split(" ")[0] ?? "other";

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `bun-raw, bun-hono and bun-elysia` */
export const listed = (items: readonly string[]): string => new Intl.ListFormat("en-GB").format(items);

/** `5×10` of /sqlite/random-5fields/10: fields and rows. */
export const shortOf = (endpoint: string) =>
  endpoint.replace(/^\/sqlite\/random-(\d+)fields\/(\d+)$/, "$1×$2").replace(/^\/(\w+)-template$/, "$1");

/** Without false, null, undefined and empty items. */
export const present = <T>(items: readonly (T | false | null | undefined | "")[]): T[] => items.filter(Boolean) as T[];
