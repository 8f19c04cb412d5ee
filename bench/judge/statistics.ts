import jStat from "jstat";

/** What one target cost in each restart, ln scale, against the mean of all in that restart. */
export interface Measured {
  readonly name: string;
  readonly perRestart: readonly number[];
}

/** A number and its 95 % interval, whose limits are NaN if too few restarts leave them open. */
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
  /** Targets that share a letter are not different, e.g. "a" and "ab"; none for one that is warming. */
  readonly groups: string;
  /** Not different from the cheapest. */
  readonly first: boolean;
}

/** A target's cost, ln scale, 0 on average over the targets. */
export interface Effect extends Measured {
  readonly mean: number;
  /** Within one restart. */
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
  /** Residual sd of one target in one restart, ln scale, so 0.01 is about 1 %. */
  readonly spread: number;
  /** Smallest relative difference of two targets that would be called different with 80 % power, e.g. 0.06. */
  readonly smallestVisible: number;
}

export const ERROR_RATE = 0.05;
const POWER = 0.8;

/** Two targets are equivalent if their ratio is known to lie between these. */
const EQUIVALENT = { low: 1 / 1.03, high: 1.03 };

/**
 * A run that ends when it is decided looks at what it has after these restarts, and once more when its time is up. Each look has
 * its share of the error rate (Bonferroni), the last most of it: restarts are dear, and if there is time for six, the last look decides.
 */
const LOOKS = [3, 5, 8, 13, 21, 34];
const LAST_LOOK = 0.8;

/** @returns the part of the error rate that a look has; 0 if there is none after so many restarts */
export const shareOf = (restarts: number, isLast: boolean): number =>
  isLast ? LAST_LOOK : LOOKS.includes(restarts) ? (1 - LAST_LOOK) / LOOKS.length : 0;

/**
 * Degrees of freedom that the variance of one target borrows from all of them, see `compare`. In simulation of ten
 * targets, one three times as noisy, 6 % of runs then call a false difference with 5 restarts and 4 % with 10; with the
 * pooled variance alone it is 10 to 15 %.
 */
const PRIOR_DF = 2;

/**
 * Ranks targets, with a restart as the unit of repetition (Kalibera & Jones 2013, Rigorous Benchmarking in Reasonable
 * Time): the two-way layout target × restart gives Tukey's simultaneous 95 % intervals of all pairs (Tukey 1949, Comparing
 * Individual Means; Kramer 1956; Hayter 1984). A target noisier than the others widens its own: its variance, moderated as
 * in Smyth 2004 (Linear Models and Empirical Bayes Methods), counts if it is above the pooled one.
 * @param measured each with as many restarts as the others, in the same order
 * @param warming targets whose cost still changed: no pair with them is called different, and they have no letter
 * @returns null with fewer than two targets, or fewer than two restarts.
 */
export function compare(measured: readonly Measured[], warming: ReadonlySet<string> = new Set()): Comparison | null {
  const count = measured.length;
  const restarts = measured[0]?.perRestart.length ?? 0;
  if (count < 2 || restarts < 2) return null;

  const means = Array.from({ length: restarts }, (_, r) =>
    mean(measured.map(({ perRestart }) => perRestart[r] as number)),
  );
  const layout = measured.map(({ name, perRestart }) => {
    const centred = perRestart.map((value, r) => value - (means[r] as number));
    return { name, perRestart: centred, ...moments(centred) };
  });
  const pooled = sum(layout.map(({ variance }) => variance)) / (count - 1);
  const effects = layout.map((effect): Effect => {
    const unbiased = (effect.variance * count) / (count - 1);
    return { ...effect, variance: (PRIOR_DF * pooled + (restarts - 1) * unbiased) / (PRIOR_DF + restarts - 1) };
  });
  const spreadOf = (a: Effect, b: Effect) => Math.sqrt(Math.max(pooled, (a.variance + b.variance) / 2));
  const unit = halfWidth(1, count, restarts);
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
  const couples = effects.flatMap((a, i) => effects.slice(i + 1).map((b) => [a, b] as const));

  return {
    restarts,
    effects,
    standings,
    pairs: couples.map(([a, b]) => ({ a: a.name, b: b.name, ratio: ratio(a, b), state: state(a, b) })),
    spread: Math.sqrt(pooled),
    smallestVisible: smallestVisible(sum(couples.map(([a, b]) => spreadOf(a, b))) / couples.length, count, restarts),
  };
}

/**
 * How much costs changed while they were measured.
 * @param changes by target: ln(cost later ÷ earlier), one per restart in which that was seen
 * @returns cost later ÷ earlier, by target; all of a table hold at once, with 99 %. Empty if no target has two.
 */
export function drifts(changes: ReadonlyMap<string, readonly number[]>): Map<string, Interval> {
  const seen = [...changes].filter(([, of]) => of.length > 1);
  const freedom = sum(seen.map(([, of]) => of.length - 1));
  const pooled = sum(seen.map(([, of]) => (of.length - 1) * moments(of).variance)) / freedom;
  const quantile = jStat.studentt.inv(1 - DRIFT_ERROR / seen.length / 2, freedom);
  return new Map(
    seen.map(([name, of]) => [
      name,
      ratioOf(mean(of), quantile * Math.sqrt(Math.max(pooled, moments(of).variance) / of.length)),
    ]),
  );
}
/** A run has many tables, and in most of them all servers are warm. */
const DRIFT_ERROR = 0.01;

/** Quantile of Fisher's F, from that of the beta distribution. */
function fQuantile(p: number, df1: number, df2: number): number {
  const x = jStat.beta.inv(p, df1 / 2, df2 / 2);
  return (df2 * x) / (df1 * (1 - x));
}

/** Residual sd of one target in one restart, ln scale, and the degrees of freedom that it is known with. */
export interface Spread {
  readonly sd: number;
  readonly freedom: number;
}

/** The spread of several tables together. */
export function spreadOver(tables: readonly Comparison[]): Spread {
  const freedoms = tables.map(({ effects, restarts }) => (effects.length - 1) * (restarts - 1));
  const squares = sum(tables.map(({ spread }, i) => (freedoms[i] as number) * spread ** 2));
  return { sd: Math.sqrt(squares / sum(freedoms)), freedom: sum(freedoms) };
}

/** A ratio with its two-sided interval, and what it is below, one-sided, at the same error rate. */
export interface Contrast {
  readonly ratio: Interval;
  readonly upper: number;
  /** Smallest relative difference that the interval shows with 80 % power. */
  readonly smallestVisible: number;
}

/**
 * Ratio of geometric means of costs, e.g. of all servers on Bun to the same on Node.
 * @param weights of the targets, 0 in sum
 * @param error with which the interval misses the truth
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

/** Half width of the interval of every difference, from the sd of one effect in one restart; both on the ln scale. */
function halfWidth(spread: number, targets: number, restarts: number): number {
  return (range(targets, (targets - 1) * (restarts - 1)) * spread) / Math.sqrt(restarts);
}

/** Smallest relative difference that `compare` calls different with 80 % power, from the sd of one effect, ln scale. */
export function smallestVisible(spread: number, targets: number, restarts: number): number {
  const power = jStat.studentt.inv(POWER, (targets - 1) * (restarts - 1)) * spread * Math.sqrt(2 / restarts);
  return Math.expm1(halfWidth(spread, targets, restarts) + power);
}

const ranges = new Map<string, number>();

/** 95 % quantile of the studentized range of k means. Kept, as jStat takes milliseconds; for two it is Student's t. */
function range(k: number, df: number): number {
  const p = 1 - ERROR_RATE;
  return ranges.getOrInsertComputed(`${k} ${df}`, () =>
    k === 2 ? Math.SQRT2 * jStat.studentt.inv((1 + p) / 2, df) : jStat.tukey.inv(p, k, df),
  );
}

/** The largest sets of items that are all alike, by their first items: Piepho 2004's compact letter display. */
function maximalCliques<T>(items: readonly T[], alike: (a: T, b: T) => boolean): T[][] {
  let cliques: T[][] = [[]];
  for (const item of items) {
    const grown = [...cliques, ...cliques.map((clique) => [...clique.filter((other) => alike(other, item)), item])];
    const within = (a: T[], b: T[]) => a.every((member) => b.includes(member));
    cliques = grown.filter((a, i) => !grown.some((b, j) => i !== j && within(a, b) && (j < i || !within(b, a))));
  }
  return cliques.sort(([a], [b]) => items.indexOf(a as T) - items.indexOf(b as T));
}

/** Three states of a ratio: 1 excluded, all of it within ±3 %, or neither. */
export function stateOf({ low, high }: Interval): State {
  if (low > 1 || high < 1) return "different";
  return low >= EQUIVALENT.low && high <= EQUIVALENT.high ? "equivalent" : "undecided";
}

/**
 * Geometric means of one value per target and restart, each with its 95 % interval. The spread is that of all of them: of
 * restarts, in which the host's speed is common to all targets, and of what is left (two-way layout; the degrees of freedom
 * of the sum as in Satterthwaite 1946). One that varies more than the rest has its own, moderated as in `compare`. Fewer
 * than three restarts have no interval.
 * @param rows positive values by restart, one for each target
 */
export function pooledMeans(rows: readonly ReadonlyMap<number, number>[]): (Interval | null)[] {
  const restarts = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const logs = rows.map((row) => new Map([...row].map(([restart, value]) => [restart, Math.log(value)])));
  const whole = logs
    .filter((row) => row.size === restarts.length)
    .map((row) => restarts.map((r) => row.get(r) as number));
  const { pooled, freedom } = spreadOf(whole, restarts.length);
  return logs.map((row) => {
    const values = [...row.values()];
    if (values.length === 0) return null;
    const { mean, variance } = moments(values);
    if (restarts.length < 3 || values.length < 2) return ratioOf(mean, Number.NaN);
    const moderated = (PRIOR_DF * pooled + (values.length - 1) * variance) / (PRIOR_DF + values.length - 1);
    const quantile = pooled > 0 ? jStat.studentt.inv(1 - ERROR_RATE / 2, freedom) : 0;
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
  // Variances of one value: of its restart, MS(restart) ÷ n, and of the rest, MS(rest) · (n − 1) ÷ n.
  const parts = [squares, sum(rest) / n / (restarts - 1)] as const;
  const pooled = sum(parts);
  const freedom = pooled ** 2 / (parts[0] ** 2 / (restarts - 1) + (parts[1] ** 2 / ((n - 1) * (restarts - 1)) || 0));
  return { pooled, freedom };
}

/**
 * How much two runs differ beyond what their restarts predict: the variance of what targets cost in one and in the other,
 * ÷ that of such differences if restarts were all that varies.
 * @param tables effects of the same targets in both runs
 * @returns that ratio with its 95 % interval (F), and the standard deviation between runs, ln scale; null without two targets
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
    // How well restarts themselves are known.
    known += (a.effects.length - 1) * (a.restarts - 1) + (b.effects.length - 1) * (b.restarts - 1);
  }
  if (freedom === 0) return null;
  const estimate = seen / predicted;
  const limit = (p: number) => estimate / fQuantile(p, freedom, known);
  return {
    ratio: { estimate, low: limit(1 - ERROR_RATE / 2), high: limit(ERROR_RATE / 2) },
    sd: Math.sqrt(Math.max(0, seen - predicted) / freedom / 2),
  };
}

/** Geometric mean of positive values with its 95 % t interval. The limits of one value are NaN. */
export function meanInterval(values: readonly number[]): Interval {
  const { mean, variance } = moments(values.map(Math.log));
  const half = jStat.studentt.inv(1 - ERROR_RATE / 2, values.length - 1) * Math.sqrt(variance / values.length);
  return ratioOf(mean, half);
}

/** k of n with its exact 95 % interval (Clopper & Pearson 1934). */
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
 * Levels of rows and columns of a table, of which single cells may be far off (median polish, Tukey 1977, Exploratory Data
 * Analysis): row + column + rest, where the rests have a median of 0 in each.
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
