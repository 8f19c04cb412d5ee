import { stackOf } from "../ask/targets.ts";
import { type Comparison, contrast, ERROR_RATE, type Interval, spreadOver } from "./statistics.ts";
import type { Row, Table } from "./tables.ts";

export type Factor = "runtime" | "framework" | "driver" | "workers" | "settings";

/** What one choice costs, averaged over all pairs of servers that differ in nothing else. */
export interface MainEffect {
  readonly factor: Factor;
  /** The choice, and the one that it is compared with. */
  readonly to: string;
  readonly from: string;
  /** CPU time per request, `to` ÷ `from`; all of a run hold at once, with 95 %. Null if no pair was compared by it. */
  readonly cpu: Interval | null;
  /** Requests per second, likewise. */
  readonly goodput: Interval | null;
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

/**
 * @param many tables of the run: what is said of all of them is to hold at once
 * @returns the main effects that the servers of a table let one see.
 */
export function mainEffects({ comparison, throughput, by, rows }: Table, many: number): MainEffect[] {
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
  const family = found.length * many;
  const ratio = (of: Comparison | null, pairs: MainEffect["pairs"]) => {
    const known = new Set(of?.standings.flatMap(({ name, rank }) => (rank ? [name] : [])));
    const compared = pairs.filter((pair) => pair.every((name) => known.has(name)));
    return of && compared.length > 0
      ? contrast(of, weightsOf(compared), spreadOver([of]), ERROR_RATE / family).ratio
      : null;
  };
  return found.map(({ pairs, factor, to, from }) => {
    const seconds = ratio(throughput, pairs);
    return {
      ...{ factor, to, from, pairs },
      cpu: by === "cpu" ? ratio(comparison, pairs) : null,
      goodput: seconds && { estimate: 1 / seconds.estimate, low: 1 / seconds.high, high: 1 / seconds.low },
    };
  });
}

/** The weight of each server in the mean over pairs. */
function weightsOf(pairs: MainEffect["pairs"]): Record<string, number> {
  const weights: Record<string, number> = {};
  for (const [to, from] of pairs) {
    weights[to] = (weights[to] ?? 0) + 1 / pairs.length;
    weights[from] = (weights[from] ?? 0) - 1 / pairs.length;
  }
  return weights;
}

/** Twins and servers that do not say what they are have no choices. */
function choicesOf(row: Row): Choices[] {
  const { name, runtime, framework, driver, workers, server, chosenDriver, settings, twinOf } = row;
  if (runtime === null || framework === null || driver === null || workers === null || twinOf !== null) return [];
  const word = (text: string) => text.split(" ")[0] as string;
  const isPlain = stackOf(server ?? "")?.plain ?? false;
  return [
    {
      name,
      runtime: word(runtime),
      framework: isPlain ? "raw" : word(framework),
      driver: word(driver),
      usual: chosenDriver === null,
      workers,
      settings: settings ?? "",
    },
  ];
}
