/** Tables and lines as data, and how a terminal draws them. */
import CliTable from "cli-table3";

export interface Head {
  readonly head: string;
  /** Text, not a number. */
  readonly left?: true;
  /** If there is no room for all columns, those with the highest number are left out first. */
  readonly dropOrder?: number;
}

export type Column<T> = Head & Readonly<{ show: (row: T) => string }>;
export type Grid = Readonly<{ title: string; heads: readonly Head[]; rows: readonly (readonly string[])[] }>;

export const grid = (title: string, heads: readonly string[], rows: Grid["rows"]): Grid => ({
  title,
  heads: heads.map((head, i) => (i === 0 ? { head, left: true } : { head })),
  rows,
});

/** Leaves out columns that are empty in all rows. */
export function gridBy<T>(title: string, rows: readonly T[], columns: readonly Column<T>[]): Grid {
  const telling = columns.filter(({ show }) => rows.some((row) => !["", "-"].includes(show(row))));
  return { title, heads: telling, rows: rows.map((row) => telling.map(({ show }) => show(row))) };
}

/** A table without lines, its columns `gap` apart. */
export function render({ heads, rows }: Grid, gap = 2): string {
  const border =
    "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid";
  const table = new CliTable({
    head: heads.map(({ head }) => head),
    colAligns: heads.map(({ left }) => (left ? "left" : "right")),
    chars: { ...Object.fromEntries(border.split(" ").map((part) => [part, ""])), middle: " ".repeat(gap) },
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return String(table).replace(/ +$/gm, "");
}

export const renderText = (heads: readonly string[], rows: Grid["rows"]): string => render(grid("", heads, rows));

/** Fits a table into a width: columns closer together, then heads in several lines, then fewer columns. */
export function fitted(whole: Grid, width: number): string {
  const broken = (head: string) => head.replace(/(?<=[-\w])(?=\/\w{3})|(?<=-)| (?=±)/g, "\n");
  const heads = whole.heads.map((one) => ({ ...one, head: broken(one.head) }));
  const text = [render(whole), render(whole, 1), render({ ...whole, heads }, 1)].find((one) => fits(one, width));
  const last = Math.max(...whole.heads.map(({ dropOrder = 0 }) => dropOrder));
  if (text !== undefined || last === 0) return text ?? render(whole, 1);
  const kept = <T>(cells: readonly T[]) => cells.filter((_, i) => whole.heads[i]?.dropOrder !== last);
  return fitted({ ...whole, heads: kept(whole.heads), rows: whole.rows.map(kept) }, width);
}

const fits = (text: string, width: number) =>
  Math.max(...text.split("\n").map((line) => Bun.stringWidth(line))) <= width;

/** A label with its text, or a text, or a line of a table, which is not wrapped. */
export type Line = readonly [label: string, text: string] | string;

export const labeled = (label: string, text: string | null): Line[] => (text === null ? [] : [[label, text]]);

export const plain = (line: Line): string => (typeof line === "string" ? line : line.join(": "));

const LABEL = 13;

export const drawn = (lines: readonly Line[], width: number): string =>
  lines
    .map((line) => {
      if (typeof line !== "string") return wrap(line[0].padEnd(LABEL) + line[1], width, LABEL);
      return line.includes("  ") ? line : wrap(line, width);
    })
    .join("\n");

export const wrap = (text: string, width: number, indent = 2) =>
  Bun.wrapAnsi(text.replaceAll(" %", "\u00a0%"), width - indent, { trim: false })
    .replaceAll("\u00a0%", " %")
    .replaceAll(/ *\n */g, `\n${" ".repeat(indent)}`);
