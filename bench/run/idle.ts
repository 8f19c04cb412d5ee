/** What idle servers cost: memory of idle connections, CPU time at rest, time until the first answer. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TargetSpec } from "../ask/targets.ts";
import { usedBetween } from "../host/meter.ts";
import { memoryOf } from "../host/proc.ts";
import { withTargets } from "./restart.ts";
import type { Session } from "./session.ts";
import type { Target } from "./targets/target.ts";

/** One restart of one target; a value is null if it cannot be measured here. */
export interface Idle {
  readonly name: string;
  /** Resident memory before the first request, not counting the polls until the server was up. */
  readonly rssBytes: number | null;
  /** Memory added by 1,000 connections that each sent one request. */
  readonly perThousandBytes: number | null;
  /** CPU time ÷ elapsed time, while these connections are open and send nothing. */
  readonly cpu: number | null;
  readonly startupMs: number | null;
}

/** Connections before the baseline, because memory for the very first requests must not count. */
const FIRST = 100;
const CONNECTIONS = 1_000;
const SETTLE_MS = 500;
const REST_SECONDS = 3;

/** @param path requested once on each connection */
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
    const read = () => clocks && { cpuUs: clocks.server.cpuUs() };
    const [from, since] = [read(), performance.now()];
    await sleep(REST_SECONDS * 1e3);
    const usedUs = usedBetween(from, read());
    return {
      name,
      rssBytes: atFirst,
      perThousandBytes: before === null || after === null ? null : ((after - before) / CONNECTIONS) * 1_000,
      cpu: usedUs === null ? null : usedUs / 1e3 / (performance.now() - since),
      startupMs,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** @returns keep-alive connections, each after its first answer. */
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
