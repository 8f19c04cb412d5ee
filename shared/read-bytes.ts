import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** @returns up to `length` bytes of a file. @param start a negative one counts from the end of the file */
export function readBytes(file: string, start: number, length: number): Buffer {
  const fd = openSync(file, "r");
  try {
    const position = start < 0 ? Math.max(0, fstatSync(fd).size + start) : start;
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
  } finally {
    closeSync(fd);
  }
}
