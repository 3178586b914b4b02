import { orAborted } from "@octant/core";

/**
 * How far a sender may be ahead of its reader, in chunks. The reader acknowledges the total number it has received.
 */
export type Window = ReturnType<typeof createWindow>;

export function createWindow(size: number) {
  let ahead = 0;
  let total = 0;
  let waiting = Promise.withResolvers<void>();
  let onOpened = () => {};
  return {
    /** Whether another chunk may be sent now. */
    get isOpen() {
      return ahead < size;
    },
    /** How many chunks are not acknowledged. */
    get ahead() {
      return ahead;
    },
    /** Counts a chunk as sent. */
    sent(): void {
      ahead += 1;
      total += 1;
    },
    acknowledge(received: number): void {
      if (!Number.isInteger(received) || received < 0) return;
      ahead = Math.max(0, total - received);
      if (ahead >= size) return;
      waiting.resolve();
      waiting = Promise.withResolvers();
      onOpened();
    },
    /** The stream starts again: both ends count from 0. */
    reset(): void {
      total = 0;
      ahead = 0;
    },
    /** Calls back whenever an acknowledgement leaves the window open. */
    onOpened(listener: () => void): void {
      onOpened = listener;
    },
    /**
     * Resolves when a chunk may be sent; rejects with the signal's reason, or after `ms` without an acknowledgement with
     * that of `toError`.
     */
    async opened(signal: AbortSignal, ms?: number, toError?: () => Error): Promise<void> {
      signal.throwIfAborted();
      if (ahead < size) return;
      const late = Promise.withResolvers<never>();
      const timer = toError && setTimeout(() => late.reject(toError()), ms);
      try {
        while (ahead >= size) await orAborted(Promise.race([waiting.promise, late.promise]), signal);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
