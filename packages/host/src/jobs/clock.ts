import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "@octant/core";
import { pause } from "../processes/timer.ts";

export const systemClock: Clock = { now: Date.now, sleep: pause };

/** Its sleeps do not keep the process alive. */
export const backgroundClock: Clock = {
  now: Date.now,
  // An abort ends the sleep early.
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
};
