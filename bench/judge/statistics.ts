import jStat from "jstat";

/** Cost of one target in each restart: ln cost minus the mean of all targets in that restart. */
export interface Measured {
  readonly name: string;
  readonly perRestart: readonly number[];
}

/** An estimate and its 95 % interval; the limits are NaN if there are too few restarts. */
export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export type State = "different" | "equivalent" | "undecided";

export interface Pair {
  readonly a: string;
  readonly b: string;
  /** Cost of a ÷ cost of b. */
  readonly ratio: Interval;
  readonly state: State;
}

export interface Standing {
  readonly name: string;
  /** Cost ÷ cost of the cheapest. */
  readonly ratioToBest: Interval;
  /** Letters, e.g. "ab": targets that share one are not distinguishable. Empty for a target that is warming. */
  readonly groups: string;
  /** Not distinguishable from the cheapest. */
  readonly first: boolean;
}

/** A target's ln cost; the mean over the targets that are not noisy is 0. */
export interface Effect extends Measured {
  readonly mean: number;
  /** Moderated variance of one restart, for quantiles with the degrees of freedom of `spread`. */
  readonly variance: number;
}

export interface Comparison {
  readonly restarts: number;
  /** In the order of the targets given. */
  readonly effects: readonly Effect[];
  /** Cheapest first. */
  readonly standings: readonly Standing[];
  /** Every pair once, in the order of the targets given. */
  readonly pairs: readonly Pair[];
  /** Residual sd of one target in one restart, ln scale, so 0.01 is about 1 %; of targets that are not noisy. */
  readonly spread: number;
  /** Degrees of freedom of `spread`. */
  readonly freedom: number;
  /** Smallest relative difference of two targets that is detected with 80 % power, e.g. 0.06. */
  readonly smallestVisible: number;
}

export const ERROR_RATE = 0.05;
const POWER = 0.8;

/** Two targets are equivalent if the interval of their ratio lies between these. */
const EQUIVALENT = { low: 1 / 1.03, high: 1.03 };

/**
 * Sequential test: a run that ends when it is decided makes a look (an interim analysis) after these restarts, and a last one when
 * its time is over. Looks share the error rate (Bonferroni). The last look has most of it, because restarts take long and few fit in.
 */
const LOOKS = [3, 5, 8, 13, 21, 34];
const LAST_LOOK = 0.8;

/** @returns the share of the error rate for the look after so many restarts; 0 if there is no look */
export const shareOf = (restarts: number, isLast: boolean): number =>
  isLast ? LAST_LOOK : LOOKS.includes(restarts) ? (1 - LAST_LOOK) / LOOKS.length : 0;

/**
 * Prior degrees of freedom of the pooled variance in the moderated variance of one target, see `compare`. In simulations of
 * ten targets, one of them three times as noisy, 7 % of runs report a false difference with 5 restarts, 4 % with 10; with
 * the pooled variance alone 10 to 15 % do.
 */
const PRIOR_DF = 2;

/** With fewer targets nobody knows which one is noisier than the others; with three restarts one in ten noisy targets looks steady. */
const LEAST_TARGETS = 5;
const LEAST_FREEDOM = 3;
/** Probability that among equally noisy targets one counts as noisy. */
const NOISY_ERROR = 0.01;

/**
 * A target is noisy if its variance is far above the median of all: F test, Bonferroni. One that is still compiled in some
 * restarts varies by a factor, and would hide the differences of all others in a pooled variance.
 * @param variances one for each target @param freedom degrees of freedom of each
 */
function noisyAmong(variances: readonly number[], freedom: number): boolean[] {
  const count = variances.length;
  if (count < LEAST_TARGETS || freedom < LEAST_FREEDOM) return variances.map(() => false);
  // The median of χ² ÷ its degrees of freedom (Wilson & Hilferty 1931).
  const usual = median(variances) / (1 - 2 / (9 * freedom)) ** 3;
  const limit = usual * fQuantile(1 - NOISY_ERROR / count, freedom, freedom * (count - 1));
  return variances.map((variance) => variance > limit);
}

/**
 * Ranks targets, with a restart as the unit of repetition (Kalibera & Jones 2013, Rigorous Benchmarking in Reasonable
 * Time): the two-way layout target × restart gives Tukey's simultaneous 95 % intervals of all pairs (Tukey 1949, Comparing
 * Individual Means; Kramer 1956; Hayter 1984). A target noisier than the others has wider intervals: its moderated variance
 * (Smyth 2004, Linear Models and Empirical Bayes Methods) is used if it exceeds the pooled one. Variance and means of
 * restarts are pooled without targets that are far noisier, see `noisyAmong`.
 * @param measured targets, all with the same restarts in the same order
 * @param warming targets whose cost still changed: their pairs are undecided, and they have no letter
 * @returns null with fewer than two targets, or fewer than two restarts.
 */
export function compare(measured: readonly Measured[], warming: ReadonlySet<string> = new Set()): Comparison | null {
  const count = measured.length;
  const restarts = measured[0]?.perRestart.length ?? 0;
  if (count < 2 || restarts < 2) return null;

  const { columns } = polish(measured.map(({ perRestart }) => perRestart));
  const roughly = measured.map(({ perRestart }) => moments(without(perRestart, columns)).variance);
  const noisy = noisyAmong(roughly, restarts - 1);
  const steady = measured.filter((_, i) => !noisy[i]);
  const means = columns.map((_, r) => mean(steady.map(({ perRestart }) => perRestart[r] as number)));
  const layout = measured.map(({ name, perRestart }) => {
    const centred = without(perRestart, means);
    return { name, perRestart: centred, ...moments(centred) };
  });
  const rest = steady.length - 1;
  const freedom = rest * (restarts - 1);
  const pooled = sum(layout.map(({ variance }, i) => (noisy[i] ? 0 : variance))) / rest;
  const quantile = range(count, freedom);
  const effects = layout.map((effect, i): Effect => {
    // Others say nothing about a noisy target, so its variance has few degrees of freedom, and intervals are wider by the ratio of quantiles.
    if (noisy[i])
      return { ...effect, variance: effect.variance * (range(count, PRIOR_DF + restarts - 1) / quantile) ** 2 };
    const unbiased = (effect.variance * steady.length) / rest;
    return { ...effect, variance: (PRIOR_DF * pooled + (restarts - 1) * unbiased) / (PRIOR_DF + restarts - 1) };
  });
  const spreadOf = (a: Effect, b: Effect) => Math.sqrt(Math.max(pooled, (a.variance + b.variance) / 2));
  const unit = quantile / Math.sqrt(restarts);
  const ratio = (a: Effect, b: Effect) => ratioOf(a.mean - b.mean, a === b ? 0 : unit * spreadOf(a, b));
  const isWarm = ({ name }: Effect) => !warming.has(name);
  const state = (a: Effect, b: Effect): State => (isWarm(a) && isWarm(b) ? stateOf(ratio(a, b)) : "undecided");
  const different = (a: Effect, b: Effect) => state(a, b) === "different";

  const order = effects.toSorted((a, b) => a.mean - b.mean);
  const warm = order.filter(isWarm);
  const best = (warm[0] ?? order[0]) as Effect;
  const cliques = maximalCliques(warm, (a, b) => !different(a, b));
  const standings = order.map(
    (effect): Standing => ({
      name: effect.name,
      ratioToBest: ratio(effect, best),
      groups: cliques.map((clique, i) => (clique.includes(effect) ? String.fromCharCode(97 + i) : "")).join(""),
      first: isWarm(effect) && !different(effect, best),
    }),
  );
  const couples = couplesOf(effects);
  const usual = couplesOf(effects.filter((_, i) => !noisy[i])).map(([a, b]) => spreadOf(a, b));

  return {
    restarts,
    effects,
    standings,
    pairs: couples.map(([a, b]) => ({ a: a.name, b: b.name, ratio: ratio(a, b), state: state(a, b) })),
    spread: Math.sqrt(pooled),
    freedom,
    smallestVisible: smallestVisible(mean(usual), count, restarts, freedom),
  };
}

const without = (values: readonly number[], common: readonly number[]) =>
  values.map((value, r) => value - (common[r] as number));
const couplesOf = <T>(all: readonly T[]) => all.flatMap((a, i) => all.slice(i + 1).map((b) => [a, b] as const));

/**
 * Change of each target's cost while it was measured.
 * @param changes by target: ln(later cost ÷ earlier cost), one per restart
 * @returns later cost ÷ earlier cost by target, with simultaneous 99 % intervals; only targets with two or more restarts.
 */
export function drifts(changes: ReadonlyMap<string, readonly number[]>): Map<string, Interval> {
  const seen = [...changes].filter(([, of]) => of.length > 1);
  const noisy = noisyAmong(
    seen.map(([, of]) => moments(of).variance),
    Math.min(...seen.map(([, of]) => of.length - 1)),
  );
  const steady = seen.filter((_, i) => !noisy[i]);
  const freedom = sum(steady.map(([, of]) => of.length - 1));
  const pooled = sum(steady.map(([, of]) => (of.length - 1) * moments(of).variance)) / freedom;
  const quantile = jStat.studentt.inv(1 - DRIFT_ERROR / seen.length / 2, freedom);
  return new Map(
    seen.map(([name, of]) => [
      name,
      ratioOf(mean(of), quantile * Math.sqrt(Math.max(pooled, moments(of).variance) / of.length)),
    ]),
  );
}
/** 1 %, not 5 %, because a run has many tables, and in most of them all servers are warm. */
const DRIFT_ERROR = 0.01;

/** Quantile of the F distribution, from the beta distribution. */
function fQuantile(p: number, df1: number, df2: number): number {
  const x = jStat.beta.inv(p, df1 / 2, df2 / 2);
  return (df2 * x) / (df1 * (1 - x));
}

/** Residual sd of one target in one restart, ln scale, and its degrees of freedom. */
export interface Spread {
  readonly sd: number;
  readonly freedom: number;
}

/** The pooled spread of several tables. */
export function spreadOver(tables: readonly Comparison[]): Spread {
  const freedom = sum(tables.map((table) => table.freedom));
  const squares = sum(tables.map((table) => table.freedom * table.spread ** 2));
  return { sd: Math.sqrt(squares / freedom), freedom };
}

/** A ratio with its two-sided interval, and its one-sided upper limit at the same error rate. */
export interface Contrast {
  readonly ratio: Interval;
  readonly upper: number;
  /** Smallest relative difference that the interval detects with 80 % power. */
  readonly smallestVisible: number;
}

/**
 * Ratio of geometric means of costs, e.g. of all servers on Bun to the same on Node.
 * @param weights by target; their sum is 0
 * @param error error rate of the interval
 */
export function contrast(
  { effects, restarts }: Comparison,
  weights: Readonly<Record<string, number>>,
  { sd, freedom }: Spread,
  error: number,
): Contrast {
  const weighted = effects.map((effect) => ({ ...effect, weight: weights[effect.name] ?? 0 }));
  const deviation = Math.sqrt(sum(weighted.map((one) => one.weight ** 2 * Math.max(sd ** 2, one.variance))) / restarts);
  const mean = sum(weighted.map((one) => one.weight * one.mean));
  const t = (p: number) => jStat.studentt.inv(p, freedom);
  const half = t(1 - error / 2) * deviation;
  return {
    ratio: ratioOf(mean, half),
    upper: Math.exp(mean + t(1 - error) * deviation),
    smallestVisible: Math.expm1(half + t(POWER) * deviation),
  };
}

/**
 * Smallest relative difference that `compare` detects with 80 % power.
 * @param spread sd of one effect in one restart, ln scale @param freedom degrees of freedom of the spread
 */
export function smallestVisible(
  spread: number,
  targets: number,
  restarts: number,
  freedom = (targets - 1) * (restarts - 1),
): number {
  const half = range(targets, freedom) + jStat.studentt.inv(POWER, freedom) * Math.SQRT2;
  return Math.expm1((half * spread) / Math.sqrt(restarts));
}

const ranges = new Map<string, number>();

/** 95 % quantile of the studentized range of k means. Cached, because jStat takes milliseconds; for k = 2 it is √2 × Student's t. */
function range(k: number, df: number): number {
  const p = 1 - ERROR_RATE;
  return ranges.getOrInsertComputed(`${k} ${df}`, () =>
    k === 2 ? Math.SQRT2 * jStat.studentt.inv((1 + p) / 2, df) : jStat.tukey.inv(p, k, df),
  );
}

/** Maximal sets of items that are all alike, sorted by their first items, for a compact letter display (Piepho 2004). */
function maximalCliques<T>(items: readonly T[], alike: (a: T, b: T) => boolean): T[][] {
  let cliques: T[][] = [[]];
  for (const item of items) {
    const grown = [...cliques, ...cliques.map((clique) => [...clique.filter((other) => alike(other, item)), item])];
    const within = (a: T[], b: T[]) => a.every((member) => b.includes(member));
    cliques = grown.filter((a, i) => !grown.some((b, j) => i !== j && within(a, b) && (j < i || !within(b, a))));
  }
  return cliques.sort(([a], [b]) => items.indexOf(a as T) - items.indexOf(b as T));
}

/** Different: the interval excludes 1; equivalent: it lies within ±3 %; undecided: neither. */
export function stateOf({ low, high }: Interval): State {
  if (low > 1 || high < 1) return "different";
  return low >= EQUIVALENT.low && high <= EQUIVALENT.high ? "equivalent" : "undecided";
}

/**
 * Geometric mean of each target over its restarts, with a 95 % interval. The variance is pooled over all targets (two-way
 * layout): variance between restarts, because the speed of the host is common to all targets, plus residual variance, with
 * Satterthwaite's degrees of freedom (1946). A target that varies more has its own variance, moderated as in `compare`.
 * With fewer than three restarts there is no interval.
 * @param rows positive values by restart, one row for each target
 */
export function pooledMeans(rows: readonly ReadonlyMap<number, number>[]): (Interval | null)[] {
  const restarts = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const logs = rows.map((row) => new Map([...row].map(([restart, value]) => [restart, Math.log(value)])));
  const complete = logs.filter((row) => row.size === restarts.length);
  const whole = complete.map((row) => restarts.map((r) => row.get(r) as number));
  const { columns } = polish(whole);
  const residuals = whole.map((values) => moments(without(values, columns)).variance);
  const noisy = noisyAmong(residuals, restarts.length - 1);
  const { pooled, freedom } = spreadOf(
    whole.filter((_, i) => !noisy[i]),
    restarts.length,
  );
  return logs.map((row) => {
    const values = [...row.values()];
    if (values.length === 0) return null;
    const { mean, variance } = moments(values);
    if (restarts.length < 3 || values.length < 2) return ratioOf(mean, Number.NaN);
    const moderated = (PRIOR_DF * pooled + (values.length - 1) * variance) / (PRIOR_DF + values.length - 1);
    const known = noisy[complete.indexOf(row)] ? PRIOR_DF + values.length - 1 : freedom;
    const quantile = pooled > 0 ? jStat.studentt.inv(1 - ERROR_RATE / 2, known) : 0;
    return ratioOf(mean, quantile * Math.sqrt(Math.max(pooled, moderated) / values.length));
  });
}

/** Variance of one value of a two-way layout, and its degrees of freedom. */
function spreadOf(whole: readonly (readonly number[])[], restarts: number): { pooled: number; freedom: number } {
  const n = whole.length;
  const means = whole.map(mean);
  const ofRestarts = Array.from({ length: restarts }, (_, r) => mean(whole.map((values) => values[r] as number)));
  const all = mean(means);
  const squares = sum(ofRestarts.map((of) => (of - all) ** 2)) / (restarts - 1);
  const rest = whole.flatMap((values, i) =>
    values.map((value, r) => (value - (means[i] as number) - (ofRestarts[r] as number) + all) ** 2),
  );
  // Variance of one value: between restarts, MS(restart) ÷ n, and residual, MS(residual) · (n − 1) ÷ n.
  const parts = [squares, sum(rest) / n / (restarts - 1)] as const;
  const pooled = sum(parts);
  const freedom = pooled ** 2 / (parts[0] ** 2 / (restarts - 1) + (parts[1] ** 2 / ((n - 1) * (restarts - 1)) || 0));
  return { pooled, freedom };
}

/**
 * How much two runs differ beyond what their restarts predict: the variance of the targets' differences between the runs
 * ÷ the variance expected if only restarts varied.
 * @param tables the same table of both runs
 * @returns that ratio with its 95 % interval (F), and the sd between runs, ln scale; null with fewer than two common targets
 */
export function betweenRuns(tables: readonly (readonly [Comparison, Comparison])[]) {
  let [seen, predicted, freedom, known] = [0, 0, 0, 0];
  for (const [a, b] of tables) {
    const differences = a.effects.flatMap(({ name, mean }) => {
      const other = b.effects.find((one) => one.name === name);
      return other ? [other.mean - mean] : [];
    });
    if (differences.length < 2) continue;
    const { variance } = moments(differences);
    seen += (differences.length - 1) * variance;
    predicted += (differences.length - 1) * (a.spread ** 2 / a.restarts + b.spread ** 2 / b.restarts);
    freedom += differences.length - 1;
    // Degrees of freedom of the predicted variance.
    known += a.freedom + b.freedom;
  }
  if (freedom === 0) return null;
  const estimate = seen / predicted;
  const limit = (p: number) => estimate / fQuantile(p, freedom, known);
  return {
    ratio: { estimate, low: limit(1 - ERROR_RATE / 2), high: limit(ERROR_RATE / 2) },
    sd: Math.sqrt(Math.max(0, seen - predicted) / freedom / 2),
  };
}

/** Geometric mean of positive values with its 95 % t interval. With one value the limits are NaN. */
export function meanInterval(values: readonly number[]): Interval {
  const { mean, variance } = moments(values.map(Math.log));
  const half = jStat.studentt.inv(1 - ERROR_RATE / 2, values.length - 1) * Math.sqrt(variance / values.length);
  return ratioOf(mean, half);
}

/** The proportion k ÷ n with its exact 95 % interval (Clopper & Pearson 1934). */
export function proportionInterval(k: number, n: number): Interval {
  return {
    estimate: k / n,
    low: k === 0 ? 0 : jStat.beta.inv(ERROR_RATE / 2, k, n - k + 1),
    high: k === n ? 1 : jStat.beta.inv(1 - ERROR_RATE / 2, k + 1, n - k),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[half] as number)
    : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
}

/**
 * Median polish (Tukey 1977, Exploratory Data Analysis): cell = row + column + residual, where the residuals of each row and
 * column have a median of 0. Robust against outliers in single cells.
 */
export function polish(rows: readonly (readonly number[])[]): { rows: number[]; columns: number[] } {
  let levels = rows.map(median);
  let columns: number[] = [];
  for (let i = 0; i < POLISHES; i++) {
    columns = (rows[0] ?? []).map((_, c) => median(rows.map((row, r) => (row[c] as number) - (levels[r] as number))));
    levels = rows.map((row) => median(row.map((value, c) => value - (columns[c] as number))));
  }
  return { rows: levels, columns };
}
const POLISHES = 4;

export const mean = (values: readonly number[]): number => sum(values) / values.length;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = sum(values) / values.length;
  return { mean, variance: sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1) };
}

/** From the ln scale. */
const ratioOf = (mean: number, half: number): Interval => ({
  estimate: Math.exp(mean),
  low: Math.exp(mean - half),
  high: Math.exp(mean + half),
});
