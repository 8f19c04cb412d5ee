import { isTwin, partsOf } from "../ask/names.ts";
import { STACKS } from "../ask/targets.ts";
import type { Slice } from "../keep/slices.ts";
import { contrast, type Interval, meanInterval } from "./statistics.ts";
import type { Row, Table } from "./tables.ts";

export type Factor = "runtime" | "framework" | "driver" | "workers" | "settings";

/** What one choice costs, averaged over all pairs of servers that differ in nothing else. */
export interface MainEffect {
  readonly factor: Factor;
  /** The choice, and the one that it is compared with. */
  readonly to: string;
  readonly from: string;
  /** CPU time per request, `to` ÷ `from`; all of an endpoint hold at once, with 95 %. Null where duets compared no pair. */
  readonly cpu: Interval | null;
  /** Requests per second of solo slices, `to` ÷ `from`. */
  readonly goodput: Interval;
  /** The servers that are compared; each differs from its partner in nothing else. */
  readonly pairs: readonly (readonly [to: string, from: string])[];
}

/** A server of the matrix, by what can be chosen. */
interface Choices {
  readonly name: string;
  readonly runtime: string;
  readonly framework: string;
  readonly driver: string;
  /** Whether the driver is the runtime's default. */
  readonly usual: boolean;
  readonly workers: number;
  /** Those of its store that were chosen, as its name has them. */
  readonly settings: string;
}

/**
 * For each factor: the level of a server, what must be equal to compare two, which level others are compared with, and
 * where that level is found, if not everywhere.
 */
const FACTORS: Readonly<
  Record<
    Factor,
    {
      level: (of: Choices) => string;
      groups: (of: Choices) => string[];
      isBase: (of: Choices) => boolean;
      where?: (of: Choices) => string;
    }
  >
> = {
  runtime: {
    level: ({ runtime, driver }) => `${runtime} with ${driver}`,
    // Each with its usual driver, and both with the same.
    groups: ({ framework, driver, usual, workers, settings }) =>
      [driver, ...(usual ? ["usual"] : [])].map((using) => `${framework} ${using} ${workers} ${settings}`),
    isBase: ({ runtime }) => runtime === "node",
  },
  framework: {
    level: ({ framework }) => framework,
    groups: ({ runtime, driver, workers, settings }) => [`${runtime} ${driver} ${workers} ${settings}`],
    isBase: ({ framework }) => framework === "raw",
  },
  driver: {
    level: ({ driver }) => driver,
    where: ({ runtime }) => ` on ${runtime}`,
    groups: ({ runtime, framework, workers, settings }) => [`${runtime} ${framework} ${workers} ${settings}`],
    isBase: ({ usual }) => usual,
  },
  workers: {
    level: ({ workers }) => `${workers} worker${workers === 1 ? "" : "s"}`,
    groups: ({ runtime, framework, driver, settings }) => [`${runtime} ${framework} ${driver} ${settings}`],
    isBase: ({ workers }) => workers === 1,
  },
  settings: {
    level: ({ settings }) => settings || "as it comes",
    where: ({ driver }) => ` with ${driver}`,
    groups: ({ runtime, framework, driver, workers }) => [`${runtime} ${framework} ${driver} ${workers}`],
    isBase: ({ settings }) => settings === "",
  },
};

/** @param solos of the table's endpoint. @returns the main effects that the servers of a table let one see. */
export function mainEffects({ comparison, rows }: Table, solos: readonly Slice[]): MainEffect[] {
  if (comparison === null) return [];
  const servers = rows.flatMap(choicesOf);
  const found = (Object.keys(FACTORS) as Factor[]).flatMap((factor) => {
    const { level, groups, isBase, where } = FACTORS[factor];
    const keyed = servers.flatMap((server) => groups(server).map((key) => ({ key, server })));
    const pairs = [...Map.groupBy(keyed, ({ key }) => key).values()].flatMap((alike) => {
      const base = alike.find(({ server }) => isBase(server))?.server;
      const others = alike.map(({ server }) => server).filter((server) => base && level(server) !== level(base));
      return others.map((to) => ({ to, from: base as Choices }));
    });
    const named = pairs.map(({ to, from }) => ({
      to: level(to),
      from: level(from) + (where?.(from) ?? ""),
      pair: [to.name, from.name] as const,
    }));
    return [...Map.groupBy(named, ({ to, from }) => `${to} ÷ ${from}`).values()]
      .map((of) => ({ factor, ...(of[0] as (typeof of)[0]), pairs: of.map(({ pair }) => pair) }))
      .sort((a, b) => b.pairs.length - a.pairs.length || (`${a.to} ${a.from}` < `${b.to} ${b.from}` ? -1 : 1));
  });
  const compared = new Set(comparison.standings.flatMap(({ name, rank }) => (rank ? [name] : [])));
  const seen = found.map(({ factor, to, from, pairs }) => ({
    effect: { factor, to, from, pairs },
    duets: pairs.filter((pair) => pair.every((name) => compared.has(name))),
  }));
  const family = seen.filter(({ duets }) => duets.length > 0).length;
  return seen.map(({ effect, duets }) => ({
    ...effect,
    cpu: duets.length > 0 ? contrast(comparison, weightsOf(duets), family) : null,
    goodput: goodputRatio(effect.pairs, solos),
  }));
}

/** The weight of each server in the mean over pairs. */
function weightsOf(pairs: MainEffect["pairs"]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const [to, from] of pairs) {
    weights.set(to, (weights.get(to) ?? 0) + 1 / pairs.length);
    weights.set(from, (weights.get(from) ?? 0) - 1 / pairs.length);
  }
  return weights;
}

/** Twins and servers that do not say what they are have no choices. */
function choicesOf({ name, runtime, framework, driver, workers }: Row): Choices[] {
  if (runtime === null || framework === null || driver === null || workers === null || isTwin(name)) return [];
  const word = (text: string) => text.split(" ")[0] as string;
  const parts = partsOf(name);
  const isPlain = STACKS[parts.server]?.plain ?? false;
  return [
    {
      name,
      runtime: word(runtime),
      framework: isPlain ? "raw" : word(framework),
      driver: word(driver),
      usual: parts.driver === undefined,
      workers,
      settings: parts.settings.join(", "),
    },
  ];
}

/** Block by block, so that what a block's minutes did to all of them cancels. */
function goodputRatio(pairs: MainEffect["pairs"], solos: readonly Slice[]): Interval {
  const byBlock = [...Map.groupBy(solos, ({ block }) => block).values()];
  const ratios = byBlock.flatMap((slices) => {
    const ln = (name: string) => Math.log(slices.find((slice) => slice.name === name)?.goodput ?? Number.NaN);
    const mean = pairs.reduce((sum, [to, from]) => sum + ln(to) - ln(from), 0) / pairs.length;
    return Number.isFinite(mean) ? [Math.exp(mean)] : [];
  });
  return ratios.length > 0 ? meanInterval(ratios, true) : { estimate: Number.NaN, low: Number.NaN, high: Number.NaN };
}
