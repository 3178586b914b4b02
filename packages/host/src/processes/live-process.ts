import type { EndRecord, Started, StartRecord } from "./protocol.ts";

/** A process of this server that has not ended, as far as the server knows. */
export interface LiveProcess {
  readonly start: StartRecord;
  readonly ended: Promise<EndRecord>;
  started(facts: Started): void;
  end(record: EndRecord): void;
  /** There may be new output. */
  notify(): void;
  listen(listener: () => void): void;
  unlisten(listener: () => void): { readonly isLast: boolean };
}

export function createLiveProcess(order: Omit<StartRecord, keyof Started>): LiveProcess {
  const listeners = new Set<() => void>();
  const ended = Promise.withResolvers<EndRecord>();
  let start: StartRecord = { ...order, pid: NOT_STARTED, started_at: Date.now() };
  const notify = () => {
    for (const listener of listeners) listener();
  };
  return {
    get start() {
      return start;
    },
    ended: ended.promise,
    started(facts) {
      start = { ...start, ...facts };
    },
    end(record) {
      ended.resolve(record);
      notify();
    },
    notify,
    listen: (listener) => {
      listeners.add(listener);
    },
    unlisten(listener) {
      listeners.delete(listener);
      return { isLast: listeners.size === 0 };
    },
  };
}

/** No process has this number. */
export const NOT_STARTED = 0;
