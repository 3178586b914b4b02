import type { Plain } from "./messages.ts";
import { MAX_CALLS_IN_FLIGHT } from "./tool-runner.ts";

/** What the answers of the calls that run may take together, roughly. */
const MAX_ANSWER_BYTES_IN_FLIGHT = 64 * 1024 * 1024;
const LARGE_ANSWER_BYTES = MAX_ANSWER_BYTES_IN_FLIGHT / MAX_CALLS_IN_FLIGHT;
/** The largest answer an action gives has 10 MiB. */
export const MAX_LARGE_CALLS = 6;

/** The calls that ask for large answers. A few of them run; the others wait, and all do while nobody reads. */
export interface LargeCalls {
  /** Resolves when one more may run; `leave` has to follow. */
  enter(): Promise<void>;
  leave(): void;
  /** The reader reads again. */
  resume(): void;
}

export function createLargeCalls(isFull: () => boolean): LargeCalls {
  const waiting: (() => void)[] = [];
  let running = 0;

  const admit = () => {
    while (running < MAX_LARGE_CALLS && !isFull()) {
      const start = waiting.shift();
      if (!start) return;
      running++;
      start();
    }
  };
  return {
    enter() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      admit();
      return promise;
    },
    leave() {
      running--;
      // By then the answer was given to the stream, which tells whether it is full.
      if (waiting.length > 0) setImmediate(admit);
    },
    resume: admit,
  };
}

/** By the parameter that every action with a long answer has. */
export const asksForLargeAnswer = (args: Plain | undefined): boolean =>
  typeof args?.["max_bytes"] === "number" && args["max_bytes"] > LARGE_ANSWER_BYTES;
