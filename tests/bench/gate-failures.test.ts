/** `compare` of commits that cannot be measured or end early: what it exits with, what it prints, what it leaves. */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, left, run, until } from "../harness.ts";
import { app, commit, compare, expectGone, folder, git, isRecord, newFile, repo } from "./gate-app.ts";

describe("a later commit that fails does not pass", () => {
  const cases: [string, string | RegExp][] = [
    ["short", "/ is answered differently: short with 200, no type, 27 bytes; fast with 200"],
    ["broken", "broken did not start: no such module"],
    // One in a hundred may fail before the load already.
    ["failing", /^failing: [\d,]+ of [\d,]+ requests failed \(500\)$|^failing answers \/ with status 500/m],
  ];
  for (const [ref, message] of cases) {
    test(String(message), async () => {
      const json = join(folder, `${ref}.json`);
      const { code, output } = await finish(
        compare("--ref", "fast", "--ref", ref, "--fail-above", "5%", "--json", json),
      );
      const expected = typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message);
      expect([code, output]).toEqual([1, expected]);
      const record = JSON.parse(readFileSync(json, "utf8"));
      expect([isRecord(record) || isRecord.errors, record.verdict]).toEqual([true, "failed"]);
    });
  }
});

describe("what cannot be measured exits with 3, in one line", () => {
  const cases: [string[], string | RegExp][] = [
    [["--ref", "broken", "--ref", "fast"], "broken did not start: no such module"],
    // A path that our servers have too: the app's own.
    [
      ["--ref", "broken", "--ref", "fast", "--endpoints", "POST /users", "--endpoints", "POST /tx"],
      "broken did not start: no such module\n",
    ],
    [["--ref", "failing", "--ref", "fast"], /requests failed \(500\)|^failing(#2)? answers \/ with status 500/m],
    [["--ref", "fast", "--ref", "nope"], '--ref "nope"'],
    [["--ref", "fast", "--ref", "slow", "--ref", "short"], "a comparison has two sides"],
    [["--ref", "fast", "--ref", "/nowhere"], '--ref "/nowhere": there is no such folder'],
    [["--ref", "fast", "--cwd", "nowhere"], '--cwd "nowhere": fast has no such folder'],
    [["--ref", "fast", "--setup", "echo sorry; exit 9"], "failed with 9"],
    [["--ref", "fast", "bun-raw"], "--ref compares commits: leave out bun-raw"],
    [["--ref", "fast", "--start", "node other.js"], "--ref starts one app from both sides"],
    [["--ref", "fast", "--connections", "none"], "'none' is invalid"],
  ];
  for (const [i, [args, message]] of cases.entries()) {
    test(String(message), async () => {
      const { code, output } = await finish(compare(...args, "--fail-above", "5%"), { MARKER: `gate${i}` });
      const expected = typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message);
      expect([code, output]).toEqual([3, expected]);
      expectGone(`gate${i}`);
    });
  }

  test("a second port that is fixed, and a file that git ignores", async () => {
    const metrics = 'require("node:http").createServer().listen(29123, "127.0.0.1");';
    git("checkout", "-qf", "fast");
    commit("metrics", `${metrics}${app(20)}`);
    const env = ["--ref", "metrics", "--ref", "metrics", "--fail-above", "5%"];
    const { code, output } = await finish(compare(...env));
    expect([code, output]).toEqual([
      3,
      expect.stringMatching(/EADDRINUSE.*: copies run at the same time, so read every port/),
    ]);
    writeFileSync(join(repo, ".gitignore"), ".env\n");
    writeFileSync(join(repo, ".env"), "A=1\n");
    commit("secret", `require("node:fs").accessSync("../.env");${app(20)}`);
    const secret = ["--ref", "secret", "--ref", "secret", "--fail-above", "50%", "--endpoints", "/"];
    const without = await finish(compare(...secret));
    expect([without.code, without.output]).toEqual([
      3,
      expect.stringContaining("(.env is in the working tree only: --copy .env)"),
    ]);
    // Beside other work the two copies may differ too much for a verdict.
    expect((await finish(compare(...secret, "--copy", ".env"))).output).toMatch(/^\/: CPU time per request /m);
  });

  test("the reason is in the record, and without a gate it is an ordinary mistake", async () => {
    const json = join(folder, "failed.json");
    expect((await finish(compare("--ref", "nope", "--fail-above", "5%", "--json", json))).code).toBe(3);
    const record = JSON.parse(readFileSync(json, "utf8"));
    expect(isRecord(record) || isRecord.errors).toBe(true);
    expect(record.reason).toContain("nope");
    expect((await finish(compare("--ref", "nope"))).code).toBe(1);
    for (const one of [["--also", "p99"], ["--also", "memory=10%"], ["--fail-undecided"]]) {
      const without = await finish(compare("--ref", "nope", ...one));
      expect([without.code, without.output]).toEqual([
        1,
        `${one[0]} requires --fail-above, because without it no limit decides\n`,
      ]);
    }
    const wrong = await finish(compare("--ref", "fast", "--fail-above", "0.05"));
    expect([wrong.code, wrong.output]).toEqual([3, expect.stringContaining("Write it as 5%, up to 100%.")]);
  });
});

test("Ctrl-C leaves nothing, and is no verdict", async () => {
  const program = run(compare("--ref", "fast", "--ref", "slow", "--fail-above", "5%"), { MARKER: "stopped" });
  await until(() => left("stopped").some((command) => command.startsWith("node app.js")));
  program.child.kill("SIGINT");
  expect((await program.ended).code).toBe(130);
  expectGone("stopped");
});

test("what a run that was killed left is ended by the next", async () => {
  const program = run(compare("--ref", "fast", "--ref", "slow"), { MARKER: "killed" });
  await until(() => left("killed").some((command) => command.startsWith("node app.js")));
  const bun = left("killed").find((command) => command.includes("bench/cli.ts"));
  expect(bun).toBeDefined();
  program.child.kill("SIGKILL");
  await program.ended.catch(() => {});
  await until(() => !left("killed").some((command) => command.includes("bench/cli.ts")));
  // Any next run does; that of another test may have been first.
  expect((await finish(["./bench.sh", "check", "--servers", "bun-raw"])).code).toBe(0);
  expect(left("killed")).toEqual([]);
  await finish(compare("--ref", "nope"));
  expectGone("killed");
});

test("what an app leaves behind is ended with it", async () => {
  const args = ["--start", "a=(setsid node server/app.js >/dev/null 2>&1 &)", "--cwd", repo, "--endpoints", "/"];
  const { code, output } = await finish(["./bench.sh", ...args, "--results", newFile()], { MARKER: "daemon" });
  expect([code, output]).toEqual([1, expect.stringContaining("a did not start: it ended by 0")]);
  expect(left("daemon")).toEqual([]);
});

test("one that answers more bytes is told so", async () => {
  const args = ["--ref", "longer", "--ref", "long", "--endpoints", "/", "--fail-above", "50%"];
  const { code, output } = await finish(compare(...args));
  expect([code, output]).toEqual([expect.any(Number), expect.stringMatching(/\/: bytes of an answer .*\+[78]\.\d %/)]);
});
