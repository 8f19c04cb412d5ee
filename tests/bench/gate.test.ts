/** Verdicts of `compare` of two commits, which measure, so nothing else may run at the same time. */
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish, must, needs, testIf } from "../harness.ts";
import { app, compare, expectGone, folder, git, isRecord, newFile, repo } from "./gate-app.ts";

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
  const SLOWER = 4;
  for (let i = 1; i <= 6; i++) {
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

testIf(...needs("act"), "the workflow of docs/ci-gate.md, by act: the pull request has a comment", async () => {
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
});
