/** An app in a repository of its own, and `compare` of its commits. */
import { beforeAll, expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { left, must, resultsIn, scratch } from "../harness.ts";

export const folder = scratch();
export const newFile = resultsIn(folder);
export const repo = join(folder, "app");
export const git = (...args: string[]) =>
  must(["git", "-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", ...args]);

/** Hashes so often before it answers. */
export const app = (times: number, answer = "x") => `
const { createHash } = require("node:crypto");
require("node:fs").accessSync("prepared");
require("node:http").createServer((request, response) => {
  for (let i = 0; i < ${times}; i++) createHash("sha256").update("x").digest();
  response.end(request.url === "/other" ? "other" : ${JSON.stringify(answer)});
}).listen(process.env.PORT, "127.0.0.1");
`;
export function commit(tag: string, text: string): void {
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
    // Counted, because at random a check before the load would fail now and then.
    app(20).replace(
      "response.end(",
      "globalThis.n = (globalThis.n ?? 0) + 1; response.statusCode = globalThis.n % 100 === 0 ? 500 : 200; response.end(",
    ),
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
export const compare = (...args: string[]) => [
  "./bench.sh",
  "compare",
  "--repo",
  repo,
  ...START,
  ...["--warmup", "500", "--connections", "8", "--seconds", "6", "--results", newFile(), ...args],
];
const schema = JSON.parse(readFileSync("docs/gate.schema.json", "utf8"));
export const isRecord = new Ajv2020({ strictTypes: false, allowUnionTypes: true }).compile(schema);
/** Nothing is left of a run: no process, no folder, no trace in the repository. */
export function expectGone(marker: string): void {
  expect(left(marker)).toEqual([]);
  expect(git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
}
