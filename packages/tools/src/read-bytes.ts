import { readSync } from "node:fs";

/** The bytes of an open file from an offset on, no more than asked for even while the file grows. */
export function readBytes(fd: number, length: number, offset = 0): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
