import { restOfCharacter, type Spool, wholeCharacters } from "@octant/host";
import { toPlainText } from "./terminal-text.ts";

interface ExcerptOptions {
  /** The byte range. */
  readonly from: number;
  readonly to: number;
  readonly budget: number;
  /** Keeps terminal escapes. */
  readonly raw: boolean;
  /** Where the whole output can be read. */
  readonly ref: string;
}

const LF = 10;

/** The output, or its head and tail with a line between them that says what is missing. */
export function excerptOf(
  spool: Spool,
  { from, to, budget, raw, ref }: ExcerptOptions,
): { text: string; truncated: boolean } {
  if (to - from <= budget) {
    const { bytes } = spool.read(from, to - from);
    return { text: toText(bytes, raw), truncated: false };
  }
  const half = budget >> 1;
  const head = upToLine(spool.read(from, budget - half).bytes);
  const tail = fromLine(spool.read(to - half, half).bytes);
  const missing = to - from - head.length - tail.length;
  const note = `\n[… ${missing} bytes left out; fs.read ${ref} has them]\n`;
  return { text: toText(head, raw) + note + toText(tail, raw), truncated: true };
}

/** Always valid Unicode; binary output is described, not shown. */
export function toText(bytes: Buffer, raw: boolean): string {
  if (bytes.includes(0)) return `[${bytes.length} bytes that are not text]`;
  const text = bytes.toString("utf8");
  return raw ? text : toPlainText(text);
}

/** Cuts at the end of a line, unless that drops more than half; otherwise at the end of a character. */
function upToLine(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(LF) + 1;
  return bytes.subarray(0, end > bytes.length / 2 ? end : wholeCharacters(bytes));
}

function fromLine(bytes: Buffer): Buffer {
  const start = bytes.indexOf(LF) + 1;
  if (start > 0 && start < bytes.length / 2) return bytes.subarray(start);
  return bytes.subarray(restOfCharacter(bytes));
}
