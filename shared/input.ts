import type { Input } from "./contract.ts";
import { HttpError, notFound } from "./errors.ts";

/** @returns a parameter of the path. @throws notFound for an empty segment, which some routers match and others do not */
export function segment({ params }: Input, name: string): string {
  const text = params[name] ?? "";
  if (text === "") throw notFound;
  return text;
}

/** @returns an integer from 1 to `most`, at most 999. @throws HttpError 400 that names the value and the range */
export function integer(name: string, text: string, most: number): number {
  const value = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new HttpError(400, `${name} must be an integer from 1 to ${most}, not ${JSON.stringify(text)}`);
}
