import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { openSpool, type Spool, type SpoolCaps } from "./spool.ts";

/** Opens output to be read like a file. A line marks a middle part that is no longer stored. */
export function openOutput(
  path: string,
  caps: SpoolCaps,
): Disposable & { readonly fd: number; readonly size: number } {
  const spool = openSpool(path, caps);
  const plain = spool.total() === 0 ? devNull : path;
  const fd = spool.isPlain() ? openSync(plain, "r") : openCopy(path, spool);
  return { fd, size: fstatSync(fd).size, [Symbol.dispose]: () => closeSync(fd) };
}

const PART_BYTES = 1024 * 1024;

/** The output stored so far, in one file that vanishes when it is closed. */
function openCopy(path: string, spool: Spool): number {
  const copy = `${path}.copy-${randomBytes(8).toString("hex")}`;
  const fd = openSync(copy, "wx+", 0o600);
  unlinkSync(copy);
  try {
    const total = spool.total();
    for (let at = 0; at < total; ) {
      const { start, bytes } = spool.read(at, PART_BYTES);
      if (bytes.length === 0) break;
      if (start > at) writeFileSync(fd, `\n[${start - at} bytes of output are not stored]\n`);
      writeFileSync(fd, bytes);
      at = start + bytes.length;
    }
    return fd;
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}
