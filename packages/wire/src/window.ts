/**
 * How far a sender may be ahead of its reader, in chunks. The reader acknowledges the total number it has received.
 */
export interface Window {
  /** Whether another chunk may be sent now. */
  readonly isOpen: boolean;
  /** Counts a chunk as sent. */
  sent(): void;
  acknowledge(received: number): void;
  /** Calls back whenever an acknowledgement leaves the window open. */
  onOpened(listener: () => void): void;
  /** Resolves when a chunk may be sent; rejects with the signal's reason. */
  opened(signal: AbortSignal): Promise<void>;
}

export function createWindow(size: number): Window {
  let ahead = 0;
  let total = 0;
  let waiting = Promise.withResolvers<void>();
  let heed = () => {};
  return {
    get isOpen() {
      return ahead < size;
    },
    sent() {
      ahead += 1;
      total += 1;
    },
    acknowledge(received) {
      if (!Number.isInteger(received) || received < 0) return;
      ahead = Math.max(0, total - received);
      if (ahead >= size) return;
      waiting.resolve();
      waiting = Promise.withResolvers();
      heed();
    },
    onOpened(listener) {
      heed = listener;
    },
    async opened(signal) {
      const gone = Promise.withResolvers<never>();
      const leave = () => gone.reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      try {
        signal.throwIfAborted();
        while (ahead >= size) await Promise.race([waiting.promise, gone.promise]);
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
  };
}
