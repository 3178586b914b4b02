import { MAX_CALLS_IN_FLIGHT } from "./call-runner.ts";

/** The memory that the answers of all running calls may take together, roughly. */
const MAX_ANSWER_BYTES_IN_FLIGHT = 64 * 1024 * 1024;
const LARGE_ANSWER_BYTES = MAX_ANSWER_BYTES_IN_FLIGHT / MAX_CALLS_IN_FLIGHT;
/** The largest answer of an action has 10 MiB. */
export const MAX_LARGE_CALLS = 6;

/** Admits a few calls with large answers at a time; the others wait, and all wait while the reader is behind. */
export interface LargeCalls {
  /** Resolves when the call may run; `leave` has to follow. */
  enter(): Promise<void>;
  leave(): void;
  /** The reader has caught up. */
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
      // After this turn the answer is in the stream, and `isFull` takes it into account.
      if (waiting.length > 0) setImmediate(admit);
    },
    resume: admit,
  };
}

/** Every action with a long answer has the parameter `max_bytes`. */
export const asksForLargeAnswer = (input: Readonly<Record<string, unknown>> | undefined): boolean =>
  typeof input?.["max_bytes"] === "number" && input["max_bytes"] > LARGE_ANSWER_BYTES;
