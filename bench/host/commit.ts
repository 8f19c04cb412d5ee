import { run } from "./command.ts";

/** @returns what git says about a folder. @throws if it says nothing, or there is no git */
async function git(folder: string, ...words: string[]): Promise<string> {
  const { code, stdout } = await run(["git", "-C", folder, ...words]);
  if (code !== 0) throw new Error(`git ${words[0]} failed`);
  return stdout.trim();
}

/** Each run appends to results.csv. */
const COUNTED = ["--", ":!/results.csv"];

/** @returns the commit of a folder, with `-dirty` if tracked files other than results.csv differ from it; null without git. */
export async function commitOf(folder: string): Promise<string | null> {
  try {
    const commit = await git(folder, "describe", "--always", "--abbrev=40");
    const changed = await git(folder, "status", "--porcelain", "--untracked-files=no", ...COUNTED);
    return changed === "" ? commit : `${commit}-dirty`;
  } catch {
    return null;
  }
}

const SOURCES = new Bun.Glob("{bench,servers,shared}/**/*.{c,eta,js,json,sh,ts}");

/**
 * @param commit of the folder, from {@link commitOf}
 * @returns SHA-256 of what the commit does not tell: the changes of a dirty one, and all sources without git; null for a clean one
 */
export async function changesOf(folder: string, commit: string | null): Promise<string | null> {
  const hash = new Bun.CryptoHasher("sha256");
  if (commit?.endsWith("-dirty"))
    hash.update(await git(folder, "diff", "--binary", "--no-ext-diff", "HEAD", ...COUNTED));
  else if (commit !== null) return null;
  else
    for (const file of [...SOURCES.scanSync({ cwd: folder })].sort())
      hash.update(`${file}\0`).update(await Bun.file(`${folder}/${file}`).bytes());
  return hash.digest("hex");
}
