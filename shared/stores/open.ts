import type { Config } from "../config.ts";
import { openMemory } from "./memory.ts";
import type { Store } from "./store.ts";

const OPEN: Readonly<Record<string, (config: Config) => Promise<Store>>> = {
  sqlite: async ({ driver, sqlite }) => (await import("./sqlite.ts")).openSqlite(driver, sqlite),
  memory: async () => openMemory(),
  postgres: async ({ client, postgres, tx }) => (await import("./postgres.ts")).openPostgres(client, postgres, tx),
};

/** The first `get` opens the store; `get` returns a promise until it is open. */
export function contentStore(config: Config) {
  let store: Store | Promise<Store> | undefined;
  const open = async () => {
    try {
      store = (await OPEN[config.store ?? "sqlite"]?.(config)) as Store;
      return store;
    } catch (error) {
      store = undefined; // the next request tries again
      throw error;
    }
  };
  return {
    get(): Store | Promise<Store> {
      store ??= open();
      return store;
    },
    async close(): Promise<void> {
      await (await store)?.close();
    },
  };
}
