/** The image with the benchmark: results land in the mounted folder, written by an ordinary user. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeIf, finish, must, rowsOf, run, SERVERS, scratch, testIf, until, works } from "../harness.ts";

const IMAGE = `http-benchmark:bench-${process.pid}`;
const folder = scratch();
const TWO = ["--endpoints", "/plain,/sqlite/random-5fields/5"];
const SHORT = ["--warmup", "500", "--connections", "8"];

/** The README's command with a name, without a terminal. @param options of docker run, before the image */
const bench = (results: string, args: readonly string[], options: readonly string[] = []) => [
  ...["docker", "run", "--rm", "--label", IMAGE, "-v", `${results}:/results`, ...options, IMAGE, "bench", ...args],
];
const containers = () => must(["docker", "ps", "-aq", "--filter", `label=${IMAGE}`]);

describeIf(works("docker", "info"), "no Docker engine answers", "image with the benchmark", () => {
  beforeAll(() => {
    must(["docker", "build", "--network=host", "--target", "bench", "--tag", IMAGE, "."]);
  });
  afterAll(() => {
    must(["docker", "rmi", "-f", IMAGE]);
  });

  test("ten servers, in a folder that Docker makes, without a network", async () => {
    const results = join(folder, "new");
    const { code, output } = await finish(bench(results, ["--minutes", "1", ...TWO, ...SHORT], ["--network", "none"]));
    expect([code, output]).toEqual([0, expect.stringContaining("summary in /results/results.csv")]);
    const rows = rowsOf(join(results, "results.csv"));
    expect([...new Set(rows.map(({ Name }) => Name))].sort()).toEqual(SERVERS.toSorted());
    for (const row of rows) {
      expect(row["Error Count"]).toBe("0");
      expect(Number(row.CpuUsPerRequest)).toBeGreaterThan(0);
    }
    expect(readFileSync(join(results, "report.html"), "utf8")).toContain("bun-elysia");
    for (const file of ["results.csv", "results", "report.html"]) expect(statSync(join(results, file)).uid).toBe(1000);
    const shown = await finish(bench(results, ["report"]));
    expect([shown.code, shown.output]).toEqual([0, expect.stringContaining("10 servers")]);
    expect(containers()).toBe("");
  });

  const isRoot = process.getuid?.() === 0;
  testIf(isRoot, "only root gives folders away", "SIGINT leaves valid files of the folder's owner", async () => {
    const results = join(folder, "owned");
    mkdirSync(results);
    chownSync(results, 12345, 12345);
    const program = run(bench(results, ["--servers", "bun-raw,node-raw", "--endpoints", "/plain", ...SHORT]));
    await until(() => rowsOf(join(results, "results.csv")).length > 0 || program.child.exitCode !== null);
    program.child.kill("SIGINT");
    expect([(await program.ended).code, program.output()]).toEqual([130, expect.stringContaining("results so far")]);
    for (const row of rowsOf(join(results, "results.csv"))) expect(row.BytesPerRequest).not.toBe("");
    expect(statSync(join(results, "results.csv")).uid).toBe(12345);
    expect(containers()).toBe("");
  });

  testIf(isRoot, "only root owns a folder of root", "a folder that cannot be written is one line", async () => {
    const results = join(folder, "of-root");
    mkdirSync(results);
    writeFileSync(join(results, "other"), "");
    expect(await finish(bench(results, []))).toMatchObject({
      code: 1,
      output: "the folder mounted at /results belongs to root and has files: mount another folder\n",
    });
    expect(await finish(bench(results, [], ["--user", "1234"]))).toMatchObject({
      code: 1,
      output: "user 1234 cannot write to the folder mounted at /results: leave out --user\n",
    });
    expect(statSync(results).uid).toBe(0);
  });
});
