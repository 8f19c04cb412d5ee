/** Starts and stops a server, with one process or several. */
import { createServer } from "node:net";
import { type Config, type Environment, readConfig } from "../shared/config.ts";
import type { Address, Running } from "../shared/contract.ts";
import { exitWith, UsageError } from "../shared/errors.ts";
import { type Identity, identify, processUsage } from "../shared/identity.ts";
import { contentStore } from "../shared/stores/open.ts";
import { openPeople, type People } from "../shared/stores/people.ts";
import type { Store } from "../shared/stores/store.ts";
import { isWorker, reportUsage, supervise } from "./workers.ts";

/** Time after SIGTERM for the requests in flight; the contract allows 5 s in all. */
const GRACE_MS = 4_500;

export interface Opened {
  readonly people: People;
  /** The first call opens it, if it is not open yet. */
  readonly store: () => Store | Promise<Store>;
  /** `store` is Postgres. */
  readonly onPostgres: boolean;
  readonly identity: () => Promise<Identity>;
}

type Listen = (opened: Opened, at: Address) => Promise<Running>;

/** Runs a server until SIGTERM or SIGINT; if it cannot start, exits 1. @param servers values allowed for SERVER */
export async function run(env: Environment, servers: readonly string[], listen: Listen): Promise<void> {
  try {
    const config = readConfig(env, servers);
    if (!isWorker) await claim(config);
    const stop = config.workers > 1 && !isWorker ? await startWorkers(config) : await startServer(config, listen);
    let stopping = false;
    const onSignal = async () => {
      if (stopping) return;
      stopping = true;
      setTimeout(() => process.exit(0), GRACE_MS);
      await stop();
      process.exit(0);
    };
    process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  } catch (error) {
    exitWith(error);
  }
}

/** @throws UsageError if the address cannot be used, because with SO_REUSEPORT the server would share a port in use. */
function claim({ host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const reason = code === "EADDRINUSE" ? "is taken" : `cannot be listened on (${code ?? message})`;
      reject(new UsageError(`${host}:${port} ${reason}: choose another with PORT or HOST`));
    });
    probe.listen({ host, port }, () => probe.close(() => resolve()));
  });
}

async function startWorkers(config: Config): Promise<() => Promise<void>> {
  (await openPeople(config.driver, config.dbFile)).close();
  const store = contentStore(config); // one process migrates it, before the workers start
  if (config.store) await (await store.get()).close();
  return supervise(config.workers).stop;
}

async function startServer(config: Config, listen: Listen): Promise<() => Promise<void>> {
  const people = await openPeople(config.driver, config.dbFile);
  const store = contentStore(config);
  if (config.store) await store.get();
  const [pid, usage] = isWorker ? [process.ppid, reportUsage()] : [process.pid, processUsage];
  const identity = identify(config, people.sqliteVersion, pid, usage);
  const { host, port } = config;
  const running = await listen(
    { people, store: store.get, onPostgres: config.store === "postgres", identity },
    { host, port, reusePort: isWorker },
  );
  return async () => {
    await running.close();
    people.close();
    await store.close();
  };
}
