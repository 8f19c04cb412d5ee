/** A run ends what killed runs left, and nothing of a run that may go on. */
import { expect, test } from "bun:test";
import { OWNER } from "../../bench/host/owner.ts";
import { statOf } from "../../bench/host/proc.ts";
import { sweep } from "../../bench/host/sweep.ts";
import { bench, finish, left, type Program, resultsIn, run, scratch, testIf, until, works } from "../harness.ts";

const newFile = resultsIn(scratch());

/** Runs a command as process 2 of a new PID namespace. */
const elsewhere = (...command: string[]) => [
  ...["unshare", ...(process.getuid?.() === 0 ? [] : ["--user", "--map-current-user"])],
  ...["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh", ...command],
];
const canUnshare = works(...elsewhere("true"));
const NO_NAMESPACE = "a PID namespace cannot be made here";

/** Marks what it starts as a run does, prints the id of a process that sleeps, and waits. */
const OWNING = [
  ...["bun", "-e"],
  `await import("./bench/host/sweep.ts");
  console.log(Bun.spawn(["sleep", "600"], { env: process.env, stdio: ["ignore", "ignore", "ignore"] }).pid);
  setTimeout(() => {}, 600_000);`,
];

test("only a process whose owner has provably ended is ended", async () => {
  const owner = run(OWNING);
  await until(() => owner.output().endsWith("\n"));
  const pid = Number(owner.output());
  const [id, begun, user, namespace, boot = ""] = OWNER.split("-");
  const marked = (mark: string): Program => run(["sleep", "600"], { HTTP_BENCHMARK_OWNER: mark });
  const since = `${Number(begun) + 1}`; // the process id was used again
  const ended = marked([id, since, user, namespace, boot].join("-"));
  const spared = [
    marked(`${OWNER}-7`),
    marked([id, since, Number(user) + 1, namespace, boot].join("-")),
    marked([id, since, user, Number(namespace) + 1, boot].join("-")),
    marked([id, since, user, namespace, boot.replace(/./, (digit) => (digit === "0" ? "1" : "0"))].join("-")),
    marked(`${id}-${since}`),
  ];
  try {
    sweep();
    expect([statOf(pid)?.state, spared.map((one) => statOf(one.pid)?.state)]).toEqual(["S", spared.map(() => "S")]);
    expect((await ended.ended).signal).toBe("SIGKILL");
    owner.child.kill("SIGKILL");
    await owner.ended;
    sweep();
    expect([statOf(pid)?.state ?? "Z", spared.map((one) => statOf(one.pid)?.state)]).toEqual([
      "Z",
      spared.map(() => "S"),
    ]);
  } finally {
    for (const { child } of [owner, ...spared]) child.kill("SIGKILL");
  }
});

testIf(canUnshare, NO_NAMESPACE, "a run in another PID namespace and one here both finish", async () => {
  const short = () => bench(newFile(), "--servers", "bun-raw", "--endpoints", "/plain", "--seconds", "1");
  const there = run(elsewhere(...short()), { MARKER: "elsewhere" });
  const hasServer = () => left("elsewhere").some((command) => command.includes("servers/main.ts"));
  await until(() => hasServer() || there.child.exitCode !== null);
  const here = await finish(short());
  expect([(await there.ended).code, there.output()]).toEqual([0, expect.stringContaining(" slices in ")]);
  expect([here.code, here.output]).toEqual([0, expect.stringContaining(" slices in ")]);
});

// In a PID namespace of its own, because any other run here would end the process.
testIf(canUnshare, NO_NAMESPACE, "only what starts a server ends what a killed run left", async () => {
  const { output } = await finish(
    elsewhere(
      "sh",
      "-c",
      `"$@" >"$0" & owner=$!
      until [ -s "$0" ]; do sleep 0.1; done
      kill -9 $owner
      after() { "$@" >/dev/null 2>&1; kill -0 $(cat "$0") && echo "alive after $2" || echo "ended by $2"; }
      after ./bench.sh help
      after ./bench.sh report
      after ./bench.sh --dry-run
      after ./bench.sh --servers=none
      after ./bench.sh check --servers bun-raw`,
      newFile(),
      ...OWNING,
    ),
  );
  const alive = ["help", "report", "--dry-run", "--servers=none"].map((word) => `alive after ${word}\n`).join("");
  expect(output).toContain(alive);
  expect(output).toEndWith("ended by check\n");
});
