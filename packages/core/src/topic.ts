import { ToolError } from "./errors.ts";

/** A published value with its sequence number and the time of publication in milliseconds. */
export interface Published<T> {
  readonly seq: number;
  readonly at: number;
  readonly value: T;
}

/** A value as a subscriber receives it; `dropped` counts the values lost just before this one. */
export interface Delivery<T> extends Published<T> {
  readonly dropped: number;
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

/**
 * What happens when a subscriber's queue is full: drop the oldest queued value, drop the new one, or end the
 * subscription with LIMIT_EXCEEDED.
 */
export type DropRule = "drop_oldest" | "drop_newest" | "close";

export interface SubscribeOptions<T> {
  /** Ends the subscription. */
  readonly signal: AbortSignal;
  /** Starts at this sequence number; with the next published value when absent. */
  readonly from?: number;
  readonly whenFull: DropRule;
  readonly maxQueued?: number;
  readonly matches?: (value: T) => boolean;
}

/** A numbered sequence of values: publish, listen, subscribe with a bounded queue, or catch up from a known number. */
export interface Topic<T> {
  publish(value: T): Published<T>;
  /** The number of the next value. */
  readonly nextSeq: number;
  /** Retained values from `seq` on; 0 is the oldest retained one. */
  read(seq: number, matches?: (value: T) => boolean): TopicPage<T>;
  /** Calls back during `publish`; the listener must neither throw nor block. Returns a function that stops it. */
  listen(listener: (event: Published<T>) => void): () => void;
  readonly listenerCount: number;
  subscribe(options: SubscribeOptions<T>): AsyncIterableIterator<Delivery<T>>;
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
const MAX_QUEUED = 1_024;
/** More than a server publishes in a millisecond, so that a later start always has greater numbers. */
const SEQS_PER_MS = 1_024;

export function createTopic<T>(options: TopicOptions<T> = {}): Topic<T> {
  const { now = () => 0, maxEvents = MAX_EVENTS, maxBytes = Infinity, sizeOf = () => 0 } = options;
  const firstSeq = now() * SEQS_PER_MS + 1;
  const listeners = new Set<(event: Published<T>) => void>();
  let retained: Published<T>[] = [];
  let start = 0;
  let bytes = 0;
  let nextSeq = firstSeq;

  const retain = (event: Published<T>) => {
    retained.push(event);
    bytes += sizeOf(event.value);
    while (retained.length - start > maxEvents || (bytes > maxBytes && retained.length - start > 1)) {
      // `start` is below the length here.
      bytes -= sizeOf((retained[start++] as Published<T>).value);
    }
    // Removing dropped entries in batches keeps publishing O(1).
    if (start > maxEvents) {
      retained = retained.slice(start);
      start = 0;
    }
  };
  const read: Topic<T>["read"] = (seq, matches = () => true) => {
    // After the clock was set back, numbers of an earlier run are greater than ours.
    const restarted = seq > nextSeq || (seq > 0 && seq < firstSeq);
    const wanted = restarted ? firstSeq : Math.max(seq, firstSeq);
    const oldest = retained[start]?.seq ?? nextSeq;
    const events = retained.slice(start + Math.max(0, wanted - oldest)).filter(({ value }) => matches(value));
    return { events, next_seq: nextSeq, dropped: Math.max(0, oldest - wanted), restarted };
  };
  const listen: Topic<T>["listen"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    publish(value) {
      const event = { seq: nextSeq++, at: now(), value };
      if (maxEvents > 0) retain(event);
      for (const listener of listeners) listener(event);
      return event;
    },
    get nextSeq() {
      return nextSeq;
    },
    get listenerCount() {
      return listeners.size;
    },
    read,
    listen,
    subscribe(given) {
      const queue = new SubscriberQueue<T>(given);
      const { events, dropped } = given.from === undefined ? NOTHING : read(given.from, given.matches);
      queue.skip(dropped);
      for (const event of events) queue.push(event as Published<T>);
      const stop = listen((event) => queue.push(event));
      // A subscription that is never iterated ends, too.
      given.signal.addEventListener("abort", stop, { once: true });
      return queue.drain(stop);
    },
  };
}

const NOTHING = { events: [], dropped: 0 };

class SubscriberQueue<T> {
  readonly #options: SubscribeOptions<T>;
  #queue: Delivery<T>[] = [];
  #dropped = 0;
  #overflowAt: number | undefined;
  #wake = () => {};

  constructor(options: SubscribeOptions<T>) {
    this.#options = options;
  }

  skip(count: number): void {
    this.#dropped += count;
  }

  push(event: Published<T>): void {
    const { maxQueued = MAX_QUEUED, whenFull, matches } = this.#options;
    if (this.#overflowAt !== undefined || (matches && !matches(event.value))) return;
    if (this.#queue.length < maxQueued) this.#append(event);
    else if (whenFull === "close") this.#overflowAt = event.seq;
    else if (whenFull === "drop_newest") this.#dropped++;
    else {
      const oldest = this.#queue.shift();
      const lost = (oldest?.dropped ?? 0) + 1;
      const [next] = this.#queue;
      if (next) this.#queue[0] = { ...next, dropped: next.dropped + lost };
      else this.#dropped += lost;
      this.#append(event);
    }
    this.#wake();
  }

  async *drain(stop: () => void): AsyncIterableIterator<Delivery<T>> {
    const { signal } = this.#options;
    const onAbort = () => this.#wake();
    signal.addEventListener("abort", onAbort);
    try {
      while (!signal.aborted) {
        const event = this.#queue.shift();
        if (event) yield event;
        else if (this.#overflowAt !== undefined) throw this.#tooSlow(this.#overflowAt);
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      stop();
    }
  }

  #append(event: Published<T>): void {
    this.#queue.push({ ...event, dropped: this.#dropped });
    this.#dropped = 0;
  }

  #tooSlow(seq: number): ToolError {
    const { maxQueued: limit = MAX_QUEUED } = this.#options;
    const message = `the subscriber is more than ${limit} events behind; subscribe again from ${seq}`;
    return new ToolError("LIMIT_EXCEEDED", message, { limit });
  }
}
