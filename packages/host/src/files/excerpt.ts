import { Position } from "@octant/core";
import { z } from "zod";
import { type ByteSource, memorySource, readBytes } from "./byte-source.ts";
import { advance } from "./lines.ts";
import { isText, restOfCharacter, wholeCharacters } from "./text.ts";

/** The requested bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly from: Position;
  /** The line that contains `end`; null when not counted. */
  readonly endLine: number | null;
}

/** The part of a span that fits into the answer. */
export const Excerpt = z.object({
  text: z.string().optional(),
  base64: z.string().optional(),
  tail: z.string().optional().describe("The end of the range, when it does not fit whole"),
  omitted: z
    .object({ bytes: z.int(), lines: z.int().nullable(), start: Position })
    .optional()
    .describe("Gap before tail; continue reading at its start"),
});
type Excerpt = z.output<typeof Excerpt>;

const LF = 10;
const CR = 13;
/** A cut moves to the end of a line if that costs no more than this share of the part. */
const LINE_CUT_SHARE = 0.5;

/** The bytes of an excerpt: all of the span, or its head and its tail. */
export interface Parts {
  readonly head: Buffer;
  readonly tail: Buffer | undefined;
}

export async function readParts(source: ByteSource, { start, end }: Span, budget: number): Promise<Parts> {
  if (end - start <= budget) return { head: await readBytes(source, start, end), tail: undefined };
  const half = budget >> 1;
  const head = await readBytes(source, start, start + budget - half);
  return { head, tail: await readBytes(source, end - half, end) };
}

/** The parts as text, cut at lines or at least at characters; undefined when they are not text. */
export function toTextExcerpt(span: Span, parts: Parts): Excerpt | undefined {
  if (parts.tail === undefined) return isText(parts.head) ? { text: parts.head.toString() } : undefined;
  const head = parts.head.subarray(0, headCut(parts.head));
  const tail = parts.tail.subarray(tailCut(parts.tail));
  if (!isText(head) || !isText(tail)) return undefined;
  const text = head.toString();
  const rest = tail.toString();
  const start = advance(span.from, text);
  const tailLines = advance({ line: 0, col: 0 }, rest).line;
  return {
    text,
    tail: rest,
    omitted: {
      bytes: span.end - span.start - head.length - tail.length,
      lines: span.endLine === null ? null : span.endLine - tailLines - start.line,
      start,
    },
  };
}

/** The head and the tail of a text in memory, or all of it. */
export async function excerptOfText(text: Buffer, budget: number): Promise<Excerpt> {
  const span = { start: 0, from: { line: 0, col: 0 }, end: text.length, endLine: null };
  return toTextExcerpt(span, await readParts(memorySource(text), span, budget)) ?? {};
}

/** The parts in base64. Bytes have no lines: they are one line, and its columns count them. */
export function toBase64Excerpt(span: Span, { head, tail }: Parts): Excerpt {
  const base64 = head.toString("base64");
  if (tail === undefined) return { base64 };
  return {
    base64,
    tail: tail.toString("base64"),
    omitted: {
      bytes: span.end - span.start - head.length - tail.length,
      lines: null,
      start: { line: span.from.line, col: span.from.col + head.length },
    },
  };
}

function headCut(head: Buffer): number {
  const afterLine = head.lastIndexOf(LF) + 1;
  if (afterLine > head.length * LINE_CUT_SHARE) return afterLine;
  const length = wholeCharacters(head);
  // A CR and its LF stay together.
  return head[length - 1] === CR ? length - 1 : length;
}

function tailCut(tail: Buffer): number {
  const lineStart = tail.indexOf(LF) + 1;
  return lineStart > 0 && lineStart < tail.length * LINE_CUT_SHARE ? lineStart : restOfCharacter(tail);
}
