/** A published value with its sequence number and the time of publication in milliseconds. */
export interface Published<T> {
  readonly seq: number;
  readonly at: number;
  readonly value: T;
}

export interface TopicPage<T> {
  readonly events: readonly Published<T>[];
  /** Continue reading from this number. */
  readonly next_seq: number;
  /** Events between the requested number and the first retained one. */
  readonly dropped: number;
  /** The requested number is not from this topic: the server restarted, and the events after it are lost. */
  readonly restarted: boolean;
}

export interface TopicOptions<T> {
  /** The clock, in milliseconds. It also sets the first number, so that numbers grow across restarts. */
  readonly now?: () => number;
  /** How many values `read` and `from` can catch up with. */
  readonly maxEvents?: number;
  readonly maxBytes?: number;
  /** Needed for `maxBytes`. */
  readonly sizeOf?: (value: T) => number;
}

const MAX_EVENTS = 1_024;
/** More than a server publishes in a millisecond, so that a later start always has greater numbers. */
const SEQS_PER_MS = 1_024;

export type Topic<T> = ReturnType<typeof createTopic<T>>;

/** The reading side of a topic. */
export type ReadableTopic<T> = Omit<Topic<T>, "publish">;

/**
 * A numbered sequence of values: publish, listen, or catch up from a known number. It retains a bounded number of
 * values; a slow reader loses the oldest.
 */
export function createTopic<T>(options: TopicOptions<T> = {}) {
  const { now = () => 0, maxEvents = MAX_EVENTS, maxBytes = Infinity, sizeOf = () => 0 } = options;
  const firstSeq = now() * SEQS_PER_MS + 1;
  const listeners = new Set<(event: Published<T>) => void>();
  const retained: Published<T>[] = [];
  let bytes = 0;
  let nextSeq = firstSeq;

  const retain = (event: Published<T>) => {
    retained.push(event);
    bytes += sizeOf(event.value);
    while (retained.length > maxEvents || (bytes > maxBytes && retained.length > 1))
      // There is one.
      bytes -= sizeOf((retained.shift() as Published<T>).value);
  };
  /** Retained values from `seq` on; 0 is the oldest retained one. */
  const read = (seq: number, matches: (value: T) => boolean = () => true): TopicPage<T> => {
    // After the clock was set back, numbers of an earlier run are greater than ours.
    const restarted = seq > nextSeq || (seq > 0 && seq < firstSeq);
    const wanted = restarted ? firstSeq : Math.max(seq, firstSeq);
    const oldest = retained[0]?.seq ?? nextSeq;
    const events = retained.slice(Math.max(0, wanted - oldest)).filter(({ value }) => matches(value));
    return { events, next_seq: nextSeq, dropped: Math.max(0, oldest - wanted), restarted };
  };
  /** Calls back during `publish`; the listener must neither throw nor block. Returns a function that stops it. */
  const listen = (listener: (event: Published<T>) => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    publish(value: T): Published<T> {
      const event = { seq: nextSeq++, at: now(), value };
      if (maxEvents > 0) retain(event);
      for (const listener of listeners) listener(event);
      return event;
    },
    /** The number of the next value. */
    get nextSeq() {
      return nextSeq;
    },
    get listenerCount() {
      return listeners.size;
    },
    read,
    listen,
    /**
     * Retained values from `seq` on, and then each new one, until the signal aborts. `onDropped` receives how many values
     * a reader has lost that was too slow.
     */
    async *follow(
      seq: number,
      signal: AbortSignal,
      matches?: (value: T) => boolean,
      onDropped: (count: number) => void = () => {},
    ): AsyncGenerator<Published<T>> {
      let changed = Promise.withResolvers<void>();
      const notify = () => changed.resolve();
      const stop = listen(notify);
      signal.addEventListener("abort", notify);
      try {
        for (let from = seq; !signal.aborted; await changed.promise) {
          changed = Promise.withResolvers();
          const { events, next_seq, dropped } = read(from, matches);
          from = next_seq;
          if (dropped > 0) onDropped(dropped);
          for (const event of events) {
            if (signal.aborted) return;
            yield event;
          }
        }
      } finally {
        stop();
        signal.removeEventListener("abort", notify);
      }
    },
  };
}
