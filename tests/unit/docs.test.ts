/** The commands of the docs work, and their links lead somewhere. Nothing is measured or built here. */
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { appendResults } from "../../bench/keep/results.ts";
import { reportOf, resultRows } from "../../bench/tell/report.ts";
import { DOCS, MACHINES } from "../../scripts/docs.ts";
import { finish, must, scratch } from "../harness.ts";
import { keep, known } from "./known.ts";
import { times } from "./values.ts";

const PAGES = ["README.md", "CONTRIBUTING.md", ...globSync("docs/*.md")];
const read = (file: string) => readFileSync(file, "utf8");

/** Lines of shell blocks that call bench.sh or createdb.ts. */
const COMMANDS = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = ""]) => {
    const lines = block.split("\n").filter((line) => /^(\S*\/bench\.sh|bun createdb\.ts --rows)( |$)/.test(line));
    return lines.map((line) => ({ page, line }));
  }),
);

/** Beginning of a line that this test cannot run -> the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "./bench.sh compare go@mattn go@modernc": "builds a server by Go",
};

/** The error for a `--results` that bench refuses after it has read all other options and before it starts anything. */
const REFUSED = 'nowhere": give a name that ends in .csv';

describe("every command of the docs", () => {
  const folder = scratch();
  const app = join(folder, "my-app");
  const here = join(folder, "here");
  const bin = join(folder, "bin");
  for (const one of [app, here, bin]) mkdirSync(one);
  const server = 'require("node:http").createServer((_, answer) => answer.end("[]")).listen(process.env.PORT);';
  for (const file of ["app.js", "server.js"]) writeFileSync(join(app, file), server);
  for (const file of ["requests.http", "login.http"]) writeFileSync(join(here, file), "GET /\n");
  writeFileSync(join(bin, "npm"), "#!/bin/sh\n", { mode: 0o755 });
  const git = (...words: string[]) => must(["git", "-C", app, "-c", "user.name=x", "-c", "user.email=x@x", ...words]);
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=x");
  const runs = times(8, (i) => `2026-01-0${i + 1}T00:00:00.000Z`);
  writeFileSync(join(here, "results.csv"), "");

  beforeAll(async () => {
    for (const run of runs) {
      const measured = known({ run });
      keep(join(here, "results.csv"), measured);
      await appendResults(join(here, "results.csv"), run, resultRows(reportOf(measured, measured.manifest)));
    }
  });

  /** @returns what is wrong with a line; empty if nothing is wrong */
  async function wrongOf(line: string): Promise<string> {
    const bench = `bun ${resolve("bench/cli.ts")}`;
    const [, command = ""] = /bench\.sh (\w*)/.exec(line) ?? [];
    const more =
      { report: "", check: `--results ${here}/results.csv`, compare: "--results nowhere" }[command] ?? "--dry-run";
    const [words] = line.split(/ +# /);
    const shell = line.startsWith("bun ")
      ? `${words} --file ${folder}/data.db`.replace("createdb.ts", resolve("createdb.ts"))
      : `${words} ${more}`.replace(/^\S*bench\.sh/, bench).replace(/RUN(\d)/g, (_, n) => runs[n - 1] as string);
    const caller = line.startsWith("./") ? here : app;
    const cwd = command === "report" ? here : ".";
    const PATH = `${bin}:${process.env.PATH}`;
    const env = { PATH, CALLERS_PATH: PATH, CALLED_FROM: caller };
    const { code, output } = await finish(["sh", "-c", `cd ${cwd} && exec ${shell}`], env);
    const isRight = command === "compare" ? output.includes(REFUSED) : code === 0;
    return isRight ? "" : `${line}\n${code}: ${output}`;
  }

  test("works", async () => {
    const lines = [...new Set(COMMANDS.map(({ line }) => line))].filter(
      (line) => !Object.keys(ELSEWHERE).some((beginning) => line.startsWith(beginning)),
    );
    const wrong: string[] = [];
    const next = async () => {
      for (let line = lines.pop(); line !== undefined; line = lines.pop()) wrong.push(await wrongOf(line));
    };
    expect(lines.length).toBeGreaterThan(30);
    await Promise.all([next(), next(), next(), next()]);
    expect(wrong.filter(Boolean)).toEqual([]);
  });

  test("is in the docs, if it is listed here as one that needs more", () => {
    for (const line of Object.keys(ELSEWHERE)) expect(COMMANDS.some((one) => one.line.startsWith(line))).toBe(true);
  });
});

/** Anchors of headings, as GitHub makes them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
      .replaceAll(" ", "-"),
  );

test.each(PAGES)("links of %s lead somewhere", (page) => {
  const prose = read(page).replaceAll(/^ *```.*?^ *```/gms, "");
  const wrong = [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([link, path, anchor]) => {
    const file = path ? join(dirname(page), path) : page;
    const isThere = existsSync(file) && (anchor === undefined || anchorsOf(read(file)).includes(anchor));
    return isThere ? [] : [link];
  });
  expect(wrong).toEqual([]);
});

test.each(PAGES.filter((page) => page !== MACHINES))("%s names runs in written places only", (page) => {
  const prose = DOCS.includes(page) ? read(page).replaceAll(/<!-- ([\w-]+) -->.*?<!-- \/\1 -->/gs, "") : read(page);
  expect(prose.match(/\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\d.*/g)).toBeNull();
});
