import { expect } from "bun:test";

export const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i));
/** Fails if there is no value. */
export const present = <T>(value: T | null) => value ?? expect.unreachable();
