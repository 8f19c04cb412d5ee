/** What idle servers cost: memory of idle connections, CPU time at rest, time until the first answer. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TargetSpec } from "../ask/targets.ts";
import { usedBetween } from "../host/meter.ts";
import { memoryOf } from "../host/proc.ts";
import { openConnection } from "../load/ask.ts";
import type { Asked } from "../load/request.ts";
import { withTargets } from "./restart.ts";
import type { Session } from "./session.ts";
import { askedAt } from "./targets/answers.ts";
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

/** @param endpoint requested once on each connection */
export const idleOf = (session: Session, spec: TargetSpec, endpoint: string): Promise<Idle> =>
  withTargets(session, [spec], ([one]) => {
    const target = one as Target;
    return atRest(target, askedAt(target, endpoint, session.manifest.plan.workload), session.signal);
  });

async function atRest({ name, clocks, startupMs }: Target, asked: Asked, signal: AbortSignal): Promise<Idle> {
  const rss = () => (clocks === null ? null : memoryOf(clocks.server.pids(), "VmRSS"));
  const atFirst = rss();
  const sockets: Socket[] = [];
  try {
    await open(sockets, FIRST, asked, signal);
    await sleep(SETTLE_MS);
    const before = rss();
    await open(sockets, CONNECTIONS, asked, signal);
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

/** Adds connections, each after its first answer; also those that were opened before one failed. */
async function open(sockets: Socket[], length: number, asked: Asked, signal: AbortSignal): Promise<void> {
  const opening = Array.from({ length }, async () => void sockets.push(await openConnection(asked, signal)));
  const failed = (await Promise.allSettled(opening)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}
