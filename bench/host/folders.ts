import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, OWNER } from "./owner.ts";
import { names } from "./proc.ts";

/** Folder for data that must be on a disk: /tmp is memory on some machines. */
export const ON_DISK = "/var/tmp";

const NAME = "http-benchmark-";

/** Removes the folders whose names begin so, end with their owner, and whose owner has ended. */
function removeLeft(parent: string, prefix: string): void {
  for (const name of names(parent)) {
    if (!name.startsWith(prefix) || !hasEnded(name.slice(prefix.length))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // belongs to another user
    }
  }
}

/**
 * Removes the folders of processes that were killed, then makes a new one. The name of each folder has its owner.
 * @returns the new folder, on a disk
 */
export function folderOnDisk(kind: string): string {
  const prefix = `${NAME}${kind}-`;
  removeLeft(ON_DISK, prefix);
  return mkdtempSync(join(ON_DISK, `${prefix}${OWNER}-`));
}

let own: string | undefined;
/** @returns a folder for files that no other user may read; this process removes it when it exits, and if it was killed, a later sweep. */
export function privateFolder(): string {
  if (own === undefined) {
    const folder = mkdtempSync(join(tmpdir(), `${NAME}${OWNER}-`));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    own = folder;
  }
  return own;
}

/** Removes private folders of processes that were killed. */
export const sweepPrivate = (): void => removeLeft(tmpdir(), NAME);

/** @returns the SHA-256 of a file, in hex. */
export async function digestOf(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const part of Bun.file(file).stream()) hash.update(part);
  return hash.digest("hex");
}
