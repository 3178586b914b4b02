import { orAborted, ToolError } from "@octant/core";
import { inTime, LateError } from "../waits.ts";

/** Commands of many clients come in bursts; most end within this time. */
const QUEUE_MS = 5_000;
/** More than this would not get their turn in time. */
const MAX_WAITING = 256;
const RETRY_MS = 1_000;

/** Places for running processes. When all are taken, a start waits its turn for a short while. */
export function createSlots(count: number, queueMs = QUEUE_MS) {
  const waiting = new Set<() => void>();
  let taken = 0;

  const toFree = (): (() => void) => {
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      const [next] = waiting;
      if (!next) taken -= 1;
      else {
        waiting.delete(next);
        next();
      }
    };
  };

  return {
    /** Resolves with a function that frees the slot. OVERLOADED when none comes free in time. */
    async take(signal: AbortSignal = NEVER): Promise<() => void> {
      signal.throwIfAborted();
      if (taken < count) {
        taken += 1;
        return toFree();
      }
      if (waiting.size >= MAX_WAITING) throw overloaded(count);
      const turn = Promise.withResolvers<void>();
      waiting.add(turn.resolve);
      try {
        await orAborted(inTime(turn.promise, queueMs), signal);
      } catch (cause) {
        // Its turn may have come in the same moment.
        if (!waiting.delete(turn.resolve)) toFree()();
        throw cause instanceof LateError ? overloaded(count) : cause;
      }
      return toFree();
    },
  };
}

const NEVER = new AbortController().signal;

const overloaded = (count: number) =>
  new ToolError(
    "OVERLOADED",
    `${count} processes are running, and none has ended in time; try again, or end some with proc.kill`,
    { retry_after_ms: RETRY_MS },
  );
