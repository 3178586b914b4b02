import { setImmediate as oneTurn } from "node:timers/promises";
import { createIdScanner } from "./id-scanner.ts";
import type { RequestId } from "./messages.ts";

/** One message may contain a large file to write; nothing reasonable is larger. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface LineHandlers {
  /** One line, without its ending. Empty lines are skipped. */
  readonly onLine: (line: string) => void;
  /** A line exceeds the limit; its end may never come. */
  readonly onOverflow?: () => void;
  /** A line that exceeded the limit has ended; only the id of its message was read. */
  readonly onTooLong?: (id: RequestId | null) => void;
}

/** Splits bytes into lines, independent of chunk boundaries; call the returned function with each chunk. */
export function createLineSplitter(
  { onLine, onOverflow, onTooLong }: LineHandlers,
  maxLineBytes = MAX_LINE_BYTES,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let skipped: ReturnType<typeof createIdScanner> | undefined;

  const append = (part: Buffer) => {
    if (skipped) return skipped.feed(part);
    parts.push(part);
    partBytes += part.length;
    if (partBytes <= maxLineBytes) return;
    skipped = createIdScanner();
    for (const bytes of parts) skipped.feed(bytes);
    parts = [];
    onOverflow?.();
  };
  const endLine = (last: Buffer) => {
    // The common case: a whole line in one chunk.
    if (partBytes === 0 && !skipped && last.length <= maxLineBytes) return emit(last);
    append(last);
    const [only] = parts;
    // Decoding waits for the whole line: a character may be split between chunks.
    if (skipped) onTooLong?.(skipped.id());
    else if (only) emit(parts.length === 1 ? only : Buffer.concat(parts, partBytes));
    parts = [];
    partBytes = 0;
    skipped = undefined;
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
    for (taken = 0; taken < most && waiting.length > 0 && !isHeld(); taken++) take(waiting.shift() as string);
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
    /** A chunk of lines begins. */
    startTurn(): void {
      taken = 0;
    },
    push(line: string): void {
      if (waiting.length === 0 && taken < MAX_LINES_A_TURN && !isHeld()) {
        taken++;
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
