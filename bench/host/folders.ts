import { globSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hasEnded, OWNER } from "./owner.ts";

/** Folder for data that must be on a disk: /tmp is memory on some machines. */
export const ON_DISK = "/var/tmp";

/**
 * Removes the folders of processes that were killed, then makes a new one. The name of each folder has its owner.
 * @returns the new folder, on a disk
 */
export function folderOnDisk(kind: string): string {
  const prefix = join(ON_DISK, `http-benchmark-${kind}-`);
  for (const folder of globSync(`${prefix}*`)) {
    if (!hasEnded(folder.slice(prefix.length))) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // belongs to another user
    }
  }
  return mkdtempSync(`${prefix}${OWNER}-`);
}

/** @returns the SHA-256 of a file, in hex. */
export async function digestOf(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const part of Bun.file(file).stream()) hash.update(part);
  return hash.digest("hex");
}
