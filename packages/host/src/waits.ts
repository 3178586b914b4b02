import type { Topic } from "@octant/core";

/** A wait exceeded its time; the work may still be in progress. */
export class LateError extends Error {
  override readonly name = "LateError";
}

/** Rejects with LateError when the time is up: a busy page does not respond, not even to cancel. */
export function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new LateError()), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Resolves when the condition is met, which is checked after each change, or when the signal is aborted. */
export function until(isMet: () => boolean, changes: Topic<void>, enough: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (isMet() || enough.aborted) return resolve();
    const finish = () => {
      stop();
      enough.removeEventListener("abort", finish);
      resolve();
    };
    const stop = changes.listen(() => isMet() && finish());
    enough.addEventListener("abort", finish);
  });
}
