/** Acknowledged writes survive if any of the ten servers is killed, and no client waits for a killed worker. */
import { expect } from "bun:test";
import { family } from "../../bench/host/proc.ts";
import { readIdentity } from "../../bench/run/targets/target.ts";
import { CLIENTS, DRIVERS, type Runtime } from "../../shared/drivers/drivers.ts";
import { listenersOn, needs, SERVERS, testIf, until } from "../harness.ts";
import { ask, durabilitySuite, type Env, end, HANG_MS, kill, never, start, WRITERS } from "./durability-suite.ts";

/** After each kill, the supervisor waits longer before it replaces the worker. */
const WORKER_KILLS = 3;

/** Each server whose runtime has the driver or client, with two workers and with one. */
const platforms = (of: typeof DRIVERS | typeof CLIENTS, name: string): Env[] =>
  SERVERS.filter((server) => (of[server.split("-")[0] as Runtime] as readonly string[]).includes(name)).flatMap(
    (SERVER) => ["2", "1"].map((WORKERS) => ({ SERVER, WORKERS })),
  );

for (const SERVER of ["bun-raw", "node-raw"]) {
  testIf(...needs("linux"), `${SERVER} replaces a killed worker, and no client waits for it`, async () => {
    const server = await start({ SERVER, WORKERS: "2" });
    const slowest: number[] = [];
    let going = true;
    const asking = Array.from({ length: WRITERS }, async () => {
      while (going) slowest.push((await ask(server.url, "GET", "/")).ms);
    });
    const killed = () => server.output().split("\n").length - 1;
    while (killed() < WORKER_KILLS) {
      const before = killed();
      await until(() => listenersOn(server.port) === 2);
      kill(family(server.pid).at(-1) as number);
      await until(() => killed() > before);
    }
    await until(() => listenersOn(server.port) === 2);
    going = false;
    await Promise.all(asking);
    expect(Math.max(...slowest)).toBeLessThan(HANG_MS);
    expect((await readIdentity(server.url, never))?.pid).toBe(server.pid);
    expect(server.output()).toMatch(/^(worker \d+ ended by SIGKILL: starting another in \d+ ms\n)+$/);
    await end(server);
  });
}

const groups = (of: typeof DRIVERS | typeof CLIENTS) =>
  of.bun.map((by) => ({ name: "the ten", by, envs: platforms(of, by) }));
/** Two servers of each driver or client. */
const kinds = (of: typeof DRIVERS | typeof CLIENTS, next: number, other: number) =>
  of.bun.flatMap((by, i) =>
    [0, 1].map((j) => ({ by, SERVER: platforms(of, by)[next * i + other * j]?.SERVER ?? "", odd: j > 0 })),
  );

durabilitySuite(
  { sqlite: groups(DRIVERS), postgres: groups(CLIENTS) },
  { sqlite: kinds(DRIVERS, 4, 2), postgres: kinds(CLIENTS, 0, 6) },
);
