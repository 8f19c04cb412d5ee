import { object, validator } from "../content/schema.ts";
import type { Input } from "../contract.ts";
import { integer, queryOf } from "../input.ts";

/** The transaction adds `delta` to one account, one teller and one branch. */
export interface Transfer {
  readonly aid: number;
  readonly tid: number;
  readonly bid: number;
  readonly delta: number;
}

const MOST = 2 ** 31 - 1;
/** pgbench draws `delta` from the same range. */
const RANGES = { aid: [1, MOST], tid: [1, MOST], bid: [1, MOST], delta: [-5_000, 5_000] } as const;

const properties = Object.fromEntries(
  Object.entries(RANGES).map(([name, [minimum, maximum]]) => [name, { type: "integer", minimum, maximum }]),
);

export const TPCB_SCHEMAS = {
  Transfer: object(properties),
  Balance: object({ abalance: { type: "integer" } }),
};

/** @throws HttpError 422 */
export const transferIn = validator<Transfer>(TPCB_SCHEMAS.Transfer);

/** @throws HttpError 400 */
export function transferOf(input: Input): Transfer {
  const query = queryOf(input);
  const read = (name: keyof Transfer) => {
    const [least, most] = RANGES[name];
    return integer(name, query.get(name) ?? "", most, least);
  };
  return { aid: read("aid"), tid: read("tid"), bid: read("bid"), delta: read("delta") };
}
