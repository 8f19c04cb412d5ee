/**
 * Finds change points in a series by E-divisive (Matteson & James 2014, A Nonparametric Approach for Multiple Change Point
 * Analysis of Multivariate Data), which is also used for performance tests (Daly et al. 2020). It assumes no
 * distribution of the values.
 */
import { randomOf } from "../plan/random.ts";
import { mean } from "./statistics.ts";

/** Minimum number of values between two changes. */
const LEAST = 3;
/** Significance level of the permutation test: at most this share of permutations may show as clear a change. */
const SIGNIFICANCE = 0.05;
/** Number of permutations: enough for a smallest p-value of a tenth of the level. */
const permutationsFor = (many: number) => Math.ceil((10 * many) / SIGNIFICANCE) - 1;

/**
 * @param many number of series tested: with 95 % probability none of them has a false change (Bonferroni)
 * @returns the indices of the first values after each change, ascending; always the same for the same series.
 */
export function changePoints(series: readonly number[], many = 1): number[] {
  const { shuffle } = randomOf(1, 0);
  const found: number[] = [];
  for (;;) {
    const limits = [0, ...found.toSorted((a, b) => a - b), series.length];
    const segments = limits.slice(1).map((end, i) => series.slice(limits[i], end));
    const [most] = segments
      .map((segment, i) => ({ ...clearest(segment), from: limits[i] as number }))
      .toSorted((a, b) => b.energy - a.energy);
    if (!most || most.energy === 0) break;
    const { energy, from, at } = most;
    let asClear = 1;
    const permutations = permutationsFor(many);
    // Stops as soon as too many permutations are as clear.
    for (let i = 0; i < permutations && asClear <= (SIGNIFICANCE / many) * (permutations + 1); i++) {
      const energies = segments.map((segment) => clearest(shuffle(segment)).energy);
      if (Math.max(...energies) >= energy) asClear++;
    }
    if (asClear / (permutations + 1) > SIGNIFICANCE / many) break;
    found.push(from + at);
  }
  return found.sort((a, b) => a - b);
}

/** @returns the index that divides a segment most clearly, and the energy distance of both parts, weighted by their lengths. */
function clearest(segment: readonly number[]): { at: number; energy: number } {
  const n = segment.length;
  let best = { at: 0, energy: 0 };
  if (n < 2 * LEAST) return best;
  // Sums of distances within the first k values, within the others, and between both; updated for each k.
  const distances = segment.map((x) => segment.reduce((sum, y) => sum + Math.abs(x - y), 0));
  let within = 0;
  let between = 0;
  let after = distances.reduce((sum, one) => sum + one, 0) / 2;
  for (let k = 1; k <= n - LEAST; k++) {
    const x = segment[k - 1] as number;
    const before = segment.slice(0, k - 1).reduce((sum, y) => sum + Math.abs(x - y), 0);
    const behind = (distances[k - 1] as number) - before;
    within += before;
    between += behind - before;
    after -= behind;
    if (k < LEAST) continue;
    const [m, l] = [k, n - k];
    const divergence = (2 * between) / (m * l) - (2 * within) / (m * (m - 1)) - (2 * after) / (l * (l - 1));
    const energy = (divergence * m * l) / n;
    if (energy > best.energy) best = { at: k, energy };
  }
  return best;
}

/** @returns the mean of each part of a series between its changes, and the index at which the part begins. */
export function levels(series: readonly number[], many = 1): { from: number; level: number }[] {
  const starts = [0, ...changePoints(series, many)];
  return starts.map((from, i) => ({ from, level: mean(series.slice(from, starts[i + 1])) }));
}
