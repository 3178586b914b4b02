import { setImmediate } from "node:timers/promises";

const SLICE_MS = 8;

/** Prevents long work from blocking the event loop: `if (pacer.due()) await pacer.pause();` at every small step. */
export interface Pacer {
  due(): boolean;
  /** Lets others run; throws when the caller has given up. */
  pause(): Promise<void>;
}

export function createPacer(signal?: AbortSignal): Pacer {
  let since = performance.now();
  return {
    due: () => performance.now() - since > SLICE_MS,
    async pause() {
      await setImmediate();
      signal?.throwIfAborted();
      since = performance.now();
    },
  };
}
