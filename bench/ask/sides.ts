/** The two sides of a change: commits of a repository, its working tree, or folders. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { UsageError } from "../../shared/errors.ts";
import { folderOnDisk } from "../host/folders.ts";
import { fromCaller } from "./caller.ts";

/** The commit after the change cannot be measured: it fails, but the one before the change did not. */
export class HeadError extends UsageError {}

export interface Side {
  readonly name: string;
  readonly folder: string;
  /** The commit that is checked out; null for a folder that is used as it is. */
  readonly commit: string | null;
}

/** The working tree of the repository, uncommitted changes included. */
const WORKING_TREE = ".";

/**
 * Checks both sides out, each in a folder of its own.
 * @param refs names of commits for git; one that begins with . or / is a folder, used as it is; a single one is compared
 *   with the working tree
 * @param copy files of the working tree that are copied to both
 * @returns both sides, the one before the change first, and a function that removes their folders
 * @throws UsageError
 */
export function checkOut(
  repo: string,
  refs: readonly string[],
  copy: readonly string[] = [],
): { sides: [Side, Side]; remove: () => void } {
  if (refs.length > 2) throw new UsageError(`--ref is given ${refs.length} times: a comparison has two sides`);
  const git = (...args: string[]) => {
    // The repository's hooks do not run, and a hook that calls this program does not change which repository git uses.
    const words = ["-C", repo, "-c", "core.hooksPath=/dev/null", ...args];
    const { status, stdout, stderr, error } = spawnSync("git", words, { encoding: "utf8", env: withoutGit() });
    if (error) throw new UsageError(`git cannot be started (${error.message}): install it`);
    return { ok: status === 0, text: (status === 0 ? stdout : stderr).trim() };
  };
  const top = git("rev-parse", "--show-toplevel");
  const home = folderOnDisk("commits");
  const made: string[] = [];
  git("worktree", "prune"); // removes those of killed runs
  const remove = () => {
    for (const folder of made) git("worktree", "remove", "--force", "--force", folder);
    rmSync(home, { recursive: true, force: true });
  };
  const sideOf = (ref: string, i: number): Side => {
    if (/^[./]/.test(ref)) {
      const folder = ref === WORKING_TREE ? (top.ok ? top.text : resolve(repo)) : fromCaller(ref);
      if (!existsSync(folder)) throw new UsageError(`--ref "${ref}": there is no such folder`);
      return { name: ref === WORKING_TREE ? "working tree" : basename(folder), folder, commit: null };
    }
    if (!top.ok) throw new UsageError(`--repo "${repo}": ${refusalOf(top.text)}`);
    const commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`);
    if (!commit.ok) throw new UsageError(`--ref "${ref}": ${repo} has no such commit; ${fetchOf(git)}`);
    const folder = join(home, String(i));
    const added = git("worktree", "add", "--detach", "--quiet", folder, commit.text);
    if (!added.ok) throw new UsageError(`--ref "${ref}" cannot be checked out: ${reasonOf(added.text)}`);
    made.push(folder);
    if (existsSync(join(folder, ".gitmodules"))) {
      const filled = git("-C", folder, "submodule", "update", "--init", "--recursive", "--quiet");
      if (!filled.ok)
        throw new UsageError(`--ref "${ref}": its submodules cannot be fetched: ${reasonOf(filled.text)}`);
    }
    for (const file of copy) {
      const from = join(top.text, file);
      if (!existsSync(from)) throw new UsageError(`--copy "${file}": ${top.text} has no such file`);
      cpSync(from, join(folder, file), { recursive: true });
    }
    return { name: ref, folder, commit: commit.text };
  };
  try {
    const [base, head] = [...refs, WORKING_TREE].slice(0, 2).map(sideOf) as [Side, Side];
    return { sides: [base, base.name === head.name ? { ...head, name: `${head.name} again` } : head], remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The environment without GIT_ variables, because in a git hook they name the repository of the hook. */
const withoutGit = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));

/** The first error that git prints, because later errors only follow from it. */
function reasonOf(said: string): string {
  const lines = said.split("\n");
  const reason = lines.find((line) => /command not found|^(fatal|error):/.test(line)) ?? lines.at(-1) ?? "";
  return /\blfs\b/.test(said) ? `${reason}: install git-lfs` : reason;
}

const fetchOf = (git: (...args: string[]) => { text: string }): string =>
  git("rev-parse", "--is-shallow-repository").text === "true"
    ? "the clone is shallow: git fetch --unshallow, or check out with fetch-depth: 0"
    : "fetch it first";

/** Why git does not accept a folder as a repository. */
const refusalOf = (said: string): string =>
  said.includes("dubious ownership")
    ? "git refuses it, because it belongs to another user: git config --global --add safe.directory FOLDER"
    : "it is no git repository: give the folder of one";
