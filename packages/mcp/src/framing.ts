import { createIdScanner, type IdScanner } from "./id-scanner.ts";
import type { RequestId } from "./messages.ts";

/** One message may hold a large file to write; nothing sane is larger. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface LineHandlers {
  /** One line, without its ending. Empty lines are not told. */
  readonly onLine: (line: string) => void;
  /** A line that grew past the limit has ended; its bytes were not kept, but the id of its message was looked for. */
  readonly onTooLong: (id: RequestId | null) => void;
}

/** Cuts bytes into lines, however they arrive; feed the returned function with each chunk. */
export function createLineSplitter(
  { onLine, onTooLong }: LineHandlers,
  maxLineBytes = MAX_LINE_BYTES,
): (chunk: Buffer) => void {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let skipped: IdScanner | undefined;

  const keep = (part: Buffer) => {
    if (skipped) return skipped.feed(part);
    kept.push(part);
    keptBytes += part.length;
    if (keptBytes <= maxLineBytes) return;
    skipped = createIdScanner();
    for (const bytes of kept) skipped.feed(bytes);
    kept = [];
  };
  const endLine = (last: Buffer) => {
    // As most lines come: whole, in one chunk.
    if (keptBytes === 0 && !skipped && last.length <= maxLineBytes) return tell(last);
    keep(last);
    const [only] = kept;
    // Decoding waits for the whole line: a character may be split between chunks.
    if (skipped) onTooLong(skipped.id());
    else if (only) tell(kept.length === 1 ? only : Buffer.concat(kept, keptBytes));
    kept = [];
    keptBytes = 0;
    skipped = undefined;
  };
  const tell = (line: Buffer) => {
    const end = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (end > 0) onLine(line.toString("utf8", 0, end));
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  };
}
