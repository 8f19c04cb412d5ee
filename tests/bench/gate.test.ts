/** `compare` of two commits: what it exits with, what it prints, what it leaves. */
import { beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { finish, left, must, resultsIn, run, scratch, testIf, until, works } from "../harness.ts";

const linux = process.platform === "linux";
const folder = scratch();
const newFile = resultsIn(folder);
const repo = join(folder, "app");
const git = (...args: string[]) =>
  must(["git", "-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", ...args]);

/** Hashes so often before it answers. */
const app = (times: number, answer = "x") => `
const { createHash } = require("node:crypto");
require("node:fs").accessSync("prepared");
require("node:http").createServer((request, response) => {
  for (let i = 0; i < ${times}; i++) createHash("sha256").update("x").digest();
  response.end(request.url === "/other" ? "other" : ${JSON.stringify(answer)});
}).listen(process.env.PORT, "127.0.0.1");
`;
function commit(tag: string, text: string): void {
  writeFileSync(join(repo, "server", "app.js"), text);
  git("add", "-A");
  git("commit", "-qm", tag);
  git("tag", tag);
}

beforeAll(() => {
  mkdirSync(join(repo, "server"), { recursive: true });
  must(["git", "init", "-q", repo]);
  commit("fast", app(20));
  commit("slow", app(100));
  commit("short", app(20, "a longer answer than before"));
  commit("broken", "console.error('no such module'); process.exit(7);");
  commit(
    "failing",
    app(20).replace("response.end(", "response.statusCode = Math.random() < 0.01 ? 500 : 200; response.end("),
  );
  commit(
    "sleeping",
    app(20)
      .replace("response.end(request", "setTimeout(() => response.end(request")
      .replace(");\n}).listen", "), 20);\n}).listen"),
  );
  commit("longer", app(20, "x".repeat(1_000)));
  commit("long", app(20, "x".repeat(1_090)));
  writeFileSync(join(repo, "server", "app.js"), app(100));
});

const START = ["--start", "node app.js", "--setup", "touch prepared", "--cwd", "server"];
const compare = (...args: string[]) => [
  "./bench.sh",
  "compare",
  "--repo",
  repo,
  ...START,
  ...["--warmup", "500", "--connections", "8", "--seconds", "6", "--results", newFile(), ...args],
];
const schema = JSON.parse(readFileSync("docs/gate.schema.json", "utf8"));
const isRecord = new Ajv2020({ strictTypes: false, allowUnionTypes: true }).compile(schema);
/** Nothing is left of a run: no process, no folder, no trace in the repository. */
function expectGone(marker: string): void {
  if (linux) expect(left(marker)).toEqual([]);
  expect(git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
}

test("a commit that costs more is slower, and the one before it is not", async () => {
  const [json, markdown] = [join(folder, "gate.json"), join(folder, "gate.md")];
  const args = ["--ref", "fast", "--ref", "slow", "--endpoints", "/,/other", "--fail-above", "5%", "--seconds", "300"];
  const slower = await finish(compare(...args, "--json", json, "--markdown", markdown), { MARKER: "slower" });
  expect([slower.code, slower.output]).toEqual([
    1,
    expect.stringMatching(/^slow against fast: slower: \/.* by about \d+ % \(\d+ to \d+ %\) of the CPU time/m),
  ]);
  const record = JSON.parse(readFileSync(json, "utf8"));
  expect(isRecord(record) || isRecord.errors).toBe(true);
  expect(record).toMatchObject({ verdict: "slower", failAbove: 0.05, base: { name: "fast" }, head: { name: "slow" } });
  expect(record.base.commit).toBe(git("rev-parse", "fast"));
  for (const { cpuUs, p99Ms, guard, verdict } of record.endpoints) {
    // One that is slower decides, and the other is left as it is.
    expect([verdict, cpuUs.ratio > 1.05, p99Ms.rate > 1, guard.ratio > 0.5]).toEqual([
      expect.stringMatching(/^(slower|undecided)$/),
      true,
      true,
      true,
    ]);
    expect(cpuUs.head / cpuUs.base).toBeCloseTo(cpuUs.ratio, 6);
  }
  expect(record.rssBytes.base).toBeGreaterThan(1e6);
  expect(record.startupMs.head).toBeGreaterThan(1);
  expect(readFileSync(markdown, "utf8")).toContain("| /: CPU time per request ");
  expectGone("slower");

  const faster = await finish(
    compare("--ref", "slow", "--ref", "fast", "--endpoints", "/", "--fail-above", "5%", "--seconds", "300", "--json"),
  );
  expect([faster.code, faster.output]).toEqual([0, expect.stringContaining('"verdict": "not slower"')]);
});

test("the working tree is a side, and without --fail-above nothing fails", async () => {
  const { code, output } = await finish(compare("--ref", "fast"), { MARKER: "tree" });
  expect([code, output]).toEqual([0, expect.stringMatching(/^working tree against fast$/m)]);
  expect(output).toMatch(/^\/: CPU time per request +\d+(\.\d)? µs +\d+(\.\d)? µs +\+\d/m);
  expectGone("tree");
});

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

  test("one that waits is slower by requests/s", async () => {
    const { code, output } = await finish(
      compare("--ref", "fast", "--ref", "sleeping", "--endpoints", "/", "--fail-above", "5%", "--seconds", "300"),
    );
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/slower: \/ by about \d+ % \(.*\) of the (requests\/s|CPU time)/),
    ]);
    expect(output).toContain("At / a server waits for something");
  });

  test("one that answers more bytes is told so", async () => {
    const args = ["--ref", "longer", "--ref", "long", "--endpoints", "/", "--fail-above", "50%"];
    const { code, output } = await finish(compare(...args));
    expect([code, output]).toEqual([
      expect.any(Number),
      expect.stringMatching(/\/: bytes of an answer .*\+[78]\.\d %/),
    ]);
  });
});

describe("what cannot be measured exits with 3, in one line", () => {
  const cases: [string[], string | RegExp][] = [
    [["--ref", "broken", "--ref", "fast"], "broken did not start: no such module"],
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
    expect((await finish(compare(...secret, "--copy", ".env"))).code).not.toBe(3);
  });

  test("the reason is in the record, and without a gate it is an ordinary mistake", async () => {
    const json = join(folder, "failed.json");
    expect((await finish(compare("--ref", "nope", "--fail-above", "5%", "--json", json))).code).toBe(3);
    const record = JSON.parse(readFileSync(json, "utf8"));
    expect(isRecord(record) || isRecord.errors).toBe(true);
    expect(record.reason).toContain("nope");
    expect((await finish(compare("--ref", "nope"))).code).toBe(1);
    const wrong = await finish(compare("--ref", "fast", "--fail-above", "0.05"));
    expect([wrong.code, wrong.output]).toEqual([3, expect.stringContaining("Write it as 5%, up to 100%.")]);
  });
});

test.skipIf(!linux)("Ctrl-C leaves nothing, and is no verdict", async () => {
  const program = run(compare("--ref", "fast", "--ref", "slow", "--fail-above", "5%"), { MARKER: "stopped" });
  await until(() => left("stopped").some((command) => command.startsWith("node app.js")));
  program.child.kill("SIGINT");
  expect((await program.ended).code).toBe(130);
  expectGone("stopped");
});

test.skipIf(!linux)("what a run that was killed left is ended by the next", async () => {
  const program = run(compare("--ref", "fast", "--ref", "slow"), { MARKER: "killed" });
  await until(() => left("killed").some((command) => command.startsWith("node app.js")));
  const bun = left("killed").find((command) => command.includes("bench/cli.ts"));
  expect(bun).toBeDefined();
  program.child.kill("SIGKILL");
  await program.ended.catch(() => {});
  await until(() => !left("killed").some((command) => command.includes("bench/cli.ts")));
  const next = await finish(compare("--ref", "nope"));
  // Another test's run may have been the next, and have said it.
  expect(next.output).toMatch(/^(ended \d+ processes left by a run that was killed\n)?--ref "nope"/);
  expectGone("killed");
});

test("what an app leaves behind is ended with it", async () => {
  const args = ["--start", "a=(setsid node server/app.js >/dev/null 2>&1 &)", "--cwd", repo, "--endpoints", "/"];
  const { code, output } = await finish(["./bench.sh", ...args, "--results", newFile()], { MARKER: "daemon" });
  expect([code, output]).toEqual([1, expect.stringContaining("a did not start: it ended by 0")]);
  if (linux) expect(left("daemon")).toEqual([]);
});

test("any CI: bench/gate.sh", async () => {
  git("checkout", "-qf", "fast");
  const gate = async (options: string) => {
    const [outputs, summary] = [newFile(), newFile()];
    const { code } = await finish(["sh", "-c", `cd ${repo}/server && ${process.cwd()}/bench/gate.sh`], {
      BASE: "slow",
      START: "node app.js",
      SETUP: "touch prepared",
      OPTIONS: [
        "--warmup=500",
        "--connections=8",
        "--seconds=300",
        "--cwd=server",
        `--results=${newFile()}`,
        options,
      ].join("\n"),
      GITHUB_OUTPUT: outputs,
      GITHUB_STEP_SUMMARY: summary,
    });
    return { code, outputs: readFileSync(outputs, "utf8"), summary: readFileSync(summary, "utf8") };
  };
  const files = "\njson=.*gate.json\nmarkdown=.*gate.md\n$";
  expect(await gate("")).toEqual({
    code: 0,
    outputs: expect.stringMatching(new RegExp(`^verdict=not slower${files}`)),
    summary: expect.stringContaining("**HEAD against slow: not slower by more than 5 % at any endpoint**"),
  });
  expect(await gate("--ref=.")).toEqual({
    code: 3,
    outputs: expect.stringMatching(new RegExp(`^verdict=not measured${files}`)),
    summary: expect.stringContaining("--ref is given 3 times"),
  });
});

/** On a machine that is busy with other tests a small difference drowns; LONG=1 adds 30 %. */
const ADDED = process.env.LONG ? 1.4 : 3;
test("git bisect run finds the commit that does more", async () => {
  const history = join(folder, "history");
  const inHistory = (...args: string[]) =>
    must(["git", "-C", history, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", ...args]);
  must(["git", "init", "-q", history]);
  const SLOWER = 11;
  for (let i = 1; i <= 16; i++) {
    writeFileSync(
      join(history, "app.js"),
      `// ${i}${app(i < SLOWER ? 100 : 100 * ADDED).replace(/^.*"prepared".*$/m, "")}`,
    );
    inHistory("add", "-A");
    inHistory("commit", "-qm", `commit ${i}`);
    if (i === 1) inHistory("tag", "v1.0");
  }
  const [start = "", run = ""] = readFileSync("docs/ci-gate.md", "utf8").match(/^git bisect .*$/gm) ?? [];
  inHistory(...start.split(" ").slice(1));
  const options = `--warmup 500 --connections 8 --seconds 300 --results ${newFile()}`;
  const line = run
    .replace("path/to", process.cwd())
    .replace("node server.js", "node app.js")
    .replace("15%", `${process.env.LONG ? 15 : 50}% ${options}`);
  const { output } = await finish(["sh", "-c", `cd ${history} && ${line}`]);
  expect(output).toMatch(/is the first '?bad'? commit/);
  expect(inHistory("log", "-1", "--format=%s", "refs/bisect/bad")).toBe(`commit ${SLOWER}`);
});

testIf(
  works("act", "--version"),
  "act is not installed: go install github.com/nektos/act@latest",
  "the workflow of docs/ci-gate.md, by act: the pull request has a comment",
  async () => {
    git("checkout", "-qf", "slow");
    // The action as it is, whose bench.sh is this folder's: act copies what it runs.
    const action = join(folder, "action");
    mkdirSync(join(action, "bench"), { recursive: true });
    for (const file of ["action.yml", "bench/gate.sh"]) copyFileSync(file, join(action, file));
    const program = (file: string, text: string) => writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    program(join(action, "bench.sh"), `exec ${process.cwd()}/bench.sh "$@"`);
    const [comment, bin] = [join(folder, "comment"), join(folder, "bin")];
    mkdirSync(bin);
    program(join(bin, "gh"), `echo "$@" >${comment}; for file; do :; done; cat "$file" >>${comment}`);

    const yaml = readFileSync("docs/ci-gate.md", "utf8").match(/```yaml\n([^`]*)```/)?.[1] ?? "";
    const workflow = join(repo, ".github", "workflows", "slower.yml");
    const lines = ["--warmup=500", "--connections=8", "--seconds=300", `--results=${newFile()}`];
    const options = `|\n${lines.map((line) => `            ${line}`).join("\n")}`;
    mkdirSync(dirname(workflow), { recursive: true });
    writeFileSync(
      workflow,
      yaml
        .replace("setup: npm ci", "setup: touch prepared")
        .replace("start: node server.js", "start: node server/app.js")
        .replace("endpoints: /,/api/items", `endpoints: /\n          options: ${options}`),
    );
    const event = join(folder, "event.json");
    writeFileSync(event, JSON.stringify({ number: 7, pull_request: { base: { sha: git("rev-parse", "fast") } } }));

    const pushed = join(folder, "pushed.json");
    writeFileSync(pushed, JSON.stringify({ before: git("rev-parse", "fast") }));

    const uses = yaml.match(/uses: (OWNER\/.*)/)?.[1];
    const act = (name: string, file: string) =>
      finish(
        [
          ...["act", name, "--eventpath", file, "--platform", "ubuntu-latest=-self-hosted"],
          ...["--directory", repo, "--local-repository", `${uses}=${action}`, "--secret", "GITHUB_TOKEN=none"],
        ],
        { HOME: join(folder, "home"), PATH: `${bin}:${process.env.PATH}` },
      );
    const { code, output } = await act("pull_request", event);
    expect([code, output]).toEqual([1, expect.stringContaining("Job failed")]);
    const [args, ...body] = readFileSync(comment, "utf8").split("\n");
    expect(args).toMatch(/^pr comment 7 --edit-last --create-if-none --body-file .*gate\.md$/);
    expect(body.join("\n")).toMatch(/slower: \/ by about/);
    const push = await act("push", pushed);
    expect([push.code, push.output]).toEqual([1, expect.stringContaining("slower: / by about")]);
  },
);
