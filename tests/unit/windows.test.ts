/** Windows, with generators and servers that are not there. */
import { expect, test } from "bun:test";
import { layoutOf } from "../../bench/judge/turns.ts";
import type { Window } from "../../bench/keep/slices.ts";
import type { Load } from "../../bench/load/fortio.ts";
import { GeneratorEnded, startPausable } from "../../bench/load/pausable.ts";
import type { Target } from "../../bench/run/targets/target.ts";
import { type Clocks, playWindow, readClocks } from "../../bench/run/turns.ts";
import { watch } from "../../bench/run/usage.ts";
import { needs, testIf, until } from "../harness.ts";

/** Counts 100 bytes more each time. */
function generator() {
  let sent = 0;
  return {
    pid: 0,
    go() {},
    pause: async () => {},
    sent: async () => (sent += 100),
    end: async () => "",
  };
}

const clocksAt = (...us: number[]): Clocks => {
  const meter = { cpuUs: () => us.shift() as number, isBusy: () => false, pids: () => [1] };
  return { all: meter, server: meter, database: null, pooler: null };
};

test.each([
  ["grows", { cpuUs: 5_000_000, pid: 1 }, { cpuUs: 5_012_000, pid: 1 }, 12_000],
  ["stands still", { cpuUs: 5_000_000, pid: 1 }, { cpuUs: 5_000_000, pid: 1 }, 0],
  ["falls", { cpuUs: 5_000_000, pid: 1 }, { cpuUs: 12_000, pid: 1 }, null],
  ["begins again, and passes the old value", { cpuUs: 5_000, pid: 1 }, { cpuUs: 12_000, pid: 2 }, null],
  ["is not told any more", { cpuUs: 5_000, pid: 1 }, null, null],
])("the CPU time of a window in which the server's own counter %s", async (_, before, after, cpuUs) => {
  const seen = [before, after].map((one) => one && { ...one, rssBytes: null, throttledMs: null, cores: 1 });
  const tell = async () => seen.shift() ?? null;
  const turn = { generator: generator(), clocks: null, tell, quietMs: 0 };
  expect(await playWindow(turn, 1)).toMatchObject({ work: 100, cpuUs });
});

testIf(...needs("linux"), "a window in which the generator is killed has no result, but a reason", async () => {
  const generator = startPausable(["sh", "-c", "echo begun >&2; while :; do echo x >/dev/null; done"], "http://a", {});
  const turn = { generator, clocks: null, tell: null, quietMs: 0 };
  await until(async () => (await generator.sent()) > 1_000);
  await generator.pause();
  expect((await playWindow(turn, 5)).work).toBeGreaterThan(0);
  const go = () => {
    generator.go();
    process.kill(generator.pid, "SIGKILL");
  };
  const reason = "http://a could not be loaded: its generator was ended by SIGKILL";
  await expect(playWindow({ ...turn, generator: { ...generator, go } }, 5)).rejects.toThrow(reason);
  await expect(playWindow(turn, 5)).rejects.toThrow(GeneratorEnded);
  await expect(generator.end()).rejects.toThrow(reason);
});

test("CPU time is not known if the clock of a server falls, or cannot be read", async () => {
  const used = (...us: number[]) => readClocks(clocksAt(...us))().cpuUs;
  expect([used(7, 9), used(7, 7), used(9, 7), used(7, Number.NaN), used(Number.NaN, 7)]).toEqual([
    2,
    0,
    null,
    null,
    null,
  ]);
  const watched = await watch({ pid: process.pid, clocks: clocksAt(9_000, 7_000) } as Target);
  expect(await watched({ requests: 10, sockets: 0, seconds: 1 } as Load)).toMatchObject({
    cpuUsPerRequest: null,
    utilization: null,
    kernelUsPerRequest: null,
  });
});

test("a restart in which two servers have no common round does not count", () => {
  const windows = ["a", "b"].flatMap((name, i) =>
    [1, 2, 3].flatMap((restart) =>
      [1, 2].map((round): Window => {
        const isKnown = restart < 3 || round === i + 1;
        const used = { cpuUs: isKnown ? 100 * (i + 1) : null, databaseUs: null, poolerUs: null };
        return { restart, scenario: "/", name, round, counts: 1, seconds: 1, requests: 1, ...used };
      }),
    ),
  );
  const layout = (of: readonly Window[]) => layoutOf(of, ({ cpuUs }) => cpuUs);
  const all = layout(windows);
  expect(all.restarts).toEqual([1, 2]);
  expect(all.measured.map(({ perRestart }) => perRestart.length)).toEqual([2, 2]);
  expect(layout(windows.filter(({ restart }) => restart === 3))).toMatchObject({ restarts: [], measured: [] });
});
