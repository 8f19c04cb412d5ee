import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Random, but the same for the same seed and number. */
export function randomOf(seed: number, number: number) {
  const generator = xoroshiro128plus(Bun.hash.crc32(`${seed} ${number}`));
  const below = (limit: number) => uniformInt(generator, 0, limit - 1);
  return {
    arrayElement: <T>(values: readonly T[]): T => values[below(values.length)] as T,
    /** Fisher & Yates. */
    shuffle<T>(values: readonly T[]): T[] {
      const all = [...values];
      for (let i = all.length - 1; i > 0; i--) {
        const j = below(i + 1);
        [all[i], all[j]] = [all[j] as T, all[i] as T];
      }
      return all;
    },
  };
}
