import { closeSync, openSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Parser } from "./case.ts";
import { createLineSplitter } from "./lines.ts";

/** Bytes that grow: up to `length` of them from `offset` on, or from the first one after it that is still there. */
export type Growing = (
  offset: number,
  length: number,
) => { readonly start: number; readonly bytes: Uint8Array };

const POLL_MS = 100;
const PIECE_BYTES = 65_536;
/** A turn of reading stays short, so that nothing else waits for it. */
const PIECES_PER_TURN = 4;

/** Feeds a parser with what is written, while it is written. */
export function follow(source: Growing, parser: Parser) {
  const lines = createLineSplitter((line) => parser.line(line));
  let offset = 0;
  const readPiece = (): boolean => {
    const { start, bytes } = source(offset, PIECE_BYTES);
    if (bytes.length === 0) return false;
    if (start > offset) lines.cut();
    lines.push(bytes);
    offset = start + bytes.length;
    return true;
  };
  const timer = setInterval(() => {
    for (let piece = 0; piece < PIECES_PER_TURN && readPiece(); piece++);
  }, POLL_MS);

  return {
    stop: () => clearInterval(timer),
    /** Reads all that is left; the writer has ended. */
    async finish(): Promise<boolean | undefined> {
      clearInterval(timer);
      while (readPiece()) await nextTurn();
      lines.end();
      return parser.end();
    },
  };
}

/** A file that may not be there yet. */
export const growingFile =
  (path: string): Growing =>
  (offset, length) => {
    const bytes = Buffer.allocUnsafe(length);
    const fd = openIfThere(path);
    if (fd === undefined) return { start: offset, bytes: bytes.subarray(0, 0) };
    try {
      return { start: offset, bytes: bytes.subarray(0, readSync(fd, bytes, 0, length, offset)) };
    } finally {
      closeSync(fd);
    }
  };

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    // Not written yet, or taken away by the tests themselves: there is nothing to read either way.
    return undefined;
  }
}
