import { analyse } from "../judge/tables.ts";
import type { Manifest } from "../keep/manifest.ts";
import type { Slice, Window } from "../keep/slices.ts";
import { percent, shortOf } from "./format.ts";
import { renderText } from "./text.ts";

/** What a run knows so far: the cost of each server against the least, and what could not be detected yet. */
export function soFar(run: { manifest: Manifest; slices: readonly Slice[]; windows: readonly Window[] }): string {
  const { manifest } = run;
  const tables = analyse(run, manifest).filter(({ comparison, step }) => comparison !== null && step === null);
  const head = `after ${manifest.restarts} restarts`;
  if (tables.length === 0) return head;
  const names = [...new Set(tables.flatMap(({ rows }) => rows.map(({ name }) => name)))].sort();
  const cell = (name: string, { rows }: (typeof tables)[0]) => {
    const standing = rows.find((row) => row.name === name)?.standing;
    return standing ? `${standing.ratioToBest.estimate.toFixed(2)} ${standing.groups}` : "-";
  };
  return renderText(
    [head, ...tables.map(({ endpoint }) => shortOf(endpoint))],
    [
      ...names.map((name) => [name, ...tables.map((table) => cell(name, table))]),
      ["not detectable below", ...tables.map(({ comparison }) => percent(comparison?.smallestVisible ?? 0))],
    ],
  );
}
