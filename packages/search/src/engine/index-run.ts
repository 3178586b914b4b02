import { createTopic, type Progress } from "@octant/core";

export interface IndexReport {
  readonly files: number;
  /** How many of them had changed. */
  readonly read: number;
  readonly chunks: number;
}

export interface IndexOptions {
  readonly signal: AbortSignal;
  readonly progress?: (update: Progress) => void;
}

export type IndexRun = ReturnType<typeof startIndexRun>;

/** An indexing pass that several callers may wait for; it is cancelled when the last of them gives up. */
export function startIndexRun(
  work: (signal: AbortSignal, progress: (update: Progress) => void) => Promise<IndexReport>,
) {
  const stop = new AbortController();
  const updates = createTopic<Progress>({ maxEvents: 0 });
  const report = work(stop.signal, updates.publish);
  return {
    get isStopped() {
      return stop.signal.aborted;
    },
    report,
    async wait({ signal, progress = () => {} }: IndexOptions): Promise<IndexReport> {
      const stopListening = updates.listen(({ value }) => progress(value));
      const leave = Promise.withResolvers<never>();
      const onAbort = () => {
        stopListening();
        if (updates.listenerCount === 0) stop.abort(signal.reason);
        leave.reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await Promise.race([report, leave.promise]);
      } finally {
        signal.removeEventListener("abort", onAbort);
        stopListening();
      }
    },
  };
}
