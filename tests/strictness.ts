/** How strictly suites compare answers: the ten servers must agree byte by byte, servers in other languages in JSON values. */
import { expect } from "bun:test";

export interface Strictness {
  readonly exact: boolean;
  /** @returns the form of an answer's body that suites compare. */
  body(text: string): unknown;
  /** @returns the expected result of `body` for this JSON value. */
  json(value: unknown): unknown;
  /** @returns the expected result of `body` for an error with these words. */
  error(words: string): unknown;
}

/** The same bytes, and errors in the same words. */
export const EXACT: Strictness = {
  exact: true,
  body: (text) => text,
  json: JSON.stringify,
  error: (words) => JSON.stringify({ error: words }),
};

/** Equal JSON values, and errors in any words. */
export const VALUES: Strictness = {
  exact: false,
  body: (text) => (/^[{[]/.test(text) ? JSON.parse(text) : text),
  json: (value) => value,
  error: () => ({ error: expect.stringMatching(/\S/) }),
};
