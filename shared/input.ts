import type { Input } from "./contract.ts";
import { HttpError, notFound } from "./errors.ts";

/** @throws notFound if the segment is empty, because some routers match an empty segment and others do not */
export function segment({ params }: Input, name: string): string {
  const text = params[name] ?? "";
  if (text === "") throw notFound;
  return text;
}

export function queryOf({ url = "" }: Input): URLSearchParams {
  return new URLSearchParams(url.slice(`${url}?`.indexOf("?") + 1));
}

/** @returns an integer from `least` to `most`. @throws HttpError 400 that names the value and the range */
export function integer(name: string, text: string, most: number, least = 1): number {
  const value = /^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new HttpError(400, `${name} must be an integer from ${least} to ${most}, not ${JSON.stringify(text)}`);
}
