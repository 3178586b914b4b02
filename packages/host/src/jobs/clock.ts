import type { Clock } from "@octant/core";
import { pause } from "../processes/timer.ts";

export const systemClock: Clock = { now: Date.now, sleep: pause };
