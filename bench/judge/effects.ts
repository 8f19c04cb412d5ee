import { stackOf } from "../ask/targets.ts";
import { type Comparison, contrast, ERROR_RATE, type Interval, spreadOver } from "./statistics.ts";
import type { Row, Table } from "./tables.ts";

export type Factor = "runtime" | "framework" | "driver" | "workers" | "settings";

/**
 * What one choice costs, averaged over all pairs of servers that differ in nothing else. Runtimes and frameworks interact (a
 * framework may cost more on one runtime and less on the other), so they are compared for each framework, and on each runtime.
 */
export interface MainEffect {
  readonly factor: Factor;
  /** The choice, and the one that it is compared with. */
  readonly to: string;
  readonly from: string;
  /** What both have in common: the framework of two runtimes; the runtime of two frameworks or drivers; the driver of two settings. */
  readonly on: string;
  /** CPU time per request, `to` ÷ `from`; the 95 % intervals of a run are simultaneous. Null if no pair was compared by it. */
  readonly cpu: Interval | null;
  /** Requests per second, likewise. */
  readonly goodput: Interval | null;
  /** The servers that are compared; each differs from its partner in nothing else. */
  readonly pairs: readonly (readonly [to: string, from: string])[];
}

/** The choices that make up a server of the matrix. */
interface Choices {
  readonly name: string;
  readonly runtime: string;
  readonly framework: string;
  readonly driver: string;
  readonly workers: number;
  /** Settings of its store that were chosen, as written in its name. */
  readonly settings: string;
  /** Whether the driver is the runtime's default. */
  readonly usual: boolean;
}

/** For each factor: the name of a choice, which choice is the baseline, and what both have in common. */
const FACTORS: Readonly<
  Record<Factor, { level: (of: Choices) => string; isBase: (of: Choices) => boolean; on: (of: Choices) => string }>
> = {
  runtime: {
    level: ({ runtime, driver }) => `${runtime} with ${driver}`,
    on: ({ framework }) => framework,
    isBase: ({ runtime }) => runtime === "node",
  },
  framework: {
    level: ({ framework }) => framework,
    on: ({ runtime }) => runtime,
    isBase: ({ framework }) => framework === "raw",
  },
  driver: {
    level: ({ driver }) => driver,
    on: ({ runtime }) => runtime,
    isBase: ({ usual }) => usual,
  },
  workers: {
    level: ({ workers }) => `${workers} worker${workers === 1 ? "" : "s"}`,
    on: () => "",
    isBase: ({ workers }) => workers === 1,
  },
  settings: {
    level: ({ settings }) => settings || "the default",
    on: ({ driver }) => driver,
    isBase: ({ settings }) => settings === "",
  },
};
const ALL = Object.keys(FACTORS) as Factor[];

/** Keys of groups that differ in this factor only. Runtimes are compared with the same driver, and also each with its default one. */
function groupsOf(factor: Factor, server: Choices): string[] {
  const key = (of: Choices) => ALL.map((other) => (other === factor ? "" : of[other])).join(" ");
  const asUsual = factor === "runtime" && server.usual ? [key({ ...server, driver: "usual" })] : [];
  return [key(server), ...asUsual];
}

/**
 * @param many number of tables in the run, because intervals are simultaneous for all of them
 * @returns the main effects that can be estimated from the servers of a table.
 */
export function mainEffects({ comparison, throughput, by, rows }: Table, many: number): MainEffect[] {
  const servers = rows.flatMap(choicesOf);
  const found = ALL.flatMap((factor) => {
    const { level, isBase, on } = FACTORS[factor];
    const keyed = servers.flatMap((server) => groupsOf(factor, server).map((key) => ({ key, server })));
    const pairs = [...Map.groupBy(keyed, ({ key }) => key).values()].flatMap((alike) => {
      const base = alike.find(({ server }) => isBase(server))?.server;
      const others = alike.map(({ server }) => server).filter((server) => base && level(server) !== level(base));
      return others.map((to) => ({ to, from: base as Choices }));
    });
    const named = pairs.map(({ to, from }) => ({
      about: { factor, to: level(to), from: level(from), on: on(from) },
      pair: [to.name, from.name] as const,
    }));
    const textOf = ({ to, from, on }: (typeof named)[0]["about"]) => [to, from, on].join();
    return [...Map.groupBy(named, ({ about }) => textOf(about)).values()]
      .map((of) => ({ ...(of[0] as (typeof of)[0]).about, pairs: of.map(({ pair }) => pair) }))
      .sort((a, b) => b.pairs.length - a.pairs.length || (textOf(a) < textOf(b) ? -1 : 1));
  });
  const error = ERROR_RATE / (many * found.length);
  const ratio = (of: Comparison | null, pairs: MainEffect["pairs"]) => {
    const known = new Set(of?.standings.flatMap(({ name, groups }) => (groups ? [name] : [])));
    const compared = pairs.filter((pair) => pair.every((name) => known.has(name)));
    return of && compared.length > 0 ? contrast(of, weightsOf(compared), spreadOver([of]), error).ratio : null;
  };
  return found.map((one) => {
    const seconds = ratio(throughput, one.pairs);
    return {
      ...one,
      cpu: by === "cpu" ? ratio(comparison, one.pairs) : null,
      goodput: seconds && { estimate: 1 / seconds.estimate, low: 1 / seconds.high, high: 1 / seconds.low },
    };
  });
}

/** @returns the names that cost significantly more than no other one in any table; intervals hold for all pairs and tables together. */
export function cheapestOf(tables: readonly Table[], names: readonly string[]): string[] {
  const error = (2 * ERROR_RATE) / (tables.length * names.length * (names.length - 1));
  const dearer = tables.flatMap(({ comparison }) => {
    if (comparison === null) return [];
    const known = comparison.standings.flatMap(({ name, groups }) => (groups && names.includes(name) ? [name] : []));
    const ratio = (name: string, other: string) =>
      contrast(comparison, weightsOf([[name, other]]), spreadOver([comparison]), error).ratio;
    return known.filter((name) => known.some((other) => ratio(name, other).low > 1));
  });
  return names.filter((name) => !dearer.includes(name));
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

/** Empty for twins and for servers that do not report their runtime, framework, driver and workers. */
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
