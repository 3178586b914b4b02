/** Tools that take longer than this to start no longer hold back the others. */
const MAX_START_MS = 60_000;

/**
 * Lets a few sessions start their tools at a time. Fifty that start together on a busy machine are all so slow that
 * none answers in time; one after another each is quick.
 */
export function createStartSlots(count: number) {
  const waiting = new Set<() => void>();
  let free = count;
  const giveBack = () => {
    const [next] = waiting;
    if (!next) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return {
    /** Resolves with the function that gives the slot back, or with undefined at the signal. */
    async take(signal?: AbortSignal): Promise<(() => void) | undefined> {
      if (signal?.aborted) return undefined;
      if (free > 0) free -= 1;
      else if (!(await inLine(signal))) return undefined;
      let isGiven = false;
      const release = () => {
        if (!isGiven) giveBack();
        isGiven = true;
        clearTimeout(timer);
      };
      const timer = setTimeout(release, MAX_START_MS);
      timer.unref();
      return release;
    },
  };

  /** False when the signal came first. */
  function inLine(signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const enter = () => {
      signal?.removeEventListener("abort", leave);
      resolve(true);
    };
    const leave = () => {
      waiting.delete(enter);
      resolve(false);
    };
    waiting.add(enter);
    signal?.addEventListener("abort", leave, { once: true });
    return promise;
  }
}
