import { type FileHandle, open } from "node:fs/promises";
import { errnoOf } from "@octant/host";

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 64 * 1024;

export interface Line {
  readonly bytes: Buffer;
  /** False for text after the last line feed. */
  readonly complete: boolean;
  /** Where the next line begins. */
  readonly end: number;
}

/** The lines of a file from an offset on, without their line feeds. A file removed meanwhile has none. */
export async function* linesOf(path: string, from = 0): AsyncGenerator<Line> {
  await using file = await openUnlessGone(path);
  if (!file) return;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  let at = from;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (let feed = bytes.indexOf(LINE_FEED); feed >= 0; feed = bytes.indexOf(LINE_FEED, start)) {
      yield { bytes: bytes.subarray(start, feed), complete: true, end: at - rest.length + feed + 1 };
      start = feed + 1;
    }
    at += bytesRead;
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield { bytes: rest, complete: false, end: at };
}

async function openUnlessGone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
