import { setImmediate } from "node:timers/promises";

const SLICE_MS = 8;

/** Prevents long work from blocking the event loop: `if (pacer.due()) await pacer.pause();` at every small step. */
export function createPacer(signal?: AbortSignal) {
  let since = performance.now();
  return {
    due: (): boolean => performance.now() - since > SLICE_MS,
    /** Lets others run; throws when the caller has given up. */
    async pause(): Promise<void> {
      await setImmediate();
      signal?.throwIfAborted();
      since = performance.now();
    },
  };
}
