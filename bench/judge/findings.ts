/** Facts that support or limit the trust in a run, as numbers; tell/ has the words. */
import type { Manifest } from "../keep/manifest.ts";
import type { Slice } from "../keep/slices.ts";
import { type Interval, mean, meanInterval, median, type State, stateOf } from "./statistics.ts";
import type { Table } from "./tables.ts";

/** A server that was measured twice, compared over all endpoints together. */
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
  /** Remarks of the run on how targets were measured, in sentences. */
  readonly remarks: readonly string[];
  readonly warming: readonly { readonly name: string; readonly endpoint: string; readonly by: number }[];
  /** Share of the CPU that other work (host, other processes) used in the median slice; null if unknown. */
  readonly taken: number | null;
  readonly unranked: readonly string[];
  /** Whether some servers are not restarted, so that their variance between restarts is unknown. */
  readonly isRunning: boolean;
  /** Servers that use more than 1 % of a core while idle; `cpu` is the maximum over the endpoints. */
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
    // One value per restart, because all endpoints of a restart compare the same two processes.
    const perRestart = Array.from({ length: restarts }, (_, r) =>
      Math.exp(mean(differences.map((of) => of[r] as number))),
    );
    const ratio = meanInterval(perRestart);
    return [{ name, ratio, state: stateOf(ratio), endpoints: differences.length }];
  });
}
