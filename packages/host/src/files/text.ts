import { isUtf8 } from "node:buffer";
import { attempt } from "@octant/core";
import { z } from "zod";
import type { Place } from "./lines.ts";

export const TEXT_ENCODINGS = ["utf-8", "utf-16le", "utf-16be"] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];
export const Eol = z.enum(["lf", "crlf", "mixed", "none"]);

/** Facts about a text file that was read whole. */
export interface TextFacts {
  readonly encoding: TextEncoding;
  readonly bom: boolean;
  readonly eol: z.output<typeof Eol>;
  /** How many line feeds there are. */
  readonly newlines: number;
  readonly endsInNewline: boolean;
  readonly empty: boolean;
  /** Where every 1,024th line begins in the UTF-8 text: lines 1,024, 2,048 and so on. */
  readonly lineStarts: readonly number[];
}

const INDEXED_LINES = 1_024;
/** Bounds the cache per file; the rest of a longer file is recounted each time. */
const MAX_LINE_STARTS = 16_384;

const NUL = 0;
const LF = 10;
const CR = 13;

const BOMS: readonly { readonly encoding: TextEncoding; readonly bytes: Buffer }[] = [
  { encoding: "utf-8", bytes: Buffer.of(0xef, 0xbb, 0xbf) },
  { encoding: "utf-16le", bytes: Buffer.of(0xff, 0xfe) },
  { encoding: "utf-16be", bytes: Buffer.of(0xfe, 0xff) },
];

/** The encoding given by a byte order mark, and its length. */
export function bomOf(head: Buffer): { readonly encoding: TextEncoding; readonly length: number } {
  const bom = BOMS.find(({ bytes }) => head.subarray(0, bytes.length).equals(bytes));
  return { encoding: bom?.encoding ?? "utf-8", length: bom?.bytes.length ?? 0 };
}

/** Valid UTF-8 without NUL counts as text. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(NUL);

/** The text of a UTF-16 file as UTF-8, without its mark; undefined when it is not valid UTF-16. */
export const utf16ToUtf8 = (bytes: Buffer, encoding: TextEncoding): Buffer | undefined =>
  attempt(() => Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes)));

/** A file ends its last line with a line feed or without one; both are one line. */
export const lineCountOf = ({ newlines, endsInNewline, empty }: TextFacts): number =>
  newlines + (endsInNewline || empty ? 0 : 1);

/** The last line start that is known at or before a line. */
export function nearestLine(facts: TextFacts | undefined, line: number): Place {
  const known = facts?.lineStarts ?? [];
  const index = Math.min(Math.floor(line / INDEXED_LINES), known.length);
  return {
    offset: index === 0 ? 0 : (known[index - 1] as number),
    position: { line: index * INDEXED_LINES, col: 0 },
  };
}

/** Counts line endings in a text that comes in parts. */
export function createLineCounter() {
  let newlines = 0;
  let crlfs = 0;
  let last = -1;
  let offset = 0;
  const lineStarts: number[] = [];
  return {
    push(part: Buffer): void {
      for (let at = part.indexOf(LF); at >= 0; at = part.indexOf(LF, at + 1)) {
        newlines++;
        if ((at > 0 ? part[at - 1] : last) === CR) crlfs++;
        if (newlines % INDEXED_LINES === 0 && lineStarts.length < MAX_LINE_STARTS)
          lineStarts.push(offset + at + 1);
      }
      offset += part.length;
      if (part.length > 0) last = part[part.length - 1] as number;
    },
    facts: (): Omit<TextFacts, "encoding" | "bom"> => ({
      eol: newlines === 0 ? "none" : crlfs === 0 ? "lf" : crlfs === newlines ? "crlf" : "mixed",
      newlines,
      endsInNewline: last === LF,
      empty: last === -1,
      lineStarts,
    }),
  };
}

/** How many bytes at the start are whole UTF-8 characters: the last one may be cut off. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** How many bytes at the start belong to a character that began before. */
export function restOfCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at++;
  return at;
}
