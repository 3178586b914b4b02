import type { Progress } from "@octant/core";

/** Ten a second is as much as anybody reads. */
const MIN_INTERVAL_MS = 100;

export interface ProgressReporter {
  report(update: Progress): void;
  /** Sends what is held back, and nothing afterwards. */
  finish(): void;
}

/** Passes on updates that go forward, at most ten a second; the latest is never lost. */
export function createProgressReporter(send: (update: Progress) => void): ProgressReporter {
  let highest = Number.NEGATIVE_INFINITY;
  let sentAt = Number.NEGATIVE_INFINITY;
  let held: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;
  let finished = false;

  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!held) return;
    send(held);
    held = undefined;
    sentAt = performance.now();
  };
  return {
    report(update) {
      if (finished || !(update.progress > highest)) return;
      highest = update.progress;
      held = update;
      const wait = sentAt + MIN_INTERVAL_MS - performance.now();
      if (wait <= 0) release();
      else timer ??= setTimeout(release, wait).unref();
    },
    finish() {
      release();
      finished = true;
    },
  };
}
