/** Starts the server that SERVER names. Its command is in matrix.json; the last word of that is the adapter. */
import { createServer } from "node:net";
import { type Config, readConfig } from "../shared/config.ts";
import type { ServerModule } from "../shared/contract.ts";
import { exitWith, UsageError } from "../shared/errors.ts";
import { identify, processUsage } from "../shared/identity.ts";
import { routes } from "../shared/routes.ts";
import { contentStore } from "../shared/stores/open.ts";
import { openPeople } from "../shared/stores/people.ts";
import matrix from "./matrix.json" with { type: "json" };
import { isWorker, reportUsage, supervise } from "./workers.ts";

/** How long in-flight requests may take to end after SIGTERM. */
const GRACE_MS = 4_500;

try {
  const config = readConfig(process.env, Object.keys(matrix));
  if (!isWorker) await claim(config);
  const stop = config.workers > 1 && !isWorker ? await startWorkers(config) : await startServer(config);
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

/** @throws UsageError where the port or address cannot be had; SO_REUSEPORT would share it without a word. */
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
  const store = contentStore(config); // and migrated, by one process
  if (config.store) await (await store.get()).close();
  return supervise(config.workers).stop;
}

async function startServer(config: Config): Promise<() => Promise<void>> {
  const people = await openPeople(config.driver, config.dbFile);
  const store = contentStore(config);
  if (config.store) await store.get();
  const [pid, usage] = isWorker ? [process.ppid, reportUsage()] : [process.pid, processUsage];
  const { default: server } = (await import(`./${process.argv[2]}.ts`)) as { default: ServerModule };
  const identity = identify(config, people.sqliteVersion, pid, usage);
  const running = await server.listen(routes(people, store.get, identity, config.store === "postgres"), {
    host: config.host,
    port: config.port,
    reusePort: isWorker,
  });
  return async () => {
    await running.close();
    people.close();
    await store.close();
  };
}
