/** Text for a terminal: tables without lines, and paragraphs. */
import CliTable from "cli-table3";

/** A table without lines, its columns `gap` apart. */
export function render<T>(
  columns: readonly { readonly head: string; readonly show: (row: T) => string; readonly left?: true }[],
  rows: readonly T[],
  gap = 2,
): string {
  const border =
    "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid";
  const table = new CliTable({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ left }) => (left ? "left" : "right")),
    chars: { ...Object.fromEntries(border.split(" ").map((part) => [part, ""])), middle: " ".repeat(gap) },
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => columns.map(({ show }) => show(row))));
  return String(table).replace(/ +$/gm, "");
}

/** A table of names and texts. */
export const renderText = (head: readonly string[], rows: readonly (readonly string[])[], gap = 2) =>
  render(
    head.map((text, i) => ({
      head: text,
      show: (row: readonly string[]) => row[i] ?? "",
      ...(i === 0 && { left: true as const }),
    })),
    rows,
    gap,
  );

/** Lines of a paragraph, indented after the first. */
export const wrap = (text: string, width: number, indent = 2) =>
  Bun.wrapAnsi(text.replaceAll(" %", "\u00a0%"), width - indent, { trim: false })
    .replaceAll("\u00a0%", " %")
    .replaceAll(/ *\n */g, `\n${" ".repeat(indent)}`);

export const fits = (text: string, width: number) =>
  Math.max(...text.split("\n").map((line) => Bun.stringWidth(line))) <= width;
