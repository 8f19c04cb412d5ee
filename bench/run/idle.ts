/** What idle servers cost: memory of idle connections, CPU time at rest, time until the first answer. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TargetSpec } from "../ask/targets.ts";
import { memoryOf } from "../host/proc.ts";
import { withTargets } from "./restart.ts";
import type { Session } from "./session.ts";
import type { Target } from "./targets/target.ts";

/** One start of one target; null for what cannot be seen or done here. */
export interface Idle {
  readonly name: string;
  /** Resident memory before the first request but those that ask whether it is up. */
  readonly rssBytes: number | null;
  /** More memory with 1,000 connections that each have asked once. */
  readonly perThousandBytes: number | null;
  /** CPU time ÷ time with these connections open and nothing asked. */
  readonly cpu: number | null;
  readonly startupMs: number | null;
}

/** Memory that the very first requests need does not count. */
const FIRST = 100;
const CONNECTIONS = 1_000;
const SETTLE_MS = 500;
const REST_SECONDS = 3;

/** @param path that is asked once on each connection */
export const idleOf = (session: Session, spec: TargetSpec, path: string): Promise<Idle> =>
  withTargets(session, [spec], ([target]) => atRest(target as Target, path));

async function atRest({ name, url, clocks, startupMs }: Target, path: string): Promise<Idle> {
  const rss = () => (clocks === null ? null : memoryOf(clocks.server.pids(), "VmRSS"));
  const atFirst = rss();
  const sockets = await open(new URL(url), path, FIRST);
  try {
    await sleep(SETTLE_MS);
    const before = rss();
    sockets.push(...(await open(new URL(url), path, CONNECTIONS)));
    await sleep(SETTLE_MS);
    const after = rss();
    const ranMs = () => (clocks === null ? null : clocks.server.cpuUs() / 1e3);
    const [from, since] = [ranMs(), performance.now()];
    await sleep(REST_SECONDS * 1e3);
    const to = ranMs();
    return {
      name,
      rssBytes: atFirst,
      perThousandBytes: before === null || after === null ? null : ((after - before) / CONNECTIONS) * 1_000,
      cpu: from === null || to === null ? null : (to - from) / (performance.now() - since),
      startupMs,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** @returns keep-alive connections that each had one answer. */
function open({ hostname, port, host }: URL, path: string, length: number): Promise<Socket[]> {
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  return Promise.all(
    Array.from(
      { length },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(Number(port) || 80, hostname, () => socket.write(request));
          socket.once("data", () => resolve(socket.on("error", () => {}).resume()));
          socket.once("error", reject);
        }),
    ),
  );
}
