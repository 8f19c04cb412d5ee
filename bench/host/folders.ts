import { globSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "./proc.ts";

/** Folder for data that must be on a disk: /tmp is memory on some machines. */
export const ON_DISK = "/var/tmp";

/**
 * @returns a new folder on a disk. Its name has this process's id, so that the folders of processes that were killed
 * are known: they are removed first.
 */
export function folderOnDisk(kind: string): string {
  const prefix = join(ON_DISK, `http-benchmark-${kind}-`);
  for (const folder of globSync(`${prefix}*`)) {
    if (!isAlive(Number(folder.slice(prefix.length).split("-")[0]))) removeIfOurs(folder);
  }
  return mkdtempSync(`${prefix}${process.pid}-`);
}

function removeIfOurs(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // another user's
  }
}
