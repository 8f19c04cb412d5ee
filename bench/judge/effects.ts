import { stackOf } from "../ask/targets.ts";
import { type Comparison, contrast, ERROR_RATE, type Interval, spreadOver, stateOf } from "./statistics.ts";
import type { Row, Table } from "./tables.ts";

export type Factor = "runtime" | "framework" | "driver" | "workers" | "settings";

/** What one choice costs, averaged over all pairs of servers that differ in nothing else. */
export interface MainEffect {
  readonly factor: Factor;
  /** The choice, and the one that it is compared with. */
  readonly to: string;
  readonly from: string;
  /** CPU time per request, `to` ÷ `from`; the 95 % intervals of a run are simultaneous. Null if no pair was compared by it. */
  readonly cpu: Interval | null;
  /** Requests per second, likewise. */
  readonly goodput: Interval | null;
  /** `cpu` on each runtime, for a framework that was compared on two; else empty. */
  readonly byRuntime: readonly { readonly runtime: string; readonly cpu: Interval }[];
  /** Whether `cpu` differs significantly between the two runtimes. */
  readonly interacts: boolean;
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

/** For each factor: the name of a choice, which choice is the baseline, and a suffix for the baseline's name if needed. */
const FACTORS: Readonly<
  Record<Factor, { level: (of: Choices) => string; isBase: (of: Choices) => boolean; where?: (of: Choices) => string }>
> = {
  runtime: {
    level: ({ runtime, driver }) => `${runtime} with ${driver}`,
    isBase: ({ runtime }) => runtime === "node",
  },
  framework: {
    level: ({ framework }) => framework,
    isBase: ({ framework }) => framework === "raw",
  },
  driver: {
    level: ({ driver }) => driver,
    where: ({ runtime }) => ` on ${runtime}`,
    isBase: ({ usual }) => usual,
  },
  workers: {
    level: ({ workers }) => `${workers} worker${workers === 1 ? "" : "s"}`,
    isBase: ({ workers }) => workers === 1,
  },
  settings: {
    level: ({ settings }) => settings || "the default",
    where: ({ driver }) => ` with ${driver}`,
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
    const { level, isBase, where } = FACTORS[factor];
    const keyed = servers.flatMap((server) => groupsOf(factor, server).map((key) => ({ key, server })));
    const pairs = [...Map.groupBy(keyed, ({ key }) => key).values()].flatMap((alike) => {
      const base = alike.find(({ server }) => isBase(server))?.server;
      const others = alike.map(({ server }) => server).filter((server) => base && level(server) !== level(base));
      return others.map((to) => ({ to, from: base as Choices }));
    });
    const named = pairs.map(({ to, from }) => ({
      to: level(to),
      from: level(from) + (where?.(from) ?? ""),
      pair: [to.name, from.name] as const,
      runtime: to.runtime,
    }));
    return [...Map.groupBy(named, ({ to, from }) => `${to} ÷ ${from}`).values()]
      .map((of) => ({
        factor,
        ...(of[0] as (typeof of)[0]),
        pairs: of.map(({ pair }) => pair),
        runtimes: of.map(({ runtime }) => runtime),
      }))
      .sort((a, b) => b.pairs.length - a.pairs.length || (`${a.to} ${a.from}` < `${b.to} ${b.from}` ? -1 : 1));
  });
  // A framework has four intervals: on both runtimes together, on each of them, and for their difference.
  const family = many * found.reduce((sum, { factor }) => sum + (factor === "framework" ? 4 : 1), 0);
  const among = (of: Comparison | null, pairs: MainEffect["pairs"]) => {
    const known = new Set(of?.standings.flatMap(({ name, groups }) => (groups ? [name] : [])));
    return pairs.filter((pair) => pair.every((name) => known.has(name)));
  };
  const ratio = (of: Comparison | null, pairs: MainEffect["pairs"], against: MainEffect["pairs"] = []) => {
    const compared = among(of, pairs);
    if (!of || compared.length === 0) return null;
    return contrast(of, weightsOf(compared, against), spreadOver([of]), ERROR_RATE / family).ratio;
  };
  return found.map(({ pairs, runtimes, factor, to, from }) => {
    const seconds = ratio(throughput, pairs);
    const cpu = by === "cpu" ? ratio(comparison, pairs) : null;
    const groups = [...Map.groupBy(pairs.entries(), ([i]) => runtimes[i] as string)].map(([runtime, of]) => ({
      runtime,
      pairs: among(
        comparison,
        of.map(([, pair]) => pair),
      ),
    }));
    const isSplit = factor === "framework" && cpu && groups.length === 2 && groups.every((one) => one.pairs.length > 0);
    const [one, other] = isSplit ? groups : [];
    const difference = one && other ? ratio(comparison, one.pairs, other.pairs) : null;
    return {
      ...{ factor, to, from, pairs, cpu },
      byRuntime: (isSplit ? groups : []).flatMap(({ runtime, pairs }) => {
        const of = ratio(comparison, pairs);
        return of ? [{ runtime, cpu: of }] : [];
      }),
      interacts: difference !== null && stateOf(difference) === "different",
      goodput: seconds && { estimate: 1 / seconds.estimate, low: 1 / seconds.high, high: 1 / seconds.low },
    };
  });
}

/** The weight of each server in: mean over `pairs` minus mean over `against`. */
function weightsOf(pairs: MainEffect["pairs"], against: MainEffect["pairs"]): Record<string, number> {
  const weights: Record<string, number> = {};
  const add = (all: MainEffect["pairs"], sign: number) => {
    for (const [to, from] of all) {
      weights[to] = (weights[to] ?? 0) + sign / all.length;
      weights[from] = (weights[from] ?? 0) - sign / all.length;
    }
  };
  add(pairs, 1);
  add(against, -1);
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
