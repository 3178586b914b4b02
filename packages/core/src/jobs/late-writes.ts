import type { Clock } from "../clock.ts";
import type { JobStore } from "./job-store.ts";

/** Until then most work has ended, and one write tells both its start and its end. */
const STORE_AFTER_MS = 200;

/** Nobody asks for a job that was answered, so its caller need not wait until that is stored. */
export interface LateWrites {
  /** In place of what waits of this job already. */
  later(job_id: string, write: () => void): void;
  now(job_id: string, write: () => void): void;
  flush(): void;
  /** The store as if nothing were ever delayed. */
  stored(): JobStore;
}

export function createLateWrites(store: JobStore, clock: Clock): LateWrites {
  const waiting = new Map<string, () => void>();
  const never = new AbortController().signal;

  const flush = () => {
    const writes = [...waiting.values()];
    waiting.clear();
    if (writes.length === 0) return;
    orForget(() =>
      store.together(() => {
        for (const write of writes) write();
      }),
    );
  };

  return {
    later(job_id, write) {
      if (waiting.size === 0) void clock.sleep(STORE_AFTER_MS, never).then(flush);
      waiting.set(job_id, write);
    },
    now(job_id, write) {
      waiting.delete(job_id);
      write();
    },
    flush,
    stored() {
      flush();
      return store;
    },
  };
}

/** A store that fails must not cost a caller the answer to a call that nobody else knows to be a job. */
export function orForget(write: () => void): boolean {
  try {
    write();
    return true;
  } catch {
    // The answer comes without it.
    return false;
  }
}
