/** What a run knows of itself, for or against: values with their numbers; tell/ has the words. */
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { type Interval, mean, meanInterval, median, type State, stateOf } from "./statistics.ts";
import type { Table } from "./tables.ts";

/** A server that was measured twice, over all endpoints together and at each. */
export interface Twin {
  readonly name: string;
  /** Cost of the second ÷ cost of the first; restarts are the repetitions. */
  readonly ratio: Interval;
  readonly state: State;
  readonly endpoints: number;
}

export interface Findings {
  readonly twins: readonly Twin[];
  readonly left: Manifest["left"];
  /** What the run said of how targets are measured, in sentences. */
  readonly remarks: readonly string[];
  readonly warming: readonly { readonly name: string; readonly endpoint: string; readonly by: number }[];
  /** Part of the time in which the host and other processes had the cores in the median slice; null if that was not seen. */
  readonly taken: number | null;
  readonly unranked: readonly string[];
  /** Whether some servers are not restarted, so that their differences from start to start are not seen. */
  readonly isRunning: boolean;
  /** Servers that use CPU time while they are asked nothing: more than 1 % of a core, the most over the endpoints. */
  readonly busyAtRest: readonly { readonly name: string; readonly cpu: number }[];
}

const AT_REST = 0.01;

export function findingsOf(tables: readonly Table[], slices: readonly Slice[], manifest: Manifest | null): Findings {
  const rows = tables.flatMap(({ endpoint, rows }) => rows.map((row) => ({ endpoint, ...row })));
  const taken = slices.flatMap((slice) => slice.taken ?? []);
  const rest = [...Map.groupBy(rows, ({ name }) => name)].map(([name, of]) => ({
    name,
    cpu: Math.max(0, ...of.map(({ cpuAtRest }) => cpuAtRest ?? 0)),
  }));
  return {
    twins: twinsOf(tables),
    left: manifest?.left ?? [],
    remarks: manifest?.remarks ?? [],
    warming: rows.flatMap(({ name, endpoint, warming }) => (warming ? [{ name, endpoint, by: warming }] : [])),
    taken: taken.length > 0 ? median(taken) : null,
    unranked: tables.flatMap(({ endpoint, comparison }) => (comparison === null ? [endpoint] : [])),
    isRunning: manifest?.plan.targets.some(({ kind }) => kind === "url") ?? false,
    busyAtRest: rest.filter(({ cpu }) => cpu > AT_REST).sort((a, b) => b.cpu - a.cpu),
  };
}

function twinsOf(tables: readonly Table[]): Twin[] {
  const pairs = new Map(
    tables.flatMap(({ rows }) => rows.flatMap(({ name, twinOf }) => (twinOf ? [[name, twinOf] as const] : []))),
  );
  return [...pairs].flatMap(([twin, name]) => {
    const differences = tables.flatMap(({ comparison }) => {
      const of = (wanted: string) => comparison?.effects.find((effect) => effect.name === wanted)?.perRestart;
      const [first, second] = [of(name), of(twin)];
      return first && second ? [second.map((value, r) => value - (first[r] as number))] : [];
    });
    const restarts = Math.min(...differences.map(({ length }) => length));
    if (differences.length === 0 || restarts < 2) return [];
    // A restart is one value: at its endpoints the same two processes are compared.
    const perRestart = Array.from({ length: restarts }, (_, r) =>
      Math.exp(mean(differences.map((of) => of[r] as number))),
    );
    const ratio = meanInterval(perRestart);
    return [{ name, ratio, state: stateOf(ratio), endpoints: differences.length }];
  });
}
