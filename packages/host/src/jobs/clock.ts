import type { Clock } from "@octant/core";
import { pause } from "../processes/timer.ts";

export const systemClock: Clock = { now: Date.now, sleep: pause };

/** Its sleeps do not keep the process alive. */
export const backgroundClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, ms).unref();
      signal.addEventListener("abort", wake);
    }),
};
