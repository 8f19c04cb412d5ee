import cluster, { type Worker } from "node:cluster";
import { processUsage, type Usage } from "../shared/identity.ts";

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 5_000;
/** A worker that lived this long is replaced without back-off. */
const HEALTHY_MS = 10_000;

/** Whether this process is one of several that {@link supervise} started. */
export const isWorker = cluster.isWorker;

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Those that answer questions; Bun would lose what is asked of one that is not yet listening. */
const ready = new Set<Worker>();

/** Starts `count` copies of this process and replaces those that die, until `stop`, which resolves when all have ended. */
export function supervise(count: number): { stop(): Promise<void> } {
  let stopping = false;
  let delay = FIRST_DELAY_MS;

  function start(): void {
    if (stopping) return;
    const since = Date.now();
    const worker = cluster.fork().setMaxListeners(0); // each question that waits listens
    worker.on("error", () => {}); // of what is sent to one that has just ended
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

/** In the supervisor: what it and its workers have used. */
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

/** In a worker: answers the supervisor's questions. @returns a function that asks it for the usage of all workers. */
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
