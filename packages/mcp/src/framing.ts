/** One message may hold a large file to write; nothing sane is larger. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface LineHandlers {
  /** One line, without its ending. Empty lines are not told. */
  readonly onLine: (line: string) => void;
  /** A line grew past the limit. The rest of it is skipped unkept. */
  readonly onTooLong: () => void;
}

/** Cuts bytes into lines, however they arrive; feed the returned function with each chunk. */
export function createLineSplitter(
  { onLine, onTooLong }: LineHandlers,
  maxLineBytes = MAX_LINE_BYTES,
): (chunk: Buffer) => void {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let skipping = false;

  const keep = (part: Buffer) => {
    if (skipping) return;
    kept.push(part);
    keptBytes += part.length;
    if (keptBytes <= maxLineBytes) return;
    kept = [];
    skipping = true;
    onTooLong();
  };
  const endLine = (last: Buffer) => {
    // As most lines come: whole, in one chunk.
    if (keptBytes === 0 && !skipping && last.length <= maxLineBytes) return tell(last);
    keep(last);
    const [only] = kept;
    // Decoding waits for the whole line: a character may be split between chunks.
    if (!skipping && only) tell(kept.length === 1 ? only : Buffer.concat(kept, keptBytes));
    kept = [];
    keptBytes = 0;
    skipping = false;
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
