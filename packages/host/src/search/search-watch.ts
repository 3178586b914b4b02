import { ToolError } from "@octant/core";
import type { Message } from "./ripgrep-messages.ts";

export interface SearchProgress {
  readonly seconds: number;
  readonly files: number;
}

export interface SearchControl {
  readonly signal: AbortSignal;
  /** Called every second. */
  readonly onProgress?: (update: SearchProgress) => void;
  readonly timeoutMs?: number;
}

/** Supervises one search: ends it in time and reports its progress. */
export interface SearchWatch extends Disposable {
  /** Aborts when the caller gives up or the time is over, and its reason is what the caller should see. */
  readonly signal: AbortSignal;
  /** Passes the messages on, counting files. */
  count(search: AsyncIterable<readonly Message[]>): AsyncIterable<readonly Message[]>;
}

export const MAX_SEARCH_MS = 30_000;
const PROGRESS_MS = 1_000;

export function startWatch({ signal, onProgress, timeoutMs = MAX_SEARCH_MS }: SearchControl): SearchWatch {
  signal.throwIfAborted();
  const ending = new AbortController();
  const giveUp = () => ending.abort(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  const deadline = setTimeout(() => ending.abort(timedOut(timeoutMs)), timeoutMs);

  let files = 0;
  let seconds = 0;
  const report = () => onProgress?.({ seconds: ++seconds, files });
  const ticker = setInterval(report, PROGRESS_MS);

  return {
    signal: ending.signal,
    async *count(search) {
      for await (const messages of search) {
        for (const { kind } of messages) if (kind === "begin") files++;
        yield messages;
      }
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", giveUp);
      clearTimeout(deadline);
      clearInterval(ticker);
    },
  };
}

const timedOut = (after_ms: number) =>
  new ToolError(
    "TIMEOUT",
    `the search was stopped after ${after_ms} ms; narrow it with path or glob, or search for something rarer`,
    { after_ms },
  );
