import { setImmediate as oneTurn } from "node:timers/promises";
import { idAtEdges, type RequestId } from "./messages.ts";

/** One message may contain a large file to write; nothing reasonable is larger. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** How much of the start and of the end of a longer one is read. */
const EDGE_BYTES = 1_024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface LineHandlers {
  /** One line, without its ending. Empty lines are skipped. */
  readonly onLine: (line: string) => void;
  /** A line exceeds the limit; its end may never come. */
  readonly onOverflow?: () => void;
  /** A line that exceeded the limit has ended; of its message only the id was read, where clients write it. */
  readonly onTooLong?: (id: RequestId | null) => void;
}

/** Splits bytes into lines, independent of chunk boundaries; call the returned function with each chunk. */
export function createLineSplitter(
  { onLine, onOverflow, onTooLong }: LineHandlers,
  maxLineBytes = MAX_LINE_BYTES,
): (chunk: Buffer) => void {
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
    if (isTooLong) onTooLong?.(idAtEdges(Buffer.concat(parts).toString()));
    else emit(Buffer.concat(parts, partBytes));
    parts = [];
    partBytes = 0;
    isTooLong = false;
  };
  const emit = (line: Buffer) => {
    const end = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
    if (end > 0) onLine(line.toString("utf8", 0, end));
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) append(chunk.subarray(start));
  };
}

/** The rest of a longer burst waits for the next turn, which shows whether the answers are being read. */
const MAX_LINES_A_TURN = 32;

export interface LineQueueHandlers {
  readonly take: (line: string) => void;
  /** While true, no line is taken; `resume` must follow. */
  readonly isHeld: () => boolean;
  readonly onWaiting: () => void;
  readonly onEmpty: () => void;
}

/** Takes lines at once and in order, until a burst or a slow reader makes the rest wait. */
export function createLineQueue({ take, isHeld, onWaiting, onEmpty }: LineQueueHandlers) {
  const waiting: string[] = [];
  let taken = 0;
  let nextTurn: NodeJS.Immediate | undefined;

  const takeWaiting = (most: number) => {
    for (let count = 0; count < most && waiting.length > 0 && !isHeld(); count++)
      take(waiting.shift() as string);
  };
  const resume = () => {
    takeWaiting(MAX_LINES_A_TURN);
    if (waiting.length > 0) proceedLater();
    else if (!isHeld()) onEmpty();
  };
  const proceedLater = () => {
    clearImmediate(nextTurn);
    nextTurn = isHeld() ? undefined : setImmediate(resume);
  };

  return {
    push(line: string): void {
      if (waiting.length === 0 && taken < MAX_LINES_A_TURN && !isHeld()) {
        // A microtask follows the last line of a chunk.
        if (taken++ === 0)
          queueMicrotask(() => {
            taken = 0;
          });
        take(line);
      } else if (waiting.push(line) === 1) {
        onWaiting();
        proceedLater();
      }
    },
    resume,
    /** Takes the waiting lines, or drops them when held. The taken ones have a turn to be answered. */
    async end(): Promise<void> {
      clearImmediate(nextTurn);
      if (waiting.length === 0) return;
      takeWaiting(Number.POSITIVE_INFINITY);
      waiting.length = 0;
      await oneTurn();
    },
  };
}
