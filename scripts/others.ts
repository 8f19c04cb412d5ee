/** Figures that others published, beside those of our runs. */
import { readFileSync } from "node:fs";
import { markdownTable } from "markdown-table";
import type { Row } from "../bench/judge/tables.ts";
import { count, WARMING } from "../bench/tell/format.ts";
import type { Kind, Report } from "../bench/tell/report.ts";

interface Comparison {
  readonly kind: Kind;
  readonly endpoint: string;
  /** How they measured, in sentences. */
  readonly measured: string;
  readonly unit: "requests/s" | "sequences/s" | "success rate";
  /** By the names that our runs give to servers. */
  readonly figures: Readonly<Record<string, number>>;
}

/** @returns a table per comparison; "not measured" if no run of its kind is published */
export function besideOthers(newest: ReadonlyMap<Kind, Report>): string {
  const comparisons: readonly Comparison[] = JSON.parse(readFileSync("docs/others.json", "utf8"));
  return comparisons
    .map(({ kind, endpoint, measured, unit, figures }) => {
      const report = newest.get(kind);
      const rows = report?.endpoints.find((one) => one.endpoint === endpoint)?.rows ?? [];
      const show = (value: number) => (unit === "success rate" ? value.toFixed(8) : count(value));
      const ours = ({ requests, errors, goodput, warming }: Row) => {
        if (unit === "success rate") return show((requests - errors) / requests);
        return show(goodput.estimate) + (warming ? ` ${WARMING}` : "");
      };
      const here = (name: string) =>
        rows.filter((row) => row.name === name).map(ours)[0] ?? (report ? "-" : "not measured");
      const lines = Object.entries(figures).map(([name, figure]) => [name, show(figure), here(name)]);
      const table = markdownTable([[endpoint, `theirs, ${unit}`, "here"], ...lines], { align: ["l", "r", "r"] });
      return `${measured}\n\n${table}`;
    })
    .join("\n\n");
}
