/** How strictly suites compare answers: the ten servers must agree byte by byte, servers in other languages in JSON values. */
import { expect } from "bun:test";

export interface Strictness {
  readonly exact: boolean;
  /** @returns what is compared of an answer's body. */
  body(text: string): unknown;
  /** @returns what `body` is to be for this JSON. */
  json(value: unknown): unknown;
  /** @returns what `body` is to be for an error of these words. */
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
