/** Starts and ends as servers/main.ts has the ten do. */
import { createServer } from "node:http";
import { createServer as createProbe } from "node:net";
import reactRouter from "react-router/package.json" with { type: "json" };
import { isWorker, reportUsage, supervise } from "../../servers/workers.ts";
import { type Config, readConfig } from "../../shared/config.ts";
import { exitWith, UsageError } from "../../shared/errors.ts";
import { processUsage } from "../../shared/identity.ts";
import { HTTP_OPTIONS } from "../../shared/limits.ts";
import { listen, originForm } from "../../shared/listen.ts";
import { openPeople } from "../../shared/stores/people.ts";

/** What build.sh makes of app/; not a literal, as it is not there before. */
const BUILD: string = "./build/server/index.js";
const SERVER = "node-remix";
/** How long in-flight requests may take to end after SIGTERM. */
const GRACE_MS = 4_500;

try {
  const config = readConfig({ ...process.env, SERVER }, [SERVER]);
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
    const probe = createProbe();
    probe.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const reason = code === "EADDRINUSE" ? "is taken" : `cannot be listened on (${code ?? message})`;
      reject(new UsageError(`${host}:${port} ${reason}: choose another with PORT or HOST`));
    });
    probe.listen({ host, port }, () => probe.close(() => resolve()));
  });
}

async function startWorkers(config: Config): Promise<() => Promise<void>> {
  (await openPeople(config.driver, config.dbFile)).close();
  return supervise(config.workers).stop;
}

async function startServer({ driver, dbFile, workers, host, port }: Config): Promise<() => Promise<void>> {
  const people = await openPeople(driver, dbFile);
  const [pid, usage] = isWorker ? [process.ppid, reportUsage()] : [process.pid, processUsage];
  const fixed = {
    server: SERVER,
    runtime: { name: "node", version: process.versions.node },
    framework: { name: "remix", version: reactRouter.version },
    driver: { name: driver, sqlite: people.sqliteVersion },
    workers,
    pid,
  };
  const identity = async () => ({ ...fixed, uptimeSeconds: process.uptime(), ...(await usage()) });
  const build: typeof import("./server/app.ts") = await import(BUILD);
  const app = build.appOf({ people, identity });
  const server = createServer(HTTP_OPTIONS, (request, response) => {
    request.url = originForm(request.url as string);
    app(request, response);
  });
  const running = await listen(server, { host, port, reusePort: isWorker });
  return async () => {
    await running.close();
    people.close();
  };
}
