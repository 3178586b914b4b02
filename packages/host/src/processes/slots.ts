import { ToolError } from "@octant/core";
import { after } from "./timer.ts";

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
    async take(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      if (taken < count) {
        taken += 1;
        return toFree();
      }
      if (waiting.size >= MAX_WAITING) throw overloaded(count);
      const turn = Promise.withResolvers<void>();
      waiting.add(turn.resolve);
      const giveUp = (cause: unknown) => {
        if (waiting.delete(turn.resolve)) turn.reject(cause);
      };
      const stopTimer = after(queueMs, () => giveUp(overloaded(count)));
      const onAbort = () => giveUp(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        await turn.promise;
        return toFree();
      } finally {
        stopTimer();
        signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

const overloaded = (count: number) =>
  new ToolError(
    "OVERLOADED",
    `${count} processes are running, and none has ended in time; try again, or end some with proc.kill`,
    { retry_after_ms: RETRY_MS },
  );
