import { setImmediate as oneTurn } from "node:timers/promises";
import type { EdgeDispatch } from "../service.ts";

/** Counts running calls, so that closing can wait for them. */
export interface Work {
  readonly dispatch: EdgeDispatch;
  /** Resolves when no call runs and the last answers were written, or after the timeout. */
  quiet(withinMs: number): Promise<void>;
}

export function createWork(dispatch: EdgeDispatch): Work {
  let running = 0;
  let onQuiet = () => {};
  return {
    async dispatch(call, options) {
      running++;
      try {
        return await dispatch(call, options);
      } finally {
        if (--running === 0) onQuiet();
      }
    },
    async quiet(withinMs) {
      if (running > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, withinMs);
        onQuiet = resolve;
        await promise;
        clearTimeout(timer);
      }
      await oneTurn();
    },
  };
}
