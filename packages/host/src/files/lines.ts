import type { Position } from "@octant/core";
import { type ByteSource, chunksFrom } from "./byte-source.ts";

/** A position in a UTF-8 text and its byte offset. */
export interface Place {
  readonly offset: number;
  readonly position: Position;
}

const LF = 10;
const CR = 13;

/**
 * Finds a position in a text, counting from `lineStart`. A line past the end becomes the end of the text, a column
 * past the end of its line the end of that line, and one inside a character the start of that character.
 */
export async function locate(
  source: ByteSource,
  lineStart: Place,
  wanted: Position,
  signal?: AbortSignal,
): Promise<{ readonly place: Place; readonly lineStart: Place }> {
  const line = await findLine(source, lineStart, wanted.line, signal);
  const col = line.position.line < wanted.line ? Number.POSITIVE_INFINITY : wanted.col;
  return { lineStart: line, place: await findColumn(source, line, col, signal) };
}

/** The start of the line; of the last one when there are not so many. */
async function findLine(
  source: ByteSource,
  from: Place,
  wanted: number,
  signal: AbortSignal | undefined,
): Promise<Place> {
  let { offset } = from;
  let { line } = from.position;
  if (line === wanted) return from;
  for await (const { at, bytes } of chunksFrom(source, offset, signal)) {
    for (let newline = bytes.indexOf(LF); newline >= 0; newline = bytes.indexOf(LF, newline + 1)) {
      line++;
      offset = at + newline + 1;
      if (line === wanted) return { offset, position: { line, col: 0 } };
    }
  }
  return { offset, position: { line, col: 0 } };
}

async function findColumn(
  source: ByteSource,
  { offset, position: { line } }: Place,
  wanted: number,
  signal: AbortSignal | undefined,
): Promise<Place> {
  let end = offset;
  let col = 0;
  let previous = 0;
  if (wanted === 0) return { offset, position: { line, col } };
  for await (const { at, bytes } of chunksFrom(source, offset, signal)) {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte === LF) {
        const ending = previous === CR ? 1 : 0;
        return { offset: end - ending, position: { line, col: col - ending } };
      }
      if (!isContinuation(byte)) {
        const units = byte >= 0xf0 ? 2 : 1;
        if (col + units > wanted) return { offset: end, position: { line, col } };
        col += units;
      }
      end = at + i + 1;
      previous = byte;
    }
  }
  return { offset: end, position: { line, col } };
}

const isContinuation = (byte: number) => (byte & 0xc0) === 0x80;

/** The position after this text, which starts at `from`. */
export function advance(from: Position, text: string): Position {
  let lines = 0;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    lines++;
    lineStart = at + 1;
  }
  return { line: from.line + lines, col: text.length - lineStart + (lines === 0 ? from.col : 0) };
}
