/** Types of the parts of jStat 1.9 that are used here; jStat has none of its own. */
declare module "jstat" {
  const jStat: {
    readonly beta: { inv(p: number, alpha: number, beta: number): number };
    readonly studentt: { inv(p: number, df: number): number };
    /** @param share 0 to 1 */
    percentile(values: readonly number[], share: number): number;
    /** Studentized range of k normal variables. */
    readonly tukey: { inv(p: number, k: number, df: number): number };
    /** A standard normal variable, from uniform ones of Math.random or `setRandom`. */
    randn(): number;
    setRandom(uniform: () => number): void;
  };
  export default jStat;
}
