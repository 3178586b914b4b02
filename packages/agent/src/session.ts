import { Ledger } from "./compaction/ledger.ts";
import { Conversation } from "./conversation.ts";
import type { AgentEvent, LiveEvent, StampedEvent, StoredEvent } from "./events.ts";

/** Stores the events of a session. */
export interface EventStore {
  /** Resolves when the event is durable. */
  append(event: StampedEvent): Promise<void>;
  close(): Promise<void>;
}

export type EventListener = (event: AgentEvent) => void;

export interface SessionOptions {
  readonly id: string;
  /** Without it nothing is stored: for tests, and for sessions that end with their process. */
  readonly store?: EventStore;
  /** The existing events of the log. */
  readonly events?: Iterable<StampedEvent>;
}

/** One conversation, its log, and its listeners. */
export class Session {
  readonly id: string;
  readonly conversation = new Conversation();
  readonly ledger = new Ledger(this.conversation);
  readonly #store: EventStore | undefined;
  readonly #listeners = new Set<EventListener>();
  #seq = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ id, store, events = [] }: SessionOptions) {
    this.id = id;
    this.#store = store;
    for (const event of events) this.replay(event);
  }

  /** Takes over an event that is already in the log; before the first `append`. */
  replay(event: StampedEvent): void {
    this.#apply(event);
  }

  /** Stores the event, then notifies the listeners. Events are stored in call order. */
  append(event: StoredEvent): Promise<StampedEvent> {
    const next = this.#last.then(async () => {
      const stamped = { ...this.#stamp(this.#seq + 1), ...event };
      await this.#store?.append(stamped);
      this.#apply(stamped);
      this.#emit(stamped);
      return stamped;
    });
    this.#last = next.catch(() => {});
    return next;
  }

  publish(event: LiveEvent): void {
    this.#emit({ ...this.#stamp(this.#seq), ...event });
  }

  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#store?.close();
  }

  #stamp(seq: number) {
    return { seq, session_id: this.id, at: new Date().toISOString() };
  }

  #apply(event: StampedEvent): void {
    this.#seq = event.seq;
    this.conversation.apply(event);
    this.ledger.apply(event);
  }

  #emit(event: AgentEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
