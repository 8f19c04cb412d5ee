import { run } from "./command.ts";

/** @returns the commit of a folder, with `-dirty` if tracked files other than results.csv differ from it; null without git. */
export async function commitOf(folder: string): Promise<string | null> {
  const git = async (...words: string[]) => {
    const { code, stdout } = await run(["git", "-C", folder, ...words]);
    if (code !== 0) throw new Error(`git ${words[0]} failed`);
    return stdout.trim();
  };
  try {
    const commit = await git("describe", "--always", "--abbrev=40");
    // Each run appends to results.csv.
    const changed = await git("status", "--porcelain", "--untracked-files=no", "--", ":!/results.csv");
    return changed === "" ? commit : `${commit}-dirty`;
  } catch {
    return null;
  }
}
