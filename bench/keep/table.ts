/** Tables in files of comma-separated values. */
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { UsageError } from "../../shared/errors.ts";
import { readText, rounded } from "./files.ts";

/** What a column holds; with `?` it is empty in some rows, and may be missing in the file of an earlier version. */
interface Contents {
  readonly text: string;
  readonly "text?": string | null;
  readonly number: number;
  readonly "number?": number | null;
}
/** Name of a column -> the field of a row that it holds, and what that is. */
export type Columns = Readonly<Record<string, readonly [field: string, content: keyof Contents]>>;
export type RowOf<C extends Columns> = { readonly [Name in keyof C as C[Name][0]]: Contents[C[Name][1]] };

/** Appends rows to a file; a new file begins with the header line. */
export function appendRows<C extends Columns>(file: string, columns: C, rows: readonly RowOf<C>[]): void {
  const lines = rows.map((row) =>
    Object.values(columns).map(([field]) => rounded((row as Readonly<Record<string, unknown>>)[field])),
  );
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, (existsSync(file) ? "" : stringify([Object.keys(columns)])) + stringify(lines));
}

/** @throws UsageError with file, line, column and value if something is malformed. */
export function readRows<Row>(file: string, columns: Columns): Row[] {
  const wanted = Object.entries(columns);
  const problem = (line: number, what: string) => new UsageError(`${file}, line ${line}: ${what}`);
  const check = (head: string[]): string[] => {
    const missing = wanted.find(([name, [, content]]) => !content.endsWith("?") && !head.includes(name));
    if (missing) throw problem(1, `column "${missing[0]}" is missing: give a file written by ./bench.sh`);
    return head;
  };
  let records: { record: Record<string, string>; info: { lines: number } }[];
  try {
    records = parse(readText(file), { columns: check, info: true, bom: true, skip_empty_lines: true });
  } catch (error) {
    if (error instanceof CsvError) throw problem(Number(error.lines), error.message);
    throw error instanceof UsageError
      ? error
      : new UsageError(`"${file}" cannot be read (${(error as Error).message})`);
  }
  return records.map(({ record, info: { lines } }) => {
    const fields = wanted.map(([column, [field, kind]]) => {
      const text = record[column] ?? "";
      const content = text === "" ? null : kind.startsWith("text") ? text : Number(text);
      if (typeof content === "number" && !(content >= 0 && content < Number.POSITIVE_INFINITY))
        throw problem(lines, `column ${column}: "${record[column]}" is not 0 or a positive number`);
      if (content === null && !kind.endsWith("?")) throw problem(lines, `column ${column} is empty`);
      return [field, content] as const;
    });
    return Object.fromEntries(fields) as Row;
  });
}
