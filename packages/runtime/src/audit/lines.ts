import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const LINE_FEED = 0x0a;

/**
 * The whole lines of a file from an offset on, without their line feeds, and the `rest` after the last of them, which
 * ends at `size`. Undefined when the file ends before the offset.
 */
export function readLines(path: string, from = 0) {
  const bytes = readFrom(path, from);
  if (!bytes) return undefined;
  const lines: Buffer[] = [];
  let at = 0;
  for (let feed = bytes.indexOf(LINE_FEED); feed >= 0; feed = bytes.indexOf(LINE_FEED, at)) {
    lines.push(bytes.subarray(at, feed));
    at = feed + 1;
  }
  return { lines, rest: bytes.subarray(at), size: from + bytes.length };
}

function readFrom(path: string, from: number): Buffer | undefined {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    if (size < from) return undefined;
    const bytes = Buffer.alloc(size - from);
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, bytes.length - at, from + at);
      if (read === 0) return undefined;
      at += read;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}
