/** How endpoints at a load are named, and targets: `bun-hono@node:sqlite*4+pool=50`, and `#2` behind the second of two of one name. */

/** The parts of a name; what is not given is as it comes. */
export interface NameParts {
  readonly server: string;
  /** A SQLite driver, a client of Postgres, or memory. */
  readonly driver: string | undefined;
  readonly workers: string | undefined;
  /** As `pool=50`. */
  readonly settings: readonly string[];
}

export function partsOf(name: string): NameParts {
  const [, server = "", driver, workers, settings = ""] =
    /^([^@*+]*)(?:@([^+*]+))?(?:\*(\d+))?((?:\+[^+]*)*)$/.exec(name) ?? [];
  return { server, driver, workers, settings: settings.split("+").slice(1) };
}

/** An endpoint at a rate, or with so many connections, and the endpoint of such a name. */
export const nameAtRate = (endpoint: string, rate: number): string => `${endpoint} at ${rate}/s`;
export const nameWith = (endpoint: string, connections: number): string =>
  `${endpoint} with ${connections} connections`;
export const withoutLoad = (endpoint: string): string => endpoint.replace(/ (at [\d.]+\/s|with \d+ connections)$/, "");

/** @param n counts those of one name from 1 */
export const nameOfTwin = (name: string, n: number): string => (n === 1 ? name : `${name}#${n}`);
export const isTwin = (name: string): boolean => /#\d+$/.test(name);
/** @returns the name of which this one is a twin, or itself. */
export const originalOf = (name: string): string => name.replace(/#\d+$/, "");
