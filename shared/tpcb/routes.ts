import type { Input, Route } from "../contract.ts";
import { settle } from "../settle.ts";
import type { Store } from "../stores/store.ts";
import { type Transfer, transferIn, transferOf } from "./schema.ts";

/** pgbench's transaction. @param store returns the store in Postgres; the first call opens it */
export function tpcbRoutes(store: () => Store | Promise<Store>): Route[] {
  const transacting = (read: (input: Input) => Transfer) => (input: Input) =>
    settle(store(), async (opened) => {
      const { transact } = opened as Required<Store>;
      return { abalance: await transact(read(input)) };
    });
  return [
    { method: "POST", path: "/tx", type: "json", reads: "body", handle: transacting(({ body }) => transferIn(body)) },
    { method: "GET", path: "/tx", type: "json", reads: "query", handle: transacting(transferOf) },
  ];
}
