/** Commits that cannot be checked out or started: the error and the remedy. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appsIn } from "../../bench/ask/apps.ts";
import { checkOut } from "../../bench/ask/sides.ts";
import { must, scratch } from "../harness.ts";

const folder = scratch();
const git = (repo: string, ...args: string[]) =>
  must(["git", "-C", join(folder, repo), "-c", "user.name=a", "-c", "user.email=a@b", ...args]);

/** A repository of one commit. */
function made(repo: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, repo));
  git(repo, "init", "-q");
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, repo, file), text);
}
const commit = (repo: string) => {
  git(repo, "add", "-A");
  git(repo, "commit", "-qm", "one");
};

made("plain", { "app.js": "" });
commit("plain");
git("plain", "commit", "-qm", "two", "--allow-empty");
must(["git", "clone", "-q", "--depth", "1", `file://${join(folder, "plain")}`, join(folder, "shallow")]);

made("large", { ".gitattributes": "*.bin filter=lfs\n", "a.bin": "version https://git-lfs.github.com/spec/v1\n" });
git("large", "config", "filter.lfs.clean", "cat");
commit("large");
git("large", "config", "filter.lfs.smudge", "no-git-lfs smudge");
git("large", "config", "filter.lfs.required", "true");

made("super", {});
git("super", "-c", "protocol.file.allow=always", "submodule", "add", "-q", join(folder, "plain"), "sub");
commit("super");

const cases: [repo: string, ref: string, message: string][] = [
  ["plain", "HEAD~2", "has no such commit; fetch it first"],
  ["shallow", "HEAD~1", "has no such commit; the clone is shallow: git fetch --unshallow"],
  ["large", "HEAD", "failed 127: install git-lfs"],
  ["super", "HEAD", "its submodules cannot be fetched: fatal: transport 'file' not allowed"],
];
for (const [repo, ref, message] of cases)
  test(message, () => expect(() => checkOut(join(folder, repo), [ref])).toThrow(message));

test("an app of two commits has no name", () => {
  const apps = appsIn([], { start: ["app=node app.js"] }, { endpoints: [], notes: [] }, new AbortController().signal);
  expect(apps).rejects.toThrow('with --ref it has no name: leave out "app="');
});
