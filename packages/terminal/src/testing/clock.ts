import type { Clock } from "@octant/core";

/** Time that passes only when a test says so. */
export interface ManualClock extends Clock {
  /** Everything scheduled until then has happened when it resolves. */
  pass(ms: number): Promise<void>;
}

export function createManualClock(start = 0): ManualClock {
  let now = start;
  const sleeping = new Set<{ readonly until: number; wake(): void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const sleeper = {
          until: now + ms,
          wake() {
            sleeping.delete(sleeper);
            resolve();
          },
        };
        sleeping.add(sleeper);
        signal.addEventListener("abort", () => sleeper.wake(), { once: true });
      }),
    async pass(ms) {
      await settled();
      const end = now + ms;
      for (;;) {
        const next = [...sleeping].sort((one, other) => one.until - other.until)[0];
        if (!next || next.until > end) break;
        now = next.until;
        next.wake();
        await settled();
      }
      now = end;
      await settled();
    },
  };
}

/** Time without waits: every sleep ends at once. */
export function createFastClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    async sleep(ms) {
      await settled();
      now += ms;
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
