import cluster, { type Worker } from "node:cluster";
import { processUsage, type Usage } from "../shared/identity.ts";

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 5_000;
/** A worker that lived this long is replaced after FIRST_DELAY_MS again. */
const HEALTHY_MS = 10_000;

/** This process was started by {@link supervise}. */
export const isWorker = cluster.isWorker;

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Workers that listen for messages: Bun loses a message to a worker that does not listen yet. */
const ready = new Set<Worker>();

/** Starts `count` copies of this process and replaces those that end. `stop` resolves when all have ended. */
export function supervise(count: number): { stop(): Promise<void> } {
  let stopping = false;
  let delay = FIRST_DELAY_MS;

  function start(): void {
    if (stopping) return;
    const since = Date.now();
    const worker = cluster.fork().setMaxListeners(0); // each pending usage request adds a listener
    worker.on("error", () => {}); // sending to a worker that has just ended fails
    worker.on("message", async (message) => {
      if (message === "ready") ready.add(worker);
      if (message === "total?") worker.send({ total: await totalUsage() });
    });
    worker.once("exit", (code, signal) => {
      ready.delete(worker);
      if (stopping) return;
      if (Date.now() - since > HEALTHY_MS) delay = FIRST_DELAY_MS;
      console.error(
        `worker ${worker.process.pid} ended by ${signal ?? `exit ${code}`}: starting another in ${delay} ms`,
      );
      setTimeout(start, delay);
      delay = Math.min(delay * 2, LAST_DELAY_MS);
    });
  }
  for (let i = 0; i < count; i++) start();

  return {
    async stop() {
      stopping = true;
      await Promise.all(
        workers().map((worker) => {
          const ended = new Promise((resolve) => worker.once("exit", resolve));
          worker.process.kill("SIGTERM");
          return ended;
        }),
      );
    },
  };
}

/** Usage of the supervisor and its workers. */
async function totalUsage(): Promise<Usage> {
  const parts = await Promise.all([...ready].map(usageOf));
  return [processUsage(), ...parts].reduce((a, b) => ({
    cpuUs: a.cpuUs + b.cpuUs,
    rssBytes: a.rssBytes + b.rssBytes,
  }));
}

function usageOf(worker: Worker): Promise<Usage> {
  return new Promise((resolve) => {
    const finish = (usage: Usage) => {
      worker.off("message", onMessage).off("exit", onExit);
      resolve(usage);
    };
    const onMessage = (message: { usage?: Usage }) => message.usage && finish(message.usage);
    const onExit = () => finish({ cpuUs: 0, rssBytes: 0 });
    worker.on("message", onMessage).on("exit", onExit);
    worker.send("usage?");
  });
}

/** Answers the supervisor's usage requests. @returns a function that asks the supervisor for the server's usage. */
export function reportUsage(): () => Promise<Usage> {
  let waiting: ((usage: Usage) => void)[] = [];
  process.on("message", (message: "usage?" | { total: Usage }) => {
    if (message === "usage?") return process.send?.({ usage: processUsage() });
    if (!message.total) return;
    for (const resolve of waiting) resolve(message.total);
    waiting = [];
  });
  process.send?.("ready");
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      process.send?.("total?");
    });
}
