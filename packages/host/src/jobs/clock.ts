import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "@octant/core";

/** setTimeout fires at once above this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  async sleep(ms, signal) {
    try {
      await delay(Math.min(ms, MAX_TIMER_MS), undefined, { signal });
    } catch (cause) {
      if (!signal.aborted) throw cause;
    }
  },
};
