/** How much of the start and of the end of an overlong line is retained. */
const EDGE_BYTES = 1_024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface LineHandlers {
  /** One line, without its ending. */
  readonly onLine: (line: string) => void;
  /** Empty lines count too; otherwise they are skipped. */
  readonly hasEmptyLines?: boolean;
  /** A line exceeds the limit; its end may never come. */
  readonly onOverflow?: () => void;
  /** A line that exceeded the limit has ended; only its start and its end were retained. */
  readonly onTooLong?: (edges: string) => void;
}

/** Splits bytes into lines, independent of chunk boundaries; call the returned function with each chunk. */
export function createLineSplitter(
  { onLine, hasEmptyLines = false, onOverflow, onTooLong }: LineHandlers,
  maxLineBytes: number,
) {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let isTooLong = false;

  const append = (part: Buffer) => {
    parts.push(part);
    partBytes += part.length;
    if (partBytes <= maxLineBytes) return;
    const bytes = Buffer.concat(parts);
    parts = [bytes.subarray(0, EDGE_BYTES), bytes.subarray(-EDGE_BYTES)].map((edge) => Buffer.from(edge));
    if (!isTooLong) onOverflow?.();
    isTooLong = true;
  };
  const endLine = (last: Buffer) => {
    // The common case: a whole line in one chunk.
    if (partBytes === 0 && last.length <= maxLineBytes) return emit(last);
    append(last);
    // Decoding waits for the whole line: a character may be split between chunks.
    if (isTooLong) onTooLong?.(Buffer.concat(parts).toString());
    else emit(Buffer.concat(parts, partBytes));
    parts = [];
    partBytes = 0;
    isTooLong = false;
  };
  const emit = (line: Buffer) => {
    const end = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (end > 0 || hasEmptyLines) onLine(line.toString("utf8", 0, end));
  };

  const feed = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) append(chunk.subarray(start));
  };
  /** Ends a line that has no ending, at the end of the text or where bytes were lost. */
  const flush = (): void => {
    if (partBytes > 0) endLine(Buffer.alloc(0));
  };
  return Object.assign(feed, { flush });
}
