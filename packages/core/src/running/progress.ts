import type { Clock } from "../clock.ts";
import type { Progress } from "../tool.ts";

/** People read no more than ten updates a second. */
const MIN_INTERVAL_MS = 100;

/** Forwards updates whose progress grows, at most ten a second; the latest is never lost. */
export function createProgressReporter(send: (update: Progress) => void, clock: Clock) {
  const finished = new AbortController();
  let highest = Number.NEGATIVE_INFINITY;
  let sentAt = Number.NEGATIVE_INFINITY;
  let pending: Progress | undefined;
  let isWaiting = false;

  const flush = () => {
    if (!pending) return;
    send(pending);
    pending = undefined;
    sentAt = clock.now();
  };
  const flushAfter = async (ms: number) => {
    isWaiting = true;
    await clock.sleep(ms, finished.signal);
    isWaiting = false;
    flush();
  };
  return {
    report(update: Progress): void {
      if (finished.signal.aborted || !(update.progress > highest)) return;
      highest = update.progress;
      pending = update;
      if (isWaiting) return;
      const wait = sentAt + MIN_INTERVAL_MS - clock.now();
      if (wait <= 0) flush();
      // A clock that was set back must not delay updates.
      else void flushAfter(Math.min(wait, MIN_INTERVAL_MS));
    },
    /** Sends the pending update, and nothing afterwards. */
    finish(): void {
      flush();
      finished.abort();
    },
  };
}
