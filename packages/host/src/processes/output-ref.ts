import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { openSpool, type SpoolCaps } from "./spool.ts";

/** Opens output to be read like a file. Where the middle is no longer kept, a line says so. */
export function openOutput(
  path: string,
  caps: SpoolCaps,
): Disposable & { readonly fd: number; readonly size: number } {
  const spool = openSpool(path, caps);
  if (spool.total() === 0) return opened(openSync(devNull, "r"));
  return opened(spool.gap() ? openWhole(path, caps) : openSync(path, "r"));
}

const opened = (fd: number) => ({
  fd,
  size: fstatSync(fd).size,
  [Symbol.dispose]: () => closeSync(fd),
});

const COPY_BYTES = 1024 * 1024;

/** A copy in the right order, which vanishes when it is closed. */
function openWhole(path: string, caps: SpoolCaps): number {
  const copy = `${path}.${randomBytes(8).toString("hex")}`;
  const fd = openSync(copy, "wx+", 0o600);
  unlinkSync(copy);
  try {
    const spool = openSpool(path, caps);
    const end = spool.total();
    for (let at = 0; at < end; ) {
      const { start, bytes } = spool.read(at, Math.min(COPY_BYTES, end - at));
      if (start > at) writeSync(fd, `\n[${start - at} bytes of output are not kept]\n`);
      if (bytes.length === 0) break;
      writeSync(fd, bytes);
      at = start + bytes.length;
    }
    return fd;
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}
